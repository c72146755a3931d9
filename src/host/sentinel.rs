//! The sentinels for unwanted weights: addresses that the host defines, in some hosts only at run time. They are
//! compared, never read.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::sys;

/// The addresses that stand for `MPI_UNWEIGHTED` and `MPI_WEIGHTS_EMPTY` in one language.
pub(crate) struct Sentinels<const N: usize> {
    /// The lowest and the highest of them. Most addresses that programs pass are outside this range.
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

    /// True if an address is one of these. Only if there is a topology: before that, they are unknown.
    #[inline(always)]
    pub(crate) fn has(&self, address: *const c_int) -> bool {
        let address = address.addr();
        // The program has created the topology before it queries it; nothing else must be ordered.
        self.lowest.load(Ordering::Relaxed) <= address
            && address <= self.highest.load(Ordering::Relaxed)
            && self.all.iter().any(|one| one.load(Ordering::Relaxed) == address)
    }

    /// Gets all sentinels from `find`. In C, null may be a sentinel (SMPI's `MPI_UNWEIGHTED`); in Fortran, it marks a missing
    /// one.
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

/// Asks the host once, before the first topology can be queried.
pub(super) fn learn() {
    static LEARNT: Once = Once::new();
    LEARNT.call_once(|| {
        OF_C.learn(sys::cg_weights_sentinels, true);
        OF_FORTRAN.learn(sys::cg_fortran_weights_sentinels, false);
    });
}
