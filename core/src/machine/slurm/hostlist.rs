//! Lists of names in Slurm's notation: "tux[0-3,12],dev7".

/// The most names in a list.
pub(in crate::machine) const MOST_NAMES: usize = 1 << 20;

/// The names in a list, in order, at most `room`.
///
/// # Errors
///
/// Describes the fault in the list.
pub(in crate::machine) fn names(list: &str, room: usize) -> Result<Vec<String>, String> {
    let parts = split(list)?.into_iter().map(|part| Part::parse(part, list));
    let parts = parts.collect::<Result<Vec<Part<'_>>, String>>()?;
    // Faults are found before any name is created, so a faulty list takes no time.
    let count = parts.iter().fold(0usize, |sum, part| sum.saturating_add(part.count()));
    if count > room {
        return Err(too_many(list));
    }
    Ok(parts.iter().flat_map(Part::names).collect())
}

/// The parts between commas outside brackets.
fn split(list: &str) -> Result<Vec<&str>, String> {
    let (mut parts, mut start, mut inside) = (Vec::new(), 0, false);
    for (at, byte) in list.bytes().enumerate() {
        match byte {
            b'[' if !inside => inside = true,
            b']' if inside => inside = false,
            b'[' | b']' => return Err(format!("'{list}' has unmatched brackets")),
            b',' if !inside => {
                parts.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    if inside {
        return Err(format!("'{list}' has unmatched brackets"));
    }
    parts.push(&list[start..]);
    Ok(parts)
}

/// The first and last number of a range, and its digits with leading zeros.
type Range = (usize, usize, usize);

/// A part of a list: each pair of brackets takes each of its numbers.
struct Part<'a> {
    /// The text before each pair of brackets, and the ranges there.
    brackets: Vec<(&'a str, Vec<Range>)>,
    /// The text after the last pair.
    rest: &'a str,
}

impl<'a> Part<'a> {
    fn parse(part: &'a str, list: &str) -> Result<Self, String> {
        if part.is_empty() {
            return Err(format!("'{list}' has an empty name"));
        }
        let (mut brackets, mut rest) = (Vec::new(), part);
        while let Some((before, after)) = rest.split_once('[') {
            let (inside, after) = after.split_once(']').unwrap_or((after, ""));
            let range = |text: &str| {
                range(text).ok_or_else(|| format!("'{list}' has an invalid range '{text}'"))
            };
            brackets.push((before, inside.split(',').map(range).collect::<Result<_, _>>()?));
            rest = after;
        }
        Ok(Self { brackets, rest })
    }

    fn count(&self) -> usize {
        let numbers = |ranges: &[Range]| {
            let lengths = ranges.iter().map(|(from, to, _)| (to - from).saturating_add(1));
            lengths.fold(0usize, usize::saturating_add)
        };
        self.brackets.iter().fold(1, |all, (_, ranges)| all.saturating_mul(numbers(ranges)))
    }

    fn names(&self) -> Vec<String> {
        let mut names = vec![String::new()];
        for (before, ranges) in &self.brackets {
            let with = |name: &String| {
                let numbers = |(from, to, width): &Range| {
                    let (name, width) = (format!("{name}{before}"), *width);
                    (*from..=*to).map(move |number| format!("{name}{number:0width$}"))
                };
                ranges.iter().flat_map(numbers).collect::<Vec<_>>()
            };
            names = names.iter().flat_map(with).collect();
        }
        names.into_iter().map(|name| name + self.rest).collect()
    }
}

fn range(text: &str) -> Option<Range> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let number = |text: &str| {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| text.parse::<usize>().ok()).flatten()
    };
    let (from, to) = (number(first)?, number(last)?);
    (from <= to).then_some((from, to, first.len()))
}

fn too_many(list: &str) -> String {
    /// The part of a list that is shown.
    const SHOWN: usize = 60;
    let shown: String = list.chars().take(SHOWN).collect();
    format!("'{shown}' has more than {MOST_NAMES} names")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_expand_to_names() {
        let names = |list| names(list, MOST_NAMES).map(|names| names.join(" "));
        assert_eq!(
            names("tux[0-3,12,18-20]"),
            Ok("tux0 tux1 tux2 tux3 tux12 tux18 tux19 tux20".into())
        );
        assert_eq!(names("n[08-11],dev7"), Ok("n08 n09 n10 n11 dev7".into()));
        assert_eq!(names("r[1-2]c[0-1]-x"), Ok("r1c0-x r1c1-x r2c0-x r2c1-x".into()));
        assert_eq!(names("a-b,c.d"), Ok("a-b c.d".into()));
        for list in [
            "", "a,,b", "a[1-", "a]1[", "a[[1]]", "a[]", "a[x]", "a[3-1]", "a[1-]", "a[-1]",
            "a[1,]",
        ] {
            assert!(names(list).is_err(), "{list}");
        }
    }

    #[test]
    fn lists_take_no_more_memory_than_there_is_room() {
        for list in ["a[0-99999999999]", "a[0-999]b[0-999]c[0-999]", "a[1-9],b[1-9]", "a[1-5,1-6]"]
        {
            let error = names(list, 10).unwrap_err();
            assert!(error.contains("has more than "), "{list}: {error}");
        }
        assert_eq!(names("a[0-9]", 10).unwrap().len(), 10);
        assert!(names("a,b", 1).is_err());
    }
}
