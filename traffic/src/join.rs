//! Joins the parts that processes wrote into a recording.

use std::collections::BTreeMap;

use crate::Call;
use crate::line::{Count, Device, Grid, Line, MOST_GRIDS, Process, SCHEMA};
use crate::recording::{Edge, MOST_PROCESSES, NodeIdentity, ReadError, Recording, Topology};
use crate::text::{is_host_name, printable};

impl Recording {
    /// Joins parts. Messages between two processes count even if only one of them wrote a part.
    ///
    /// # Errors
    ///
    /// [`ReadError`]; lines are counted over all texts.
    pub fn read<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self, ReadError> {
        let mut joined = PartialRecording::default();
        texts.into_iter().flat_map(str::lines).try_for_each(|line| joined.add(line))?;
        joined.finish()
    }
}

/// A recording that is being read. Its memory depends on the data read, not on the job size that the data claims.
#[derive(Default)]
pub(crate) struct PartialRecording {
    recording: Recording,
    /// The number of lines read.
    line: usize,
    /// The current part, and its lines with their numbers. It counts once it is complete: a part that a full disk
    /// truncated is written again.
    current: Option<(Process, Vec<(usize, Line)>)>,
    /// True if the previous line was truncated.
    cut_off: bool,
    processes: BTreeMap<u32, PartsSoFar>,
    edges: BTreeMap<(u32, u32), Count>,
    /// The process of each position in each grid, by the grid and its rank 0.
    grids: BTreeMap<Grid, BTreeMap<u32, u32>>,
}

fn add(sum: &mut u64, more: u64) {
    *sum = sum.saturating_add(more);
}

/// The facts about a process from its parts so far.
#[derive(Default)]
struct PartsSoFar {
    parts: u32,
    complete: bool,
    /// From its last part.
    cost: u64,
    stopped: bool,
    /// The sum of all parts, if all of them have one.
    pattern: Option<i64>,
    grids: usize,
}

impl PartialRecording {
    pub(crate) fn add(&mut self, text: &str) -> Result<(), ReadError> {
        self.line += 1;
        if text.trim().is_empty() {
            return Ok(());
        }
        let parsed = match serde_json::from_str(text) {
            Ok(parsed) => parsed,
            Err(error) if error.is_eof() && self.current.is_some() && !self.cut_off => {
                self.cut_off = true;
                return Ok(());
            }
            Err(error) => match schema_of(text) {
                Some(schema) if schema != SCHEMA => return Err(ReadError::OtherSchema(schema)),
                _ => return Err(malformed(self.line, &error.to_string())),
            },
        };
        if let Line::Process(process) = parsed {
            return self.begin(process);
        }
        match &mut self.current {
            None => Err(malformed(self.line, "it comes before the line of a process")),
            Some((part, lines)) if self.cut_off || lines.len() == part.lines => {
                Err(malformed(self.line, "it belongs to no part"))
            }
            Some((_, lines)) => {
                lines.push((self.line, parsed));
                Ok(())
            }
        }
    }

    /// Counts a line of a part.
    fn count(&mut self, process: &Process, line: usize, parsed: Line) -> Result<(), ReadError> {
        let Process { rank, size, .. } = *process;
        let known = |other: u32| match other {
            other if other < size => Ok(other),
            _ => Err(ReadError::NoSuchRank { line, rank: other.into(), size }),
        };
        match parsed {
            Line::Process(_) => {}
            Line::Sent { to, count } => self.edge(rank, known(to)?, count),
            Line::Got { from, count } => self.edge(known(from)?, rank, count),
            Line::Grid(grid) => {
                known(grid.first)?;
                self.grid(rank, size, grid).map_err(|why| malformed(line, &why))?;
            }
            Line::Collective { function, calls, nanoseconds } => {
                check_function(&function).map_err(|why| malformed(line, why))?;
                add(
                    self.recording.in_collectives.entry(function.clone()).or_default(),
                    nanoseconds,
                );
                add(self.recording.collectives.entry(function).or_default(), calls);
            }
            Line::Waited { on, nanoseconds } => {
                on.map(known).transpose()?;
                add(self.recording.waits.entry((rank, on)).or_default(), nanoseconds);
            }
            Line::Window(mut window) => {
                let mut peers = window.calls.iter_mut().filter_map(Call::peer_mut);
                peers.try_for_each(|peer| known(*peer).map(drop))?;
                let is_right = window.events().is_some();
                let before = self.recording.windows.insert(rank, window);
                if !is_right || before.is_some() {
                    return Err(malformed(line, "it is not a window of a process"));
                }
            }
        }
        Ok(())
    }

