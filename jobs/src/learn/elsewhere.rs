//! Knowledge from elsewhere: from another user's jobs, or from jobs with another number of processes.

use std::collections::{HashMap, HashSet};

use cartograph_shim::splitmix::mix;
use cartograph_traffic::{Edge, Recording};

use super::devices::Devices;
use super::entry::{Entry, Totals};
use super::kind::Kind;
use super::rule::{Rule, Scaling};
use super::traffic::Traffic;
use crate::pmi::Mapping;

/// A placement with a smaller predicted gain is not used in a program's first job with a number of processes.
pub const LEAST_PREDICTED: f64 = 1.1;

impl Entry {
    /// The same knowledge for a user who has run none of these jobs: their times are experience, as on nodes of other
    /// shapes, and prove nothing here. Runs in a placement that was not compared teach nothing, and would keep a first
    /// job from being placed.
    pub fn of_others(mut self) -> Self {
        let far = mix(u64::from(self.processes));
        let own = self.runs.iter().filter(|run| run.order.is_empty() && !run.is_first);
        let compared: HashSet<(u32, u64)> = own.map(|run| (run.kind, run.shape)).collect();
        self.runs.retain(|run| run.order.is_empty() || compared.contains(&(run.kind, run.shape)));
        for run in &mut self.runs {
            (run.shape, run.nodes, run.ended) = (mix(run.shape ^ far), 0, 0);
        }
        self.totals = Totals::default();
        self.failed.clear();
        self.devices = self.devices.map(Devices::of_others);
        self
    }

    /// The predicted entry for another number of processes: the kinds of work whose traffic has a rule. `None` if there
    /// are none.
    pub fn at(&self, processes: u32, scaling: Scaling) -> Option<Self> {
        let kind = |kind: &Kind| {
            let traffic = kind.traffic.as_ref()?.at(self.processes, processes, scaling)?;
            Some(Kind { traffic: Some(traffic), pattern: Vec::new(), ..kind.clone() })
        };
        let kinds: Vec<Kind> = self.kinds.iter().filter_map(kind).collect();
        if kinds.is_empty() {
            return None;
        }
        let mut entry = Self { kinds, runs: Vec::new(), ..self.clone() }.of_others();
        entry.processes = processes;
        entry.nodes = self.nodes_of(processes).unwrap_or_default();
        Some(entry)
    }

    /// The predicted and measured gains of a kind on nodes of other shapes, and of the same inputs with other numbers of
    /// processes.
    pub(super) fn experience_with(
        &self,
        others: &[Self],
        kind: u32,
        shape: u64,
    ) -> Vec<(f64, f64)> {
        let of = |other: &Self| -> Vec<(f64, f64)> {
            let same = self.same_inputs(other).filter(|(own, _)| own.id == kind);
            same.flat_map(|(_, known)| other.experience(known.id, shape)).collect()
        };
        others.iter().flat_map(of).chain(self.experience(kind, shape)).collect()
    }

    /// The probable nodes of another number of processes: as many on each.
    fn nodes_of(&self, processes: u32) -> Option<String> {
        let known = Mapping::parse(&self.nodes, self.processes as usize)?;
        let first = *known.nodes().first()?;
        let each = known.nodes().iter().take_while(|node| **node == first).count() as u32;
        let blocks = |count: u32| Mapping::new((0..count).map(|rank| rank / each).collect());
        known.is_like(blocks(self.processes).nodes()).then(|| blocks(processes).text())
    }

    /// True if the rules of both entries for one program grow into each other, for all kinds that had the same inputs.
    fn agrees_with(&self, other: &Self) -> bool {
        let rule = |entry: &Self, kind: &Kind| {
            Rule::of(&kind.traffic.as_ref()?.recording(entry.processes)?)
        };
        let agree = |own: &Kind, known: &Kind| {
            let expected = rule(self, own)?.at(other.processes, Scaling::Weak)?;
            Some(expected.is_like(&rule(other, known)?))
        };
        self.same_inputs(other).all(|(own, known)| agree(own, known) == Some(true))
    }

