//! Whether a program prints the same: numbers within a tolerance, lines in any order, and without what
//! differs from run to run anyway, such as times.

use std::collections::{BTreeMap, BTreeSet};

use super::tables::{Tables, VaryingTables};

/// Lines by their text without numbers, and for each the numbers of all lines with that text.
type Lines = BTreeMap<String, Vec<Vec<f64>>>;

/// What a program prints.
pub(super) struct Expected {
    /// Of all runs of the program alone; the first is what others are compared with.
    alone: Vec<Lines>,
    /// The tables of all those runs.
    tables: Vec<Tables>,
    /// Those whose rows come and go, or change places.
    unsteady: VaryingTables,
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
            tables: Vec::new(),
            unsteady: VaryingTables::default(),
            compared: BTreeMap::new(),
            tolerance,
            ignored: ignored.to_vec(),
        };
        texts.iter().for_each(|text| expected.add(text));
        expected
    }

    /// One more run of the program alone: what differs in it is compared no more.
    pub(super) fn add(&mut self, text: &str) {
        let (lines, tables) = self.read(text);
        self.alone.push(lines);
        self.tables.push(tables);
        let texts: BTreeSet<&String> = self.alone.iter().flat_map(BTreeMap::keys).collect();
        let columns = |text: &String| {
            let runs: Option<Vec<_>> = self.alone.iter().map(|lines| lines.get(text)).collect();
            stable(&runs?, self.tolerance)
        };
        self.compared = texts.into_iter().map(|text| (text.clone(), columns(text))).collect();
        self.unsteady = VaryingTables::of(&self.tables, |row| self.varies(row));
    }

    fn read(&self, text: &str) -> (Lines, Tables) {
        let counts = |line: &&str| !self.ignored.iter().any(|word| line.contains(&**word));
        let (lines, order) = read(text.lines().filter(counts));
        (lines, Tables::of(&order))
    }

    /// Whether not all numbers of lines with a text are compared.
    fn varies(&self, text: &str) -> bool {
        let columns = self.compared.get(text);
        columns
            .is_some_and(|columns| columns.as_ref().is_none_or(|columns| columns.contains(&false)))
    }

    /// What is not compared, in words, if there is anything.
    pub(super) fn left_aside(&self) -> Option<String> {
        let come_and_go =
            |text: &&String| self.compared[*text].is_none() && !self.unsteady.has(text);
        let first = |text: &String| {
            let rows = self.alone.iter().find_map(|lines| lines.get(text)).expect("it was printed");
            shown(text, &rows[0])
        };
        let varying = || self.compared.keys().filter(|text| self.varies(text));
        let kinds = [
            (
                varying().filter(|text| self.compared[*text].is_some()).collect::<Vec<_>>(),
                "numbers in lines",
            ),
            (varying().filter(come_and_go).collect(), "lines"),
        ];
        let mut said: Vec<String> = kinds
            .iter()
            .filter_map(|(texts, what)| {
                let more = match texts.len() {
                    0 | 1 => String::new(),
                    count => format!(" and {} more", count - 1),
                };
                Some(format!("{what} as \"{}\"{more}", first(texts.first()?)))
            })
            .collect();
        said.extend(match self.unsteady.count() {
            0 => None,
            1 => Some("which rows a table has".to_owned()),
            count => Some(format!("which rows {count} tables have")),
        });
        (!said.is_empty()).then(|| said.join(", "))
    }

    /// The first that another run prints differently, in words.
    pub(super) fn differs(&self, text: &str) -> Option<String> {
        let (found, tables) = self.read(text);
        let lines = self.alone.first()?;
        for (text, rows) in lines {
            let Some(Some(columns)) = self.compared.get(text) else { continue };
            let may_go = columns.contains(&false) && self.unsteady.has(text);
            let Some(others) = found.get(text) else {
                if may_go {
                    continue;
                }
                return Some(format!("no line \"{}\"", shown(text, &rows[0])));
            };
            let (rows, others) = (chosen(rows, columns), chosen(others, columns));
            if rows.len() != others.len() {
                if may_go {
                    continue;
                }
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
        let known = |text: &&String| {
            !self.compared.contains_key(*text) && !self.unsteady.takes(&tables, text)
        };
        found.keys().find(known).map(|text| format!("a line \"{}\"", shown(text, &found[text][0])))
    }
}

/// In the text of a line, where a number was.
pub(super) const NUMBER: char = '\u{1}';

/// Divides lines into words and numbers, and gives their texts in order too. How far words are apart does not count, for it
/// may depend on the numbers.
fn read<'a>(text: impl Iterator<Item = &'a str>) -> (Lines, Vec<String>) {
    let (mut lines, mut texts) = (Lines::new(), Vec::new());
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
        texts.push(words.clone());
        lines.entry(words).or_default().push(numbers);
    }
    for rows in lines.values_mut() {
        rows.sort_by(|one, other| order(one, other));
    }
    (lines, texts)
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
        let read = |text: &str| super::read(text.lines()).0;
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
        // Which numbers belong together counts, not only that all are there.
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

    /// As CP2K's, which are sorted by time and leave out what takes less than a part of the whole.
    #[test]
    fn rows_of_a_table_of_times_may_come_and_go() {
        let table = |rows: &[(&str, u32, f64)], energy: f64| {
            let row = |(name, calls, time): &(&str, u32, f64)| {
                format!(" {name}   {calls}  1.0  {time}\n")
            };
            let rows: String = rows.iter().map(row).collect();
            format!("energy {energy}\nNAME   CALLS  DEPTH  TIME\n{rows}----\n")
        };
        let one = table(&[("cp", 1, 2.5), ("scf", 1, 2.0), ("fft", 40, 0.5), ("sum", 9, 0.4)], 7.0);
        let two = table(&[("cp", 1, 2.4), ("scf", 1, 2.1), ("sum", 9, 0.6), ("rho", 3, 0.5)], 7.0);
        let expected = Expected::of(&[&one, &two], 1e-6, &[]);
        let differs = |rows: &[(&str, u32, f64)], energy| expected.differs(&table(rows, energy));
        // One that was there in both runs is not, and another is for the first time.
        let right = [("cp", 1, 3.0), ("fft", 40, 0.9), ("scf", 1, 0.8), ("bcast", 2, 0.7)];
        assert_eq!(differs(&right, 7.0), None);
        // Results are compared, and how often something was called; and another table is not this one.
        assert!(differs(&right, 7.1).unwrap().contains("7.1"));
        assert!(differs(&[("cp", 2, 3.0), right[1], right[2]], 7.0).unwrap().contains("cp 2 1"));
        let wrong = [("bad", 1, 1.0), ("worse", 1, 1.0), ("worst", 1, 1.0), right[0]];
        assert!(differs(&wrong, 7.0).unwrap().contains("a line \"bad"));
        let said = expected.left_aside().unwrap();
        assert_eq!(said, "numbers in lines as \"cp 1 1 2.5\" and 2 more, which rows a table has");
    }

    #[test]
    fn rows_that_are_always_there_must_be_there() {
        // Sorted by rank and complete, but for its times the same.
        let runs = ["a 1 0.1\nb 1 0.2\nc 1 0.3", "a 1 0.3\nb 1 0.1\nc 1 0.2"];
        let expected = Expected::of(&runs, 1e-6, &[]);
        assert!(expected.differs("a 1 0.3\nb 1 0.1\nd 1 0.2").is_some());
        // Results, in the order in which processes come to print them.
        let runs = ["a 1 1\nb 1 2\nc 1 3", "b 1 2\na 1 1\nc 1 3"];
        let expected = Expected::of(&runs, 1e-6, &[]);
        assert!(expected.differs("a 1 1\nc 1 3\nb 1 2").is_none());
        assert!(expected.differs("a 1 1\nc 1 3").is_some());
        assert_eq!(expected.left_aside(), None);
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
