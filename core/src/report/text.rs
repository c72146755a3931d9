//! The report as text: lines of at most about 100 columns.

use std::fmt;

use super::effect::{Effect, LevelEffect, WeightedEffect};
use super::json::{Document, Warning};
use super::record::{Record, ReorderOrigin};
use crate::engine::Reason;
use crate::machine::LevelKind;
use crate::mapping::{Cost, Plan};
use crate::topology::TopologySummary;

/// Seconds with a unit and two to three digits.
struct Seconds(f64);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (value, unit) = match self.0 {
            seconds if seconds >= 1.0 => (seconds, "s"),
            seconds if seconds >= 1e-3 => (seconds * 1e3, "ms"),
            seconds => (seconds * 1e6, "us"),
        };
        let digits = if value >= 100.0 { 0 } else { 1 };
        write!(f, "{value:.digits$} {unit}")
    }
}

/// "4704 -> 1224 (-74 %)", or one number if nothing changed.
pub struct Change(pub i64, pub i64);

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(before, after) = *self;
        if before == after {
            return write!(f, "{after}");
        }
        write!(f, "{before} -> {after}")?;
        if before > 0 {
            write!(f, " ({:+.0} %)", (after as f64 - before as f64) * 100.0 / before as f64)?;
        }
        Ok(())
    }
}

/// ", at least 24"; nothing for the trivial bound 0.
pub struct AtLeast(pub i64);

impl fmt::Display for AtLeast {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 > 0 { write!(f, ", at least {}", self.0) } else { Ok(()) }
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (before, after) = (self.before, self.after);
        let (sum, max) = (
            Change(before.inter_node_edges, after.inter_node_edges),
            Change(before.max_node_edges, after.max_node_edges),
        );
        write!(
            f,
            "edges of the busiest node {max}; between nodes {sum}{}",
            AtLeast(self.lower_bound)
        )
    }
}

/// A line for each level except the nodes, which have their own lines.
impl fmt::Display for LevelEffect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, groups, before, after, lower_bound } = self;
        if *name == LevelKind::Node.to_string() {
            return Ok(());
        }
        writeln!(
            f,
            "  between {groups} {name} {}{}; of the busiest {}",
            Change(before.edges, after.edges),
            AtLeast(*lower_bound),
            Change(before.worst_group, after.worst_group)
        )
    }
}

impl fmt::Display for WeightedEffect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let distances: Vec<String> = self.distances.iter().map(i64::to_string).collect();
        writeln!(
            f,
            "  weighed by distance ({}) {}{}",
            distances.join(","),
            Change(self.before, self.after),
            AtLeast(self.lower_bound)
        )
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.function)?;
        if self.count > 1 {
            write!(f, ", {} times", self.count)?;
        }
        write!(f, ": {}, {} of {} processes", self.topology, self.vertices(), self.comm_size)?;
        match &self.nodes {
            Some(nodes) => writeln!(f, " on {nodes}")?,
            None => writeln!(f)?,
        }
        self.write_outcome(f)?;
        self.write_times(f)?;
        if let Some(effect) = &self.effect {
            write!(f, "  {effect}")?;
            match &self.topology {
                TopologySummary::Cart { weights: Some(weights), .. } => {
                    let weights: Vec<String> = weights.iter().map(i64::to_string).collect();
                    writeln!(f, "; weighted {}", weights.join(","))?;
                }
                TopologySummary::Cart { weights: None, .. } => {
                    writeln!(f, "; weights assumed equal")?
                }
                _ => writeln!(f)?,
            }
            effect.levels.iter().try_for_each(|level| write!(f, "{level}"))?;
            effect.weighted.iter().try_for_each(|weighted| write!(f, "{weighted}"))?;
        }
        if self.host_graph {
            writeln!(f, "  native nonblocking and persistent neighborhood collectives")?;
        }
        self.write_alternative(f)
    }
}