    /// Predicts the entry for a number of processes from known entries, the nearest number first: by the scaling between
    /// them, or else by strong scaling; and by the other scaling. `None` if the known entries contradict each other.
    pub fn predicted(all: &[Self], processes: u32) -> Option<[Self; 2]> {
        let (nearest, others) = all.split_first()?;
        if !others.iter().all(|other| nearest.agrees_with(other)) {
            return None;
        }
        let known = others.iter().find_map(|other| nearest.scaling_to(other));
        let scaling = known.unwrap_or(Scaling::Strong);
        let at = |scaling| nearest.at(processes, scaling);
        Some([at(scaling)?, at(scaling.other())?])
    }

    /// The scaling that explains better the messages of a job with the same inputs and another number of processes: their
    /// size, since their number grows with the steps.
    fn scaling_to(&self, other: &Self) -> Option<Scaling> {
        let bytes = |traffic: &Traffic| -> Option<f64> {
            let edges = traffic.recording(other.processes)?.edges;
            let sum = |of: fn(&Edge) -> u64| edges.iter().map(|edge| of(edge) as f64).sum::<f64>();
            Some(sum(|edge| edge.count.bytes) / sum(|edge| edge.count.messages).max(1.0))
        };
        let (own, known) = self.same_inputs(other).next()?;
        let (own, known) = (own.traffic.as_ref()?, bytes(known.traffic.as_ref()?)?);
        let error = |scaling| {
            let predicted = own.at(self.processes, other.processes, scaling)?;
            Some((bytes(&predicted)?.max(1.0) / known.max(1.0)).ln().abs())
        };
        let is_strong = error(Scaling::Strong)? <= error(Scaling::Weak)?;
        Some(if is_strong { Scaling::Strong } else { Scaling::Weak })
    }

    /// The kinds of work of this entry and of another one that had the same inputs.
    fn same_inputs<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = (&'a Kind, &'a Kind)> {
        let pairs =
            self.kinds.iter().flat_map(|own| other.kinds.iter().map(move |known| (own, known)));
        pairs.filter(|(own, known)| {
            let has = |digest: u64| known.digests.iter().any(|(other, _)| *other == digest);
            own.digests.iter().any(|(digest, _)| has(*digest))
        })
    }

    /// True if the busiest node sends fewer bytes of a kind of work to others with the second nodes of ranks than with
    /// the first.
    pub fn sends_less(&self, kind: u32, [before, after]: [&[u32]; 2]) -> bool {
        let traffic = self.kind(kind).and_then(|kind| kind.traffic.as_ref());
        let recording = traffic.and_then(|traffic| traffic.recording(self.processes));
        recording.is_some_and(|it| busiest(&it.edges, after) < busiest(&it.edges, before))
    }
}

/// The bytes that the busiest node sends to others; ranks without a node send none.
pub fn busiest(edges: &[Edge], node_of: &[u32]) -> u64 {
    let mut bytes: HashMap<u32, u64> = HashMap::new();
    for edge in edges {
        let [from, to] = [edge.from, edge.to].map(|rank| node_of.get(rank as usize));
        if let Some(node) = from.filter(|_| from != to) {
            *bytes.entry(*node).or_default() += edge.count.bytes;
        }
    }
    bytes.into_values().max().unwrap_or(0)
}

impl Traffic {
    /// The traffic that the rule of this one predicts for another number of processes.
    fn at(&self, from: u32, processes: u32, scaling: Scaling) -> Option<Self> {
        let mut recording = self.recording(from)?;
        let rule = Rule::of(&recording)?.at(processes, scaling)?;
        recording.topologies.retain_mut(|grid| {
            let is_whole = grid.dims.iter().map(|side| u64::from(*side)).product::<u64>()
                == u64::from(from)
                && grid.dims.len() == rule.dims().len();
            if is_whole {
                grid.dims = rule.dims().to_vec();
            }
            is_whole
        });
        let topologies = recording.topologies;
        let predicted =
            Recording { size: processes, edges: rule.edges(), topologies, ..Recording::default() };
        let mut traffic = Self::new(&predicted);
        (traffic.waited, traffic.network) = (self.waited, self.network);
        Some(traffic)
    }
}

#[cfg(test)]
mod tests;
