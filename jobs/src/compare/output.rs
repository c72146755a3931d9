//! Comparison of the results of runs: numbers within a tolerance, lines in any order, and without lines that differ
//! between equal runs.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// The numbers of lines with one text.
type Rows = Vec<Vec<f64>>;

/// Lines by file, and by their text without numbers.
pub type Lines = BTreeMap<String, Rows>;

/// The mark of a number in the text of a line.
const NUMBER: char = '\u{1}';

/// A line added to every file, even an empty one.
pub(super) const FILE: &str = "(a file)";

/// Numbers below this one are compared with its absolute tolerance: sums that should be zero are not exactly zero.
const SMALL: f64 = 1e-3;

/// Why two kinds of runs differ, and the lines that could not be compared.
#[derive(Debug, Default)]
pub struct Comparison {
    /// A description of the first difference.
    pub difference: Option<String>,
    /// Lines, as first printed, that differ between runs of one kind.
    pub varying: Vec<String>,
    /// The number of different lines of which numbers or words are the same in all runs of the first kind.
    pub compared: usize,
    /// The options that ignore the differing lines, if each of these names a rank, a coordinate or a host.
    pub ignorable: Option<String>,
}

/// Words in lines that report the place of a process.
const PLACES: [&str; 7] = ["rank", "coord", "cart", "host", "node", "proc", "core"];

