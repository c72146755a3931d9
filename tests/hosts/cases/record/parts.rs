//! The files of a recording.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use regex::Regex;

/// All files of a recording.
pub(super) fn text(directory: &Path) -> String {
    let files = fs::read_dir(directory).into_iter().flatten().flatten();
    let files = files.filter(|file| file.file_name().to_string_lossy().ends_with(".jsonl"));
    files.map(|file| fs::read_to_string(file.path()).unwrap_or_default()).collect()
}

/// The lines of each rank from all of its parts, with messages summed per other process, at the end.
pub(super) struct Parts(BTreeMap<u32, Vec<String>>);

impl Parts {
    pub(super) fn read(directory: &Path) -> Self {
        let process = Regex::new(r#"^\{"process".*?"rank":(\d+)"#).expect("a pattern");
        let message = r#"^(\{"(?:sent|got)":[^,]*),"messages":(\d+),"bytes":(\d+)\}\}$"#;
        let message = Regex::new(message).expect("a pattern");
        let mut rank = 0;
        let mut lines = BTreeMap::<u32, Vec<String>>::new();
        let mut sums = BTreeMap::<(u32, String), [u64; 2]>::new();
        for line in text(directory).lines().filter(|line| !line.trim().is_empty()) {
            if let Some(process) = process.captures(line) {
                rank = process[1].parse().expect("digits");
            }
            if let Some(found) = message.captures(line) {
                let sum = sums.entry((rank, found[1].to_owned())).or_default();
                sum[0] += found[2].parse::<u64>().expect("digits");
                sum[1] += found[3].parse::<u64>().expect("digits");
            } else {
                lines.entry(rank).or_default().push(line.to_owned());
            }
        }
        for ((rank, start), [messages, bytes]) in sums {
            let line = format!("{start},\"messages\":{messages},\"bytes\":{bytes}}}}}");
            lines.entry(rank).or_default().push(line);
        }
        Self(lines)
    }

    pub(super) fn ranks(&self) -> impl Iterator<Item = u32> {
        self.0.keys().copied()
    }

    fn lines(&self, rank: u32) -> &[String] {
        self.0.get(&rank).map_or(&[], Vec::as_slice)
    }

    /// The sorted lines of messages.
    pub(super) fn messages(&self, rank: u32) -> Vec<String> {
        let is_message =
            |line: &&String| line.starts_with(r#"{"sent""#) || line.starts_with(r#"{"got""#);
        let mut messages: Vec<_> = self.lines(rank).iter().filter(is_message).cloned().collect();
        messages.sort();
        messages
    }

    /// True if a line of a rank matches.
    pub(super) fn has(&self, rank: u32, pattern: &str) -> bool {
        let pattern = Regex::new(pattern).expect("a pattern");
        self.lines(rank).iter().any(|line| pattern.is_match(line))
    }

    /// The group of a pattern in the only matching line of a rank.
    pub(super) fn captured(&self, rank: u32, pattern: &str) -> String {
        let pattern = Regex::new(pattern).expect("a pattern");
        let mut found = self.lines(rank).iter().filter_map(|line| pattern.captures(line));
        let first = found.next().map(|groups| groups[1].to_owned()).unwrap_or_default();
        if found.next().is_some() { "several lines".into() } else { first }
    }

    /// The work in the only part of a rank.
    pub(super) fn work(&self, rank: u32) -> String {
        self.captured(rank, r#"^\{"process":.*,"work":\{([^}]*)\}"#)
    }

    /// The weighted bytes in the only part of a rank.
    pub(super) fn pattern(&self, rank: u32) -> String {
        self.captured(rank, r#"^\{"process":.*,"pattern":(-?\d+),"#)
    }

    /// The sum of its messages, in the form of its work.
    pub(super) fn sum(&self, rank: u32) -> String {
        let number = Regex::new(r#""messages":(\d+),"bytes":(\d+)"#).expect("a pattern");
        let [mut messages, mut bytes] = [0; 2];
        for line in self.messages(rank) {
            let found = number.captures(&line).expect("a line of messages");
            messages += found[1].parse::<u64>().expect("digits");
            bytes += found[2].parse::<u64>().expect("digits");
        }
        format!("\"messages\":{messages},\"bytes\":{bytes}")
    }
}
