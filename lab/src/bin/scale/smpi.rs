//! SimGrid's time-independent traces (`smpirun -trace-ti`): read after a program has run, and written for replay.

use std::collections::HashMap;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use cartograph_jobs::replay::{CollectiveKind, Event, Host, Op, Program};

/// The speed of the simulated cores, in which a trace counts work.
pub(crate) const SPEED: f64 = 1e9;

/// `MPI_BYTE`, and a tag for messages of `MPI_Sendrecv`, whose tags a trace does not contain.
const BYTE: u32 = 6;
const SENDRECV: i32 = 1 << 20;

/// The bytes of a data type by its number in a trace.
fn bytes_of(datatype: &str) -> Option<u64> {
    Some(match datatype {
        // char, byte
        "2" | "6" => 1,
        "3" => 2,
        // int, float, LOGICAL, REAL
        "1" | "5" | "23" | "38" => 4,
        // double, long, long long, INTEGER8, REAL8
        "0" | "4" | "7" | "20" | "40" => 8,
        // DOUBLE_COMPLEX
        "32" | "43" => 16,
        _ => return None,
    })
}

/// The pending requests of a rank, each with its number, source, destination and tag.
#[derive(Default)]
struct Requests {
    made: u32,
    open: Vec<(u32, [i64; 3])>,
}

impl Requests {
    fn add(&mut self, of: [i64; 3]) {
        self.open.push((self.made, of));
        self.made += 1;
    }

    /// Completes all requests except those for which a later line waits, since they were not part of this call.
    fn wait_all(&mut self, own: i64, rest: &[&str]) -> Vec<Op> {
        let is_left = |[from, to, tag]: [i64; 3]| {
            let wait = format!(" wait {from} {to} {tag}");
            let made = match from == own {
                true => format!(" isend {to} {tag} "),
                false => format!(" irecv {from} {tag} "),
            };
            let mut found =
                rest.iter().filter(|line| line.ends_with(&wait) || line.contains(&made));
            found.next().is_some_and(|line| line.ends_with(&wait))
        };
        let all = std::mem::take(&mut self.open);
        let (open, done): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, of)| is_left(*of));
        self.open = open;
        done.iter().map(|(number, _)| Op::Wait { back: self.made - number, count: 1 }).collect()
    }

    fn wait_oldest(&mut self) -> Option<Op> {
        let (_, oldest) = self.open.first()?;
        self.wait(*oldest)
    }

    /// The oldest request of this kind, which completes.
    fn wait(&mut self, wanted: [i64; 3]) -> Option<Op> {
        let at = self.open.iter().position(|(_, of)| *of == wanted)?;
        let (number, _) = self.open.remove(at);
        Some(Op::Wait { back: self.made - number, count: 1 })
    }
}

/// The calls of the first line.
fn ops(lines: &[&str], rank: u32, requests: &mut Requests) -> Option<Vec<Op>> {
    let (line, rest) = lines.split_first()?;
    let words: Vec<&str> = line.split_whitespace().skip(1).collect();
    let number = |at: usize| words.get(at)?.parse::<f64>().ok().map(|number| number as i64);
    let size = |count: usize, datatype: usize| {
        Some(number(count)? as u64 * words.get(datatype).map_or(Some(1), |name| bytes_of(name))?)
    };
    let own = i64::from(rank);
    let meet = |kind, bytes| Op::Collective { group: 0, kind, bytes };
    let mut send = |to: i64, bytes: u64, tag: i64, request: bool| {
        if request {
            requests.add([own, to, tag]);
        }
        Op::Send { to: to as u32, bytes, tag: tag as i32, request }
    };
    let name = *words.first()?;
    Some(match name {
        "send" | "isend" => vec![send(number(1)?, size(3, 4)?, number(2)?, name == "isend")],
        "recv" | "irecv" => {
            let (from, tag) = (number(1)?, number(2)?);
            if name == "irecv" {
                requests.add([from, own, tag]);
            }
            let from = u32::try_from(from).ok();
            vec![Op::Recv { from, tag: Some(tag as i32), request: name == "irecv" }]
        }
        "sendRecv" => {
            let (to, from) = (number(2)?, number(4)?);
            let mut both = Vec::new();
            if let Ok(from) = u32::try_from(from) {
                both.push(Op::Recv { from: Some(from), tag: Some(SENDRECV), request: true });
                requests.made += 1;
            }
            if let Ok(to) = u32::try_from(to) {
                both.push(Op::Send { to, bytes: size(1, 5)?, tag: SENDRECV, request: true });
                requests.made += 1;
            }
            let count = both.len() as u32;
            both.push(Op::Wait { back: count, count });
            both
        }
        "wait" => vec![requests.wait([number(1)?, number(2)?, number(3)?])?],
        "waitall" => requests.wait_all(own, rest),
        // The trace does not show which one completed.
        "waitAny" => vec![requests.wait_oldest()?],
        "barrier" => vec![meet(CollectiveKind::Barrier, 0)],
        "reduce" => vec![meet(CollectiveKind::Reduce(number(3)? as u32), size(1, 4)?)],
        "gather" => vec![meet(CollectiveKind::Gather(number(3)? as u32), size(1, 4)?)],
        "scatter" => vec![meet(CollectiveKind::Scatter(number(3)? as u32), size(1, 4)?)],
        "bcast" => vec![meet(CollectiveKind::Bcast(number(2)? as u32), size(1, 3)?)],
        "allreduce" | "allgather" | "alltoall" => vec![meet(kind(name)?, size(1, 3)?)],
        // The wait after a test also finds the requests that the test completed.
        "init" | "finalize" | "test" | "testall" => Vec::new(),
        _ => return None,
    })
}

