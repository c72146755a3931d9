//! The relay between a program and its launcher's PMI. It answers requests that `exec` has made before the program, and
//! translates ranks in the few messages that have any.

use super::agreement::{Agreement, Placed, Version, with_value};
use super::bridge::{Bridge, Translated, answer};
use super::line::{Format, Part, sent, take, value, with};

/// An end of the relay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The program.
    Program,
    /// The launcher.
    Launcher,
}

/// The state of a relay. It reads and writes nothing itself.
#[derive(Debug)]
pub struct Relay {
    agreement: Agreement,
    /// The process of each new rank, if ranks are placed.
    old_ranks: Vec<u32>,
    /// True if the mapping of the new ranks is too long for the program, which then compares the names of hosts.
    withholds_mapping: bool,
    /// Bytes from the program and from the launcher that are not a whole message yet.
    received: [Vec<u8>; 2],
    /// Bytes for the program and for the launcher.
    unsent: [Vec<u8>; 2],
    /// True for an end whose bytes are not messages: they are passed on as they come.
    is_opaque: [bool; 2],
    /// True within a request of several lines.
    is_in_request: bool,
    /// The key that the program has asked the launcher for.
    asked: Option<String>,
    /// For a program that may speak PMI-1 under a launcher that speaks PMI-2.
    bridge: Option<Bridge>,
    /// True if the program speaks PMI-1.
    speaks_lines: bool,
    /// True if the program has used PMI.
    has_begun: bool,
}

impl Relay {
    /// A relay for a process.
    pub fn new(mut agreement: Agreement) -> Self {
        let withholds_mapping = !agreement.replace_mapping();
        let placed = agreement.placed.as_ref();
        let old_ranks = placed.map(|placed| placed.order.old_ranks()).unwrap_or_default();
        let bridge = (agreement.version == Version::Two).then(Bridge::default);
        Self {
            agreement,
            old_ranks,
            withholds_mapping,
            received: Default::default(),
            unsent: Default::default(),
            is_opaque: [false; 2],
            is_in_request: false,
            asked: None,
            bridge,
            speaks_lines: false,
            has_begun: false,
        }
    }

    /// Takes bytes that have come from an end.
    pub fn receive(&mut self, from: End, bytes: &[u8]) {
        self.has_begun |= from == End::Program && !bytes.is_empty();
        let mut received = std::mem::take(&mut self.received[from as usize]);
        received.extend_from_slice(bytes);
        while !self.is_opaque[from as usize] {
            match take(&mut received) {
                Part::Incomplete => break,
                Part::Other => self.is_opaque[from as usize] = true,
                Part::Message { format, bytes, raw } => match from {
                    End::Program => self.take_request(format, &bytes, raw),
                    End::Launcher => self.take_answer(format, &bytes, raw),
                },
            }
        }
        if self.is_opaque[from as usize] {
            self.pass(other(from), &received);
            received.clear();
        }
        self.received[from as usize] = received;
    }

    /// Notes that the program has ended. If the program has not used PMI, the process before it has: the launcher
    /// treats a process that starts PMI and does not end it as failed.
    ///
    /// Returns true if the launcher will answer.
    pub fn program_ended(&mut self) -> bool {
        let received = std::mem::take(&mut self.received[End::Program as usize]);
        self.pass(End::Launcher, &received);
        let is_unused = !self.has_begun && !self.agreement.answers.is_empty();
        if is_unused {
            let last = match self.agreement.version {
                Version::One => "cmd=finalize",
                Version::Two => "cmd=finalize;",
            };
            self.pass(End::Launcher, &sent(self.agreement.version.format(), last.as_bytes()));
        }
        is_unused
    }

    /// The bytes to send to an end.
    pub fn unsent(&self, to: End) -> &[u8] {
        &self.unsent[to as usize]
    }

    /// Notes that the first bytes were sent to an end.
    pub fn sent(&mut self, to: End, count: usize) {
        self.unsent[to as usize].drain(..count);
    }

    fn pass(&mut self, to: End, bytes: &[u8]) {
        self.unsent[to as usize].extend_from_slice(bytes);
    }

    fn take_request(&mut self, format: Format, bytes: &[u8], raw: Vec<u8>) {
        let text = std::str::from_utf8(bytes).unwrap_or_default();
        if format == Format::Line && self.bridge.is_some() {
            return self.take_line(text);
        }
        let is_part = self.is_in_request;
        if format == Format::Line {
            self.is_in_request = (is_part || text.starts_with("mcmd=")) && text != "endcmd";
        }
        let (to, message) = match self.answer(format, text) {
            _ if is_part || self.is_in_request => (End::Launcher, None),
            Some(answer) => (End::Program, Some(answer)),
            None => (End::Launcher, self.translate_request(format, text)),
        };
        let message = message.map_or(raw, |message| sent(format, message.as_bytes()));
        self.pass(to, &message);
    }

    /// Takes a line for a launcher that speaks PMI-2.
    fn take_line(&mut self, text: &str) {
        let Some(mut bridge) = self.bridge.take() else { return };
        if text.starts_with("cmd=init ") {
            self.speaks_lines = text != Version::Two.init();
        }
        let known = if bridge.is_in_command() { None } else { self.answer(Format::Line, text) };
        match known.map_or_else(|| bridge.request(text), Translated::Answer) {
            Translated::Answer(line) => {
                self.pass(End::Program, &sent(Format::Line, line.as_bytes()))
            }
            Translated::Message(message) => {
                self.pass(End::Launcher, &sent(Format::Counted, message.as_bytes()));
            }
            Translated::Nothing => {}
        }
        self.bridge = Some(bridge);
    }

