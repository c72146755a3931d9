//! Counts messages, and the time that the process waits for them.

use std::ffi::c_int;

use cartograph_traffic::Call;

use super::amounts;
use super::counts::{count, write_if};
use super::locate::{locate, resolve, source};
use super::requests::{Does, Pending, Persistent};
use super::state::{Tally, tally};
use crate::peers::{Peers, bits};
use crate::sent::{Calls, Sent};
use crate::sys::{self, MPI_Comm, MPI_Request};
use crate::window;
use crate::work::Amount;
use crate::{outermost, ticks, work};

fn known_tag(tag: c_int) -> Option<i32> {
    (tag != sys::CR_ANY_TAG).then_some(tag)
}

/// Counts a message, with a request or without.
#[inline]
pub(crate) fn send(sent: Sent, tag: c_int, request: Option<MPI_Request>) {
    let Sent::One(peers, block) = sent else { return count(sent) };
    if block.rank < 0 {
        return;
    }
    work::add(amounts::of(&sent));
    if outermost::counts_only_work() {
        return;
    }
    let (mut tally, Some(other)) = locate(peers, block.rank) else { return };
    tally.add(other, block);
    if window::is_open() {
        let (to, bytes) = (tally.rank(other), block.bytes);
        match request {
            Some(request) => {
                tally.post(Some(bits(request)), None, Some(Call::Isend(to, bytes, tag)));
            }
            None if tally.window.takes() => tally.window.push(Call::Send(to, bytes, tag)),
            None => {}
        }
    }
    let is_due = tally.schedule.is_due();
    drop(tally);
    write_if(is_due);
}

/// Counts a message that is sent while another is received, with or without a request.
pub(crate) fn exchange(
    sent: Sent,
    tag: c_int,
    (comm, from, from_tag): (MPI_Comm, c_int, c_int),
    request: Option<MPI_Request>,
) {
    if outermost::counts_only_work() {
        return count(sent);
    }
    let ticks = ticks::now().saturating_sub(outermost::began());
    let posts = tally().window.next_post();
    // As if the program had made two requests.
    let is_open = window::is_open();
    match sent {
        Sent::One(peers, block) if is_open && block.rank >= 0 => {
            work::add(amounts::of(&sent));
            let (mut tally, other) = locate(peers, block.rank);
            if let Some(other) = other {
                tally.add(other, block);
                let call = Call::Isend(tally.rank(other), block.bytes, tag);
                tally.post(None, None, Some(call));
            }
        }
        sent => count(sent),
    }
    let Some((mut tally, on)) = source(comm, from) else {
        let mut tally = tally();
        finish_exchange(&mut tally, posts, None, request, ticks);
        return;
    };
    if is_open && (on.is_some() || from == sys::CR_ANY_SOURCE) {
        let call = Call::Irecv(on.map(|on| tally.rank(on)), known_tag(from_tag));
        tally.post(None, None, Some(call));
    }
    finish_exchange(&mut tally, posts, Some(on), request, ticks);
}

/// The process waits for the messages since the post with this number now, or when it waits for a request.
fn finish_exchange(
    tally: &mut Tally,
    post: u32,
    receives: Option<Option<u32>>,
    request: Option<MPI_Request>,
    ticks: u64,
) {
    let count = tally.window.next_post() - post;
    match request {
        Some(request) => {
            let post = if count > 0 { post } else { u32::MAX };
            tally.requests.start(bits(request), Pending { receives, post, count });
        }
        None => {
            tally.wait(receives.flatten(), ticks);
            if count > 0 {
                tally.window.push(Call::Wait(count, count));
            }
        }
    }
}

/// A message was received.
pub(crate) fn received(comm: MPI_Comm, from: c_int, tag: c_int) {
    let ticks = ticks::now().saturating_sub(outermost::began());
    let Some((mut tally, on)) = source(comm, from) else { return };
    tally.wait(on, ticks);
    if tally.window.takes() && (on.is_some() || from == sys::CR_ANY_SOURCE) {
        let call = Call::Recv(on.map(|on| tally.rank(on)), known_tag(tag));
        tally.window.push(call);
    }
}

/// A message was awaited, but not received.
pub(crate) fn waited_on(comm: MPI_Comm, from: c_int) {
    let ticks = ticks::now().saturating_sub(outermost::began());
    let Some((mut tally, on)) = source(comm, from) else { return };
    tally.wait(on, ticks);
    if tally.window.takes() {
        tally.window.pass();
    }
}