/// A program's calls between two collectives, counted from 0: all calls after the first up to and including the second.
///
/// # Errors
///
/// If the files cannot be read, or contain unknown calls.
pub(crate) fn read(list: &Path, [first, last]: [usize; 2]) -> Result<Program, Box<dyn Error>> {
    let directory = list.parent().ok_or("no directory")?;
    let mut ranks = Vec::new();
    for (rank, name) in (0..).zip(fs::read_to_string(list)?.lines()) {
        let text = fs::read_to_string(directory.join(name))?;
        let (mut events, mut requests, mut work) = (Vec::new(), Requests::default(), 0.0);
        let mut met = 0;
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        for (at, line) in lines.iter().enumerate() {
            if let Some((_, flops)) = line.split_once(" compute ") {
                work += flops.parse::<f64>()? / SPEED;
                continue;
            }
            let ops =
                ops(&lines[at..], rank, &mut requests).ok_or_else(|| format!("{name}: {line}"))?;
            for op in ops {
                let is_collective = matches!(op, Op::Collective { .. });
                if (first + 1..=last).contains(&met) {
                    events.push(Event { work: std::mem::take(&mut work), op });
                }
                if is_collective {
                    met += 1;
                    work = 0.0;
                }
            }
        }
        ranks.push(events);
    }
    let all = (0..ranks.len() as u32).collect();
    let mut program = Program { ranks, groups: vec![all], host: Host::Smpi };
    name_sources(&mut program)?;
    Ok(program)
}

/// Receives from any source get the only source whose messages have this tag.
fn name_sources(program: &mut Program) -> Result<(), Box<dyn Error>> {
    let mut senders: HashMap<(u32, i32), Vec<u32>> = HashMap::new();
    for (rank, events) in (0..).zip(&program.ranks) {
        for event in events {
            if let Op::Send { to, tag, .. } = event.op {
                let known = senders.entry((to, tag)).or_default();
                if !known.contains(&rank) {
                    known.push(rank);
                }
            }
        }
    }
    for (rank, events) in (0..).zip(&mut program.ranks) {
        for event in events {
            if let Op::Recv { from: from @ None, tag: Some(tag), .. } = &mut event.op {
                match senders.get(&(rank, *tag)).map(Vec::as_slice) {
                    Some([one]) => *from = Some(*one),
                    _ => return Err(format!("rank {rank} may receive from several").into()),
                }
            }
        }
    }
    Ok(())
}

/// The messages by their source, destination and tag, each with its unique tag and its bytes.
type Sent = HashMap<(u32, u32, i32), Vec<(u32, u64)>>;

/// Writes a program as a trace for `smpirun -replay`: a list of files, one for each rank. Each message has a unique
/// tag, because the replay finds requests by their tags.
///
/// # Errors
///
/// If a file cannot be written, or a receive has no message.
pub(crate) fn write(program: &Program, directory: &Path) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(directory)?;
    let mut sent = Sent::new();
    let mut messages = 0;
    for (rank, events) in (0..).zip(&program.ranks) {
        for event in events {
            if let Op::Send { to, bytes, tag, .. } = event.op {
                sent.entry((rank, to, tag)).or_default().push((messages, bytes));
                messages += 1;
            }
        }
    }
    let mut list = String::new();
    for rank in 0..program.ranks.len() as u32 {
        let text = lines(rank, program, &sent)?;
        writeln!(list, "{rank}.txt")?;
        fs::write(directory.join(format!("{rank}.txt")), text)?;
    }
    Ok(fs::write(directory.join("trace"), list)?)
}

