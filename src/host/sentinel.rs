//! The sentinels that stand for weights that are not wanted: addresses that the host says, in some
//! hosts only once it runs. They are compared, never read.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::sys;

/// The addresses of one language that stand for `MPI_UNWEIGHTED` and `MPI_WEIGHTS_EMPTY`.
pub(crate) struct Sentinels<const N: usize> {
    /// All lie from here to the highest. Most addresses that programs pass do not.
    lowest: AtomicUsize,
    highest: AtomicUsize,
    /// All, and then zeros.
    all: [AtomicUsize; N],
}

/// The sentinels of C.
pub(crate) static OF_C: Sentinels<{ sys::CG_WEIGHTS_SENTINELS as usize }> = Sentinels::none();
/// The sentinels of Fortran.
pub(crate) static OF_FORTRAN: Sentinels<{ sys::CG_FORTRAN_WEIGHTS_SENTINELS as usize }> =
    Sentinels::none();

impl<const N: usize> Sentinels<N> {
    const fn none() -> Self {
        Self {
            lowest: AtomicUsize::new(usize::MAX),
            highest: AtomicUsize::new(0),
            all: [const { AtomicUsize::new(0) }; N],
        }
    }

    /// Returns whether an address is one of these. Only where there is a topology: before, they are not known.
    #[inline(always)]
    pub(crate) fn has(&self, address: *const c_int) -> bool {
        let address = address.addr();
        // The program has made the topology before it asks about it; nothing else is to be ordered.
        self.lowest.load(Ordering::Relaxed) <= address
            && address <= self.highest.load(Ordering::Relaxed)
            && self.all.iter().any(|one| one.load(Ordering::Relaxed) == address)
    }

    /// Asks `find` for all; null is a sentinel in C (SMPI's `MPI_UNWEIGHTED`), and marks a missing one in Fortran.
    fn learn(&self, find: unsafe extern "C" fn(*mut *const c_void), with_null: bool) {
        let mut found = [ptr::null(); N];
        // SAFETY: an array of the length that the function is declared with.
        unsafe { find(found.as_mut_ptr()) };
        let addresses = || found.iter().map(|one| one.addr()).filter(|one| with_null || *one != 0);
        for (place, address) in self.all.iter().zip(addresses()) {
            place.store(address, Ordering::Relaxed);
        }
        self.lowest.store(addresses().min().unwrap_or(usize::MAX), Ordering::Relaxed);
        self.highest.store(addresses().max().unwrap_or(0), Ordering::Relaxed);
    }
}

/// Asks the host, once. Before the first topology can be asked about.
pub(super) fn learn() {
    static LEARNT: Once = Once::new();
    LEARNT.call_once(|| {
        OF_C.learn(sys::cg_weights_sentinels, true);
        OF_FORTRAN.learn(sys::cg_fortran_weights_sentinels, false);
    });
}
