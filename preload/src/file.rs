//! Files: reads parts of them before anything is loaded.

use alloc::borrow::ToOwned;
use alloc::ffi::CString;
use alloc::string::String;
use alloc::vec::Vec;
use core::ffi::{CStr, c_int};
use core::ptr::NonNull;

/// Repeats a system call as long as a signal interrupts it, which happens on some file systems.
fn uninterrupted(mut call: impl FnMut() -> isize) -> isize {
    loop {
        let answer = call();
        // SAFETY: the thread's own.
        if answer >= 0 || unsafe { *libc::__errno_location() } != libc::EINTR {
            return answer;
        }
    }
}

/// An open file.
pub(crate) struct File(c_int);

impl File {
    /// Opens a file for reading.
    pub(crate) fn open(path: &CStr) -> Option<Self> {
        let flags = libc::O_RDONLY | libc::O_CLOEXEC;
        // SAFETY: a string.
        let file = uninterrupted(|| unsafe { libc::open(path.as_ptr(), flags) } as isize);
        (file >= 0).then_some(Self(file as c_int))
    }

    /// The whole content.
    pub(crate) fn read(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut part = [0u8; 4096];
        loop {
            // SAFETY: an open file, and a buffer of that length.
            let read = || unsafe { libc::read(self.0, part.as_mut_ptr().cast(), part.len()) };
            let length = uninterrupted(read);
            match usize::try_from(length) {
                Ok(1..) => bytes.extend(&part[..length as usize]),
                _ => return bytes,
            }
        }
    }

    /// Its owner, its permissions, and its size.
    pub(crate) fn status(&self) -> Option<libc::stat> {
        // SAFETY: all fields may be zero.
        let mut status: libc::stat = unsafe { core::mem::zeroed() };
        // SAFETY: an open file, and a place for the result.
        (unsafe { libc::fstat(self.0, &raw mut status) } == 0).then_some(status)
    }

    /// The whole content as a mapping: only the parts that are read come into memory.
    pub(crate) fn map(&self) -> Option<Map> {
        let length = usize::try_from(self.status()?.st_size).ok().filter(|&length| length > 0)?;
        // SAFETY: a new mapping, where the system likes.
        let start = unsafe {
            libc::mmap(core::ptr::null_mut(), length, libc::PROT_READ, libc::MAP_PRIVATE, self.0, 0)
        };
        (start != libc::MAP_FAILED).then_some(Map { start: NonNull::new(start.cast())?, length })
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // SAFETY: it was opened here and is closed once.
        unsafe { libc::close(self.0) };
    }
}

/// A file's bytes in memory.
pub(crate) struct Map {
    start: NonNull<u8>,
    length: usize,
}

impl AsRef<[u8]> for Map {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: mapped until this is dropped. Installed libraries are replaced, not written to.
        unsafe { core::slice::from_raw_parts(self.start.as_ptr(), self.length) }
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: it was mapped here, and nothing borrows it any more.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
    }
}

/// The names in a directory, except those that start with a dot; none if it cannot be read.
pub(crate) fn names(directory: &CStr) -> Vec<String> {
    let mut names = Vec::new();
    // SAFETY: a string.
    let Some(open) = NonNull::new(unsafe { libc::opendir(directory.as_ptr()) }) else {
        return names;
    };
    // SAFETY: an open directory, which no other thread has.
    let next = || NonNull::new(unsafe { libc::readdir(open.as_ptr()) });
    while let Some(entry) = next() {
        // SAFETY: a string in the entry, which stays until the next is read.
        let name = unsafe { CStr::from_ptr((&raw const (*entry.as_ptr()).d_name).cast()) };
        if let Ok(name) = name.to_str()
            && !name.starts_with('.')
        {
            names.push(name.into());
        }
    }
    // SAFETY: it was opened here.
    unsafe { libc::closedir(open.as_ptr()) };
    names
}

/// The file without symbolic links.
pub(crate) fn real(path: &CStr) -> Option<CString> {
    // SAFETY: a string; the result is allocated.
    let found = unsafe { libc::realpath(path.as_ptr(), core::ptr::null_mut()) };
    if found.is_null() {
        return None;
    }
    // SAFETY: a string that is ours, and not used after it is freed.
    let text = unsafe { CStr::from_ptr(found) }.to_owned();
    // SAFETY: as above.
    unsafe { libc::free(found.cast()) };
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_read() {
        assert!(names(c"/proc/self").contains(&"exe".into()));
        assert!(names(c"/proc/self/exe").is_empty());
    }
}