impl Record {
    /// Whether ranks were reordered, and how or why not.
    fn write_outcome(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.kept, &self.effect) {
            (Some(why), effect) => {
                write!(f, "  ranks kept: {why}")?;
                if let (Reason::RejectedAsRisky, Some((_, cost))) = (why, self.rejected_as_risky())
                {
                    let before = effect.as_ref().map_or(0, |effect| effect.before.max_node_edges);
                    write!(f, " ({before} -> {})", cost.max_node_edges)?;
                }
            }
            (None, Some(effect)) if effect.algorithm == Plan::INSIDE_NODES => {
                write!(f, "  ranks reordered inside their nodes only")?;
            }
            (None, Some(effect)) => write!(f, "  ranks reordered by {}", effect.algorithm)?,
            (None, None) => write!(f, "  ranks reordered")?,
        }
        match self.reorder {
            ReorderOrigin::Forced => write!(f, " (reorder = 0, CARTOGRAPH_REORDER=always)"),
            _ => Ok(()),
        }
    }

    fn write_times(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let each = |seconds: f64| Seconds(seconds / self.count as f64);
        write!(f, "; ")?;
        if self.mapping_seconds > 0.0 {
            write!(f, "{} to map, ", each(self.mapping_seconds))?;
        }
        let rest = (self.seconds - self.mapping_seconds).max(0.0);
        writeln!(f, "{} for the MPI's split and waiting for other ranks", each(rest))
    }

    /// Advice on how to get a better placement.
    fn write_alternative(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(effect) = &self.effect else { return Ok(()) };
        let risky = self.rejected_as_risky();
        let gains = match &effect.weighted {
            Some(weighted) => weighted.after < weighted.before,
            None => effect.after.inter_node_edges < effect.before.inter_node_edges,
        };
        let is_grid = matches!(self.topology, TopologySummary::Cart { .. });
        match (self.kept, risky) {
            (Some(Reason::NotAsked), Some((_, cost))) => writeln!(
                f,
                "  with equal weights, another placement by the launcher would reduce this to {} and {}: use cartograph run",
                cost.max_node_edges, cost.inter_node_edges
            ),
            (Some(Reason::NotAsked), None) if gains && is_grid => {
                writeln!(f, "  to get this placement from the launcher, use cartograph run")
            }
            (Some(Reason::RejectedAsRisky), Some((ones, cost))) => writeln!(
                f,
                "  with equal weights (CARTOGRAPH_WEIGHTS={ones}), this would be {} and {}{}",
                cost.max_node_edges,
                cost.inter_node_edges,
                match gains_much(effect.before, cost) {
                    true => ": cartograph tune measures whether it is faster",
                    false => "",
                }
            ),
            _ => Ok(()),
        }
    }

    /// Equal weights, as written on a command line, and the cost of the rejected mapping with these.
    fn rejected_as_risky(&self) -> Option<(String, Cost)> {
        let TopologySummary::Cart { dims, .. } = &self.topology else { return None };
        let cost = self.effect.as_ref()?.rejected_as_risky?;
        Some((vec!["1"; dims.len()].join(","), cost))
    }
}

/// True if the busiest node has at least 1.5 times as many edges before as after.
fn gains_much(before: Cost, after: Cost) -> bool {
    2.0 * before.max_node_edges as f64 >= 3.0 * after.max_node_edges as f64
}

impl Record {
    /// A line with the number of topologies like one already printed.
    pub(super) fn in_all(&self) -> impl fmt::Display {
        format!(
            "{}, {} times in all: {}, {} of {} processes; {} each, including waiting for other ranks",
            self.function,
            self.count,
            self.topology,
            self.vertices(),
            self.comm_size,
            Seconds(self.seconds / self.count as f64)
        )
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.count {
            1 => writeln!(f, "warning: {}", self.text),
            times => writeln!(f, "warning: {} ({times} times)", self.text),
        }
    }
}

impl Document {
    /// The first line; `of` names the part of the job that the report covers.
    pub(super) fn head(&self, of: &str) -> String {
        let job = self.job.as_ref().map_or(String::new(), |job| {
            let on = job.nodes.as_ref().map_or(String::new(), |nodes| format!(" on {nodes}"));
            let plural = if job.processes == 1 { "" } else { "es" };
            format!(": {} process{plural}{on}, {}", job.processes, job.mpi)
        });
        format!("Cartograph {}{of}{job}\n", self.cartograph)
    }

    /// A line on omitted topologies, if there are any.
    pub(super) fn rest(&self) -> String {
        match self.not_recorded {
            0 => String::new(),
            more => format!("{more} more topologies not shown\n"),
        }
    }
}

