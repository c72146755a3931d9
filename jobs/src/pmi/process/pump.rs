//! Moves bytes through a relay until one end has closed.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::pmi::{End, Relay};

/// Nothing more is read from an end while the other has not taken this much.
const MOST: usize = 1 << 16;

/// The time that the launcher has to answer after the program has ended.
const LAST: Duration = Duration::from_secs(10);

/// Runs a relay until one end has closed, then closes the other.
///
/// # Errors
///
/// An end has gone with bytes unread.
pub(super) fn run(mut relay: Relay, program: &UnixStream, launcher: &UnixStream) -> io::Result<()> {
    let relay = &mut relay;
    program.set_nonblocking(true)?;
    launcher.set_nonblocking(true)?;
    let mut bytes = [0; 4096];
    loop {
        for (to, socket) in [(End::Program, program), (End::Launcher, launcher)] {
            send(relay, to, socket)?;
        }
        let events = |from: End, to: End| {
            let mut events = PollFlags::empty();
            events.set(PollFlags::POLLIN, relay.unsent(to).len() < MOST);
            events.set(PollFlags::POLLOUT, !relay.unsent(from).is_empty());
            events
        };
        let mut ready = [
            PollFd::new(program.as_fd(), events(End::Program, End::Launcher)),
            PollFd::new(launcher.as_fd(), events(End::Launcher, End::Program)),
        ];
        wait(&mut ready, PollTimeout::NONE)?;
        let has_bytes = |at: usize| {
            let gone = PollFlags::POLLIN | PollFlags::POLLHUP | PollFlags::POLLERR;
            ready[at].revents().is_some_and(|events| events.intersects(gone))
        };
        let [from_program, from_launcher] = [has_bytes(0), has_bytes(1)];
        if from_launcher && !receive(relay, End::Launcher, launcher, &mut bytes)? {
            return send(relay, End::Program, program);
        }
        if from_program && !receive(relay, End::Program, program, &mut bytes)? {
            return finish(relay, launcher);
        }
    }
}

/// Reads bytes from an end into the relay; false if the end has closed.
fn receive(
    relay: &mut Relay,
    from: End,
    mut socket: &UnixStream,
    bytes: &mut [u8],
) -> io::Result<bool> {
    match socket.read(bytes) {
        Ok(0) => Ok(false),
        Ok(count) => {
            relay.receive(from, &bytes[..count]);
            Ok(true)
        }
        Err(error) if [ErrorKind::WouldBlock, ErrorKind::Interrupted].contains(&error.kind()) => {
            Ok(true)
        }
        // The program has ended with bytes unread.
        Err(error) if error.kind() == ErrorKind::ConnectionReset => Ok(false),
        Err(error) => Err(error),
    }
}

/// Sends as much to an end as it takes.
fn send(relay: &mut Relay, to: End, mut socket: &UnixStream) -> io::Result<()> {
    while !relay.unsent(to).is_empty() {
        match socket.write(relay.unsent(to)) {
            Ok(count) => relay.sent(to, count),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // The rest of the other direction still counts.
            Err(_) if to == End::Program => {
                let count = relay.unsent(to).len();
                relay.sent(to, count);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Sends the last bytes of a program that has ended to the launcher.
fn finish(relay: &mut Relay, launcher: &UnixStream) -> io::Result<()> {
    let mut answers = relay.program_ended();
    let end = Instant::now() + LAST;
    let mut bytes = [0; 4096];
    while answers || !relay.unsent(End::Launcher).is_empty() {
        send(relay, End::Launcher, launcher)?;
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        let is_sent = relay.unsent(End::Launcher).is_empty();
        let events = if is_sent { PollFlags::POLLIN } else { PollFlags::POLLOUT };
        let mut ready = [PollFd::new(launcher.as_fd(), events)];
        if is_sent && !answers {
            break;
        }
        wait(&mut ready, PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX))?;
        if is_sent {
            let mut socket = launcher;
            let _ = socket.read(&mut bytes);
            answers = false;
        }
    }
    Ok(())
}

fn wait(ready: &mut [PollFd<'_>], longest: PollTimeout) -> io::Result<()> {
    match poll(ready, longest) {
        Ok(_) | Err(nix::errno::Errno::EINTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
