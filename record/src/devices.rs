//! The device that a process uses, from the libraries that it has loaded. Nothing is loaded or initialized.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::fs;
use std::path::Path;

use cartograph_traffic::Device;

/// The room for a place on the PCI bus, such as `0000:3b:00.0`.
const BUS_ROOM: usize = 32;

/// No node has more devices of a kind.
const MOST: u32 = 1024;

/// Gets the device of the calling thread.
type Get = unsafe extern "C" fn(*mut c_int) -> c_int;
/// Gets the number of devices.
type GetCount = unsafe extern "C" fn(*mut c_int) -> c_int;
/// Writes the place of a device on the bus, into as much room as given.
type GetBus = unsafe extern "C" fn(*mut c_char, c_int, c_int) -> c_int;
/// Gets the flags of a device's primary context, and whether the process uses it.
type GetState = unsafe extern "C" fn(c_int, *mut c_uint, *mut c_int) -> c_int;

/// A library of devices.
struct Library {
    /// Its file names, the newest first.
    files: &'static [&'static CStr],
    /// The node of the driver that a process has open once it uses devices, if the functions below would otherwise
    /// initialize the library.
    driver: Option<&'static str>,
    get: &'static CStr,
    get_count: &'static CStr,
    get_bus: &'static CStr,
    /// If threads have a device only once they have chosen one.
    get_state: Option<&'static CStr>,
}

/// CUDA's driver, on which its runtime is built, and HIP. Level Zero has no notion of the device of a process.
const LIBRARIES: [Library; 2] = [
    Library {
        files: &[c"libcuda.so.1"],
        driver: None,
        get: c"cuCtxGetDevice",
        get_count: c"cuDeviceGetCount",
        get_bus: c"cuDeviceGetPCIBusId",
        get_state: Some(c"cuDevicePrimaryCtxGetState"),
    },
    Library {
        files: &[c"libamdhip64.so.7", c"libamdhip64.so.6", c"libamdhip64.so.5"],
        driver: Some("/dev/kfd"),
        get: c"hipGetDevice",
        get_count: c"hipGetDeviceCount",
        get_bus: c"hipDeviceGetPCIBusId",
        get_state: None,
    },
];

/// The device that this process uses; `None` if it uses none.
pub(crate) fn used() -> Option<Device> {
    LIBRARIES.iter().find_map(Library::used)
}

/// True if this process has a file open.
fn has_open(path: &str) -> bool {
    let Ok(open) = fs::read_dir("/proc/self/fd") else { return false };
    let is_it = |target: &Path| target == Path::new(path);
    open.flatten().any(|entry| fs::read_link(entry.path()).is_ok_and(|target| is_it(&target)))
}

impl Library {
    fn used(&self) -> Option<Device> {
        // SAFETY: strings; finds a library only if it is loaded.
        let open = |file: &&CStr| unsafe {
            libc::dlopen(file.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD)
        };
        let library = self.files.iter().map(open).find(|library| !library.is_null())?;
        if !self.driver.is_none_or(has_open) {
            return None;
        }
        // The handle stays open: the library stays as loaded as it was.
        let find = |name: &CStr| {
            // SAFETY: a library that is loaded, and a string.
            let found = unsafe { libc::dlsym(library, name.as_ptr()) };
            (!found.is_null()).then_some(found)
        };
        // SAFETY: the function of this name is of this type.
        let get_count: GetCount =
            unsafe { std::mem::transmute::<*mut c_void, GetCount>(find(self.get_count)?) };
        let mut visible = 0;
        // SAFETY: a place for the result; the library returns an error unless it is initialized.
        if unsafe { get_count(&raw mut visible) } != 0 {
            return None;
        }
        let visible = u32::try_from(visible).ok().filter(|count| (1..=MOST).contains(count))?;
        let number = self.of_thread(find).or_else(|| self.only_active(visible, find))?;
        // SAFETY: the function of this name is of this type.
        let get_bus: GetBus =
            unsafe { std::mem::transmute::<*mut c_void, GetBus>(find(self.get_bus)?) };
        let mut bus = [0 as c_char; BUS_ROOM];
        // One less than there is: a zero always follows.
        let room = BUS_ROOM as c_int - 1;
        // SAFETY: the array has more room than this.
        if unsafe { get_bus(bus.as_mut_ptr(), room, number) } != 0 {
            return None;
        }
        // SAFETY: the array was zero, and its last element still is.
        let bus = unsafe { CStr::from_ptr(bus.as_ptr()) }.to_string_lossy().into_owned();
        Some(Device { number: u32::try_from(number).ok()?, visible, bus })
    }

