//! The single exit of every exported function, and how errors reach the program.

use std::ffi::{CString, c_int};
use std::sync::{Mutex, PoisonError};

use super::process::eprint_line;
use super::sys::{self, MPI_Comm};
use crate::engine;
use crate::topology::{self, Class};

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// An error found by Cartograph. The error handler has not been called yet.
    #[error(transparent)]
    Ours(#[from] engine::Error),
    /// The host failed on a communicator of ours, whose errors no handler sees.
    #[error("the MPI library failed with error code {0}")]
    Quiet(c_int),
    /// The host lacks a required function.
    #[error("the MPI library does not provide {0}")]
    Absent(&'static str),
    /// A private communicator that can no longer be used.
    #[error("an earlier collective on this communicator failed midway; create a new communicator")]
    Spoilt,
    /// The host failed, and has already called the error handler if its `PMPI_` functions do that.
    #[error("the MPI library failed with error code {0}")]
    Host(c_int),
}

impl From<topology::Error> for Error {
    fn from(error: topology::Error) -> Self {
        Self::Ours(error.into())
    }
}

pub(crate) type Result<T = (), E = Error> = core::result::Result<T, E>;

/// A return code of the host.
#[inline]
pub(crate) fn check(code: c_int) -> Result {
    if code == sys::CG_SUCCESS { Ok(()) } else { Err(Error::Host(code)) }
}

/// A return code of the host on a communicator of ours, whose errors no handler sees.
#[inline]
pub(crate) fn quiet(code: c_int) -> Result {
    if code == sys::CG_SUCCESS { Ok(()) } else { Err(Error::Quiet(code)) }
}

/// The return code of a call of `function`, after calling the error handler of `comm` for an error that the host has
/// not reported yet. `comm` is used only in that case; `None` means a function without a communicator.
#[inline(always)]
pub(crate) fn conclude<T>(
    function: &'static str,
    comm: impl FnOnce() -> Option<MPI_Comm>,
    result: Result<T>,
) -> c_int {
    match result {
        Ok(_) => sys::CG_SUCCESS,
        Err(error) => failed(function, comm(), error),
    }
}

/// The handler is called while nothing of ours needs to be dropped: a C++ program's handler may throw, and its
/// exception passes through these frames, which have no clean-up, up to the program's call.
#[cold]
fn failed(function: &'static str, comm: Option<MPI_Comm>, error: Error) -> c_int {
    if let Error::Host(code) = error
        && sys::CG_PMPI_CALLS_HANDLERS != 0
    {
        return code;
    }
    super::check_family();
    // SAFETY: constants of the host.
    let (null, fallback) = unsafe {
        let on_self = sys::CG_ERRORS_ON_SELF != 0;
        (sys::cg_comm_null, if on_self { sys::cg_comm_self() } else { sys::cg_comm_world() })
    };
    let comm = comm.filter(|comm| *comm != null);
    // While MPI is not active, no communicator has a handler, and the initial one ends the program.
    // SAFETY: asks the host for its state and for a handler.
    let ends = unsafe {
        match comm {
            None if sys::cg_is_active() == 0 => Some(" (MPI is not active)"),
            comm if sys::cg_errors_end_program(comm.unwrap_or(fallback)) != 0 => Some(""),
            _ => None,
        }
    };
    if let Some(why) = ends {
        eprint_line!("{function}: {error}{why}");
        std::process::abort();
    }
    let code = code_of(function, error);
    // SAFETY: a communicator, and a code that the host knows.
    unsafe { sys::cg_call_errhandler(comm.unwrap_or(fallback), code) };
    code
}

/// The code that the error handler gets.
fn code_of(function: &'static str, error: Error) -> c_int {
    let class = match &error {
        Error::Host(code) | Error::Quiet(code) => return *code,
        Error::Ours(error) => error.class(),
        Error::Spoilt => Class::Comm,
        Error::Absent(_) => Class::Unsupported,
    };
    error_code(function, class, &error.to_string())
}

/// The number of codes of one class in use; then the oldest gets a new text. Codes are never given back to a host, so
/// their number must not grow with the number of errors.
const CODES: usize = 8;

/// The codes of each class, and the index of the next.
struct Codes {
    codes: [[c_int; CODES]; Class::ALL.len()],
    next: [usize; Class::ALL.len()],
}

impl Codes {
    /// Creates all codes at once, so that the host's tables do not change while a program reads its texts.
    fn new() -> Self {
        let code = |class| {
            // SAFETY: a class of the host.
            unsafe { sys::cg_new_code(error_class(class)) }
        };
        let codes = Class::ALL.map(|class| [(); CODES].map(|()| code(class)));
        Self { codes, next: [0; Class::ALL.len()] }
    }
}

/// The codes in use, and how often they were created.
///
/// MPICH does not protect its tables of texts against its own threads, so this lock is held while they are used. It is
/// a leaf: code under it waits for no other thread and calls nothing back.
static IN_USE: Mutex<(Option<Codes>, usize)> = Mutex::new((None, 0));

/// The number of times that codes are created in a program that restarts its host repeatedly; after that, the codes of
/// errors are their classes, with the host's texts. A host has room for some thousand codes.
const MOST_STARTS: usize = 64;

/// Forgets the host's error codes, which end with the host.
pub(super) fn forget_codes() {
    IN_USE.lock().unwrap_or_else(PoisonError::into_inner).0 = None;
}

/// A code of the right class with the text of the error.
fn error_code(function: &'static str, class: Class, text: &str) -> c_int {
    let [function, text] = [function, text].map(|text| CString::new(text).unwrap_or_default());
    let mut in_use = IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
    let (all, starts) = &mut *in_use;
    if all.is_none() && *starts == MOST_STARTS {
        return error_class(class);
    }
    let Codes { codes, next } = all.get_or_insert_with(|| {
        *starts += 1;
        Codes::new()
    });
    let turn = &mut next[class.index()];
    let code = codes[class.index()][*turn];
    *turn = (*turn + 1) % CODES;
    // SAFETY: a code of `cg_new_code` with its class, and two strings.
    unsafe { sys::cg_code_with_text(code, error_class(class), function.as_ptr(), text.as_ptr()) }
}

fn error_class(class: Class) -> c_int {
    match class {
        Class::Comm => sys::CG_ERR_COMM,
        Class::Rank => sys::CG_ERR_RANK,
        Class::Topology => sys::CG_ERR_TOPOLOGY,
        Class::Dims => sys::CG_ERR_DIMS,
        Class::Arg => sys::CG_ERR_ARG,
        Class::Unsupported => sys::CG_ERR_UNSUPPORTED_OPERATION,
    }
}
