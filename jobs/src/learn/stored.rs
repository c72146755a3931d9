//! The file of an entry, in the present format and in earlier ones.

use cartograph_traffic::{Work, partner_weight};
use serde::Deserialize;

use super::entry::{Entry, MOST_RUNS, Past, SCHEMA, Totals, Unusable, of_build};
use super::kind::{Kind, pattern};
use super::traffic::Traffic;

/// The version of the format in which each build had an entry.
const BUILD_SCHEMA: u32 = 3;

/// The version of the format in which a program had one traffic, and inputs were distinguished by their work.
const OLD_SCHEMA: u32 = 2;

impl Entry {
    /// The entry as the text of its file.
    pub fn json(&self) -> String {
        serde_json::to_string(self).expect("all keys are strings") + "\n"
    }

    /// Parses an entry's file.
    ///
    /// # Errors
    ///
    /// Why the file is not used.
    pub fn parse(text: &str) -> Result<Self, Unusable> {
        #[derive(Deserialize)]
        struct Version {
            schema: u32,
        }
        let wrong = |error: serde_json::Error| {
            let reason = cartograph_traffic::printable(&error.to_string());
            Unusable::Wrong(format!("is not an entry: {reason}"))
        };
        let Version { schema } = serde_json::from_str(text).map_err(wrong)?;
        let entry: Self = match schema {
            SCHEMA => serde_json::from_str(text).map_err(wrong)?,
            BUILD_SCHEMA => serde_json::from_str::<Self>(text).map_err(wrong)?.of_one_build(),
            OLD_SCHEMA => serde_json::from_str::<Old>(text).map_err(wrong)?.entry().of_one_build(),
            other => return Err(Unusable::Version(other)),
        };
        let orders = entry.runs.iter().map(|run| &run.order);
        let texts = orders.chain(entry.failed.iter().map(|(order, _)| order)).chain([
            &entry.program,
            &entry.build,
            &entry.mpi,
        ]);
        if { texts }.any(|text| text.contains(char::is_control)) {
            return Err(Unusable::Wrong("has control characters".to_owned()));
        }
        let is_time = |seconds: f64| seconds.is_finite() && seconds > 0.0;
        let is_right = |run: &Past| {
            entry.kind(run.kind).is_some()
                && [run.units, run.seconds, run.predicted].into_iter().all(is_time)
        };
        if !entry.runs.iter().all(is_right) {
            return Err(Unusable::Wrong("has an invalid run".to_owned()));
        }
        Ok(entry)
    }

    /// An entry of an earlier format, whose runs are all of its build.
    fn of_one_build(mut self) -> Self {
        let build = u64::from_str_radix(&self.build, 16).unwrap_or_default();
        self.runs.iter_mut().for_each(|run| run.shape = of_build(run.shape, build));
        self.origins = vec![build];
        self.schema = SCHEMA;
        self
    }
}

#[derive(Deserialize)]
struct Old {
    program: String,
    build: String,
    processes: u32,
    mpi: String,
    #[serde(default)]
    traffic: Option<Traffic>,
    #[serde(default)]
    works: Vec<Work>,
    #[serde(default)]
    runs: Vec<Run>,
    #[serde(default)]
    totals: Totals,
    #[serde(default)]
    failed: Vec<(String, u64)>,
}

#[derive(Deserialize)]
struct Run {
    order: String,
    predicted: f64,
    work: u32,
    shape: u64,
    nodes: u32,
    seconds: f64,
}

impl Old {
    /// The entry in the present format. The traffic is that of the first work.
    fn entry(self) -> Entry {
        let Self { program, build, processes, mpi, traffic, works, runs, totals, failed } = self;
        let mut entry = Entry { build, mpi, totals, failed, ..Entry::new(&program, processes) };
        entry.kinds = (0..).zip(works).map(|(id, work)| Kind::new(id, work)).collect();
        entry.next_id = entry.kinds.len() as u32;
        if let Some(first) = entry.kinds.first_mut() {
            first.pattern = traffic
                .as_ref()
                .map(|traffic| sums(traffic, processes, first.work))
                .unwrap_or_default();
            first.traffic = traffic;
        }
        for (at, run) in (0..).zip(runs) {
            let Run { order, predicted, work: kind, shape, nodes, seconds } = run;
            if let Some(kind) = entry.kinds.get_mut(kind as usize) {
                kind.last = at;
            }
            let is_first = at == 0 && order.is_empty() && totals.runs as usize <= MOST_RUNS;
            entry.runs.push(Past {
                kind,
                units: 1.0,
                made_for: 0,
                order,
                predicted,
                shape,
                nodes,
                seconds,
                ended: 0,
                is_first,
            });
        }
        entry.fit(0);
        entry
    }
}

/// The pattern of a traffic; empty if some of its edges were left out.
fn sums(traffic: &Traffic, processes: u32, work: Work) -> Vec<i32> {
    let Some(recording) = traffic.recording(processes) else { return Vec::new() };
    let mut sums = vec![0i64; processes as usize];
    let mut bytes = 0u64;
    for edge in &recording.edges {
        let weight = partner_weight(edge.from, edge.to);
        let weighted = i64::try_from(edge.count.bytes).unwrap_or(i64::MAX).saturating_mul(weight);
        let sum = &mut sums[edge.from as usize];
        *sum = sum.saturating_add(weighted);
        bytes = bytes.saturating_add(edge.count.bytes);
    }
    if bytes == work.bytes { pattern(&sums, bytes) } else { Vec::new() }
}
