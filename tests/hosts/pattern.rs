//! Patterns of lines that depend on the printing rank and the number of processes.
//!
//! A pattern consists of words. `R` is the rank that prints the line and `P` the number of processes, alone or in a sum
//! such as `P-1`; `%P` at its end takes the value modulo `P`; `n` is any number from 0 on, `x` any number, `w` any
//! word; every other word stands for itself. A word after `...` may occur any number of times, or not at all.
//! `(nothing)` is the end of the line.

/// True if a text matches a pattern.
pub(crate) fn fits(pattern: &str, text: &str, rank: i64, processes: i64) -> bool {
    let pattern: Vec<&str> =
        if pattern == "(nothing)" { Vec::new() } else { pattern.split_whitespace().collect() };
    let text: Vec<&str> = text.split_whitespace().collect();
    words_fit(&pattern, &text, &|word, found| word_fits(word, found, rank, processes))
}

fn words_fit(pattern: &[&str], text: &[&str], fits: &dyn Fn(&str, &str) -> bool) -> bool {
    let Some((first, rest)) = pattern.split_first() else { return text.is_empty() };
    match first.strip_suffix("...") {
        Some(word) => {
            let most = text.iter().take_while(|found| fits(word, found)).count();
            (0..=most).any(|taken| words_fit(rest, &text[taken..], fits))
        }
        None => text
            .split_first()
            .is_some_and(|(found, text)| fits(first, found) && words_fit(rest, text, fits)),
    }
}

fn word_fits(word: &str, found: &str, rank: i64, processes: i64) -> bool {
    let number = found.parse::<i64>();
    match word {
        "w" => true,
        "x" => number.is_ok(),
        "n" => number.is_ok_and(|number| number >= 0),
        _ if word.starts_with(['R', 'P']) => {
            sum(word, rank, processes).is_some_and(|expected| number == Ok(expected))
        }
        _ => word == found,
    }
}

/// The value of `R` or `P`, with a number added or subtracted, and modulo `P` if requested.
fn sum(word: &str, rank: i64, processes: i64) -> Option<i64> {
    let (terms, modulo) = match word.strip_suffix("%P") {
        Some(terms) => (terms, true),
        None => (word, false),
    };
    let first = if terms.starts_with('R') { rank } else { processes };
    let added = if terms.len() == 1 { 0 } else { terms[1..].parse::<i64>().ok()? };
    let value = first + added;
    Some(if modulo { value.rem_euclid(processes) } else { value })
}
