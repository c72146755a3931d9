//! Whether a program prints the same: numbers within a tolerance, lines in any order, and without what
//! differs from run to run anyway, such as times.

use std::collections::{BTreeMap, BTreeSet};

/// Lines by their text without numbers, and for each the numbers of all lines with that text.
type Lines = BTreeMap<String, Vec<Vec<f64>>>;

/// What a program prints.
pub(super) struct Expected {
    /// Of all runs of the program alone; the first is what others are compared with.
    alone: Vec<Lines>,
    /// The numbers of a text that are compared; none at all if lines of the text come and go.
    compared: BTreeMap<String, Option<Vec<bool>>>,
    tolerance: f64,
    /// Lines with one of these are left out.
    ignored: Vec<String>,
}

impl Expected {
    /// By runs of the program alone, one at least.
    pub(super) fn of(texts: &[&str], tolerance: f64, ignored: &[String]) -> Self {
        let mut expected = Self {
            alone: Vec::new(),
            compared: BTreeMap::new(),
            tolerance,
            ignored: ignored.to_vec(),
        };
        texts.iter().for_each(|text| expected.add(text));
        expected
    }

    /// One more run of the program alone: what differs in it is compared no more.
    pub(super) fn add(&mut self, text: &str) {
        self.alone.push(self.read(text));
        let texts: BTreeSet<&String> = self.alone.iter().flat_map(BTreeMap::keys).collect();
        let columns = |text: &String| {
            let runs: Option<Vec<_>> = self.alone.iter().map(|lines| lines.get(text)).collect();
            stable(&runs?, self.tolerance)
        };
        self.compared = texts.into_iter().map(|text| (text.clone(), columns(text))).collect();
    }

    fn read(&self, text: &str) -> Lines {
        let counts = |line: &&str| !self.ignored.iter().any(|word| line.contains(&**word));
        read(text.lines().filter(counts))
    }

    /// The first that another run prints differently, in words.
    pub(super) fn differs(&self, text: &str) -> Option<String> {
        let found = self.read(text);
        let lines = self.alone.first()?;
        for (text, rows) in lines {
            let Some(Some(columns)) = self.compared.get(text) else { continue };
            let Some(others) = found.get(text) else {
                return Some(format!("no line \"{}\"", shown(text, &rows[0])));
            };
            let (rows, others) = (chosen(rows, columns), chosen(others, columns));
            if rows.len() != others.len() {
                return Some(format!(
                    "{} lines as \"{}\" instead of {}",
                    others.len(),
                    shown(text, &lines[text][0]),
                    rows.len()
                ));
            }
            let differ = |(row, other): &(&Vec<f64>, &Vec<f64>)| {
                row.iter().zip(*other).any(|(a, b)| !near(*a, *b, self.tolerance))
            };
            if let Some((row, other)) = rows.iter().zip(&others).find(differ) {
                return Some(format!(
                    "\"{}\" instead of \"{}\"",
                    shown_chosen(text, other, columns),
                    shown_chosen(text, row, columns)
                ));
            }
        }
        let known = |text: &&String| !self.compared.contains_key(*text);
        found.keys().find(known).map(|text| format!("a line \"{}\"", shown(text, &found[text][0])))
    }
}

/// In the text of a line, where a number was.
const NUMBER: char = '\u{1}';

/// Divides lines into words and numbers. How far words are apart does not count, for it may depend on the numbers.
fn read<'a>(text: impl Iterator<Item = &'a str>) -> Lines {
    let mut lines = Lines::new();
    for line in text.map(str::trim).filter(|line| !line.is_empty()) {
        let (mut words, mut numbers) = (String::new(), Vec::new());
        let mut rest = line;
        while let Some(first) = rest.chars().next() {
            // A digit inside a word, as of host7, is none of a number.
            let inside =
                words.chars().last().is_some_and(|last| last.is_alphanumeric() || last == '_');
            match number(rest).filter(|_| !inside) {
                Some((value, length)) => {
                    numbers.push(value);
                    words.push(NUMBER);
                    rest = &rest[length..];
                }
                None => {
                    match first.is_whitespace() {
                        true if words.ends_with(' ') => {}
                        true => words.push(' '),
                        false => words.push(first),
                    }
                    rest = &rest[first.len_utf8()..];
                }
            }
        }
        lines.entry(words).or_default().push(numbers);
    }
    for rows in lines.values_mut() {
        rows.sort_by(|one, other| order(one, other));
    }
    lines
}

/// A number at the start of a text, and its length.
fn number(text: &str) -> Option<(f64, usize)> {
    let bytes = text.as_bytes();
    let digits = |at: usize| bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let sign = usize::from(matches!(bytes.first(), Some(b'-' | b'+')));
    let mut end = sign + digits(sign);
    let mut any = end > sign;
    if bytes.get(end) == Some(&b'.') {
        let after = digits(end + 1);
        any |= after > 0;
        end += 1 + after;
    }
    if !any {
        return None;
    }
    // Fortran writes 1.0D+03 for doubles.
    if let Some(b'e' | b'E' | b'd' | b'D') = bytes.get(end) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'-' | b'+')));
        let power = digits(end + 1 + sign);
        end += if power > 0 { 1 + sign + power } else { 0 };
    }
    let value = text[..end].replace(['d', 'D'], "e").parse().ok()?;
    Some((value, end))
}

fn order(one: &[f64], other: &[f64]) -> std::cmp::Ordering {
    let differing = one.iter().zip(other).map(|(a, b)| a.total_cmp(b)).find(|order| order.is_ne());
    differing.unwrap_or_else(|| one.len().cmp(&other.len()))
}

fn near(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * a.abs().max(b.abs()) || a == b
}