    /// The answer to a request that the launcher need not see.
    fn answer(&self, format: Format, text: &str) -> Option<String> {
        if format == Format::Counted {
            let command = text.split(';').next()?;
            let known = self.agreement.answers.iter().find(|(request, _)| request == command);
            return known.map(|(_, answer)| {
                self.translate_answer(format, answer).unwrap_or_else(|| answer.clone())
            });
        }
        if let Some((_, answer)) = self.agreement.answers.iter().find(|(line, _)| line == text) {
            return Some(answer.clone());
        }
        // MPICH compares hosts if the launcher has no mapping.
        let placed = self.agreement.placed.as_ref().filter(|_| self.withholds_mapping)?;
        let key = value(format, text, "key").filter(|_| text.starts_with("cmd=get "))?;
        let rank = key.strip_prefix("hostname[")?.strip_suffix(']')?.parse::<usize>().ok()?;
        let node = placed.mapping.nodes().get(rank)?;
        Some(with_value(&placed.found, &format!("node{node}")))
    }

    /// A request with the launcher's ranks, if that differs.
    fn translate_request(&mut self, format: Format, text: &str) -> Option<String> {
        self.agreement.placed.as_ref()?;
        let old = |rank: u32| self.old_ranks.get(rank as usize).copied();
        let rank = |key: &str| value(format, text, key)?.parse::<u32>().ok().and_then(old);
        let command = value(format, text, "cmd")?;
        match (format, command) {
            (Format::Line, "barrier_in") => {
                let group = ranks(value(format, text, "group")?, &old)?;
                Some(with(format, text, "group", &group))
            }
            (Format::Line, "get") => {
                self.asked = value(format, text, "key").map(str::to_owned);
                None
            }
            (Format::Counted, "fullinit") => {
                Some(with(format, text, "pmirank", &rank("pmirank")?.to_string()))
            }
            (Format::Counted, "kvs-get") => {
                Some(with(format, text, "srcid", &rank("srcid")?.to_string()))
            }
            _ => None,
        }
    }

    fn take_answer(&mut self, format: Format, bytes: &[u8], raw: Vec<u8>) {
        let text = std::str::from_utf8(bytes).unwrap_or_default();
        if self.speaks_lines && format == Format::Counted {
            if let Some(line) = answer(text) {
                self.pass(End::Program, &sent(Format::Line, line.as_bytes()));
            }
            return;
        }
        let changed = self.translate_answer(format, text);
        if format == Format::Line {
            self.asked = None;
        }
        let message = changed.map_or(raw, |message| sent(format, message.as_bytes()));
        self.pass(End::Program, &message);
    }

    /// An answer with the program's ranks and number, if that differs.
    fn translate_answer(&self, format: Format, text: &str) -> Option<String> {
        let is_full = value(format, text, "cmd") == Some("fullinit-response");
        let number = self.agreement.number.filter(|_| is_full);
        let numbered = number.map(|number| with(format, text, "appnum", &number.to_string()));
        self.with_ranks(format, numbered.as_deref().unwrap_or(text)).or(numbered)
    }

    fn with_ranks(&self, format: Format, text: &str) -> Option<String> {
        let Placed { order, mapping, longest, .. } = self.agreement.placed.as_ref()?;
        let new = |rank: u32| order.new_ranks.get(rank as usize).copied();
        match (format, value(format, text, "cmd")?) {
            (Format::Line, "get_result") if self.asked.as_deref() == Some("PMI_dead_processes") => {
                Some(with_value(text, &ranks(value(format, text, "value")?, &new)?))
            }
            (Format::Counted, "fullinit-response") => {
                let rank = value(format, text, "rank")?.parse().ok().and_then(new)?;
                Some(with(format, text, "rank", &rank.to_string()))
            }
            (Format::Counted, "info-getjobattr-response" | "getjobattr-response") => {
                value(format, text, "value").filter(|value| value.starts_with("(vector"))?;
                let new = with(format, text, "value", &mapping.text());
                match new.len() < *longest {
                    true => Some(new),
                    false => Some(with(format, &with(format, text, "value", ""), "found", "FALSE")),
                }
            }
            _ => None,
        }
    }
}

const fn other(end: End) -> End {
    match end {
        End::Program => End::Launcher,
        End::Launcher => End::Program,
    }
}

/// A list of ranks and ranges, as in `0,2-4`, with other ranks; `None` if it is not such a list.
fn ranks(list: &str, other: &impl Fn(u32) -> Option<u32>) -> Option<String> {
    let mut all = Vec::new();
    for word in list.split(',') {
        let (first, last) = word.split_once('-').unwrap_or((word, word));
        for rank in first.parse::<u32>().ok()?..=last.parse::<u32>().ok()? {
            // The first rank that does not exist ends a range that is too long.
            all.push(other(rank)?);
        }
    }
    all.sort_unstable();
    Some(all.iter().map(ToString::to_string).collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests;
