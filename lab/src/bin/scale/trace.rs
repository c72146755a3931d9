//! Traces: the calls of a program's processes without its data, small enough to be committed.
//!
//! A file has a line `title`, a line `grid` if the program created one, a line for each different call (the other
//! process as a distance in ranks), a line for each order of calls, with the microseconds of work before a call, and a
//! line with the order of each rank.

use std::collections::HashMap;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use cartograph_jobs::replay::{CollectiveKind, Event, Host, Op, Program};

use crate::smpi;

/// Less work than this is the simulator's own.
const LEAST_WORK: f64 = 5e-6;

/// A program's calls.
pub(crate) struct Trace {
    pub(crate) title: String,
    /// The grid that the program creates with `reorder = 1`, and whether it is periodic.
    pub(crate) grid: Option<(Vec<i32>, bool)>,
    pub(crate) program: Program,
}

/// The kind of a call and its bytes.
fn kind(op: &Op) -> (u8, u64) {
    match *op {
        Op::Send { bytes, request, .. } => (u8::from(request), bytes),
        Op::Recv { request, .. } => (2 + u8::from(request), 0),
        Op::Wait { count, .. } => (4, u64::from(count)),
        Op::Collective { kind, bytes, .. } => match kind {
            CollectiveKind::Allgather => (6, bytes),
            CollectiveKind::Alltoall => (7, bytes),
            CollectiveKind::Bcast(_) | CollectiveKind::Scatter(_) => (8, bytes),
            CollectiveKind::Reduce(_) | CollectiveKind::Gather(_) => (9, bytes),
            _ => (5, bytes),
        },
    }
}

/// Replaces the work before each call by the median over all ranks of the work before the corresponding calls (same
/// kind, same preceding call, same number among these): this removes the noise of a busy machine.
pub(crate) fn without_noise(program: &mut Program) {
    let mut found: HashMap<_, Vec<f64>> = HashMap::new();
    let mut keys = Vec::new();
    for events in &program.ranks {
        let (mut before, mut seen) = ((u8::MAX, 0), HashMap::new());
        for event in events {
            let now = kind(&event.op);
            let count = seen.entry((before, now)).or_insert(0u32);
            let key = (before, now, *count);
            *count += 1;
            before = now;
            found.entry(key).or_default().push(event.work);
            keys.push(key);
        }
    }
    let median = |works: &mut Vec<f64>| {
        works.sort_by(f64::total_cmp);
        works[works.len() / 2]
    };
    let medians: HashMap<_, f64> =
        found.iter_mut().map(|(key, works)| (*key, median(works))).collect();
    let events = program.ranks.iter_mut().flatten();
    for (event, key) in events.zip(keys) {
        let work = medians[&key];
        event.work = if work < LEAST_WORK { 0.0 } else { work };
    }
}

/// A call in words, with the other process as a distance from this one.
fn call(op: &Op, rank: u32, size: u32) -> String {
    let away = |other: u32| {
        let ahead = (other + size - rank) % size;
        if ahead > size / 2 { i64::from(ahead) - i64::from(size) } else { i64::from(ahead) }
    };
    match *op {
        Op::Send { to, bytes, tag, request } => {
            let name = if request { "isend" } else { "send" };
            format!("{name} {} {bytes} {tag}", away(to))
        }
        Op::Recv { from, tag, request } => {
            let name = if request { "irecv" } else { "recv" };
            let from = from.map_or(0, away);
            format!("{name} {from} {}", tag.unwrap_or(0))
        }
        Op::Wait { back, count } => format!("wait {back} {count}"),
        Op::Collective { kind, bytes, .. } => match kind {
            CollectiveKind::Bcast(root) => format!("bcast {root} {bytes}"),
            CollectiveKind::Scatter(root) => format!("scatter {root} {bytes}"),
            CollectiveKind::Reduce(root) => format!("reduce {root} {bytes}"),
            CollectiveKind::Gather(root) => format!("gather {root} {bytes}"),
            _ => format!("{} {bytes}", smpi::name(kind)),
        },
    }
}

