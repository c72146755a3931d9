//! Graphs: parts of exact sizes with few edges between them.
//!
//! Recursive bisection, each by multilevel coarsening and refinement, of the graph or, if that takes too long, of a
//! coarser one; then small groups of neighboring parts are divided again as long as the budget lasts.
//!
//! Why not METIS, which does the first half: as built by its crate `metis-sys` 0.3.2, METIS 5.1 seeds the process's
//! `rand()`, replaces the process's handlers of SIGABRT and SIGTERM while it runs, and prints to stderr. Its global
//! symbols replace, or are replaced by, those of a program's own METIS with another integer width. A preloaded library
//! must not do any of this to an application. Besides, its parts have only approximately the requested sizes. The
//! benchmarks compare with it.

mod bisect;
mod coarsen;
mod divider;
mod fm;
mod kway;
mod partition;
mod queue;
mod repartition;
mod subject;
mod sweep;

#[cfg(test)]
mod tests;

pub(super) use self::divider::GraphDivider;
pub(super) use self::repartition::improve;
pub(super) use self::subject::seconds_for;
pub(super) use self::sweep::STEP;