/// A receive was posted.
pub(crate) fn post_receive(request: MPI_Request, comm: MPI_Comm, from: c_int, tag: c_int) {
    let Some((mut tally, on)) = source(comm, from) else { return };
    let call = (window::is_open() && (on.is_some() || from == sys::CR_ANY_SOURCE))
        .then(|| Call::Irecv(on.map(|on| tally.rank(on)), known_tag(tag)));
    tally.post(Some(bits(request)), Some(on), call);
}

/// Stores the receive of a persistent request, for its starts.
pub(crate) fn keep_receive(request: MPI_Request, comm: MPI_Comm, from: c_int, tag: c_int) {
    let Some((mut tally, on)) = source(comm, from) else { return };
    let does = Does::Receive(on, known_tag(tag));
    tally.requests.keep(bits(request), Persistent { amount: Amount::default(), does });
}

/// These requests are complete; the process waited since `began`.
#[inline]
pub(crate) fn waited(requests: impl Iterator<Item = usize>, began: u64) {
    let ticks = ticks::now().saturating_sub(began);
    let mut guard = tally();
    let tally = &mut *guard;
    // The first one that receives, further ones, and the numbers in the window.
    let (mut first, mut others, mut posts) = (None, Vec::new(), Vec::new());
    let takes = window::is_open() && tally.window.takes();
    for request in requests {
        let Some(done) = tally.requests.finish(request) else { continue };
        if takes && done.post != u32::MAX {
            posts.extend(done.post..done.post + done.count);
        }
        match (done.receives, first) {
            (None, _) => {}
            (Some(on), None) => first = Some(on),
            (Some(on), Some(_)) => others.push(on),
        }
    }
    if others.is_empty() {
        tally.wait(first.flatten(), ticks);
    } else {
        // It is unknown which one came last.
        let share = ticks / (others.len() as u64 + 1);
        tally.wait(first.flatten(), share);
        others.into_iter().for_each(|on| tally.wait(on, share));
    }
    if takes {
        tally.window.push_wait(&mut posts);
    }
}

/// A test has found that nothing is complete yet.
pub(crate) fn not_done() {
    if window::is_open() {
        tally().window.poll();
    }
}

/// Stores the send of a persistent request, for its starts; `tag` is that of a message.
pub(crate) fn keep(request: MPI_Request, sent: Sent, tag: Option<c_int>) {
    let amount = amounts::of(&sent);
    let does = match sent {
        _ if outermost::counts_only_work() => Does::Nothing,
        Sent::One(peers, block) => Does::Send(resolve(peers, &[block]).into(), tag),
        Sent::Many(peers, blocks) => Does::Send(resolve(peers, &blocks).into(), None),
        Sent::Neighbors(comm, blocks) | Sent::All(Calls { comm, .. }, blocks) => {
            Does::Send(resolve(Peers::Comm(comm), &blocks).into(), None)
        }
        Sent::Calls(calls) => Does::Call(calls.function),
    };
    tally().requests.keep(bits(request), Persistent { amount, does });
}

/// A persistent request has been started.
pub(crate) fn started(request: MPI_Request) {
    let mut tally = tally();
    let Some(Persistent { amount, does }) = tally.requests.kept(bits(request)) else { return };
    work::add(amount);
    match does {
        _ if outermost::counts_only_work() => return,
        Does::Nothing => return,
        Does::Send(blocks, tag) => {
            blocks.iter().for_each(|(other, block)| tally.add(*other, *block));
            if let (true, [(other, block)], Some(tag)) = (window::is_open(), &*blocks, tag) {
                let call = Call::Isend(tally.rank(*other), block.bytes, tag);
                tally.post(Some(bits(request)), None, Some(call));
            }
        }
        Does::Call(function) => tally.call(function, 0),
        Does::Receive(on, tag) => {
            let call = window::is_open().then(|| Call::Irecv(on.map(|on| tally.rank(on)), tag));
            tally.post(Some(bits(request)), Some(on), call);
        }
    }
    let is_due = tally.schedule.is_due();
    drop(tally);
    write_if(is_due);
}

/// A request is about to be freed.
pub(crate) fn forget(request: MPI_Request) {
    tally().requests.forget(bits(request));
}
