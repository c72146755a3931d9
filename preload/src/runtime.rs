//! A stand-in for the standard library: memory from libc, and the end of a panic.

use core::alloc::{GlobalAlloc, Layout};
use core::panic::PanicInfo;

struct Malloc;

#[global_allocator]
static MALLOC: Malloc = Malloc;

/// The alignment of `malloc`.
const ALIGNED: usize = align_of::<libc::max_align_t>();

// SAFETY: libc's functions meet an allocator's contract.
unsafe impl GlobalAlloc for Malloc {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() <= ALIGNED {
            // SAFETY: any size.
            return unsafe { libc::malloc(layout.size()) }.cast();
        }
        let mut found = core::ptr::null_mut();
        // SAFETY: a place for the result, and a power of two above that of a pointer.
        match unsafe { libc::posix_memalign(&mut found, layout.align(), layout.size()) } {
            0 => found.cast(),
            _ => core::ptr::null_mut(),
        }
    }

    unsafe fn dealloc(&self, memory: *mut u8, _layout: Layout) {
        // SAFETY: it came from `alloc`.
        unsafe { libc::free(memory.cast()) }
    }
}

#[panic_handler]
fn panic(info: &PanicInfo) -> ! {
    crate::message::say(format_args!("{info}"));
    // SAFETY: ends the process.
    unsafe { libc::abort() }
}

// The toolchain's compiled `alloc` references these two for unwinding panics, which never occur: the handler above ends
// the process.
#[cfg(target_arch = "x86_64")]
macro_rules! trap {
    () => {
        "ud2"
    };
}
#[cfg(target_arch = "aarch64")]
macro_rules! trap {
    () => {
        "brk #1"
    };
}
core::arch::global_asm!(
    ".globl rust_eh_personality",
    ".hidden rust_eh_personality",
    "rust_eh_personality:",
    ".globl _Unwind_Resume",
    ".hidden _Unwind_Resume",
    "_Unwind_Resume:",
    trap!(),
);
