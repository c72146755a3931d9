//! Gives the processes of a job other ranks than their launcher, through PMI: a relay stands between each process and
//! the launcher, and no process moves. The program stays the launcher's child, with its signals, input and exit code.

mod descriptors;
mod pump;

use std::env;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

use crate::error::{Cause, Failure, Result};
use crate::pmi::line::{Format, LONGEST, sent};
use crate::pmi::{Agreement, Order, Parts, Process, Relay, Server, Version, agree};

/// The variables of the rank that come with PMI.
const RANKS: [&str; 3] = ["PMI_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID"];

/// The end of the name of the file that rank 0 writes next to an order: 1 if ranks were placed in it, else 0.
pub(crate) const PLACED: &str = "placed";

/// Slurm's list of the ranks on the node of a process.
const ON_NODE: &str = "SLURM_GTIDS";

/// Slurm's order of ranks, and a value by which srun chooses one: Intel MPI works out by others which ranks share a node.
const DISTRIBUTION: (&str, &str) = ("SLURM_DISTRIBUTION", "*");

/// The variable with which Slurm's libpmi2 speaks with another socket, in which it has the launcher's rank.
const OTHER_SOCKET: &str = "PMI2_CONNECT_TO_SERVER";

/// A process that has a relay.
pub struct Relayed {
    /// The socket that the program inherits in place of the launcher's.
    pub socket: i32,
    /// Its rank.
    pub rank: usize,
    /// The variables with this rank for the program.
    pub variables: Vec<(&'static str, String)>,
}

/// Starts the relay of this process, if it has PMI, which gives it the rank of an order in a file. All processes of the
/// job do this: they agree whether they take the order. If they run several programs, each gets that of its rank.
pub fn place(version: Version, file: &Path, parts: Option<&Parts>) -> Result<Option<Relayed>> {
    let number = |name: &str| env::var(name).ok()?.parse::<i32>().ok();
    let (Some(descriptor), Some(rank), Some(size)) =
        (number("PMI_FD"), number("PMI_RANK"), number("PMI_SIZE"))
    else {
        return Ok(None);
    };
    let failed = |error: io::Error| {
        Failure::new(format!("cannot place rank {rank}: {error}")).with_cause(Cause::NotRun)
    };
    let mut launcher = Connection(descriptors::inherited(descriptor).map_err(failed)?);
    let job = env::var("PMI_JOBID").unwrap_or_default();
    let process = Process { rank: rank as usize, size: size as usize, job };
    let mut relay = match start(&mut launcher, version, &process, file, parts) {
        Ok(relay) => relay,
        // Without a relay, the launcher would tell this process that it runs the first program.
        Err(error) if parts.is_some() => return Err(failed(error)),
        Err(_) => {
            // The other processes wait for this one's part in the agreement.
            agree(&mut launcher, version, &process, None).map_err(failed)?;
            let socket = descriptors::keep(launcher.0).map_err(failed)?;
            return Ok(Some(Relayed { socket, rank: process.rank, variables: Vec::new() }));
        }
    };
    let new = relay.line().map_err(failed)?;
    let on_node = relay.line().map_err(failed)?;
    let is_rank = |name: &&str| env::var(name).is_ok_and(|set| set == rank.to_string());
    let ranks = RANKS.into_iter().filter(is_rank);
    let mut variables: Vec<_> = ranks.map(|name| (name, new.clone())).collect();
    if !on_node.is_empty() {
        variables.extend([(ON_NODE, on_node), (DISTRIBUTION.0, DISTRIBUTION.1.to_owned())]);
    }
    let socket = descriptors::keep(relay.0).map_err(failed)?;
    variables.push(("PMI_FD", socket.to_string()));
    let rank = new.parse().map_err(|_| failed(io::Error::other("the relay sent no rank")))?;
    Ok(Some(Relayed { socket, rank, variables }))
}

/// Starts the relay, and returns the program's connection to it.
fn start(
    launcher: &mut Connection,
    version: Version,
    process: &Process,
    file: &Path,
    parts: Option<&Parts>,
) -> io::Result<Connection> {
    let (program, own) = UnixStream::pair()?;
    let open = [&own, &launcher.0].map(descriptors::number);
    descriptors::beside(&open, || {
        // An error closes the connection, which ends the process that waits for its rank.
        let _ = relay(Connection(own), launcher, version, process, file, parts);
    })?;
    Ok(Connection(program))
}

/// Agrees with the other processes, sends the program's rank and those on its node, and passes on its messages.
fn relay(
    mut program: Connection,
    launcher: &mut Connection,
    version: Version,
    process: &Process,
    file: &Path,
    parts: Option<&Parts>,
) -> io::Result<()> {
    let order = fs::read_to_string(file).ok().and_then(|text| Order::parse(&text));
    let order = order.filter(|_| env::var_os(OTHER_SOCKET).is_none());
    let mut agreement = agree(launcher, version, process, order)?;
    let placed = agreement.placed.as_ref();
    let new = placed.and_then(|placed| placed.order.new_ranks.get(process.rank));
    if process.rank == 0 {
        // Without this file, nothing is learned from the job.
        let _ = fs::write(file.with_extension(PLACED), if new.is_some() { "1" } else { "0" });
    }
    let new = new.map_or(process.rank, |new| *new as usize);
    if let Some(number) = parts.and_then(|parts| parts.of_rank(new)) {
        agreement.runs(number);
    }
    writeln!(program.0, "{new}")?;
    writeln!(program.0, "{}", on_node(&agreement).unwrap_or_default())?;
    pump::run(Relay::new(agreement), &program.0, &launcher.0)
}

/// Slurm's list of the ranks on this node, with the new ranks; `None` if they stay, or are not those of Slurm, which may
/// have started another launcher.
fn on_node(agreement: &Agreement) -> Option<String> {
    let placed = agreement.placed.as_ref().filter(|_| agreement.version == Version::Two);
    let new_ranks = &placed?.order.new_ranks;
    let list = env::var(ON_NODE).ok()?;
    let new = |rank: &str| new_ranks.get(rank.parse::<usize>().ok()?).map(ToString::to_string);
    Some(list.split(',').map(new).collect::<Option<Vec<_>>>()?.join(","))
}

/// A connection on which lines are exchanged.
struct Connection(UnixStream);

impl Connection {
    /// The next line, without its end. It is read byte by byte: the following bytes are for the program.
    fn line(&mut self) -> io::Result<String> {
        let mut line = Vec::new();
        let mut byte = [0];
        while self.0.read_exact(&mut byte).map(|()| byte[0] != b'\n')? {
            line.push(byte[0]);
        }
        String::from_utf8(line).map_err(io::Error::other)
    }
}

impl Server for Connection {
    fn ask(&mut self, format: Format, message: &str) -> io::Result<String> {
        self.0.write_all(&sent(format, message.as_bytes()))?;
        // The first answer is a line in both versions.
        if format == Format::Line {
            return self.line();
        }
        let mut length = [0; 6];
        self.0.read_exact(&mut length)?;
        let length = std::str::from_utf8(&length).ok().and_then(|text| text.trim().parse().ok());
        let length = length.filter(|length| *length < LONGEST);
        let mut message = vec![0; length.ok_or_else(|| io::Error::other("no message of PMI-2"))?];
        self.0.read_exact(&mut message)?;
        String::from_utf8(message).map_err(io::Error::other)
    }
}