/// Adds the lines of a file, divided into words and numbers. Spacing does not count: it may depend on the numbers.
pub fn add(lines: &mut Lines, file: &str, text: &str, ignored: &[String]) {
    // All digits of a name count as one number, since names such as log_33 may differ in each run.
    let (mut name, mut digits) = (String::new(), Vec::new());
    for part in file.split_inclusive(|c: char| !c.is_ascii_digit()) {
        let end = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        if end > 0 {
            digits.extend(part[..end].parse::<f64>());
            name.push(NUMBER);
        }
        name.push_str(&part[end..]);
    }
    let counts = |line: &&str| !line.is_empty() && !ignored.iter().any(|word| line.contains(word));
    for line in text.lines().map(str::trim).filter(counts) {
        let (mut words, mut numbers) = (format!("{name}: "), digits.clone());
        let mut rest = line;
        while let Some(first) = rest.chars().next() {
            // A digit inside a word, as in host7, is not a number.
            let inside = words.ends_with(|last: char| last.is_alphanumeric() || last == '_');
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
}

/// A number at the start of a text, and its length.
fn number(text: &str) -> Option<(f64, usize)> {
    let bytes = text.as_bytes();
    let digits = |at: usize| bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let is = |at: usize, set: &[u8]| bytes.get(at).is_some_and(|byte| set.contains(byte));
    let sign = usize::from(is(0, b"+-"));
    let mut end = sign + digits(sign);
    let mut any = end > sign;
    if is(end, b".") {
        let after = digits(end + 1);
        any |= after > 0;
        end += 1 + after;
    }
    // Fortran writes 1.0D+03 for doubles.
    if any && is(end, b"eEdD") {
        let sign = usize::from(is(end + 1, b"+-"));
        let power = digits(end + 1 + sign);
        end += if power > 0 { 1 + sign + power } else { 0 };
    }
    let value = any.then(|| text[..end].replace(['d', 'D'], "e").parse().ok())?;
    Some((value?, end))
}

/// Compares runs of two kinds, with at least one of each. A number, or the count of a line, matters only if it is the
/// same in all runs of a kind; a line with a number that varies may also come and go, as in tables of times. In a file
/// in which each run has unique words, such as an identifier or the hash of bytes, other words may be new as well.
pub fn compare(baseline: &[&Lines], others: &[&Lines], tolerance: f64) -> Comparison {
    let mut found = Comparison::default();
    let texts: BTreeSet<&String> =
        baseline.iter().chain(others).flat_map(|lines| lines.keys()).collect();
    let own_words = own_words(baseline);
    let mut ignored = BTreeSet::new();
    let mut all_are_places = true;
    for text in texts {
        let rows = |runs: &[&'_ Lines]| -> Vec<Rows> {
            runs.iter().map(|lines| lines.get(text).cloned().unwrap_or_default()).collect()
        };
        let (baseline, others) = (rows(baseline), rows(others));
        let width = text.matches(NUMBER).count();
        let columns = stable(&baseline, width, tolerance).zip(stable(&others, width, tolerance));
        let columns: Option<Vec<bool>> =
            columns.map(|(a, b)| a.iter().zip(b).map(|(a, b)| *a && b).collect());
        let varies = columns.as_ref().is_none_or(|columns| columns.contains(&false));
        let is_own = baseline.iter().all(Vec::is_empty) && own_words.contains(file_of(text));
        let first = baseline.iter().chain(&others).find_map(|rows| rows.first());
        let shown = written(text, first.unwrap_or(&vec![]), &vec![true; width]);
        if varies || is_own {
            found.varying.push(format!("\"{shown}\""));
        }
        let Some(columns) = columns.filter(|_| !is_own) else { continue };
        let is_stable = !varies || columns.contains(&true);
        if is_stable && !baseline[0].is_empty() && !text.ends_with(FILE) {
            found.compared += 1;
        }
        let (rows, others) = (chosen(&baseline[0], &columns), chosen(&others[0], &columns));
        let rows = [&rows, &others];
        if let Some(difference) = difference(text, &shown, rows, &columns, tolerance) {
            found.difference.get_or_insert(difference);
            let numbers = rows.into_iter().flatten().flatten();
            let word = place(text).filter(|_| { numbers }.all(|one| one.fract() == 0.0));
            all_are_places &= word.is_some();
            ignored.extend(word);
        }
    }
    let options = || ignored.iter().map(|word| format!("--ignore '{word}'")).collect::<Vec<_>>();
    found.ignorable = (all_are_places && !ignored.is_empty()).then(|| options().join(" "));
    found
}

/// The first difference between the lines of a text in runs of two kinds, of which these columns are compared.
fn difference(
    text: &str,
    shown: &str,
    [rows, others]: [&Rows; 2],
    columns: &[bool],
    tolerance: f64,
) -> Option<String> {
    if rows.len() == others.len() {
        let (one, other) = rows.iter().zip(others).find(|(a, b)| !alike(a, b, tolerance))?;
        let show = |row: &[f64]| written(text, row, columns);
        return Some(format!("\"{}\" instead of \"{}\"", show(other), show(one)));
    }
    if columns.contains(&false) {
        return None;
    }
    Some(match (rows.len(), others.len()) {
        (_, 0) => format!("no \"{shown}\""),
        (0, _) => format!("\"{shown}\" too"),
        (a, b) => format!("\"{shown}\" {b} times instead of {a}"),
    })
}

/// The file of a line's text.
fn file_of(text: &str) -> &str {
    text.split_once(": ").map_or(text, |(file, _)| file)
}

/// The files in which each run has a line without numbers that no other run has.
fn own_words<'a>(runs: &[&'a Lines]) -> BTreeSet<&'a str> {
    if runs.len() < 2 {
        return BTreeSet::new();
    }
    let of_run = |run: &&'a Lines| -> BTreeSet<&'a str> {
        let others = || runs.iter().filter(|other| !std::ptr::eq(**other, *run));
        let is_new = |text: &&String| {
            !text.contains(NUMBER) && others().all(|other| !other.contains_key(*text))
        };
        run.keys().filter(is_new).map(|text| file_of(text)).collect()
    };
    runs.iter().map(of_run).reduce(|all, one| &all & &one).unwrap_or_default()
}