    fn grid(&mut self, rank: u32, size: u32, grid: Grid) -> Result<(), String> {
        check_function(&grid.function)?;
        let cells = grid.dims.iter().try_fold(1u32, |cells, side| cells.checked_mul(*side));
        let fits = cells.is_some_and(|cells| cells <= size && grid.rank < cells)
            && grid.dims.len() == grid.periodic.len();
        if !fits {
            return Err(format!("no grid of {size} processes"));
        }
        let known = self.processes.entry(rank).or_default();
        known.grids += 1;
        if known.grids > MOST_GRIDS {
            return Err(format!("more than {MOST_GRIDS} grids of one process"));
        }
        let place = grid.rank;
        self.grids.entry(Grid { rank: 0, ..grid }).or_default().insert(place, rank);
        Ok(())
    }

    /// Starts a part.
    fn begin(&mut self, process: Process) -> Result<(), ReadError> {
        self.end()?;
        let Process { schema, rank, size, .. } = process;
        if schema != SCHEMA {
            return Err(ReadError::OtherSchema(schema));
        }
        if size > MOST_PROCESSES || rank >= size {
            return Err(ReadError::NoSuchRank { line: self.line, rank: rank.into(), size });
        }
        if !is_host_name(&process.host) {
            return Err(malformed(self.line, "the host name has invalid characters"));
        }
        let recording = &mut self.recording;
        if recording.size == 0 {
            recording.size = size;
        }
        // If a recording must be small, only one process writes these.
        if recording.program.is_empty() {
            recording.program = printable(&process.program);
        }
        if recording.mpi.is_empty() {
            recording.mpi = printable(&process.mpi);
        }
        if recording.size != size {
            return Err(ReadError::OtherSize(recording.size, size));
        }
        (self.current, self.cut_off) = (Some((process, Vec::new())), false);
        Ok(())
    }

    /// Ends the current part. A truncated part is ignored.
    fn end(&mut self) -> Result<(), ReadError> {
        let Some((process, lines)) =
            self.current.take_if(|(part, lines)| part.lines == lines.len())
        else {
            return Ok(());
        };
        let Process { rank, part, complete, .. } = process;
        let recording = &mut self.recording;
        recording.nanoseconds = recording.nanoseconds.max(process.nanoseconds);
        recording.work.add(process.work);
        let known = self.processes.entry(rank).or_default();
        match part.cmp(&known.parts) {
            std::cmp::Ordering::Less => return Err(ReadError::Twice(rank)),
            std::cmp::Ordering::Greater => return Err(ReadError::PartMissing(rank)),
            std::cmp::Ordering::Equal => {}
        }
        (known.parts, known.complete) = (part.saturating_add(1), complete);
        (known.cost, known.stopped) = (process.cost, process.stopped);
        if let Some(device) = &process.device {
            let device = Device { bus: printable(&device.bus), ..device.clone() };
            recording.devices.insert(rank, device);
        }
        let before = if part == 0 { Some(0) } else { known.pattern };
        known.pattern = before.zip(process.pattern).map(|(sum, more)| sum.saturating_add(more));
        if part == 0 {
            let host =
                NodeIdentity { name: process.host.clone(), address: process.address.clone() };
            recording.hosts.insert(rank, host);
        }
        lines.into_iter().try_for_each(|(line, parsed)| self.count(&process, line, parsed))
    }