fn op(call: &str, rank: u32, size: u32) -> Option<Op> {
    let mut words = call.split(' ');
    let name = words.next()?;
    let mut next = || words.next()?.parse::<i64>().ok();
    let other = |away: i64| (i64::from(rank) + away).rem_euclid(i64::from(size)) as u32;
    let meet = |kind, bytes: i64| Op::Collective { group: 0, kind, bytes: bytes as u64 };
    Some(match name {
        "send" | "isend" => {
            let (to, bytes, tag) = (other(next()?), next()? as u64, next()? as i32);
            Op::Send { to, bytes, tag, request: name == "isend" }
        }
        "recv" | "irecv" => {
            let (from, tag) = (Some(other(next()?)), Some(next()? as i32));
            Op::Recv { from, tag, request: name == "irecv" }
        }
        "wait" => Op::Wait { back: next()? as u32, count: next()? as u32 },
        "bcast" => meet(CollectiveKind::Bcast(next()? as u32), next()?),
        "scatter" => meet(CollectiveKind::Scatter(next()? as u32), next()?),
        "reduce" => meet(CollectiveKind::Reduce(next()? as u32), next()?),
        "gather" => meet(CollectiveKind::Gather(next()? as u32), next()?),
        _ => meet(smpi::kind(name)?, next()?),
    })
}

impl Trace {
    pub(crate) fn size(&self) -> u32 {
        self.program.ranks.len() as u32
    }

    /// The same program on cores that are faster by this factor.
    pub(crate) fn with_faster_cores(&self, factor: f64) -> Self {
        let mut program = self.program.clone();
        program.ranks.iter_mut().flatten().for_each(|event| event.work /= factor);
        Self { title: self.title.clone(), grid: self.grid.clone(), program }
    }

    /// # Errors
    ///
    /// If the file cannot be written.
    pub(crate) fn write(&self, path: &Path) -> Result<(), Box<dyn Error>> {
        let (mut calls, mut orders, mut ranks) = (Vec::new(), Vec::new(), Vec::new());
        let (mut call_numbers, mut order_numbers) = (HashMap::new(), HashMap::new());
        for (rank, events) in (0..).zip(&self.program.ranks) {
            let mut order = String::new();
            for Event { work, op } in events {
                let call = call(op, rank, self.size());
                let number = *call_numbers.entry(call.clone()).or_insert_with(|| {
                    calls.push(call);
                    calls.len() - 1
                });
                write!(order, " {number}")?;
                if *work > 0.0 {
                    write!(order, ":{:.0}", work * 1e6)?;
                }
            }
            ranks.push(*order_numbers.entry(order.clone()).or_insert_with(|| {
                orders.push(order);
                orders.len() - 1
            }));
        }
        let mut text = format!("title {}\n", self.title);
        if let Some((dims, periodic)) = &self.grid {
            writeln!(text, "grid {} {}", u8::from(*periodic), words(dims))?;
        }
        calls.iter().try_for_each(|call| writeln!(text, "call {call}"))?;
        orders.iter().try_for_each(|order| writeln!(text, "order{order}"))?;
        writeln!(text, "ranks {}", words(&ranks))?;
        Ok(fs::write(path, text)?)
    }

