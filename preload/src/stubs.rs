//! The exported names, each a jump to its target.
//!
//! The arguments of functions are unknown here: handles are numbers on one MPI and pointers on another. So all
//! registers and the stack are passed on unchanged.

use core::arch::naked_asm;
use core::ffi::CStr;
use core::sync::atomic::AtomicPtr;

/// The target of each name; null until [`resolve`](crate::resolve::resolve) has found it. Initially zero, so that a
/// process that calls no function does not touch it.
pub(crate) static SLOTS: [AtomicPtr<()>; COUNT] =
    [const { AtomicPtr::new(core::ptr::null_mut()) }; COUNT];

#[cfg(target_arch = "x86_64")]
macro_rules! stub {
    ($index:literal) => {
        naked_asm!(
            "mov rax, qword ptr [rip + {slots} + {offset}]",
            "test rax, rax",
            "je 2f",
            "jmp rax",
            "2: mov eax, {index}",
            "jmp {ask}",
            slots = sym SLOTS,
            offset = const 8 * $index,
            index = const $index,
            ask = sym ask,
        )
    };
}

/// Asks for the target of the name with the index in `eax` and jumps there, with all of the caller's arguments.
/// Arguments are integers and pointers, six of which are in registers.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
unsafe extern "C" fn ask() {
    naked_asm!(
        ".cfi_startproc",
        "push rdi",
        "push rsi",
        "push rdx",
        "push rcx",
        "push r8",
        "push r9",
        "sub rsp, 8",
        ".cfi_adjust_cfa_offset 56",
        "mov edi, eax",
        "mov rsi, qword ptr [rsp + 56]",
        "call {resolve}",
        "add rsp, 8",
        "pop r9",
        "pop r8",
        "pop rcx",
        "pop rdx",
        "pop rsi",
        "pop rdi",
        ".cfi_adjust_cfa_offset -56",
        "jmp rax",
        ".cfi_endproc",
        resolve = sym crate::resolve::resolve,
    )
}

#[cfg(target_arch = "aarch64")]
macro_rules! stub {
    ($index:literal) => {
        naked_asm!(
            "adrp x16, {slots} + {offset}",
            "add x16, x16, :lo12:{slots} + {offset}",
            "ldar x16, [x16]",
            "cbz x16, 2f",
            "br x16",
            "2: mov w16, {index}",
            "b {ask}",
            slots = sym SLOTS,
            offset = const 8 * $index,
            index = const $index,
            ask = sym ask,
        )
    };
}

/// Asks for the target of the name with the index in `w16` and jumps there, with all of the caller's arguments.
/// Arguments are integers and pointers, eight of which are in registers; `x8` would hold the address of a result.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
unsafe extern "C" fn ask() {
    naked_asm!(
        ".cfi_startproc",
        "stp x29, x30, [sp, -96]!",
        ".cfi_def_cfa_offset 96",
        ".cfi_offset x29, -96",
        ".cfi_offset x30, -88",
        "mov x29, sp",
        "stp x0, x1, [sp, 16]",
        "stp x2, x3, [sp, 32]",
        "stp x4, x5, [sp, 48]",
        "stp x6, x7, [sp, 64]",
        "str x8, [sp, 80]",
        "mov w0, w16",
        "mov x1, x30",
        "bl {resolve}",
        "mov x16, x0",
        "ldp x0, x1, [sp, 16]",
        "ldp x2, x3, [sp, 32]",
        "ldp x4, x5, [sp, 48]",
        "ldp x6, x7, [sp, 64]",
        "ldr x8, [sp, 80]",
        "ldp x29, x30, [sp], 96",
        ".cfi_def_cfa_offset 0",
        ".cfi_restore x29",
        ".cfi_restore x30",
        "br x16",
        ".cfi_endproc",
        resolve = sym crate::resolve::resolve,
    )
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
compile_error!(
    "the library to preload for every MPI is written for x86_64 and aarch64; \
     on other processors preload the library of the MPI itself"
);

macro_rules! stubs {
    ($($index:literal $name:literal,)*) => {
        /// The number of names.
        pub(crate) const COUNT: usize = [$($name),*].len();

        /// The names, each terminated by a zero. As one text they need no pointers, which the loader would have to
        /// write in every process.
        static NAMES: &str = concat!($($name, "\0"),*);

        $(const _: () = {
            #[unsafe(naked)]
            #[unsafe(export_name = $name)]
            unsafe extern "C" fn named() {
                stub!($index)
            }
        };)*
    };
}

include!(concat!(env!("OUT_DIR"), "/stubs.rs"));

/// The name with this index.
pub(crate) fn name(index: usize) -> &'static CStr {
    let name = NAMES.split_inclusive('\0').nth(index).unwrap_or("\0");
    CStr::from_bytes_with_nul(name.as_bytes()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_by_their_indices() {
        let names: Vec<&CStr> = (0..COUNT).map(name).collect();
        assert_eq!(names[0], c"MPIX_Neighbor_allgather_init");
        assert_eq!(names[1], c"PMPIX_Neighbor_allgather_init");
        assert_eq!(names[COUNT - 4], c"pmpi_topo_test__");
        assert_eq!(*names.last().unwrap(), c"cartograph_plan");
        assert!(names.iter().all(|name| !name.is_empty()));
    }
}
