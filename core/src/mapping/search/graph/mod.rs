//! Graphs: parts of exact sizes with few edges between them.
//!
//! Recursive bisection, each by multilevel coarsening and refinement, of the graph or, if that takes too long, of one
//! that is coarser; then small groups of neighboring parts are divided anew as long as the budget lasts.
//!
//! Why not METIS, which does the first half: built as its crate `metis-sys` 0.3.2 builds it, METIS 5.1
//! seeds the process's own `rand()`, replaces the process's handlers of SIGABRT and SIGTERM while it
//! runs, prints to stderr, and its global symbols take the place of, or are replaced by, those of a
//! program's own METIS of another integer width. A preloaded library must do none of this to an
//! application. And its parts are only nearly of the sizes asked. The benchmarks compare with it.

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
