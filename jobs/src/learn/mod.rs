//! Learning from ordinary runs of a program: which placement its next job takes, and what its runs prove.
//!
//! An *arm* is a placement. Arm 0 is the launcher's default order; the others are predicted to be faster. Runs are
//! compared only within a *group*: runs that did the same work on nodes of the same sizes.

mod belief;
mod change;
mod devices;
mod elsewhere;
mod entry;
mod evidence;
mod guess;
mod history;
mod kind;
pub mod measure;
mod next;
mod policy;
mod rule;
mod spent;
mod stored;
mod traffic;
mod windows;

pub use devices::Devices;
pub use elsewhere::{LEAST_PREDICTED, busiest};
pub use entry::{Build, Entry, Past, SCHEMA, Totals, Unusable, shape};
pub use evidence::{CLAIMED, NOTABLE, SHOWN, claimed, gain, is_compared, is_faster, median_times};
pub use guess::{Guess, Noted, Seen};
pub use history::Placement;
pub use kind::Kind;
pub use measure::{Gain, Run};
pub use policy::{Choice, Conditions, Reason};
pub use rule::{Rule, Scaling};
pub use spent::WINDOW;
pub use traffic::Traffic;
