//! The first calls of all ranks as an entry stores them. In most programs, many ranks make the same calls relative to
//! their own rank: they form a class, whose calls are stored once.

use std::collections::{BTreeMap, HashMap};

use cartograph_traffic::{Call, Collective, Step, Window};
use serde::{Deserialize, Serialize};

/// The most bytes that windows take in a file.
const MOST_BYTES: usize = 400_000;

/// Fewer calls of a rank are not worth storing.
const FEWEST_CALLS: usize = 32;

/// The most calls and steps that a file may describe.
const MOST_UNPACKED: usize = 1 << 23;

/// The work of a rank whose calls are those of its class, including the times between calls.
const AS_ITS_CLASS: u32 = 1000;

/// Values of ranks as runs: the difference from the value of the previous rank, and the number of ranks with this
/// difference. Ranks of a row have the same group; the group of each rank of a column is one more than that of the rank
/// before.
type Runs = Vec<(i64, u32)>;

/// The windows of all ranks.
///
/// Groups are renumbered, and tags become indices of the messages between two ranks. If the times between calls are too
/// different to be stored, ranks get the mean times of their class, scaled to their total work.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Windows {
    /// The distinct windows. The peer of a message is stored as its distance from the rank; the group of a collective
    /// as an index of `groups`, its root as the distance from the group's first rank. Distances are modulo the number
    /// of ranks.
    classes: Vec<Window>,
    /// The class of each rank.
    class_of: Runs,
    /// The groups of each rank, in the order in which its calls name them: 0 for none, otherwise the number of the
    /// group plus one.
    groups: Vec<Runs>,
    /// The work of each rank in thousandths of that of its class; empty if all ranks match their class.
    work: Vec<u32>,
}

impl Windows {
    /// The windows of all ranks; shorter ones if these do not fit, or none.
    pub(super) fn new(windows: &BTreeMap<u32, Window>, size: u32) -> Self {
        if windows.len() != size as usize {
            return Self::default();
        }
        let mut relative = Relative::new(windows.values().cloned().collect());
        if let Some(exact) = relative.pack(false) {
            return exact;
        }
        loop {
            if let Some(packed) = relative.pack(true) {
                return packed;
            }
            let longest = relative.shorten();
            if longest < FEWEST_CALLS {
                return Self::default();
            }
        }
    }

    /// Restores the windows; `None` if the data is invalid.
    pub(super) fn unpack(&self, size: u32) -> Option<BTreeMap<u32, Window>> {
        if self.classes.is_empty() {
            return Some(BTreeMap::new());
        }
        let class_of = values(&self.class_of, size)?;
        // An empty window takes the memory of about eight calls.
        let of_class = |window: &Window| {
            let gaps = window.clone().gaps_mut().len();
            window.calls.len() + gaps + self.groups.len() + 8
        };
        let lengths: Vec<usize> = self.classes.iter().map(of_class).collect();
        let lengths = class_of.iter().map(|class| lengths.get(*class as usize).copied());
        if lengths.sum::<Option<usize>>()? > MOST_UNPACKED {
            return None;
        }
        let groups: Vec<Vec<u32>> =
            self.groups.iter().map(|runs| values(runs, size)).collect::<Option<_>>()?;
        let mut first: HashMap<u32, u32> = HashMap::new();
        for (rank, group) in groups.iter().flat_map(|groups| (0..).zip(groups)) {
            let first = first.entry(*group).or_insert(rank);
            *first = rank.min(*first);
        }
        let is_right = |window: &Window| window.events().is_some();
        let are_all = self.work.is_empty() || self.work.len() == size as usize;
        if !are_all || !self.classes.iter().all(is_right) {
            return None;
        }
        let mut found = BTreeMap::new();
        for (rank, class) in (0..size).zip(class_of) {
            let mut window = self.classes.get(class as usize)?.clone();
            let work = self.work.get(rank as usize).copied().unwrap_or(AS_ITS_CLASS);
            for gap in window.gaps_mut() {
                *gap = part(*gap, work.into(), AS_ITS_CLASS.into());
            }
            for call in &mut window.calls {
                if let Call::Collective(Collective { group, root, .. }) = call {
                    let at = usize::try_from(*group).ok()?;
                    let number = *groups.get(at)?.get(rank as usize)?;
                    *group = u64::from(number.checked_sub(1)?);
                    if let Some(root) = root {
                        *root = rank_at(*root, *first.get(&number)?, size)?;
                    }
                } else if let Some(peer) = call.peer_mut() {
                    *peer = rank_at(*peer, rank, size)?;
                }
            }
            found.insert(rank, window);
        }
        Some(found)
    }
}

