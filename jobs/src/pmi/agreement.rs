//! The processes that precede a program agree, through PMI itself, whether its ranks are placed: all of them, or none.

use std::io;

use super::line::{Format, value, with};
use super::mapping::Mapping;
use super::order::Order;

/// The key that a process sets if it cannot place its rank.
const UNPLACED: &str = "cartograph-unplaced";

/// The end of the request for the process mapping in PMI-1.
const MAPPING: &str = " key=PMI_process_mapping";

/// The length of values for which clients of PMI-2 have room.
const LONGEST: usize = 1024;

/// The version of PMI that processes speak with the launcher.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Version {
    /// PMI-1: Hydra.
    #[default]
    One,
    /// PMI-2: Slurm's plugin `pmi2`. All processes of a node must speak the same version with it, and only PMI-2 has all
    /// requests of both.
    Two,
}

impl Version {
    /// The version with a number on command lines.
    pub fn numbered(text: &str) -> Option<Self> {
        match text {
            "1" => Some(Self::One),
            "2" => Some(Self::Two),
            _ => None,
        }
    }

    /// The number on command lines.
    pub const fn number(self) -> &'static str {
        match self {
            Self::One => "1",
            Self::Two => "2",
        }
    }

    /// The first request. It is a line in both versions.
    pub const fn init(self) -> &'static str {
        match self {
            Self::One => "cmd=init pmi_version=1 pmi_subversion=1",
            Self::Two => "cmd=init pmi_version=2 pmi_subversion=0",
        }
    }

    /// The format of the other messages.
    pub const fn format(self) -> Format {
        match self {
            Self::One => Format::Line,
            Self::Two => Format::Counted,
        }
    }
}

/// A launcher's PMI, as seen by one process: the answer to a request.
pub trait Server {
    /// Sends a message, and returns the answer.
    ///
    /// # Errors
    ///
    /// The launcher has closed the connection.
    fn ask(&mut self, format: Format, message: &str) -> io::Result<String>;
}

/// A process of a job.
#[derive(Debug, Clone, Default)]
pub struct Process {
    /// The launcher's rank.
    pub rank: usize,
    /// The number of processes.
    pub size: usize,
    /// The name of the job in PMI-2.
    pub job: String,
}

/// The facts that a process has learned from the launcher.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Agreement {
    /// The version of PMI that the launcher speaks.
    pub version: Version,
    /// Requests with their answers. The program makes some of them again, but a launcher may answer only once.
    pub answers: Vec<(String, String)>,
    /// The order in which ranks are placed; `None` if they stay.
    pub placed: Option<Placed>,
    /// The number of the program, if the launcher started several as one.
    pub number: Option<usize>,
}

/// The placement that all processes agreed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// The new ranks.
    pub order: Order,
    /// The nodes of the new ranks, by the launcher's numbers.
    pub mapping: Mapping,
    /// The length of messages for which the program has room.
    pub longest: usize,
    /// The answer in PMI-1 with the launcher's own mapping.
    pub found: String,
}

impl Agreement {
    /// Tells the program its number among those of the job, which the launcher started as one. Slurm's `pmi2` does not
    /// number programs.
    pub(super) fn runs(&mut self, number: usize) {
        if self.version == Version::One {
            self.number = Some(number);
            let answer = format!("cmd=appnum rc=0 appnum={number}");
            self.answers.push(("cmd=get_appnum".into(), answer));
        }
    }

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
        let answer = server.ask(Format::Line, line)?;
        self.answers.push((line.to_owned(), answer.clone()));
        Ok(answer)
    }
}

/// Asks the launcher on which nodes the processes of the job are, and agrees with the other processes whether
/// ranks get the places of this order. `None` if this process cannot read it or cannot start a relay: then no process
/// places its rank.
///
/// # Errors
///
/// The launcher has closed the connection, does not speak this version, or did not take the refusal of this process: the
/// others place their ranks, so that this one must not start.
pub fn agree(
    server: &mut impl Server,
    version: Version,
    process: &Process,
    order: Option<Order>,
) -> io::Result<Agreement> {
    let order = order.filter(|order| order.size() == process.size);
    match version {
        Version::One => by_lines(server, process.size, order),
        Version::Two => by_messages(server, process, order),
    }
}

