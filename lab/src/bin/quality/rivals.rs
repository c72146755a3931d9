//! SharedMap, the rival that maps through all levels, and KaHIP, in a separate process (`lab/rivals.py`).

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use cartograph_core::mapping::{Adjacency, Csr};
use serde_json::{Value, json};

/// The process, which answers line by line.
pub(crate) struct Rivals {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Rivals {
    /// `None` if `make lab-quality` has not installed them.
    pub(crate) fn start() -> Option<Self> {
        let top = Path::new(env!("CARGO_MANIFEST_DIR"));
        let python = top.join("../build/rivals/bin/python");
        let mut command = Command::new(python);
        command.arg(top.join("rivals.py")).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().ok()?;
        let requests = child.stdin.take()?;
        let answers = BufReader::new(child.stdout.take()?);
        Some(Self { child, requests, answers })
    }

    /// SharedMap's part of each vertex, with the levels' widths and distances from the innermost outward, and the
    /// processor seconds.
    pub(crate) fn map(
        &mut self,
        graph: &Csr,
        hierarchy: &[usize],
        distances: &[i64],
        mode: &str,
    ) -> Option<(Vec<u32>, f64)> {
        self.ask(graph, json!({"hierarchy": hierarchy, "distances": distances, "mode": mode}))
    }

    /// KaHIP's part of each vertex, and the processor seconds.
    pub(crate) fn divide(
        &mut self,
        graph: &Csr,
        parts: usize,
        mode: &str,
    ) -> Option<(Vec<u32>, f64)> {
        self.ask(graph, json!({"parts": parts, "mode": mode}))
    }

    /// The reply to a request about a graph.
    fn ask(&mut self, graph: &Csr, mut request: Value) -> Option<(Vec<u32>, f64)> {
        let (mut starts, mut targets, mut weights) = (vec![0], Vec::new(), Vec::new());
        for vertex in 0..graph.vertices() {
            for (to, weight) in graph.edges(vertex) {
                targets.push(to);
                weights.push(weight);
            }
            starts.push(targets.len());
        }
        request["starts"] = starts.into();
        (request["targets"], request["weights"]) = (targets.into(), weights.into());
        writeln!(self.requests, "{request}").ok()?;
        let mut line = String::new();
        self.answers.read_line(&mut line).ok()?;
        let answer: Value = serde_json::from_str(&line).ok()?;
        let part = answer["part"].as_array()?.iter();
        let part = part.map(|part| Some(part.as_u64()? as u32)).collect::<Option<Vec<u32>>>()?;
        Some((part, answer["seconds"].as_f64()?))
    }
}

impl Drop for Rivals {
    fn drop(&mut self) {
        // The process waits for requests until it is killed here.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