/// The words, up to a number, with which a line reports the place of a process: a text for `--ignore`.
fn place(text: &str) -> Option<&str> {
    let line = text.strip_prefix(file_of(text))?;
    let is_word = |c: char| c.is_alphanumeric();
    let parts = line.split([NUMBER, '\'']).map(|part| part.trim_matches(|c| !is_word(c)));
    let names_one = |part: &&str| {
        let part = part.to_lowercase();
        PLACES.iter().any(|word| part.contains(word))
    };
    parts.into_iter().find(names_one)
}

/// Finds which of `width` numbers in a text's lines are the same in all runs; `None` if the number of lines varies, or
/// the numbers are combined differently.
fn stable(runs: &[Rows], width: usize, tolerance: f64) -> Option<Vec<bool>> {
    let first = runs.first()?;
    if runs.iter().any(|rows| rows.len() != first.len()) {
        return None;
    }
    let column = |rows: &Rows, at: usize| {
        let mut column: Vec<f64> = rows.iter().map(|row| row[at]).collect();
        column.sort_by(f64::total_cmp);
        column
    };
    let same =
        |at: usize| runs.iter().all(|rows| alike(&column(first, at), &column(rows, at), tolerance));
    let columns: Vec<bool> = (0..width).map(same).collect();
    let rows = chosen(first, &columns);
    let together = |others: &Rows| {
        rows.iter().zip(chosen(others, &columns)).all(|(a, b)| alike(a, &b, tolerance))
    };
    runs.iter().all(together).then_some(columns)
}

/// The numbers of these columns, in order.
fn chosen(rows: &Rows, columns: &[bool]) -> Rows {
    let pick = |row: &Vec<f64>| {
        row.iter().zip(columns).filter(|(_, chosen)| **chosen).map(|(number, _)| *number).collect()
    };
    let mut rows: Rows = rows.iter().map(pick).collect();
    let order = |a: &Vec<f64>, b: &Vec<f64>| {
        a.iter().zip(b).map(|(a, b)| a.total_cmp(b)).find(|order| order.is_ne())
    };
    rows.sort_by(|a, b| order(a, b).unwrap_or(Ordering::Equal));
    rows
}

fn alike(a: &[f64], b: &[f64], tolerance: f64) -> bool {
    let near = |a: f64, b: f64| (a - b).abs() <= tolerance * a.abs().max(b.abs()).max(SMALL);
    a.iter().zip(b).all(|(a, b)| a == b || near(*a, *b))
}

