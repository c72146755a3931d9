//! Measured runs of cases, each of several variants.

use std::collections::HashMap;

use cartograph_jobs::learn::measure::{median, paired_gain};
use cartograph_jobs::learn::{Gain, SHOWN};

/// Measured numbers by case and variant, with cases in order of appearance.
#[derive(Default)]
pub(crate) struct Measured {
    cases: Vec<String>,
    numbers: HashMap<(String, String), Vec<Vec<f64>>>,
    /// A word in place of numbers, if the run failed or its output differs; or a note on a case.
    words: HashMap<(String, String), String>,
}

/// The columns of a run on nodes: a time, the bytes on all wires, and the bytes from the node that sends most.
pub(crate) const TIME: usize = 0;
pub(crate) const ALL: usize = 1;
pub(crate) const MOST: usize = 2;

impl Measured {
    fn key(&mut self, case: &str, variant: &str) -> (String, String) {
        if !self.cases.iter().any(|known| known == case) {
            self.cases.push(case.to_owned());
        }
        (case.to_owned(), variant.to_owned())
    }

    /// Adds the numbers of a run.
    pub(crate) fn add(&mut self, case: &str, variant: &str, numbers: &[f64]) {
        eprintln!("{case}, {variant}: {numbers:?}");
        self.put(case, variant, numbers);
    }

    /// Adds the numbers of a run without printing them; none if the run failed.
    pub(crate) fn put(&mut self, case: &str, variant: &str, numbers: &[f64]) {
        let key = self.key(case, variant);
        self.numbers.entry(key).or_default().push(numbers.to_vec());
    }

    /// Adds a note on a case, or the fault of a variant.
    pub(crate) fn note(&mut self, case: &str, about: &str, word: &str) {
        eprintln!("{case}, {about}: {word}");
        let key = self.key(case, about);
        self.words.insert(key, word.to_owned());
    }

    /// The cases, in order of appearance.
    pub(crate) fn cases(&self) -> &[String] {
        &self.cases
    }

    /// The note on a case, or the fault of a variant, if there is one.
    pub(crate) fn word(&self, case: &str, about: &str) -> Option<&str> {
        self.words.get(&(case.to_owned(), about.to_owned())).map(String::as_str)
    }

    /// The variants of a case that have numbers, in the order of their names.
    pub(crate) fn variants(&self, case: &str) -> Vec<&str> {
        let of = self.numbers.keys().filter(|(other, _)| other == case);
        let mut all: Vec<&str> = of.map(|(_, variant)| variant.as_str()).collect();
        all.sort_unstable();
        all
    }

    /// The numbers of a column, in the order of the runs; empty if there are none.
    pub(crate) fn in_order(&self, case: &str, variant: &str, column: usize) -> Vec<f64> {
        let runs = self.numbers.get(&(case.to_owned(), variant.to_owned()));
        runs.into_iter().flatten().filter_map(|run| run.get(column).copied()).collect()
    }

    /// The median of a column; NaN if this variant of the case was not run.
    pub(crate) fn median(&self, case: &str, variant: &str, column: usize) -> f64 {
        median(&self.in_order(case, variant, column))
    }

    /// The speed of one variant relative to another, from run number `from` on, without pairs in which one run failed.
    pub(crate) fn gain(&self, case: &str, now: &str, other: &str, from: usize) -> Option<Gain> {
        let [now, other] =
            [now, other].map(|variant| self.numbers.get(&(case.to_owned(), variant.to_owned())));
        let pairs = now?.iter().zip(other?).skip(from);
        let times = pairs.filter_map(|(now, other)| Some((*now.get(TIME)?, *other.get(TIME)?)));
        let (now, other): (Vec<f64>, Vec<f64>) = times.unzip();
        paired_gain(&now, &other, SHOWN)
    }
}

/// A gain with its 95 % confidence interval.
pub(crate) fn shown(Gain { mean, least, most, .. }: Gain) -> String {
    format!("{mean:.2} ({least:.2} to {most:.2})")
}
