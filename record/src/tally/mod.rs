//! The counts: from the messages of a call to the lines of a part.
//!
//! - [`state`]: the counts under their lock, with [`tables`] of processes and [`requests`].
//! - [`numbers`], [`locate`]: from a communicator's ranks to processes. [`amounts`]: the work of a call.
//! - [`counts`], [`messages`], [`collectives`]: updates by calls.

mod amounts;
mod collectives;
mod counts;
mod locate;
mod messages;
mod numbers;
mod requests;
mod state;
mod tables;

pub(crate) use collectives::collective;
pub(crate) use counts::{begin, count, finish, grid};
pub(crate) use locate::neighbors;
pub(crate) use messages::{
    exchange, forget, keep, keep_receive, not_done, post_receive, received, send, started, waited,
    waited_on,
};
pub(crate) use numbers::gone;