impl fmt::Display for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.head(""))?;
        if self.topologies.is_empty() {
            let rank = self.job.as_ref().map_or(0, |job| job.rank);
            let advice = "record traffic with cartograph exec --record to place ranks";
            writeln!(f, "rank {rank} created no topology; {advice}")?;
        }
        self.topologies.iter().try_for_each(|record| write!(f, "{record}"))?;
        write!(f, "{}", self.rest())?;
        self.warnings.iter().try_for_each(|warning| write!(f, "{warning}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Machine;
    use crate::mapping::{Cost, Distances, Grid, Options, plan_grid};
    use crate::report::{Job, Report};
    use crate::topology::Cart;

    #[test]
    fn a_risky_plan_is_printed_with_the_setting_that_applies_it() {
        let grid = Cart::new(&[4, 4, 1], &[false; 3], 16).unwrap();
        let machine = Machine::parse("4x4", 16).unwrap();
        let plan = plan_grid(&Grid::from(&grid), &machine, &Options::default());
        let record = |reorder, kept| {
            Record::planned("MPI_Cart_create", &grid, reorder, &machine, &plan)
                .kept(kept)
                .to_string()
        };
        let text = record(ReorderOrigin::Asked, Reason::RejectedAsRisky);
        let ends = "\
  edges of the busiest node 8; between nodes 24, at least 16; weights assumed equal
  with equal weights (CARTOGRAPH_WEIGHTS=1,1,1), this would be 4 and 16: cartograph tune measures whether it is faster
";
        assert!(text.ends_with(ends), "{text}");
        let kept = "ranks kept: reordering helps if all faces carry equal data and are exchanged at once, but may hurt \
                    otherwise (8 -> 4); ";
        assert!(text.contains(kept), "{text}");
        let text = record(ReorderOrigin::No, Reason::NotAsked);
        let ends = "  with equal weights, another placement by the launcher would reduce this to 4 and 16: use cartograph run\n";
        assert!(text.ends_with(ends), "{text}");
        assert!(!record(ReorderOrigin::Asked, Reason::Off).contains("CARTOGRAPH_WEIGHTS"));
    }

    #[test]
    fn a_grid_that_keeps_its_order_may_be_placed_by_the_launcher() {
        let grid = Cart::new(&[4, 4], &[false, true], 16).unwrap();
        let machine = Machine::parse("4x4", 16).unwrap();
        let advises = |after: i64, kept: Reason| {
            let before = Plan::identity(&Grid::from(&grid), &machine, &Distances::default(), |_| 0);
            let after = Cost { inter_node_edges: after, max_node_edges: 1 };
            let plan = Plan { old_rank: Some((0..16).collect()), after, ..before };
            Record::planned("MPI_Cart_create", &grid, ReorderOrigin::No, &machine, &plan)
                .kept(kept)
                .to_string()
                .ends_with("  to get this placement from the launcher, use cartograph run\n")
        };
        assert!(advises(8, Reason::NotAsked));
        assert!(!advises(800, Reason::NotAsked) && !advises(8, Reason::Off));
    }

    #[test]
    fn every_level_has_a_line() {
        let machine = Machine::parse("2x2x4", 16).unwrap();
        let packages: Vec<u64> = (0..16).map(|rank| rank / 2).collect();
        let machine = machine.with_level(LevelKind::Package, &packages);
        let grid = Cart::new(&[16], &[false], 16).unwrap();
        let plan = Plan::identity(&Grid::from(&grid), &machine, &Distances::default(), |sizes| {
            16 / sizes[0] as i64
        });
        let text = Record::planned("MPI_Cart_create", &grid, ReorderOrigin::Asked, &machine, &plan)
            .to_string();
        let expected = "  \
edges of the busiest node 2; between nodes 6, at least 4; weights assumed equal
  between 2 switches 2, at least 2; of the busiest 1
  between 8 packages 14, at least 8; of the busiest 2
  weighed by distance (1,10,30) 124, at least 106
";
        assert!(text.ends_with(expected), "{text}");
    }

    #[test]
    fn the_text_is_readable() {
        let report = Report::new();
        let machine = Machine::parse("50x48", 2400).unwrap();
        report.job(Job {
            mpi: "MPICH 4.0.2".into(),
            processes: 2400,
            rank: 0,
            nodes: Some((&machine).into()),
            ..Job::default()
        });
        let grid = Cart::new(&[50, 48], &[true, false], 2400).unwrap();
        let plan = Plan {
            old_rank: Some((0..2400).collect()),
            after: Cost { inter_node_edges: 1224, max_node_edges: 30 },
            algorithm: "strips",
            ..Plan::identity(&Grid::from(&grid), &machine, &Distances::default(), |_| 1204)
        };
        for _ in 0..3 {
            let made =
                Record::planned("MPI_Cart_create", &grid, ReorderOrigin::Forced, &machine, &plan);
            report.add(made.took(0.0012, 0.0034));
        }
        let small = Cart::new(&[2, 2], &[true, true], 4).unwrap();
        let kept =
            Record::new("MPI_Graph_create", &small, 6, ReorderOrigin::Asked, Reason::TooLarge);
        report.add(kept.took(0.0, 0.0000123));
        report.warn("careful");
        report.warn("careful");
        let expected = "\
Cartograph VERSION: 2400 processes on 50 nodes of 48, MPICH 4.0.2
MPI_Cart_create, 3 times: grid 50 x 48, periodic along 0, 2400 of 2400 processes on 50 nodes of 48
  ranks reordered by strips (reorder = 0, CARTOGRAPH_REORDER=always); 1.2 ms to map, 2.2 ms for the MPI's split and waiting for other ranks
  edges of the busiest node 96 -> 30 (-69 %); between nodes 4800 -> 1224 (-74 %), at least 1204; weights assumed equal
MPI_Graph_create: grid 2 x 2, periodic, 4 of 6 processes
  ranks kept: too large: more edges than rank 0 gathers; 12.3 us for the MPI's split and waiting for other ranks
warning: careful (2 times)
";
        assert_eq!(report.news(), expected.replace("VERSION", env!("CARGO_PKG_VERSION")));
        let job = |processes| Job { processes, mpi: "MPI".into(), ..Job::default() };
        let of = |job| Document { job: Some(job), ..Document::default() }.to_string();
        assert!(of(job(1)).contains(": 1 process, MPI\nrank 0 created"), "{}", of(job(1)));
        assert!(of(job(2)).contains(": 2 processes, MPI\n"));
        assert!(Document::default().to_string().contains("rank 0 created no topology; record"));
    }
}