    fn edge(&mut self, from: u32, to: u32, count: Count) {
        self.edges.entry((from, to)).or_default().add(count);
    }

    pub(crate) fn finish(mut self) -> Result<Recording, ReadError> {
        self.end()?;
        let Self { mut recording, edges, grids, processes, .. } = self;
        if recording.size == 0 {
            return Err(ReadError::Empty);
        }
        recording.cut_short = processes.values().filter(|known| !known.complete).count();
        recording.stopped = processes.values().filter(|known| known.stopped).count();
        processes.values().for_each(|known| add(&mut recording.cost, known.cost));
        let is_whole = recording.missing() + recording.stopped == 0;
        let patterns = processes.values().map(|known| known.pattern).filter(|_| is_whole);
        recording.patterns = patterns.collect::<Option<_>>().unwrap_or_default();
        for (grid, places) in grids {
            let (along, elsewhere) = along(&grid, &places, &edges);
            let same = |known: &&mut Topology| {
                known.function == grid.function
                    && known.dims == grid.dims
                    && known.periodic == grid.periodic
                    && known.reorder == grid.reorder
            };
            match recording.topologies.iter_mut().find(same) {
                Some(known) => {
                    known.grids += 1;
                    known.elsewhere.add(elsewhere);
                    known.along.iter_mut().zip(along).for_each(|(sum, count)| sum.add(count));
                }
                None => recording.topologies.push(Topology {
                    function: grid.function,
                    dims: grid.dims,
                    periodic: grid.periodic,
                    reorder: grid.reorder,
                    grids: 1,
                    along,
                    elsewhere,
                }),
            }
        }
        let edges = edges.into_iter().map(|((from, to), count)| Edge { from, to, count });
        recording.edges = edges.collect();
        Ok(recording)
    }
}

fn malformed(line: usize, reason: &str) -> ReadError {
    ReadError::Malformed { line, reason: printable(reason) }
}

fn check_function(name: &str) -> Result<(), &'static str> {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    match !name.is_empty() && name.bytes().all(known) {
        true => Ok(()),
        false => Err("a function name has invalid characters"),
    }
}

/// The version in the first line of a part, whatever else the line has.
fn schema_of(text: &str) -> Option<u32> {
    let value: serde_json::Value = serde_json::from_str(text).ok()?;
    u32::try_from(value.get("process")?.get("schema")?.as_u64()?).ok()
}

/// The traffic between neighbors along each dimension of a grid, and between others of it.
fn along(
    grid: &Grid,
    places: &BTreeMap<u32, u32>,
    edges: &BTreeMap<(u32, u32), Count>,
) -> (Vec<Count>, Count) {
    let place_of: BTreeMap<u32, u32> = places.iter().map(|(place, rank)| (*rank, *place)).collect();
    let mut along = vec![Count::default(); grid.dims.len()];
    let mut elsewhere = Count::default();
    for (from, place) in &place_of {
        for ((_, to), count) in edges.range((*from, 0)..=(*from, u32::MAX)) {
            let Some(other) = place_of.get(to).filter(|other| *other != place) else { continue };
            match dimension(grid, *place, *other) {
                Some(dimension) => along[dimension].add(*count),
                None => elsewhere.add(*count),
            }
        }
    }
    (along, elsewhere)
}

/// The dimension along which two different positions are neighbors. The last dimension varies fastest.
fn dimension(grid: &Grid, mut one: u32, mut other: u32) -> Option<usize> {
    let mut found = None;
    for (at, (side, periodic)) in grid.dims.iter().zip(&grid.periodic).enumerate().rev() {
        let (a, b) = (one % side, other % side);
        (one, other) = (one / side, other / side);
        if a == b {
            continue;
        }
        let apart = a.abs_diff(b);
        let next = apart == 1 || (*periodic && apart == side - 1);
        if !next || found.is_some() {
            return None;
        }
        found = Some(at);
    }
    found
}
