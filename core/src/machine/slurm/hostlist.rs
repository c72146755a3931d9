//! Lists of names in Slurm's notation: "tux[0-3,12],dev7".

/// The most names in a list.
pub(in crate::machine) const MOST_NAMES: usize = 1 << 20;

/// The names in a list, in order, at most `room`.
///
/// # Errors
///
/// Describes the fault in the list.
pub(in crate::machine) fn names(list: &str, room: usize) -> Result<Vec<String>, String> {
    let mut all = Vec::new();
    for part in split(list)? {
        if part.is_empty() {
            return Err(format!("'{list}' has an empty name"));
        }
        expand(part, list, room - all.len().min(room), &mut all)?;
    }
    Ok(all)
}

/// Names that differ in a number only.
struct Numbered<'a> {
    before: &'a str,
    behind: &'a str,
    /// The first and the last number of each range, as written.
    ranges: Vec<(&'a str, &'a str)>,
}

impl Numbered<'_> {
    fn text(&self) -> String {
        let Self { before, behind, ranges } = self;
        let text = |(first, last): &(&str, &str)| match first == last {
            true => (*first).to_owned(),
            false => format!("{first}-{last}"),
        };
        let inside = ranges.iter().map(text).collect::<Vec<_>>().join(",");
        match ranges[..] {
            [(first, last)] if first == last => format!("{before}{inside}{behind}"),
            _ => format!("{before}[{inside}]{behind}"),
        }
    }
}

/// The list for these names in this order: "n[0-3],m7".
pub(in crate::machine) fn list(names: &[String]) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut open: Option<Numbered> = None;
    for name in names {
        let Some((before, digits, behind)) = numbered(name) else {
            parts.extend(open.take().map(|part| part.text()));
            parts.push(name.clone());
            continue;
        };
        match &mut open {
            Some(part) if (part.before, part.behind) == (before, behind) => {
                match part.ranges.last_mut() {
                    Some((first, last)) if follows(first, last, digits) => *last = digits,
                    _ => part.ranges.push((digits, digits)),
                }
            }
            _ => {
                parts.extend(open.take().map(|part| part.text()));
                open = Some(Numbered { before, behind, ranges: vec![(digits, digits)] });
            }
        }
    }
    parts.extend(open.map(|part| part.text()));
    parts.join(",")
}

/// The digits at the end of a name's first part, with the text before and after them.
fn numbered(name: &str) -> Option<(&str, &str, &str)> {
    /// No machine has names with more digits; these fit a number.
    const MOST_DIGITS: usize = 15;
    let end = name.find('.').unwrap_or(name.len());
    let before = name[..end].trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = &name[before.len()..end];
    (1..=MOST_DIGITS).contains(&digits.len()).then_some((before, digits, &name[end..]))
}

/// True if a number is written as the successor of `last` in a range that begins with `first`.
fn follows(first: &str, last: &str, number: &str) -> bool {
    let next = last.parse::<u64>().map(|last| format!("{:0width$}", last + 1, width = first.len()));
    next.is_ok_and(|next| next == number)
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

/// Adds the names in one part: each pair of brackets takes each of its numbers.
fn expand(part: &str, list: &str, room: usize, all: &mut Vec<String>) -> Result<(), String> {
    let mut names = vec![String::new()];
    let mut rest = part;
    while let Some((before, after)) = rest.split_once('[') {
        let (inside, after) = after.split_once(']').unwrap_or((after, ""));
        let numbers = numbers(inside, list, room)?;
        if names.len().saturating_mul(numbers.len()) > room {
            return Err(too_many(list));
        }
        let with = |name: &String| {
            numbers.iter().map(|number| format!("{name}{before}{number}")).collect::<Vec<_>>()
        };
        names = names.iter().flat_map(with).collect();
        rest = after;
    }
    if names.len() > room {
        return Err(too_many(list));
    }
    all.extend(names.into_iter().map(|name| name + rest));
    Ok(())
}

/// The numbers in brackets, with their leading zeros.
fn numbers(inside: &str, list: &str, room: usize) -> Result<Vec<String>, String> {
    let mut numbers = Vec::new();
    for range in inside.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let number = |text: &str| {
            let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| text.parse::<usize>().ok()).flatten()
        };
        let (Some(from), Some(to)) = (number(first), number(last)) else {
            return Err(format!("'{list}' has an invalid range '{range}'"));
        };
        if to < from {
            return Err(format!("'{list}' has an invalid range '{range}'"));
        }
        if to - from >= room.saturating_sub(numbers.len()) {
            return Err(too_many(list));
        }
        numbers.extend((from..=to).map(|number| format!("{number:0width$}", width = first.len())));
    }
    Ok(numbers)
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
    fn lists_are_names() {
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
    fn lists_of_names_are_read_back() {
        for (text, shorter) in [
            ("a", "a"),
            ("n0,n1,n2,n3", "n[0-3]"),
            ("n1,n0,n8,n9,n10,m,m1", "n[1,0,8-10],m,m1"),
            ("n08,n09,n10,n011", "n[08-10,011]"),
            ("n9.a.b,n10.a.b,n11.a.c", "n[9-10].a.b,n11.a.c"),
            ("1,2,99999999999999999999", "[1-2],99999999999999999999"),
        ] {
            let names = names(text, MOST_NAMES).unwrap();
            assert_eq!(list(&names), shorter);
            assert_eq!(super::names(shorter, MOST_NAMES).unwrap(), names);
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
