//! Files: reads parts of them before anything is loaded. A failure differs from a missing file: only the latter
//! is the same in all processes of a job.

use alloc::borrow::ToOwned;
use alloc::ffi::CString;
use alloc::string::String;
use alloc::vec::Vec;
use core::ffi::{CStr, c_int};
use core::fmt::{self, Display, Formatter};
use core::ptr::NonNull;

/// Why a call of the system failed: the value of `errno`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Errno(c_int);

pub(crate) type Result<T> = core::result::Result<T, Errno>;

impl Errno {
    /// No such file.
    pub(crate) const ABSENT: Self = Self(libc::ENOENT);

    /// The value of this thread's last call.
    fn last() -> Self {
        // SAFETY: the thread's own.
        Self(unsafe { *libc::__errno_location() })
    }

    /// True if there is no such file.
    pub(crate) fn is_absence(self) -> bool {
        [Self::ABSENT.0, libc::ENOTDIR].contains(&self.0)
    }

    /// True if this user may not use the file.
    pub(crate) fn is_denial(self) -> bool {
        self.0 == libc::EACCES
    }
}

impl Display for Errno {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        let mut text = [0u8; 128];
        // SAFETY: a buffer of this length, which is filled with a string.
        unsafe { libc::strerror_r(self.0, text.as_mut_ptr().cast(), text.len()) };
        match CStr::from_bytes_until_nul(&text).ok().and_then(|text| text.to_str().ok()) {
            Some(text) if !text.is_empty() => to.write_str(text),
            _ => write!(to, "error {}", self.0),
        }
    }
}

/// Repeats a system call as long as a signal interrupts it, which happens on some file systems.
fn uninterrupted(mut call: impl FnMut() -> isize) -> isize {
    loop {
        let answer = call();
        if answer >= 0 || Errno::last() != Errno(libc::EINTR) {
            return answer;
        }
    }
}

/// An open file.
pub(crate) struct File(c_int);

impl File {
    /// Opens a file for reading.
    pub(crate) fn open(path: &CStr) -> Result<Self> {
        let flags = libc::O_RDONLY | libc::O_CLOEXEC;
        // SAFETY: a string.
        let file = uninterrupted(|| unsafe { libc::open(path.as_ptr(), flags) } as isize);
        if file < 0 { Err(Errno::last()) } else { Ok(Self(file as c_int)) }
    }

    /// The whole content.
    pub(crate) fn read(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut part = [0u8; 4096];
        loop {
            // SAFETY: an open file, and a buffer of that length.
            let read = || unsafe { libc::read(self.0, part.as_mut_ptr().cast(), part.len()) };
            let length = uninterrupted(read);
            match length {
                1.. => bytes.extend(&part[..length as usize]),
                0 => return Ok(bytes),
                _ => return Err(Errno::last()),
            }
        }
    }

    /// Its owner, its permissions, and its size.
    pub(crate) fn status(&self) -> Result<libc::stat> {
        // SAFETY: all fields may be zero.
        let mut status: libc::stat = unsafe { core::mem::zeroed() };
        // SAFETY: an open file, and a place for the result.
        match unsafe { libc::fstat(self.0, &raw mut status) } {
            0 => Ok(status),
            _ => Err(Errno::last()),
        }
    }

    /// The whole content as a mapping: only the parts that are read come into memory.
    pub(crate) fn map(&self) -> Result<Map> {
        let length = self.status()?.st_size as usize;
        if length == 0 {
            return Err(Errno(libc::ENOEXEC));
        }
        // SAFETY: a new mapping at an address that the system chooses.
        let start = unsafe {
            libc::mmap(core::ptr::null_mut(), length, libc::PROT_READ, libc::MAP_PRIVATE, self.0, 0)
        };
        if start == libc::MAP_FAILED {
            return Err(Errno::last());
        }
        Ok(Map { start: NonNull::new(start.cast()).ok_or(Errno(libc::ENOMEM))?, length })
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

/// The names in a directory, except those that start with a dot.
pub(crate) fn names(directory: &CStr) -> Result<Vec<String>> {
    let mut names = Vec::new();
    // SAFETY: a string.
    let open = NonNull::new(unsafe { libc::opendir(directory.as_ptr()) });
    let open = open.ok_or_else(Errno::last)?;
    let ended = loop {
        // SAFETY: the thread's own.
        unsafe { *libc::__errno_location() = 0 };
        // SAFETY: an open directory, which no other thread has.
        let Some(entry) = NonNull::new(unsafe { libc::readdir(open.as_ptr()) }) else {
            break Errno::last();
        };
        // SAFETY: a string in the entry, which stays until the next is read.
        let name = unsafe { CStr::from_ptr((&raw const (*entry.as_ptr()).d_name).cast()) };
        if let Ok(name) = name.to_str()
            && !name.starts_with('.')
        {
            names.push(name.into());
        }
    };
    // SAFETY: it was opened here.
    unsafe { libc::closedir(open.as_ptr()) };
    if ended == Errno(0) { Ok(names) } else { Err(ended) }
}

/// The file without symbolic links.
pub(crate) fn real(path: &CStr) -> Result<CString> {
    // SAFETY: a string; the result is allocated.
    let found = unsafe { libc::realpath(path.as_ptr(), core::ptr::null_mut()) };
    if found.is_null() {
        return Err(Errno::last());
    }
    // SAFETY: the string is ours, and not used after it is freed.
    let text = unsafe { CStr::from_ptr(found) }.to_owned();
    // SAFETY: as above.
    unsafe { libc::free(found.cast()) };
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_read() {
        assert!(names(c"/proc/self").unwrap().contains(&"exe".into()));
    }

    #[test]
    fn an_absent_file_differs_from_one_that_cannot_be_read() {
        for absent in [c"/proc/self/none", c"/proc/self/exe/none"] {
            assert!(File::open(absent).is_err_and(Errno::is_absence));
            assert!(names(absent).is_err_and(Errno::is_absence));
        }
        let fault = File::open(c"/proc/self").unwrap().read().unwrap_err();
        assert!(!fault.is_absence());
        assert_eq!(format!("{fault}"), "Is a directory");
    }
}