/// A line approximately as printed, with these numbers.
fn written(text: &str, numbers: &[f64], columns: &[bool]) -> String {
    let (mut numbers, mut columns) = (numbers.iter(), columns.iter());
    let word = |c: char| match (c == NUMBER).then(|| columns.next()) {
        Some(Some(true)) => numbers.next().map_or_else(String::new, f64::to_string),
        Some(_) => "...".to_owned(),
        None => c.to_string(),
    };
    text.chars().map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Lines {
        let mut lines = Lines::new();
        add(&mut lines, "f", text, &["skipped".to_owned()]);
        lines
    }

    fn differs(baseline: &[&str], others: &[&str]) -> Option<String> {
        let read = |texts: &[&str]| texts.iter().map(|text| lines(text)).collect::<Vec<_>>();
        let (baseline, others) = (read(baseline), read(others));
        compare(&baseline.iter().collect::<Vec<_>>(), &others.iter().collect::<Vec<_>>(), 1e-6)
            .difference
    }

    #[test]
    fn numbers_are_found_in_lines() {
        let found = lines("step 12: x=-1.5e-3,   2.D+02 on host7 (.5)\n\n  skipped 5 \n");
        assert_eq!(found.len(), 1);
        let rows = &found["f: step \u{1}: x=\u{1}, \u{1} on host7 (\u{1})"];
        assert_eq!(rows, &[[12.0, -1.5e-3, 200.0, 0.5]]);
        assert!(lines("- . e5 -x").contains_key("f: - . e5 -x"));
    }

    #[test]
    fn order_small_differences_and_times_do_not_count() {
        let one = "rank 0 has 1.0\nrank 1 has 2.0\nit took 3.1 s\nseed 77 a\n";
        let two = "it took 2.7 s\nrank 1 has 2.0000001\nrank 0 has 1.0\nseed 99 a\n";
        let differs = |text: &str| differs(&[one, two], &[text]);
        assert_eq!(differs(one), None);
        assert_eq!(differs("it took 9 s\nrank 1 has 2\nseed 1 a\nrank 0 has 1\n"), None);
        let differs = |text: &str| differs(text).unwrap();
        // The combination of numbers counts, not only their presence.
        let swapped = differs("rank 0 has 2\nrank 1 has 1\nit took 1 s\nseed 1 a");
        assert_eq!(swapped, "\"f: rank 0 has 2\" instead of \"f: rank 0 has 1\"");
        assert!(differs("rank 0 has 1\nit took 1 s\nseed 1 a").ends_with("1 times instead of 2"));
        assert!(differs("it took 1 s\nseed 1 a").starts_with("no \"f: rank 0 has 1\""));
        assert_eq!(differs(&format!("{one}error: 5\n")), "\"f: error: 5\" too");
        assert!(differs(&one.replace("2.0", "nan")).contains("1 times"));
    }

    #[test]
    fn numbers_near_zero_need_not_be_equal() {
        assert_eq!(differs(&["error 0.000e+00"], &["error 1.137e-13"]), None);
        assert!(differs(&["error 0.000e+00"], &["error 1.137e-03"]).is_some());
        assert_eq!(differs(&["energy -1e9"], &["energy -1000000001"]), None);
    }

    #[test]
    fn lines_that_differ_between_equal_runs_are_not_compared() {
        assert!(differs(&["0.000 s"; 3], &["0.001 s"; 2]).is_some());
        assert_eq!(differs(&["0.000 s"; 3], &["0.001 s", "0.002 s"]), None);
        assert_eq!(differs(&["a 1\nb 2\nb 3", "a 1\nb 2\nwarning"], &["a 1\nb 7"]), None);
        assert_eq!(
            differs(&["Pair | 0.5     | 12.5 |", "Pair | 0.25 | 1.5  |"], &["Pair | 1 | 7 |"]),
            None
        );
        let mixed = ["n 4 took 1 s", "n 4 took 2 s"];
        assert_eq!(
            differs(&mixed, &["n 5 took 3 s"]).unwrap(),
            "\"f: n 5 took ... s\" instead of \"f: n 4 took ... s\""
        );
    }

    #[test]
    fn files_may_have_other_names_each_time() {
        let read = |name: &str| {
            let mut lines = Lines::new();
            add(&mut lines, name, "sum 5", &[]);
            lines
        };
        let (one, two, three, other) =
            (read("a_1.log"), read("a_2.log"), read("a_3.log"), read("b"));
        assert_eq!(compare(&[&one, &two], &[&three], 0.0).difference, None);
        let found = compare(&[&one, &one], &[&three], 0.0).difference.unwrap();
        assert_eq!(found, "\"a_3.log: sum 5\" instead of \"a_1.log: sum 5\"");
        assert_eq!(compare(&[&one], &[&other], 0.0).difference.unwrap(), "no \"a_1.log: sum 5\"");
    }

    /// As in CP2K's table, which is sorted by time and omits small entries.
    #[test]
    fn rows_of_a_table_of_times_may_come_and_go() {
        let baseline = ["cp 1 2.5\nscf 1 2.0\nfft 40 0.5", "cp 1 2.4\nscf 1 2.1\nfft 40 0.6"];
        assert_eq!(
            differs(&baseline, &["cp 1 3\nscf 1 0.8\nsum 2 0.7", "cp 1 4\nsum 2 0.8"]),
            None
        );
        assert!(differs(&baseline, &["cp 2 3\nscf 1 0.8\nfft 40 0.5"; 2]).is_some());
    }
}
