//! Ends the job of a process that cannot take part in it.

use std::env;
use std::thread::sleep;
use std::time::Duration;

use cartograph_jobs::pmi::Version;
use cartograph_jobs::pmi::line::{Format, sent};
use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, recv, send};

/// A server that does not answer keeps the process for 1,000 of these.
const WAIT: Duration = Duration::from_millis(5);

/// Asks the launcher to end the job, if it speaks this version of PMI: Hydra, or Slurm with pmi2. Others end it when a
/// process fails, but Hydra lets the other processes wait in MPI_Init for one that ended before. Errors are ignored.
pub(super) fn abort_job(version: Version, code: u8) {
    let socket = env::var("PMI_FD").ok().and_then(|number| number.parse().ok());
    if let Some(socket) = socket {
        ask(socket, version, code);
    }
}

/// The same through a socket of this process.
pub(super) fn ask(socket: i32, version: Version, code: u8) {
    let _ = try_ask(socket, version, code);
}

fn try_ask(socket: i32, version: Version, code: u8) -> nix::Result<()> {
    let tell = |format: Format, message: &str| {
        send(socket, &sent(format, message.as_bytes()), MsgFlags::MSG_NOSIGNAL).map(drop)
    };
    // It aborts only for a process that it knows.
    tell(Format::Line, version.init())?;
    let answers = || recv(socket, &mut [0; 256], MsgFlags::MSG_DONTWAIT) != Err(Errno::EAGAIN);
    (0..1000).find(|_| {
        sleep(WAIT);
        answers()
    });
    match version {
        Version::One => tell(Format::Line, &format!("cmd=abort exitcode={code}")),
        Version::Two => tell(Format::Counted, "cmd=abort;isworld=TRUE;msg=;"),
    }
}
