//! Gives the processes of a job other ranks than their launcher, through PMI: a relay stands between each process and
//! the launcher, and no process moves. The program stays the launcher's child, with its signals, input and exit code.

mod descriptors;
mod pump;

use std::env;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;

use cartograph_core::pmi::{Order, Relay, Server, agree};

use crate::output::{Failure, Result};

/// The variables of the rank that come with PMI.
const RANKS: [&str; 3] = ["PMI_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID"];

/// The end of the name of the file that rank 0 writes next to an order: 1 if ranks were placed in it, else 0.
pub(crate) const PLACED: &str = "placed";

/// The place of this process in a job.
#[derive(Clone, Copy)]
struct Process {
    rank: usize,
    size: usize,
}

/// Starts the relay of this process, if it has PMI, and sets the rank of the program to that of an order in a file.
/// All processes of the job do this: they agree whether they take the order. Returns the socket that the program inherits
/// in place of the launcher's.
pub(crate) fn place(command: &mut Command, file: &Path) -> Result<Option<i32>> {
    let number = |name: &str| env::var(name).ok()?.parse::<i32>().ok();
    let (Some(descriptor), Some(rank), Some(size)) =
        (number("PMI_FD"), number("PMI_RANK"), number("PMI_SIZE"))
    else {
        return Ok(None);
    };
    let failed = |error: io::Error| {
        Failure::new(format!("cannot place rank {rank}: {error}")).with_code(Failure::NOT_RUN)
    };
    let mut launcher = Connection(descriptors::inherited(descriptor).map_err(failed)?);
    let process = Process { rank: rank as usize, size: size as usize };
    let Ok(mut relay) = start(&mut launcher, process, file) else {
        // The other processes wait for this one's part in the agreement.
        agree(&mut launcher, process.size, None).map_err(failed)?;
        return descriptors::keep(launcher.0).map(Some).map_err(failed);
    };
    let new = relay.line().map_err(failed)?;
    for name in RANKS {
        if env::var(name).is_ok_and(|set| set == rank.to_string()) {
            command.env(name, &new);
        }
    }
    let socket = descriptors::keep(relay.0).map_err(failed)?;
    command.env("PMI_FD", socket.to_string());
    Ok(Some(socket))
}

/// Starts the relay, and returns the program's connection to it.
fn start(launcher: &mut Connection, process: Process, file: &Path) -> io::Result<Connection> {
    let (program, own) = UnixStream::pair()?;
    let open = [&own, &launcher.0].map(descriptors::number);
    descriptors::beside(&open, || {
        // An error closes the connection, which ends the process that waits for its rank.
        let _ = relay(Connection(own), launcher, process, file);
    })?;
    Ok(Connection(program))
}

/// Agrees with the other processes, sends the program's rank, and passes on its messages.
fn relay(
    mut program: Connection,
    launcher: &mut Connection,
    process: Process,
    file: &Path,
) -> io::Result<()> {
    let order = fs::read_to_string(file).ok().and_then(|text| Order::parse(&text));
    let agreement = agree(launcher, process.size, order)?;
    let placed = agreement.placed.as_ref();
    let new = placed.and_then(|placed| placed.order.new_ranks.get(process.rank));
    if process.rank == 0 {
        // Without this file, nothing is learned from the job.
        let _ = fs::write(file.with_extension(PLACED), if new.is_some() { "1" } else { "0" });
    }
    let new = new.map_or(process.rank, |new| *new as usize);
    writeln!(program.0, "{new}")?;
    pump::run(Relay::new(agreement), &program.0, &launcher.0)
}

/// A connection on which lines are exchanged.
struct Connection(UnixStream);

impl Connection {
    /// The next line, without its end. It is read byte by byte: what follows is for the program.
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
    fn ask(&mut self, line: &str) -> io::Result<String> {
        self.0.write_all([line, "\n"].concat().as_bytes())?;
        self.line()
    }
}