    /// # Errors
    ///
    /// If the file cannot be read, or is not such a file.
    pub(crate) fn read(path: &Path) -> Result<Self, Box<dyn Error>> {
        let text = fs::read_to_string(path)?;
        let of = |name: &'static str| {
            text.lines().filter_map(move |line| line.strip_prefix(name)?.strip_prefix(' '))
        };
        let numbers = |line: &str| -> Result<Vec<i32>, std::num::ParseIntError> {
            line.split(' ').map(str::parse).collect()
        };
        let wrong = || format!("{}: not a trace", path.display());
        let title = of("title").next().ok_or_else(wrong)?.to_owned();
        let grid = of("grid").next().map(numbers).transpose()?;
        let grid = grid.map(|grid| (grid[1..].to_vec(), grid[0] == 1));
        let (calls, orders): (Vec<&str>, Vec<&str>) = (of("call").collect(), of("order").collect());
        let of_rank = numbers(of("ranks").next().ok_or_else(wrong)?)?;
        let size = of_rank.len() as u32;
        let events = |rank: u32, order: &str| -> Option<Vec<Event>> {
            let event = |word: &str| {
                let (call, work) = word.split_once(':').unwrap_or((word, "0"));
                let op = op(calls.get(call.parse::<usize>().ok()?)?, rank, size)?;
                Some(Event { work: work.parse::<f64>().ok()? / 1e6, op })
            };
            order.split(' ').map(event).collect()
        };
        let ranks = (0..).zip(&of_rank).map(|(rank, order)| events(rank, orders[*order as usize]));
        let ranks = ranks.collect::<Option<Vec<_>>>().ok_or_else(wrong)?;
        let groups = vec![(0..size).collect()];
        let program = Program { ranks, groups, host: Host::Smpi };
        Ok(Self { title, grid, program })
    }
}

fn words(numbers: &[impl ToString]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::orders;
    use cartograph_jobs::replay::{Network, RankLocations, replay};

    /// Otherwise some ranks would wait forever.
    #[test]
    fn stored_traces_can_be_replayed_to_the_end() {
        let mut count = 0;
        for file in fs::read_dir(orders::traces()).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "trace") {
                continue;
            }
            let Trace { program, .. } = Trace::read(&path).unwrap();
            let node_of: Vec<u32> = (0..program.ranks.len() as u32).map(|rank| rank / 32).collect();
            let places = RankLocations { node_of: &node_of, above: &[] };
            let replayed = replay(&program, places, &Network::default(), &[]);
            for (calls, events) in replayed.calls.iter().zip(&program.ranks) {
                assert_eq!(*calls as usize, events.len(), "{}", path.display());
            }
            count += 1;
        }
        assert!(count > 0);
    }

    #[test]
    fn a_trace_of_smpi_is_stored_without_the_noise_of_its_work() {
        let directory =
            std::env::temp_dir().join(format!("cartograph-scale-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        for (rank, flops) in [(0, 1e6), (1, 1.1e6), (2, 9e6)] {
            let (next, last) = ((rank + 1) % 3, (rank + 2) % 3);
            let text = format!(
                "{rank} init\n{rank} barrier\n{rank} compute {flops}\n{rank} irecv {last} 7 3 0\n{rank} compute 3000\n\
                 {rank} isend {next} 7 3 0\n{rank} waitall 2\n{rank} allreduce 1 0 1 \n{rank} finalize\n"
            );
            fs::write(directory.join(format!("{rank}.txt")), text).unwrap();
        }
        fs::write(directory.join("list"), "0.txt\n1.txt\n2.txt\n").unwrap();
        let mut program = smpi::read(&directory.join("list"), [0, 1]).unwrap();
        without_noise(&mut program);
        let path = directory.join("kept");
        Trace { title: "ring".into(), grid: None, program: program.clone() }.write(&path).unwrap();
        let kept = Trace::read(&path).unwrap();
        fs::write(directory.join("2.txt"), "2 init\n2 send 0 7 3 99\n").unwrap();
        let unknown = smpi::read(&directory.join("list"), [0, 1]).err().unwrap().to_string();
        fs::remove_dir_all(&directory).unwrap();
        assert!(unknown.contains("send 0 7 3 99"), "{unknown}");
        assert_eq!((kept.title.as_str(), &kept.program.ranks), ("ring", &program.ranks));
        let works: Vec<f64> = program.ranks[2].iter().map(|event| event.work).collect();
        assert_eq!(works, [1.1e-3, 0.0, 0.0, 0.0, 0.0]);
        let sent = Op::Send { to: 0, bytes: 24, tag: 7, request: true };
        assert_eq!(program.ranks[2][1].op, sent);
        let all = Op::Collective { group: 0, kind: CollectiveKind::Allreduce, bytes: 4 };
        assert_eq!(program.ranks[2][4].op, all);
    }
}