/// Which numbers of the lines with one text are alike in all runs; `None` if not even the number of lines is, or
/// they belong together in other ways.
fn stable(runs: &[&Vec<Vec<f64>>], tolerance: f64) -> Option<Vec<bool>> {
    let (first, others) = runs.split_first()?;
    if others.iter().any(|rows| rows.len() != first.len()) {
        return None;
    }
    let column = |rows: &[Vec<f64>], at: usize| {
        let mut column: Vec<f64> = rows.iter().map(|row| row[at]).collect();
        column.sort_by(f64::total_cmp);
        column
    };
    let near =
        |one: &[f64], other: &[f64]| one.iter().zip(other).all(|(a, b)| near(*a, *b, tolerance));
    let alike = |at: usize| {
        let one = column(first, at);
        others.iter().all(|rows| near(&one, &column(rows, at)))
    };
    let columns: Vec<bool> = (0..first[0].len()).map(alike).collect();
    let one = chosen(first, &columns);
    let together = |rows: &&Vec<Vec<f64>>| {
        one.iter().zip(chosen(rows, &columns)).all(|(one, other)| near(one, &other))
    };
    others.iter().all(together).then_some(columns)
}

/// The numbers of these columns, in order.
fn chosen(rows: &[Vec<f64>], columns: &[bool]) -> Vec<Vec<f64>> {
    let pick = |row: &Vec<f64>| {
        row.iter().zip(columns).filter(|(_, chosen)| **chosen).map(|(number, _)| *number).collect()
    };
    let mut rows: Vec<Vec<f64>> = rows.iter().map(pick).collect();
    rows.sort_by(|one, other| order(one, other));
    rows
}

/// A line as it was printed, about.
fn shown(text: &str, numbers: &[f64]) -> String {
    shown_chosen(text, numbers, &vec![true; numbers.len()])
}

/// The same where not all numbers are known.
fn shown_chosen(text: &str, numbers: &[f64], columns: &[bool]) -> String {
    let (mut numbers, mut columns) = (numbers.iter(), columns.iter());
    let word = |c: char| match c {
        NUMBER => match columns.next() {
            Some(true) => numbers.next().map_or_else(String::new, f64::to_string),
            _ => "...".to_owned(),
        },
        c => c.to_string(),
    };
    text.chars().map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_in_lines() {
        let read = |text: &str| super::read(text.lines());
        let lines = read("step 12: x=-1.5e-3,   2.D+02 on host7 (.5)\n\n   \n");
        let (text, rows) = lines.first_key_value().unwrap();
        assert_eq!(text, "step \u{1}: x=\u{1}, \u{1} on host7 (\u{1})");
        assert_eq!(rows, &[vec![12.0, -1.5e-3, 200.0, 0.5]]);
        assert_eq!(read("- . e5 -x").keys().next().unwrap(), "- . e5 -x");
    }

    #[test]
    fn order_small_differences_and_times_do_not_count() {
        let one = "rank 0 has 1.0\nrank 1 has 2.0\nit took 3.1 s\nseed 77 a\n";
        let two = "it took 2.7 s\nrank 1 has 2.0000001\nrank 0 has 1.0\nseed 99 a\n";
        let expected = Expected::of(&[one, two], 1e-6, &[]);
        assert_eq!(expected.differs(one), None);
        assert_eq!(expected.differs(two), None);
        assert_eq!(expected.differs("it took 9 s\nrank 1 has 2\nseed 1 a\nrank 0 has 1\n"), None);
        let differs = |text: &str| expected.differs(text).unwrap();
        // What belongs to whom counts, not only that all are there.
        assert!(
            differs("rank 0 has 2\nrank 1 has 1\nit took 1 s\nseed 1 a").contains("rank 0 has 2")
        );
        assert!(differs("rank 0 has 1\nit took 1 s\nseed 1 a").contains("1 lines"));
        assert!(differs("it took 1 s\nseed 1 a").contains("no line"));
        assert!(differs(&format!("{one}error: 5\n")).contains("a line \"error: 5\""));
        assert!(differs(&one.replace("2.0", "2.1")).contains("2.1\" instead of"));
        assert!(differs(&one.replace("2.0", "nan")).contains("1 lines"));
    }

    #[test]
    fn lines_that_come_and_go_do_not_count() {
        let expected = Expected::of(&["a 1\nb 2\nb 3\n", "a 1\nb 2\nwarning\n"], 0.0, &[]);
        for text in ["a 1", "a 1\nb 7", "a 1\nwarning"] {
            assert_eq!(expected.differs(text), None, "{text}");
        }
        assert!(expected.differs("a 2").is_some());
    }

    #[test]
    fn columns_may_move() {
        let expected =
            Expected::of(&["Pair | 0.5     | 12.5 |", "Pair | 0.25    | 1.5  |"], 0.0, &[]);
        assert_eq!(expected.differs("Pair | 0.10003 | 7 |"), None);
    }

    #[test]
    fn what_was_the_same_by_chance_is_not_compared_once_a_run_shows_it() {
        let mut expected = Expected::of(&["took 2 s\nsum 7", "took 2 s\nsum 7"], 0.0, &[]);
        let other = "took 3 s\nsum 7";
        assert!(expected.differs(other).is_some());
        expected.add("took 1 s\nsum 7");
        assert_eq!(expected.differs(other), None);
        assert!(expected.differs("took 3 s\nsum 8").is_some());
    }

    #[test]
    fn lines_are_left_out_by_a_word_of_theirs() {
        let ignored = ["coords".to_owned()];
        let expected = Expected::of(&["coords 0 0\nsum 7"; 2], 0.0, &ignored);
        assert_eq!(expected.differs("coords 2 1\nsum 7"), None);
        assert!(expected.differs("coords 2 1\nsum 8").is_some());
    }
}
