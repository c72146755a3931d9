//! The processes in front of a program agree, through PMI itself, whether its ranks are placed: all of them, or none.

use std::io;

use super::line::{Format, value, with};
use super::mapping::Mapping;
use super::order::Order;

/// The key that a process sets if it cannot place its rank.
const UNPLACED: &str = "cartograph-unplaced";

/// The end of the request for the process mapping.
const MAPPING: &str = " key=PMI_process_mapping";

/// A launcher's PMI, as seen by one process: the answer to a line.
pub trait Server {
    /// Sends a line of PMI-1, and returns the answer.
    ///
    /// # Errors
    ///
    /// The launcher has closed the connection.
    fn ask(&mut self, line: &str) -> io::Result<String>;
}

/// The facts that a process has learned from the launcher.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Agreement {
    /// The lines that were asked with their answers. The program asks some of them again, but a launcher may answer only
    /// once.
    pub answers: Vec<(String, String)>,
    /// The order in which ranks are placed; `None` if they stay.
    pub placed: Option<Placed>,
}

/// The placement that all processes agreed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// The new ranks.
    pub order: Order,
    /// The nodes of the new ranks, by the launcher's numbers.
    pub mapping: Mapping,
    /// The length of lines for which the program has room.
    pub longest: usize,
    /// The answer with the launcher's own mapping.
    pub found: String,
}

impl Agreement {
    /// Changes the answer that the program gets for the process mapping to that of the new ranks, or to none if it would
    /// be too long. Returns false then.
    pub(super) fn replace_mapping(&mut self) -> bool {
        let Some(Placed { mapping, longest, found, .. }) = &self.placed else { return true };
        let answer = with_value(found, &mapping.text());
        // The program's buffer is for the whole line.
        let fits = answer.len() < *longest;
        let missing = self.answers.iter().find(|(line, _)| line.ends_with(UNPLACED));
        let missing = missing.map(|(_, answer)| answer.clone()).unwrap_or_default();
        for (_, known) in self.answers.iter_mut().filter(|(line, _)| line.ends_with(MAPPING)) {
            *known = if fits { answer.clone() } else { missing.clone() };
        }
        fits
    }

    fn ask(&mut self, server: &mut impl Server, line: &str) -> io::Result<String> {
        let answer = server.ask(line)?;
        self.answers.push((line.to_owned(), answer.clone()));
        Ok(answer)
    }
}

/// Asks the launcher on which nodes the `size` processes of the job are, and agrees with the other processes whether
/// ranks get the places of this order. `None` if this process cannot read it or cannot start a relay: then no process
/// places its rank.
///
/// # Errors
///
/// The launcher has closed the connection, or did not take the refusal of this process: the others place their ranks, so
/// that this one must not start.
pub fn agree(server: &mut impl Server, size: usize, order: Option<Order>) -> io::Result<Agreement> {
    let mut agreement = Agreement::default();
    let get = |line: &str, key: &str| value(Format::Line, line, key).map(str::to_owned);
    agreement.ask(server, "cmd=init pmi_version=1 pmi_subversion=1")?;
    let maxes = agreement.ask(server, "cmd=get_maxes")?;
    let name = agreement.ask(server, "cmd=get_my_kvsname")?;
    // All processes get the same answers, or none: these checks do not need an agreement.
    let Some(name) = get(&name, "kvsname") else { return Ok(agreement) };
    let found = agreement.ask(server, &format!("cmd=get kvsname={name}{MAPPING}"))?;
    let Some(mapping) = get(&found, "value").and_then(|text| Mapping::parse(&text, size)) else {
        return Ok(agreement);
    };
    let order = order.filter(|order| order.size() == size);
    if order.is_none() {
        server.ask(&format!("cmd=put kvsname={name} key={UNPLACED} value=1"))?;
    }
    server.ask("cmd=barrier_in")?;
    let answer = agreement.ask(server, &format!("cmd=get kvsname={name} key={UNPLACED}"))?;
    let is_placed = get(&answer, "rc").is_some_and(|code| code != "0");
    if is_placed && order.is_none() {
        return Err(io::Error::other("the launcher did not pass on that a rank cannot be placed"));
    }
    let longest = get(&maxes, "vallen_max").and_then(|text| text.parse().ok()).unwrap_or(0);
    agreement.placed = order
        .filter(|order| is_placed && order.is_for(&mapping))
        .map(|order| Placed { mapping: order.mapping(&mapping), order, longest, found });
    Ok(agreement)
}

/// A line with another value, for which the answer to the same request has the form.
pub(super) fn with_value(answer: &str, text: &str) -> String {
    with(Format::Line, answer, "value", text)
}

#[cfg(test)]
mod tests;
