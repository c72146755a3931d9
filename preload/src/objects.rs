//! The objects that the process has loaded, as listed by the loader.

use alloc::borrow::ToOwned;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::ffi::CString;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use core::ffi::{CStr, c_int, c_void};
use core::ops::Range;

use goblin::elf::dynamic::{DT_NEEDED, DT_NULL, DT_SONAME, DT_STRTAB};

use goblin::elf64::dynamic::Dyn;

/// A mapped program or shared library.
pub(crate) struct Object {
    /// The file name in the loader's list; empty for the program.
    pub(crate) path: CString,
    /// Its addresses, from the first to the last segment.
    pub(crate) range: Range<usize>,
    pub(crate) soname: Option<String>,
    needed: Vec<String>,
}

impl Object {
    /// The file, for messages.
    pub(crate) fn shown(&self) -> String {
        if self.path.is_empty() {
            return "the program".to_string();
        }
        self.path.to_string_lossy().into_owned()
    }

    /// The names by which other objects need it.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let file = self.path.to_str().ok().and_then(|path| path.rsplit('/').next());
        self.soname.as_deref().into_iter().chain(file.filter(|file| !file.is_empty()))
    }
}

/// All of them, in the order of the loader's list: the program, preloaded objects, their dependencies, and then objects
/// that were loaded later.
pub(crate) struct Objects(pub(crate) Vec<Object>);

impl Objects {
    /// The objects that are mapped now.
    pub(crate) fn mapped() -> Self {
        let mut all = Self(Vec::new());
        // SAFETY: the callback has the expected arguments.
        unsafe { libc::dl_iterate_phdr(Some(add), (&raw mut all).cast()) };
        all
    }

    /// The object that contains an address.
    pub(crate) fn at(&self, address: usize) -> Option<usize> {
        self.0.iter().position(|object| object.range.contains(&address))
    }

    /// The first object needed by this name, which is the one that the loader takes.
    pub(crate) fn named(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|object| object.names().any(|own| own == name))
    }

    /// The names of the libraries that need one of this name.
    pub(crate) fn needing<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let need = self.0.iter().filter(move |object| object.needed.iter().any(|own| own == name));
        need.filter_map(|object| object.soname.as_deref())
    }

    /// The number of objects that existed when the program started. They stay as long as it runs.
    pub(crate) fn at_start(&self) -> usize {
        let names = self.by_name();
        let first = self.0.first().map_or(&[][..], |program| &program.needed);
        let first = first.iter().filter_map(|name| names.get(name.as_str())).min();
        // Preloaded libraries are between the program and its dependencies.
        let preloaded = first.map_or(1, |&first| first.max(1));
        self.closure(&(0..preloaded).collect::<Vec<_>>(), &names)
            .into_iter()
            .max()
            .map_or(0, |last| last + 1)
    }

    /// For the caller `object`, which was loaded later: the first of `those` that the loader searches for a name. It
    /// searches the objects that were loaded together, which one object needs directly or indirectly.
    pub(crate) fn in_scope(&self, object: usize, those: &[usize]) -> Option<usize> {
        let names = self.by_name();
        let start = self.at_start().min(object);
        (start..=object).find_map(|root| {
            let together = self.closure(&[root], &names);
            let first = together.iter().find(|found| those.contains(found));
            first.filter(|_| together.contains(&object)).copied()
        })
    }

    /// These objects and all their dependencies, nearest first.
    fn closure(&self, these: &[usize], names: &BTreeMap<&str, usize>) -> Vec<usize> {
        let mut seen = vec![false; self.0.len()];
        let mut found = Vec::new();
        let mut waiting: VecDeque<usize> = these.iter().copied().collect();
        while let Some(next) = waiting.pop_front() {
            if core::mem::replace(&mut seen[next], true) {
                continue;
            }
            found.push(next);
            waiting.extend(self.0[next].needed.iter().filter_map(|name| names.get(name.as_str())));
        }
        found
    }

    /// The first object of each name.
    fn by_name(&self) -> BTreeMap<&str, usize> {
        let mut names = BTreeMap::new();
        for (index, object) in self.0.iter().enumerate() {
            for name in object.names() {
                names.entry(name).or_insert(index);
            }
        }
        names
    }
}