/// The agreement in PMI-1.
fn by_lines(server: &mut impl Server, size: usize, order: Option<Order>) -> io::Result<Agreement> {
    let mut agreement = Agreement::default();
    let get = |line: &str, key: &str| value(Format::Line, line, key).map(str::to_owned);
    agreement.ask(server, Version::One.init())?;
    let maxes = agreement.ask(server, "cmd=get_maxes")?;
    let name = agreement.ask(server, "cmd=get_my_kvsname")?;
    // All processes get the same answers, or none: these checks do not need an agreement.
    let Some(name) = get(&name, "kvsname") else { return Ok(agreement) };
    let found = agreement.ask(server, &format!("cmd=get kvsname={name}{MAPPING}"))?;
    let Some(mapping) = get(&found, "value").and_then(|text| Mapping::parse(&text, size)) else {
        return Ok(agreement);
    };
    if order.is_none() {
        server.ask(Format::Line, &format!("cmd=put kvsname={name} key={UNPLACED} value=1"))?;
    }
    server.ask(Format::Line, "cmd=barrier_in")?;
    let answer = agreement.ask(server, &format!("cmd=get kvsname={name} key={UNPLACED}"))?;
    let is_placed = get(&answer, "rc").is_some_and(|code| code != "0");
    let longest = get(&maxes, "vallen_max").and_then(|text| text.parse().ok()).unwrap_or(0);
    agreement.placed = placed(order, is_placed, &mapping, longest, found)?;
    Ok(agreement)
}

/// The agreement in PMI-2. The program may speak PMI-1: the answers that it gets are then made from those in PMI-2.
fn by_messages(
    server: &mut impl Server,
    process: &Process,
    order: Option<Order>,
) -> io::Result<Agreement> {
    let Process { rank, size, job } = process;
    let format = Format::Counted;
    let get = |message: &str, key: &str| value(format, message, key).map(str::to_owned);
    let begun = server.ask(Format::Line, Version::Two.init())?;
    if value(Format::Line, &begun, "rc") != Some("0") {
        return Err(io::Error::other(format!("the launcher does not speak PMI-2: {begun}")));
    }
    let init = format!("cmd=fullinit;pmijobid={job};pmirank={rank};threaded=FALSE;");
    let full = server.ask(format, &init)?;
    let found = server.ask(format, "cmd=info-getjobattr;key=PMI_process_mapping;")?;
    let found = get(&found, "value");
    let mapping = found.as_ref().and_then(|text| Mapping::parse(text, *size));
    let appnum = get(&full, "appnum").unwrap_or_else(|| "-1".into());
    let mut agreement = Agreement { version: Version::Two, ..Agreement::default() };
    let mut knows = |request: String, answer: String| agreement.answers.push((request, answer));
    knows(Version::Two.init().into(), begun);
    knows("cmd=fullinit".into(), full);
    let init = "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1";
    knows(Version::One.init().into(), init.into());
    let maxes = format!("cmd=maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max={LONGEST}");
    knows("cmd=get_maxes".into(), maxes);
    knows("cmd=get_my_kvsname".into(), format!("cmd=my_kvsname rc=0 kvsname={job}"));
    knows("cmd=get_universe_size".into(), format!("cmd=universe_size rc=0 size={size}"));
    knows("cmd=get_appnum".into(), format!("cmd=appnum rc=0 appnum={appnum}"));
    // All processes get the same mapping, or none.
    let (Some(found), Some(mapping)) = (found, mapping) else { return Ok(agreement) };
    let found = format!("cmd=get_result rc=0 value={found}");
    knows(format!("cmd=get kvsname={job}{MAPPING}"), found.clone());
    knows(format!("cmd=get kvsname={job} key={UNPLACED}"), "cmd=get_result rc=1".into());
    if order.is_none() {
        server.ask(format, &format!("cmd=kvs-put;key={UNPLACED};value=1;"))?;
    }
    server.ask(format, "cmd=kvs-fence;")?;
    let answer =
        server.ask(format, &format!("cmd=kvs-get;jobid={job};srcid=-1;key={UNPLACED};"))?;
    let is_placed = get(&answer, "found").as_deref() == Some("FALSE");
    agreement.placed = placed(order, is_placed, &mapping, LONGEST, found)?;
    Ok(agreement)
}

/// The placement that results from the answers, if no process has refused.
fn placed(
    order: Option<Order>,
    is_placed: bool,
    mapping: &Mapping,
    longest: usize,
    found: String,
) -> io::Result<Option<Placed>> {
    if is_placed && order.is_none() {
        return Err(io::Error::other("the launcher did not pass on that a rank cannot be placed"));
    }
    let order = order.filter(|order| is_placed && order.is_for(mapping));
    Ok(order.map(|order| Placed { mapping: order.mapping(mapping), order, longest, found }))
}

/// A line with another value, in the form of the answer to the same request.
pub(super) fn with_value(answer: &str, text: &str) -> String {
    with(Format::Line, answer, "value", text)
}

#[cfg(test)]
mod tests;
