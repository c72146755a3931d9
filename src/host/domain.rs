//! Where inside its node a process runs. Known with the feature `hwloc`, and where processes are bound.

use std::ffi::c_int;

/// How many levels below the node are looked at: packages, and NUMA domains in them.
pub(super) const LEVELS: usize = 2;

/// The id of a domain that nobody knows.
pub(super) const UNKNOWN: c_int = -1;

/// The package and the NUMA domain that this process is bound to.
#[cfg(not(feature = "hwloc"))]
pub(super) fn of_this_process() -> [c_int; LEVELS] {
    [UNKNOWN; LEVELS]
}

/// The package and the NUMA domain that this process is bound to. Tens of milliseconds, once a process.
#[cfg(feature = "hwloc")]
pub(super) fn of_this_process() -> [c_int; LEVELS] {
    use hwlocality::Topology;
    use hwlocality::cpu::binding::CpuBindingFlags;
    use hwlocality::object::types::ObjectType;

    let Ok(machine) = Topology::new() else { return [UNKNOWN; LEVELS] };
    // Some systems bind threads only; the one that starts MPI stands for its process.
    let bound = machine
        .cpu_binding(CpuBindingFlags::PROCESS)
        .or_else(|_| machine.cpu_binding(CpuBindingFlags::THREAD));
    let Ok(bound) = bound else { return [UNKNOWN; LEVELS] };
    [ObjectType::Package, ObjectType::NUMANode].map(|kind| {
        machine
            .objects_with_type(kind)
            .position(|domain| domain.cpuset().is_some_and(|cpus| cpus.includes(&bound)))
            .map_or(UNKNOWN, |position| position as c_int)
    })
}