/// Adds one object. The loader calls this under its lock, so the object stays mapped meanwhile.
unsafe extern "C" fn add(info: *mut libc::dl_phdr_info, _size: usize, all: *mut c_void) -> c_int {
    // SAFETY: the argument of `mapped`, and the loader's description.
    let (all, info) = unsafe { (&mut *all.cast::<Objects>(), &*info) };
    let path = match info.dlpi_name.is_null() {
        true => CString::default(),
        // SAFETY: the loader's string.
        false => unsafe { CStr::from_ptr(info.dlpi_name) }.to_owned(),
    };
    // SAFETY: the loader's array of program headers.
    let headers = unsafe { core::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
    let base = info.dlpi_addr as usize;
    let segments = headers.iter().filter(|header| header.p_type == libc::PT_LOAD);
    let ends = segments.map(|header| {
        let start = base.wrapping_add(header.p_vaddr as usize);
        start..start.wrapping_add(header.p_memsz as usize)
    });
    let range = ends
        .reduce(|all, next| all.start.min(next.start)..all.end.max(next.end))
        .unwrap_or_default();
    let (mut soname, mut needed) = (None, Vec::new());
    if let Some(header) = headers.iter().find(|header| header.p_type == libc::PT_DYNAMIC) {
        // SAFETY: a loaded object's dynamic section is mapped, and ends with DT_NULL.
        unsafe {
            read_dynamic(base, base.wrapping_add(header.p_vaddr as usize), &mut soname, &mut needed)
        };
    }
    all.0.push(Object { path, range, soname, needed });
    0
}

/// # Safety
///
/// `address` is that of the dynamic section of an object that is loaded at `base`.
unsafe fn read_dynamic(
    base: usize,
    address: usize,
    soname: &mut Option<String>,
    needed: &mut Vec<String>,
) {
    // SAFETY: as the caller promises.
    let entries = || unsafe {
        let first = address as *const Dyn;
        (0..).map(move |index| *first.add(index)).take_while(|entry| entry.d_tag != DT_NULL)
    };
    let Some(strings) = entries().find(|entry| entry.d_tag == DT_STRTAB) else { return };
    // The loader relocates this to an address, unless the section is read-only.
    let strings = match strings.d_val as usize {
        offset if offset < base => base + offset,
        address => address,
    };
    for entry in entries() {
        // SAFETY: offsets into the object's table of strings.
        let text = || unsafe { CStr::from_ptr((strings + entry.d_val as usize) as *const _) };
        match entry.d_tag {
            DT_SONAME => *soname = Some(text().to_string_lossy().into_owned()),
            DT_NEEDED => needed.push(text().to_string_lossy().into_owned()),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(name: &str, needed: &[&str]) -> Object {
        Object {
            path: CString::new(if name.is_empty() { "".into() } else { format!("/lib/{name}") })
                .unwrap(),
            range: 0..0,
            soname: (!name.is_empty()).then(|| name.to_owned()),
            needed: needed.iter().map(|&name| name.to_owned()).collect(),
        }
    }

    #[test]
    fn objects_loaded_at_the_start_are_known() {
        let mut all = Objects(vec![
            object("", &["libc.so.6"]),
            object("libtool.so", &["libmpi.so.40", "libc.so.6"]),
            object("libcartograph.so.0", &["libc.so.6"]),
            object("libc.so.6", &["ld.so"]),
            object("libmpi.so.40", &["libc.so.6"]),
            object("ld.so", &[]),
        ]);
        assert_eq!(all.at_start(), 6);
        all.0.push(object("plugin.so", &["libmpi.so.12"]));
        all.0.push(object("libmpi.so.12", &["libc.so.6"]));
        assert_eq!(all.at_start(), 6);
    }

    #[test]
    fn callers_get_the_library_loaded_with_them() {
        let all = Objects(vec![
            object("", &["libc.so.6"]),
            object("libc.so.6", &[]),
            object("one.so", &["libmpi.so.12", "helper.so"]),
            object("libmpi.so.12", &["libc.so.6"]),
            object("helper.so", &[]),
            object("two.so", &["between.so"]),
            object("between.so", &["libmpi.so.40", "libc.so.6"]),
            object("libmpi.so.40", &["libc.so.6"]),
            object("three.so", &["libc.so.6"]),
        ]);
        let found = |caller: usize| all.in_scope(caller, &[3, 7]);
        assert_eq!(found(2), Some(3));
        assert_eq!(found(4), Some(3), "a helper without needed MPI, beside it");
        assert_eq!(found(5), Some(7), "through another library");
        assert_eq!(found(6), Some(7));
        assert_eq!(found(8), None);
    }

    #[test]
    fn objects_of_this_process_are_found() {
        let all = Objects::mapped();
        assert!(all.0[0].path.is_empty());
        let libc = all.named("libc.so.6").unwrap();
        assert_eq!(all.at(libc::getpid as *const () as usize), Some(libc));
        assert_eq!(all.at(objects_of_this_process_are_found as *const () as usize), Some(0));
        assert!(all.at_start() > libc);
    }
}
