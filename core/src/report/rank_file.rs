//! The command that writes the rank file of a grid.

use std::fmt::Write;

use super::launch::Launch;
use super::record::Record;
use crate::engine::Reason;
use crate::mapping::{Cost, Distances};
use crate::topology::TopologySummary;

impl Record {
    /// The command that writes the rank file of a grid for which the program passed 0, if that gains anything.
    pub(super) fn rank_file(&self) -> Option<String> {
        let TopologySummary::Cart { dims, periodic, weights } = &self.topology else { return None };
        let (effect, nodes) = (self.effect.as_ref()?, self.nodes.as_ref()?);
        let gains = match &effect.weighted {
            Some(weighted) => weighted.after < weighted.before,
            None => effect.after.inter_node_edges < effect.before.inter_node_edges,
        };
        let rejected_as_risky = self.rejected_as_risky();
        if self.kept != Some(Reason::NotAsked) || !(gains || rejected_as_risky.is_some()) {
            return None;
        }
        // Switches that no single argument can describe are left to the user.
        let switches = match &effect.weighted {
            Some(weighted) => Some((self.places.as_ref()?.notation()?, &weighted.distances)),
            None => None,
        };
        let sides: Vec<String> = dims.iter().map(i32::to_string).collect();
        let mut command = format!("cartograph plan --dims {}", sides.join("x"));
        if periodic.contains(&true) {
            let bits: String = periodic.iter().map(|p| if *p { '1' } else { '0' }).collect();
            let _ = write!(command, " --periodic {bits}");
        }
        let told = weights
            .as_ref()
            .map(|weights| weights.iter().map(i64::to_string).collect::<Vec<_>>().join(","));
        if let Some(weights) = told.or(rejected_as_risky.map(|(ones, _)| ones)) {
            let _ = write!(command, " --weights {weights}");
        }
        let runs: Vec<(usize, usize)> = nodes.runs().collect();
        let _ = match (&switches, &runs[..]) {
            (Some((layout, _)), _) => write!(command, " --layout {layout}"),
            (None, [(nodes, size)]) => write!(command, " --nodes {nodes} --ppn {size}"),
            _ => {
                let runs: Vec<String> =
                    runs.iter().map(|(nodes, size)| format!("{nodes}*{size}")).collect();
                write!(command, " --node-sizes {}", runs.join(","))
            }
        };
        if let Some((_, distances)) = switches
            && *distances != Distances::NOT_GIVEN.of(distances.len() - 2)
        {
            let distances: Vec<String> = distances.iter().map(i64::to_string).collect();
            let _ = write!(command, " --level-weights {}", distances.join(","));
        }
        let unknown = || "--rankfile LAUNCHER FILE --hosts NAMES".to_owned();
        let options = self.launch.as_ref().map_or_else(unknown, Launch::options);
        Some(format!("{command} {options}"))
    }