/// The calls of a rank in the form of its trace.
fn lines(rank: u32, program: &Program, sent: &Sent) -> Result<String, Box<dyn Error>> {
    let mut text = format!("{rank} init\n");
    let (mut next, mut requests) = (HashMap::new(), Vec::new());
    let mut message = |key: (u32, u32, i32), is_sent: bool| {
        let at = next.entry((key, is_sent)).or_insert(0usize);
        *at += 1;
        let found = sent.get(&key).and_then(|all| all.get(*at - 1)).copied();
        found.ok_or_else(|| format!("rank {rank} receives what is not sent: {key:?}"))
    };
    for Event { work, op } in &program.ranks[rank as usize] {
        if *work > 0.0 {
            writeln!(text, "{rank} compute {:.0}", work * SPEED)?;
        }
        match *op {
            Op::Send { to, tag, request, .. } => {
                let (tag, bytes) = message((rank, to, tag), true)?;
                let name = if request { "isend" } else { "send" };
                writeln!(text, "{rank} {name} {to} {tag} {bytes} {BYTE}")?;
                requests.extend(request.then(|| format!("{rank} wait {rank} {to} {tag}\n")));
            }
            Op::Recv { from, tag, request } => {
                let (from, tag) = from.zip(tag).ok_or("a receive has no source")?;
                let (tag, bytes) = message((from, rank, tag), false)?;
                let name = if request { "irecv" } else { "recv" };
                writeln!(text, "{rank} {name} {from} {tag} {bytes} {BYTE}")?;
                requests.extend(request.then(|| format!("{rank} wait {from} {rank} {tag}\n")));
            }
            Op::Wait { back, count } => {
                let first = requests.len() - back as usize;
                text.extend(requests[first..first + count as usize].iter().map(String::as_str));
            }
            Op::Collective { kind, bytes, .. } => {
                let all = program.ranks.len();
                writeln!(text, "{rank} {}", collective(kind, bytes, all))?;
            }
        }
    }
    writeln!(text, "{rank} finalize")?;
    Ok(text)
}

/// The names in traces of collectives without a root.
const NAMES: [(&str, CollectiveKind); 7] = [
    ("barrier", CollectiveKind::Barrier),
    ("allreduce", CollectiveKind::Allreduce),
    ("reducescatter", CollectiveKind::ReduceScatter),
    ("scan", CollectiveKind::Scan),
    ("allgather", CollectiveKind::Allgather),
    ("alltoall", CollectiveKind::Alltoall),
    ("alltoallv", CollectiveKind::Alltoallv),
];

/// The collective without a root of this name.
pub(crate) fn kind(name: &str) -> Option<CollectiveKind> {
    NAMES.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
}

/// The name of a collective in traces.
pub(crate) fn name(kind: CollectiveKind) -> &'static str {
    match kind {
        CollectiveKind::Bcast(_) => "bcast",
        CollectiveKind::Scatter(_) => "scatter",
        CollectiveKind::Scatterv(_) => "scatterv",
        CollectiveKind::Reduce(_) => "reduce",
        CollectiveKind::Gather(_) => "gather",
        CollectiveKind::Gatherv(_) => "gatherv",
        _ => NAMES.iter().find(|(_, known)| *known == kind).expect("it has no root").0,
    }
}

/// A collective of this many processes as a line of a trace.
fn collective(kind: CollectiveKind, bytes: u64, all: usize) -> String {
    let name = name(kind);
    let of_each = format!("{bytes} ").repeat(all);
    match kind {
        CollectiveKind::Barrier => name.to_owned(),
        CollectiveKind::Allreduce | CollectiveKind::Scan => format!("{name} {bytes} 0 {BYTE}"),
        CollectiveKind::Allgather | CollectiveKind::Alltoall => {
            format!("{name} {bytes} {bytes} {BYTE} {BYTE}")
        }
        CollectiveKind::Alltoallv => {
            let whole = bytes * all as u64;
            format!("{name} {whole} {of_each}{whole} {of_each}{BYTE} {BYTE}")
        }
        CollectiveKind::ReduceScatter => format!("{name} {of_each}0 {BYTE}"),
        CollectiveKind::Bcast(root) => format!("{name} {bytes} {root} {BYTE}"),
        CollectiveKind::Reduce(root) => format!("{name} {bytes} 0 {root} {BYTE}"),
        CollectiveKind::Gather(root) | CollectiveKind::Scatter(root) => {
            format!("{name} {bytes} {bytes} {root} {BYTE} {BYTE}")
        }
        CollectiveKind::Gatherv(root) => format!("{name} {bytes} {of_each}{root} {BYTE} {BYTE}"),
        CollectiveKind::Scatterv(root) => format!("{name} {of_each}{bytes} {root} {BYTE} {BYTE}"),
    }
}
