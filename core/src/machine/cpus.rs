//! The levels below the node: the package, the NUMA domain and the cache of the cores that a process may use, from
//! what Linux reports about its CPUs.

use super::LevelKind;

/// The kinds of levels below the node, the outermost first.
pub const KINDS: [LevelKind; 3] = [LevelKind::Package, LevelKind::Numa, LevelKind::Cache];

/// The first and last CPU of each range, as in "0-3,8,10-11". `None` if the text is not such a list.
fn ranges(list: &str) -> Option<Vec<(usize, usize)>> {
    let range = |word: &str| {
        let (first, last) = word.split_once('-').unwrap_or((word, word));
        Some((first.trim().parse().ok()?, last.trim().parse().ok()?))
    };
    let list = list.trim();
    let words = list.split(',').filter(|_| !list.is_empty());
    words.map(range).collect()
}

/// True if all CPUs are in a list.
fn hold(ranges: &[(usize, usize)], cpus: &[usize]) -> bool {
    cpus.iter().all(|cpu| ranges.iter().any(|(first, last)| (first..=last).contains(&cpu)))
}

/// The domain of each of [`KINDS`] that contains all CPUs which a process may use; `None` if it may use CPUs outside,
/// and if Linux does not report the domain. `read` gives the text of a file below `/sys/devices/system`. Domains of one
/// kind have different numbers on a node.
pub fn domains(cpus: &[usize], read: impl Fn(&str) -> Option<String>) -> [Option<u16>; 3] {
    let Some(first) = cpus.first() else { return [None; 3] };
    let list = |path: &str| ranges(&read(path)?);
    // Identified by its lowest CPU: packages have numbers, but these are not unique on some machines.
    let by_first = |ranges: Option<Vec<(usize, usize)>>| {
        let ranges = ranges.filter(|ranges| hold(ranges, cpus))?;
        u16::try_from(ranges.first()?.0).ok()
    };
    let topology = |file: &str| list(&format!("cpu/cpu{first}/topology/{file}"));
    // The second is the name before Linux 5.3.
    let package =
        by_first(topology("package_cpus_list").or_else(|| topology("core_siblings_list")));
    let numa = || {
        let nodes = list("node/online")?.into_iter().flat_map(|(first, last)| first..=last);
        let hold = |node: &usize| {
            list(&format!("node/node{node}/cpulist")).is_some_and(|ranges| hold(&ranges, cpus))
        };
        u16::try_from({ nodes }.find(hold)?).ok()
    };
    let cache = || {
        let directory = |index: usize| format!("cpu/cpu{first}/cache/index{index}");
        let level = |index: &usize| read(&format!("{}/level", directory(*index)));
        // Linux has a directory for each cache; no CPU has 16 of them.
        let index = (0..16)
            .map_while(|index| level(&index).map(|level| (index, level)))
            .find(|(_, level)| level.trim() == "3")?;
        by_first(list(&format!("{}/shared_cpu_list", directory(index.0))))
    };
    [package, numa(), cache()]
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    /// Two packages of two NUMA domains of two caches of two cores; CPUs 16 to 31 are second threads.
    fn machine(old: bool) -> HashMap<String, String> {
        let mut files = HashMap::from([("node/online".to_owned(), "0-3\n".to_owned())]);
        let both = |first: usize, count: usize| {
            let (last, second) = (first + count - 1, first + 16);
            format!("{first}-{last},{second}-{}\n", second + count - 1)
        };
        for node in 0..4 {
            files.insert(format!("node/node{node}/cpulist"), both(4 * node, 4));
        }
        for cpu in 0..32 {
            let core = cpu % 16;
            let name = if old { "core_siblings_list" } else { "package_cpus_list" };
            files.insert(format!("cpu/cpu{cpu}/topology/{name}"), both(core / 8 * 8, 8));
            for (index, level) in ["1", "1", "2", "3"].iter().enumerate() {
                let cache = format!("cpu/cpu{cpu}/cache/index{index}");
                files.insert(format!("{cache}/level"), format!("{level}\n"));
                files.insert(format!("{cache}/shared_cpu_list"), both(core / 2 * 2, 2));
            }
        }
        files
    }

    #[test]
    fn the_smallest_domains_that_contain_all_cpus_are_found() {
        for old in [false, true] {
            let files = machine(old);
            let of = |cpus: &[usize]| domains(cpus, |path| files.get(path).cloned());
            assert_eq!(of(&[5]), [Some(0), Some(1), Some(4)]);
            assert_eq!(of(&[29, 13]), [Some(8), Some(3), Some(12)]);
            // Two caches, two NUMA domains, and all of the machine.
            assert_eq!(of(&[4, 6]), [Some(0), Some(1), None]);
            assert_eq!(of(&[8, 12]), [Some(8), None, None]);
            assert_eq!(of(&(0..32).collect::<Vec<_>>()), [None; 3]);
            assert_eq!(of(&[]), [None; 3]);
        }
    }

    #[test]
    fn domains_without_readable_files_are_unknown() {
        assert_eq!(domains(&[0], |_| None), [None; 3]);
        assert_eq!(domains(&[0], |_| Some("what\n".into())), [None; 3]);
        assert_eq!(domains(&[0], |_| Some(String::new())), [None; 3]);
        let mut files = machine(false);
        files.remove("node/online");
        (0..4).for_each(|i| _ = files.remove(&format!("cpu/cpu1/cache/index{i}/level")));
        assert_eq!(domains(&[1], |path| files.get(path).cloned()), [Some(0), None, None]);
        assert_eq!(ranges("0-3,8"), Some(vec![(0, 3), (8, 8)]));
        assert_eq!((ranges("0-"), ranges("a"), ranges("\n")), (None, None, Some(vec![])));
    }
}