    /// The device of this thread.
    fn of_thread(&self, find: impl Fn(&CStr) -> Option<*mut c_void>) -> Option<c_int> {
        // SAFETY: the function of this name is of this type.
        let get: Get = unsafe { std::mem::transmute::<*mut c_void, Get>(find(self.get)?) };
        let mut number = 0;
        // SAFETY: a place for the result.
        (unsafe { get(&raw mut number) } == 0).then_some(number)
    }

    /// The only device that any thread of the process uses.
    fn only_active(
        &self,
        visible: u32,
        find: impl Fn(&CStr) -> Option<*mut c_void>,
    ) -> Option<c_int> {
        // SAFETY: the function of this name is of this type.
        let get_state: GetState =
            unsafe { std::mem::transmute::<*mut c_void, GetState>(find(self.get_state?)?) };
        let is_active = |number: &c_int| {
            let (mut flags, mut active) = (0, 0);
            // SAFETY: a device that exists, and places for the results.
            (unsafe { get_state(*number, &raw mut flags, &raw mut active) }) == 0 && active != 0
        };
        let mut active = (0..visible as c_int).filter(is_active);
        active.next().filter(|_| active.next().is_none())
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;
    use std::os::unix::ffi::OsStrExt;
    use std::process::Command;

    use super::*;

    /// CUDA's functions are tested with jobs (`tests/hosts/cases/jobs.rs`). HIP's would initialize it without the
    /// driver.
    #[test]
    fn a_process_uses_a_device_of_hip_if_its_library_is_loaded_and_its_driver_open() {
        let folder =
            std::env::temp_dir().join(format!("cartograph-devices-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let [stub, driver] = ["libamdhip64.so", "kfd"].map(|name| folder.join(name));
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../c_tests/record/cuda.c");
        let built = Command::new("cc")
            .args(["-shared", "-fPIC", "-DHIP", source, "-o"])
            .arg(&stub)
            .status();
        assert!(built.unwrap().success());
        let name: &CStr =
            Box::leak(CString::new(stub.as_os_str().as_bytes()).unwrap().into_boxed_c_str());
        let driver_name = Box::leak(driver.display().to_string().into_boxed_str());
        let hip =
            Library { files: Vec::from([name]).leak(), driver: Some(driver_name), ..LIBRARIES[1] };
        assert_eq!(hip.used(), None);
        // SAFETY: a string; the stub runs nothing when it is loaded.
        let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW) };
        assert!(!library.is_null());
        // SAFETY: a loaded library and a string.
        let found = unsafe { libc::dlsym(library, c"test_use_device".as_ptr()) };
        // SAFETY: the stub's function is of this type.
        let choose: extern "C" fn(c_int, c_int) = unsafe { std::mem::transmute(found) };
        choose(1, 1);
        assert_eq!(hip.used(), None);
        let open = fs::File::create(&driver).unwrap();
        let bus = "0000:02:00.0".to_owned();
        assert_eq!(hip.used(), Some(Device { number: 1, visible: 2, bus }));
        // No thread has chosen one, and HIP does not report which devices are active.
        choose(1, 0);
        assert_eq!(hip.used(), None);
        drop(open);
        fs::remove_dir_all(folder).unwrap();
    }
}
