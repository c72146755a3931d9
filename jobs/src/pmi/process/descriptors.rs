//! Descriptors and processes that the standard library has no safe functions for.
#![allow(unsafe_code, reason = "a descriptor that is known by its number, and fork")]

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;

use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use nix::sys::signal::SigSet;
use nix::sys::wait::waitpid;
use nix::unistd::{ForkResult, close, dup2_stderr, dup2_stdin, dup2_stdout, fork, setsid};

/// The socket that this process has inherited with a number, which it no longer passes on.
pub(super) fn inherited(number: RawFd) -> io::Result<UnixStream> {
    if number <= 2 || fs::symlink_metadata(format!("/proc/self/fd/{number}")).is_err() {
        return Err(io::Error::other(format!("PMI_FD={number} is no descriptor")));
    }
    // SAFETY: it is open, and nothing else in this process owns it: the launcher has left it to the program.
    let socket = UnixStream::from(unsafe { OwnedFd::from_raw_fd(number) });
    fcntl(&socket, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
    Ok(socket)
}

/// Leaves a socket to the program, and returns its number.
pub(super) fn keep(socket: UnixStream) -> io::Result<RawFd> {
    fcntl(&socket, FcntlArg::F_SETFD(FdFlag::empty()))?;
    Ok(socket.into_raw_fd())
}

/// The number of a socket.
pub(super) fn number(socket: &UnixStream) -> RawFd {
    socket.as_raw_fd()
}

/// Runs `body` in another process. It is not a child of this one, since a program may wait for all its children, and
/// keeps only the descriptors in `kept`, so that pipes and terminals of the program close with the program.
pub(super) fn beside(kept: &[RawFd], body: impl FnOnce()) -> io::Result<()> {
    // SAFETY: this process has one thread, so the child may do anything.
    if let ForkResult::Parent { child } = unsafe { fork() }? {
        return match waitpid(child, None)? {
            nix::sys::wait::WaitStatus::Exited(_, 0) => Ok(()),
            status => Err(io::Error::other(format!("no relay: {status:?}"))),
        };
    }
    // A new session gets no signals of the job's group. All other signals are blocked.
    let is_alone = setsid().is_ok() && SigSet::all().thread_block().is_ok() && leave(kept).is_ok();
    // SAFETY: as above.
    match unsafe { fork() } {
        Ok(ForkResult::Child) if is_alone => body(),
        Ok(_) if is_alone => {}
        _ => exit(1),
    }
    exit(0)
}

/// Ends this process without the handlers of the one that it was forked from.
fn exit(code: i32) -> ! {
    // SAFETY: it does not return, and no destructor has to run.
    unsafe { nix::libc::_exit(code) }
}

/// Closes all descriptors of this process except some, and leaves its directory.
fn leave(kept: &[RawFd]) -> io::Result<()> {
    let nothing = File::options().read(true).write(true).open("/dev/null")?;
    dup2_stdin(&nothing)?;
    dup2_stdout(&nothing)?;
    dup2_stderr(&nothing)?;
    let open = fs::read_dir("/proc/self/fd")?;
    let open: Vec<RawFd> =
        open.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect();
    drop(nothing);
    for number in open.into_iter().filter(|number| *number > 2 && !kept.contains(number)) {
        let _ = close(number);
    }
    std::env::set_current_dir("/")
}
