//! SharedMap, the rival that maps through all levels, in a process of its own (`lab/sharedmap.py`).

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use cartograph_core::mapping::{Adjacency, Csr};
use serde_json::{Value, json};

/// The process, which answers line by line.
pub(crate) struct SharedMap {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl SharedMap {
    /// `None` if `make lab-quality` has not installed it.
    pub(crate) fn start() -> Option<Self> {
        let top = Path::new(env!("CARGO_MANIFEST_DIR"));
        let python = top.join("../build/rivals/bin/python");
        let mut command = Command::new(python);
        command.arg(top.join("sharedmap.py")).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().ok()?;
        let requests = child.stdin.take()?;
        let answers = BufReader::new(child.stdout.take()?);
        Some(Self { child, requests, answers })
    }

    /// The part of each vertex, with the levels' widths and distances from the innermost on, and the processor
    /// seconds.
    pub(crate) fn map(
        &mut self,
        graph: &Csr,
        hierarchy: &[usize],
        distances: &[i64],
        mode: &str,
    ) -> Option<(Vec<u32>, f64)> {
        let (mut starts, mut targets, mut weights) = (vec![0], Vec::new(), Vec::new());
        for vertex in 0..graph.vertices() {
            for (to, weight) in graph.edges(vertex) {
                targets.push(to);
                weights.push(weight);
            }
            starts.push(targets.len());
        }
        let request = json!({
            "starts": starts, "targets": targets, "weights": weights,
            "hierarchy": hierarchy, "distances": distances, "mode": mode,
        });
        writeln!(self.requests, "{request}").ok()?;
        let mut line = String::new();
        self.answers.read_line(&mut line).ok()?;
        let answer: Value = serde_json::from_str(&line).ok()?;
        let part = answer["part"].as_array()?.iter();
        let part = part.map(|part| Some(part.as_u64()? as u32)).collect::<Option<Vec<u32>>>()?;
        Some((part, answer["seconds"].as_f64()?))
    }
}

impl Drop for SharedMap {
    fn drop(&mut self) {
        // It waits for requests, and ends with them at the latest by this.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