    /// Equal weights, as written on a command line, and the cost of the rejected mapping with these.
    pub(super) fn rejected_as_risky(&self) -> Option<(String, Cost)> {
        let TopologySummary::Cart { dims, .. } = &self.topology else { return None };
        let cost = self.effect.as_ref()?.rejected_as_risky?;
        Some((vec!["1"; dims.len()].join(","), cost))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Reason;
    use crate::machine::{Kind, Machine};
    use crate::mapping::plan::Weighted;
    use crate::mapping::{Grid, Plan};
    use crate::report::ReorderOrigin;
    use crate::topology::Cart;

    #[test]
    fn the_launcher_can_place_ranks_if_reorder_is_0() {
        let grid = Cart::new(&[4, 4], &[false, true], 16).unwrap();
        let record = |layout: &str, after: i64, kept: Reason| {
            let layout = Machine::parse(layout, 16).unwrap();
            let before = Plan::identity(&Grid::from(&grid), &layout, &Distances::default(), |_| 0);
            let after = Cost { inter_node_edges: after, max_node_edges: 1 };
            let plan = Plan { old_rank: Some((0..16).collect()), after, ..before };
            Record::planned("MPI_Cart_create", &grid, ReorderOrigin::No, &layout, &plan)
                .launch(Launch::new("Open MPI v4.1.4", 16, |_| None, Some("n[0-3]".into())))
                .kept(kept)
                .to_string()
        };
        let text = record("4x4", 8, Reason::NotAsked);
        let command = "cartograph plan --dims 4x4 --periodic 01 --nodes 4 --ppn 4 --rankfile openmpi FILE --hosts 'n[0-3]'\n";
        assert!(text.ends_with(command), "{text}");
        let text = record("8,4,4", 8, Reason::NotAsked);
        assert!(text.contains(" --node-sizes 1*8,2*4 --rankfile"), "{text}");
        for text in [record("4x4", 800, Reason::NotAsked), record("4x4", 8, Reason::Off)] {
            assert!(!text.contains("cartograph plan"), "{text}");
        }
    }

    #[test]
    fn the_rank_file_has_the_format_of_the_launcher() {
        let launch = |mpi: &str, variable: &str, value: &str, hosts: Option<String>| {
            let environment = |name: &str| (name == variable).then(|| value.to_owned());
            Launch::new(mpi, 16, environment, hosts)
        };
        let hosts = || Some("a,b".to_owned());
        for (mpi, variable, value, launcher) in [
            ("Open MPI v4.1.4", "", "", "openmpi FILE --hosts a,b"),
            ("MPICH 4.0.2", "SLURM_STEP_NUM_TASKS", "2", "mpich FILE --hosts a,b"),
            ("MPICH 4.0.2", "SLURM_STEP_NUM_TASKS", "16", "slurm FILE --hosts a,b"),
            ("Open MPI v4.1.4", "FLUX_JOB_SIZE", "16", "flux FILE"),
            ("MPI VERSION : CRAY MPICH version 8.1", "SLURM_STEP_NUM_TASKS", "16", "cray FILE"),
        ] {
            let launch = launch(mpi, variable, value, hosts());
            assert_eq!(launch.options(), format!("--rankfile {launcher}"));
            assert!(launch.is_plain());
        }
        let unknown = |hosts| launch("Intel(R) MPI Library 2021.17", "", "", hosts);
        for hosts in [None, Some("n,".repeat(300))] {
            assert_eq!(unknown(hosts).options(), "--rankfile mpich FILE --hosts NAMES");
        }
        for hosts in ["a;b", "-x", "a b", "$(a)", "a'b", "a\u{1b}"] {
            assert!(!unknown(Some(hosts.into())).is_plain(), "{hosts}");
        }
        assert!(!Launch { launcher: "x; y".into(), hosts: None }.is_plain());
    }

    #[test]
    fn the_launcher_gets_switches_that_it_can_express() {
        let grid = Cart::new(&[4, 4], &[false, false], 16).unwrap();
        let record = |layout: &Machine, distances: &str, after: i128| {
            let distances = Distances::parse(distances).unwrap();
            let before = Plan::identity(&Grid::from(&grid), layout, &distances, |_| 0);
            let weighted = before.weighted.clone().map(|weighted| Weighted { after, ..weighted });
            let plan = Plan { old_rank: Some((0..16).collect()), weighted, ..before };
            Record::planned("MPI_Cart_create", &grid, ReorderOrigin::No, layout, &plan)
                .kept(Reason::NotAsked)
                .to_string()
        };
        let even = Machine::parse("2x2x4", 16).unwrap();
        let command =
            "cartograph plan --dims 4x4 --layout 2x2x4 --rankfile LAUNCHER FILE --hosts NAMES\n";
        let text = record(&even, "1", 1);
        assert!(text.ends_with(command), "{text}");
        let text = record(&even, "1,10,50", 1);
        assert!(text.contains(" --layout 2x2x4 --level-weights 1,10,50 --rankfile"), "{text}");
        let uneven = Machine::parse("2x2x3,1x2x2", 16).unwrap();
        let text = record(&uneven, "1", 1);
        assert!(text.contains(" --layout 2x2x3,1x2x2 --rankfile"), "{text}");
        // The nodes of one switch are not consecutive, and nothing is gained.
        let ids: Vec<u64> = (0..16).map(|rank| rank / 4).collect();
        let round_robin: Vec<u64> = ids.iter().map(|node| node % 2).collect();
        let round_robin = Machine::from_ids(&ids).under(Kind::Switch, &round_robin).unwrap();
        assert!(!record(&round_robin, "1", 1).contains("cartograph plan"));
        assert!(!record(&even, "1", 1 << 40).contains("cartograph plan"));
    }
}
