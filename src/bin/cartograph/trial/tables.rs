//! Tables whose rows come and go, or change places: what a program says of its times, sorted and from a threshold on.

use std::collections::{BTreeMap, BTreeSet};

use super::compare::NUMBER;

/// Fewer rows are no table.
const FEWEST_ROWS: usize = 3;

/// How the lines of a table look: a name and at least two numbers, each with its place.
type Shape = String;

/// The rows of tables in the order in which one run prints them, by their shape. A row is the text of its line without
/// numbers.
#[derive(Default)]
pub(super) struct Tables(BTreeMap<Shape, Vec<Vec<String>>>);

impl Tables {
    /// In the lines of a run, without their numbers.
    pub(super) fn of(lines: &[String]) -> Self {
        let mut tables = Self::default();
        let shapes: Vec<Option<Shape>> = lines.iter().map(|line| shape(line)).collect();
        let mut start = 0;
        while start < lines.len() {
            let same = shapes[start..].iter().take_while(|shape| **shape == shapes[start]).count();
            let rows = &lines[start..start + same];
            if let Some(shape) = &shapes[start]
                && rows.iter().collect::<BTreeSet<_>>().len() >= FEWEST_ROWS
            {
                tables.0.entry(shape.clone()).or_default().push(rows.to_vec());
            }
            start += same;
        }
        tables
    }
}

/// Which tables differ between runs of a program alone, by their shapes, and the rows that were seen in them.
#[derive(Default)]
pub(super) struct VaryingTables(BTreeMap<Shape, BTreeSet<String>>);

impl VaryingTables {
    /// By runs of the program alone. A table counts only if most rows that all of them print have a number that
    /// `varies`: then it is a table of times, not of results.
    pub(super) fn of(runs: &[Tables], varies: impl Fn(&str) -> bool) -> Self {
        let shapes: BTreeSet<&Shape> = runs.iter().flat_map(|run| run.0.keys()).collect();
        let mut unsteady = Self::default();
        for shape in shapes {
            let printed: Vec<Vec<&String>> = runs
                .iter()
                .map(|run| run.0.get(shape).into_iter().flatten().flatten().collect())
                .collect();
            if printed.windows(2).all(|pair| pair[0] == pair[1]) {
                continue;
            }
            let sets = printed.iter().map(|rows| rows.iter().copied().collect::<BTreeSet<_>>());
            let common = sets.clone().reduce(|one, other| &one & &other).unwrap_or_default();
            let varying = common.iter().filter(|row| varies(row)).count();
            if varying > 0 && 2 * varying >= common.len() {
                unsteady.0.insert(shape.clone(), sets.flatten().cloned().collect());
            }
        }
        unsteady
    }

    /// Whether such a table has this row.
    pub(super) fn has(&self, row: &str) -> bool {
        self.0.values().any(|rows| rows.contains(row))
    }

    /// Whether a run prints this row in such a table, of which it prints mostly rows that were seen.
    pub(super) fn takes(&self, run: &Tables, row: &str) -> bool {
        self.0.iter().any(|(shape, seen)| {
            let is_it = |table: &&Vec<String>| {
                let known = table.iter().filter(|row| seen.contains(*row)).count();
                2 * known >= table.len() && table.iter().any(|other| other == row)
            };
            run.0.get(shape).is_some_and(|tables| tables.iter().any(|table| is_it(&table)))
        })
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.0.len()
    }
}

/// The shape of a line, if it has a name and two numbers or more.
fn shape(line: &str) -> Option<Shape> {
    let mut shape = Shape::new();
    for word in line.split_whitespace() {
        match word.chars().eq([NUMBER]) {
            true => shape.push('1'),
            false if shape.ends_with('a') => {}
            false => shape.push('a'),
        }
    }
    (shape.contains('a') && shape.matches('1').count() >= 2).then_some(shape)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables(text: &str) -> Tables {
        let line = |line: &str| line.replace(|c: char| c.is_ascii_digit(), "\u{1}");
        Tables::of(&text.lines().map(line).collect::<Vec<_>>())
    }

    #[test]
    fn tables_are_lines_of_one_shape() {
        assert_eq!(shape("two words \u{1} \u{1}").as_deref(), Some("a11"));
        assert_eq!(shape("x=\u{1} \u{1}"), None);
        assert_eq!(shape("\u{1} \u{1}"), None);
        assert_eq!(tables("a 1 2\nb 1 2\nc 1 2\nd 1\ne 1 2\nf 1 2").0["a11"].len(), 1);
        assert!(tables("a 1 2\na 3 4\na 5 6").0.is_empty());
    }

    #[test]
    fn a_table_is_unsteady_if_its_rows_change_and_its_numbers_too() {
        let steady = "a 1 2\nb 1 2\nc 1 2";
        for (other, count) in [(steady, 0), ("b 1 2\na 1 2\nc 1 2", 1), ("a 1 2\nb 1 2\nd 1 2", 1)]
        {
            let unsteady =
                |varies: bool| VaryingTables::of(&[tables(steady), tables(other)], |_| varies);
            assert_eq!((unsteady(true).count(), unsteady(false).count()), (count, 0), "{other}");
        }
        let unsteady =
            VaryingTables::of(&[tables(steady), tables("a 1 2\nb 1 2\nd 1 2")], |_| true);
        assert!(unsteady.has("d \u{1} \u{1}") && !unsteady.has("e \u{1} \u{1}"));
        let takes = |run: &str| unsteady.takes(&tables(run), "e \u{1} \u{1}");
        assert!(takes("a 1 2\ne 1 2\nc 1 2"));
        assert!(!takes("e 1 2\nf 1 2\ng 1 2\na 1 2"));
        assert!(!takes("a 1 2\nb 1 2\nc 1 2\ne 1"));
    }
}