/// The windows with distances in place of ranks.
struct Relative {
    windows: Vec<Window>,
    groups: Vec<Runs>,
}

impl Relative {
    fn new(mut windows: Vec<Window>) -> Self {
        let size = windows.len() as u32;
        number_tags(&mut windows);
        // The number of each group, with its first rank.
        let mut known: HashMap<(u64, u32), (u32, u32)> = HashMap::new();
        let mut groups: Vec<Vec<u32>> = Vec::new();
        for (rank, window) in (0..).zip(&mut windows) {
            let mut own: Vec<u32> = Vec::new();
            for call in &mut window.calls {
                if let Call::Collective(Collective { group, size: members, root, .. }) = call {
                    let next = known.len() as u32 + 1;
                    let (number, first) = *known.entry((*group, *members)).or_insert((next, rank));
                    let at = own.iter().position(|known| *known == number).unwrap_or(own.len());
                    if at == own.len() {
                        own.push(number);
                    }
                    *group = at as u64;
                    *root = root.map(|root| (root + size - first) % size);
                } else if let Some(peer) = call.peer_mut() {
                    *peer = (*peer + size - rank) % size;
                }
            }
            if own.len() > groups.len() {
                groups.resize(own.len(), vec![0; rank as usize]);
            }
            for (at, groups) in groups.iter_mut().enumerate() {
                groups.push(own.get(at).copied().unwrap_or(0));
            }
        }
        Self { windows, groups: groups.into_iter().map(runs).collect() }
    }

    /// The classes, by calls and times or, if those do not fit, by calls only.
    fn pack(&self, whatever_times: bool) -> Option<Windows> {
        let mut number: HashMap<Window, u32> = HashMap::new();
        let mut classes: Vec<(Window, u64)> = Vec::new();
        let mut class_of = Vec::new();
        for window in &self.windows {
            let mut key = window.clone();
            if whatever_times {
                key.nanoseconds = 0;
                key.gaps_mut().into_iter().for_each(|gap| *gap = 0);
            }
            let next = number.len() as u32;
            let at = *number.entry(key).or_insert(next);
            class_of.push(at);
            match classes.get_mut(at as usize) {
                None => classes.push((window.clone(), 1)),
                Some((sum, count)) if whatever_times => {
                    *count += 1;
                    add(sum, window.clone());
                }
                Some(_) => {}
            }
        }
        let mean = |(mut window, count): (Window, u64)| {
            window.nanoseconds /= count;
            window.gaps_mut().into_iter().for_each(|gap| *gap /= count);
            window
        };
        let classes: Vec<Window> = classes.into_iter().map(mean).collect();
        let share = |(window, class): (&Window, &u32)| {
            let [own, all] = [window, &classes[*class as usize]].map(|window| work(&window.steps));
            if all == 0 { AS_ITS_CLASS } else { part(AS_ITS_CLASS.into(), own, all) as u32 }
        };
        let shares = whatever_times.then(|| self.windows.iter().zip(&class_of).map(share));
        let packed = Windows {
            work: shares.into_iter().flatten().collect(),
            classes,
            class_of: runs(class_of),
            groups: self.groups.clone(),
        };
        let length = serde_json::to_string(&packed).map_or(usize::MAX, |text| text.len());
        (length <= MOST_BYTES).then_some(packed)
    }

