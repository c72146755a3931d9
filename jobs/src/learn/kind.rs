//! A kind of work that a program does with its inputs: which ranks exchange bytes, summarized by one weighted sum per
//! rank.

use cartograph_traffic::{WEIGHTS, Work};
use serde::{Deserialize, Serialize};

use super::traffic::Traffic;

/// Runs did the same work if their numbers of messages, bytes and collectives differ by no more than this fraction, and
/// no more of all bytes went to other ranks: programs that iterate until convergence do not always take the same number
/// of steps.
pub(super) const ALIKE: f64 = 0.02;

/// Runs of one pattern may have different lengths, but as many bytes per message, and about as many collectives.
const PROPORTIONAL: f64 = 0.05;
const SOME_COLLECTIVES: f64 = 0.25;

/// The parts of a rank's mean bytes in which a pattern is stored.
const PARTS: f64 = 512.0;

/// A kind of work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kind {
    /// Its number, which is not used again.
    pub id: u32,
    /// The work of its first run; that of another run is a multiple of it.
    pub(super) work: Work,
    /// The weighted sums of bytes of all ranks, in [`PARTS`] of a rank's mean bytes; empty if unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) pattern: Vec<i32>,
    /// The traffic, once a run of it was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traffic: Option<Traffic>,
    /// The digests of its inputs, whatever the build, each with the number of jobs of another kind that had it since.
    #[serde(default)]
    pub(super) digests: Vec<(u64, u32)>,
    /// The same for the inputs of builds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) of_builds: Vec<(u64, u32)>,
    /// The program's number of runs at its last run.
    #[serde(default)]
    pub(super) last: u64,
}

impl Kind {
    pub(super) fn new(id: u32, work: Work) -> Self {
        Self {
            id,
            work,
            pattern: Vec::new(),
            traffic: None,
            digests: Vec::new(),
            of_builds: Vec::new(),
            last: 0,
        }
    }

    /// True if a run did this kind of work: the same, or if that is likely by its pattern or by a guess, a multiple.
    pub(super) fn did(&self, work: &Work, pattern: &[i32], is_guessed: bool) -> bool {
        let is_multiple = || are_proportional(&self.work, work);
        match self.pattern.is_empty() || pattern.is_empty() {
            true => are_alike(&self.work, work) || (is_guessed && is_multiple()),
            false => is_multiple() && moved(&self.pattern, pattern) <= ALIKE,
        }
    }
}

/// The weighted sums of all ranks relative to all bytes.
pub(super) fn pattern(sums: &[i64], bytes: u64) -> Vec<i32> {
    if bytes == 0 {
        return Vec::new();
    }
    let part = sums.len() as f64 * PARTS / (bytes as f64 * WEIGHTS as f64);
    sums.iter().map(|sum| (*sum as f64 * part).round() as i32).collect()
}

/// The fraction of all bytes that went to other ranks: the weights of two ranks differ by a third of their range.
fn moved(one: &[i32], other: &[i32]) -> f64 {
    if one.len() != other.len() {
        return f64::INFINITY;
    }
    let apart: u64 =
        one.iter().zip(other).map(|(one, other)| u64::from(one.abs_diff(*other))).sum();
    3.0 * apart as f64 / (PARTS * one.len().max(1) as f64)
}

/// True if two numbers differ by no more than this fraction.
fn are_close(one: f64, other: f64, part: f64) -> bool {
    (one - other).abs() <= part * one.max(other)
}

/// True if two runs did the same work, within the usual variation.
fn are_alike(one: &Work, other: &Work) -> bool {
    let close = |one: u64, other: u64| are_close(one as f64, other as f64, ALIKE);
    close(one.messages, other.messages)
        && close(one.bytes, other.bytes)
        && close(one.collectives, other.collectives)
}

/// True if a run did a multiple of the work of another.
fn are_proportional(one: &Work, other: &Work) -> bool {
    let units = units(other, one);
    let close = |one: u64, other: u64, part| are_close(one as f64 * units, other as f64, part);
    close(one.messages, other.messages, PROPORTIONAL)
        && close(one.bytes, other.bytes, PROPORTIONAL)
        && close(one.collectives, other.collectives, SOME_COLLECTIVES)
}

/// The work of a run in units of another.
pub(super) fn units(run: &Work, unit: &Work) -> f64 {
    let all = [(run.bytes, unit.bytes), (run.messages, unit.messages)];
    let all = all.into_iter().chain([(run.collectives, unit.collectives)]);
    let ratio = { all }.find(|(one, other)| *one > 0 && *other > 0);
    ratio.map_or(1.0, |(one, other)| one as f64 / other as f64)
}
