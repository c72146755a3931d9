//! Whether the program, one of its libraries or its MPI is linked with this library, or was only given it by a preload.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::slice;
use std::sync::OnceLock;

use goblin::elf64::dynamic::{DT_NEEDED, DT_NULL, DT_SONAME, DT_STRTAB, Dyn};
use libc::{dl_phdr_info, size_t};

/// The start of the names of this project's libraries.
const OWN: &[u8] = b"libcartograph";

/// True if somebody chose this library for the program when it was linked: the archive is in the program, in its MPI or
/// in another library, or one of these names the shared library as a dependency. The same for the whole run: what is
/// loaded after the first call does not count.
pub(in crate::host) fn is_linked() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let mut found = false;
        // SAFETY: the callback fits, and gets a place that outlives the call.
        unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut found).cast()) };
        found
    })
}

/// Looks at a loaded object; ends the search if it shows that this library is linked.
unsafe extern "C" fn look(info: *mut dl_phdr_info, _size: size_t, found: *mut c_void) -> c_int {
    // SAFETY: the loader's description of an object, which stays loaded during this call.
    let object = unsafe { Object::new(&*info) };
    let shows_it = object.is_some_and(|object| match object.is_own_library() {
        true => false,
        false => object.contains(is_linked as *const () as usize) || object.needs_own(),
    });
    // SAFETY: the place that `is_linked` passes.
    unsafe { found.cast::<bool>().write(shows_it) };
    shows_it.into()
}

/// A loaded object.
struct Object<'a> {
    base: usize,
    headers: &'a [libc::Elf64_Phdr],
    /// Its dynamic section, if it has one.
    entries: &'a [Dyn],
    /// The strings that the entries name.
    strings: *const c_char,
}

impl<'a> Object<'a> {
    /// # Safety
    ///
    /// `info` describes a loaded object.
    unsafe fn new(info: &'a dl_phdr_info) -> Option<Self> {
        if info.dlpi_phdr.is_null() {
            return None;
        }
        // SAFETY: the loader has the object's program headers in memory.
        let headers = unsafe { slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
        let base = info.dlpi_addr as usize;
        let mut object = Self { base, headers, entries: &[], strings: std::ptr::null() };
        let Some(dynamic) = headers.iter().find(|header| header.p_type == libc::PT_DYNAMIC) else {
            return Some(object);
        };
        let at = base.wrapping_add(dynamic.p_vaddr as usize) as *const Dyn;
        let most = dynamic.p_memsz as usize / size_of::<Dyn>();
        // SAFETY: the dynamic section is part of a loaded segment.
        let entries = unsafe { slice::from_raw_parts(at, most) };
        let end = entries.iter().position(|entry| entry.d_tag == DT_NULL).unwrap_or(most);
        object.entries = &entries[..end];
        let strings = object.values(DT_STRTAB).next()? as usize;
        // Some loaders replace the offset by the address, others do not.
        let is_address = base == 0 || strings >= base;
        object.strings = (if is_address { strings } else { base + strings }) as *const c_char;
        Some(object)
    }

    /// The values of all entries of a kind.
    fn values(&self, kind: u64) -> impl Iterator<Item = u64> + use<'a> {
        let entries = self.entries.iter();
        entries.filter(move |entry| entry.d_tag == kind).map(|entry| entry.d_val)
    }

    /// The strings that all entries of a kind name.
    fn names(&self, kind: u64) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let strings = self.strings;
        // SAFETY: an offset into the object's string table, which is loaded, as the linker wrote it.
        let name = move |at| unsafe { CStr::from_ptr(strings.add(at as usize)) }.to_bytes();
        self.values(kind).map(name)
    }

    /// True if this is a shared library of this project.
    fn is_own_library(&self) -> bool {
        self.names(DT_SONAME).any(|name| name.starts_with(OWN))
    }

    /// True if it was linked with a shared library of this project.
    fn needs_own(&self) -> bool {
        let file = |path: &'a [u8]| path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        self.names(DT_NEEDED).any(|name| file(name).starts_with(OWN))
    }

    /// True if an address is in the object.
    fn contains(&self, address: usize) -> bool {
        let loaded = self.headers.iter().filter(|header| header.p_type == libc::PT_LOAD);
        let mut offsets = loaded.map(|header| (header.p_vaddr as usize, header.p_memsz as usize));
        offsets.any(|(offset, size)| address.wrapping_sub(self.base.wrapping_add(offset)) < size)
    }
}