    /// Drops half of the calls of each rank, and returns the length of the longest window.
    fn shorten(&mut self) -> usize {
        let half = |window: &mut Window| {
            let most = window.events().map_or(0, |events| events.len()) / 2;
            *window = window.first(most);
            most
        };
        self.windows.iter_mut().map(half).max().unwrap_or(0)
    }
}

/// Replaces tags by indices of the messages between two ranks: programs may use the sender's rank, for example. If a
/// receive takes a tag from any source, all tags stay.
fn number_tags(windows: &mut [Window]) {
    let mut tags = Vec::new();
    for (rank, window) in (0..).zip(&mut *windows) {
        for call in &mut window.calls {
            match tag(rank, call) {
                Ok(Some((pair, tag))) => tags.push((pair, *tag)),
                Ok(None) => {}
                Err(TagOfAny) => return,
            }
        }
    }
    tags.sort_unstable();
    tags.dedup();
    for (rank, window) in (0..).zip(windows) {
        for call in &mut window.calls {
            if let Ok(Some((pair, tag))) = tag(rank, call) {
                let first = tags.partition_point(|(other, _)| *other < pair);
                *tag = (tags.partition_point(|known| *known < (pair, *tag)) - first) as i32;
            }
        }
    }
}

/// True for a receive of a tag from any source.
struct TagOfAny;

/// The sender and the receiver of a message.
type Pair = (u32, u32);

/// The tag of a message, with its sender and receiver.
fn tag(rank: u32, call: &mut Call) -> Result<Option<(Pair, &mut i32)>, TagOfAny> {
    match call {
        Call::Send(to, _, tag) | Call::Isend(to, _, tag) => Ok(Some(((rank, *to), tag))),
        Call::Recv(Some(from), Some(tag)) | Call::Irecv(Some(from), Some(tag)) => {
            Ok(Some(((*from, rank), tag)))
        }
        Call::Recv(None, Some(_)) | Call::Irecv(None, Some(_)) => Err(TagOfAny),
        _ => Ok(None),
    }
}

/// Adds the times of a window to those of another window with the same calls.
fn add(sum: &mut Window, mut window: Window) {
    sum.nanoseconds = sum.nanoseconds.saturating_add(window.nanoseconds);
    let gaps = window.gaps_mut();
    sum.gaps_mut().into_iter().zip(gaps).for_each(|(sum, gap)| *sum = sum.saturating_add(*gap));
}

/// The nanoseconds between all calls.
fn work(steps: &[Step]) -> u64 {
    let of = |step: &Step| match step {
        Step::Call(_, gap) => *gap,
        Step::Loop { times, steps } => work(steps).saturating_mul((*times).into()),
    };
    steps.iter().map(of).fold(0, u64::saturating_add)
}

/// `number * of / whole`, rounded.
fn part(number: u64, of: u64, whole: u64) -> u64 {
    let [number, of, whole] = [number, of, whole].map(u128::from);
    u64::try_from((number * of + whole / 2) / whole).unwrap_or(u64::MAX)
}

/// The rank at a distance from a rank; `None` if the distance is invalid.
fn rank_at(distance: u32, rank: u32, size: u32) -> Option<u32> {
    (distance < size).then(|| (distance + rank) % size)
}

/// The run-length encoding of values.
fn runs(values: Vec<u32>) -> Runs {
    let mut runs: Runs = Vec::new();
    let mut before = 0;
    for value in values {
        let step = i64::from(value) - before;
        before = value.into();
        match runs.last_mut().filter(|(known, _)| *known == step) {
            Some((_, count)) => *count += 1,
            None => runs.push((step, 1)),
        }
    }
    runs
}

/// The value of each rank.
fn values(runs: &Runs, size: u32) -> Option<Vec<u32>> {
    let mut values = Vec::new();
    let mut value = 0i64;
    for (step, count) in runs {
        if *count as usize > size as usize - values.len() {
            return None;
        }
        for _ in 0..*count {
            value = value.checked_add(*step)?;
            values.push(u32::try_from(value).ok()?);
        }
    }
    (values.len() == size as usize).then_some(values)
}

#[cfg(test)]
mod tests;
