//! Algorithms of collectives: the messages that members of a group send, numbered from 0.

/// A message: the sender, the receiver and the bytes.
pub(in crate::replay) type Message = (u32, u32, u64);

/// A step of a collective.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::replay) enum Step {
    /// Messages that are sent before any of them is awaited, repeated this many times, one repetition after the other.
    Messages(Vec<Message>, u32),
    /// Each member sends these bytes to each other one, all at once.
    Exchange(u64),
}

/// Messages that are sent once.
fn once(messages: impl Iterator<Item = Message>) -> Step {
    Step::Messages(messages.collect(), 1)
}

impl Step {
    fn map(self, change: impl Fn(Message) -> Message) -> Self {
        match self {
            Self::Messages(all, times) => {
                Self::Messages(all.into_iter().map(change).collect(), times)
            }
            exchange @ Self::Exchange(_) => exchange,
        }
    }

    /// The same step in the other direction.
    pub(super) fn turned(self) -> Self {
        self.map(|(from, to, bytes)| (to, from, bytes))
    }

    /// The same step of these members of a larger group.
    pub(super) fn of(self, members: &[u32]) -> Self {
        self.map(|(from, to, bytes)| (members[from as usize], members[to as usize], bytes))
    }
}

/// The bytes for this many members.
pub(super) fn times(bytes: u64, count: u32) -> u64 {
    bytes.saturating_mul(u64::from(count))
}

/// The powers of two below a number.
fn powers(count: u32) -> Vec<u32> {
    (0..31).map(|power| 1 << power).take_while(|power| *power < count).collect()
}

/// A linear algorithm: a message from the root to each other member.
pub(super) fn linear(count: u32, root: u32, bytes: u64) -> Step {
    let others = (0..count).filter(|member| *member != root);
    once(others.map(|member| (root, member, bytes)))
}

/// A chain: each member waits for the one before it.
pub(super) fn chain(count: u32, bytes: u64) -> Vec<Step> {
    (1..count).map(|member| once([(member - 1, member, bytes)].into_iter())).collect()
}

/// A tree from its root, the largest subtrees first, whose parents have up to `radix - 1` children at each level: 2 for a
/// binomial tree. A message has the bytes for the members of a subtree.
pub(super) fn tree_from(
    count: u32,
    root: u32,
    radix: u32,
    bytes: impl Fn(u32) -> u64,
) -> Vec<Step> {
    let mut width = 1;
    while width * radix < count {
        width *= radix;
    }
    let mut steps = Vec::new();
    while width > 0 {
        let parents = (0..count).step_by((width * radix) as usize);
        let children = parents.flat_map(|parent| {
            let children = (1..radix).map(move |child| parent + child * width);
            children.take_while(move |child| *child < count).map(move |child| (parent, child))
        });
        steps.push(once(children.map(|(parent, child)| {
            let part = width.min(count - child);
            ((parent + root) % count, (child + root) % count, bytes(part))
        })));
        width /= radix;
    }
    steps
}

/// The tree of [`tree_from`] toward its root.
pub(super) fn tree_to(count: u32, root: u32, radix: u32, bytes: impl Fn(u32) -> u64) -> Vec<Step> {
    tree_from(count, root, radix, bytes).into_iter().rev().map(Step::turned).collect()
}

/// A binomial tree whose parents send to the smallest subtrees first, so that the largest wait: Open MPI's.
pub(super) fn tree_nearest_first(count: u32, root: u32, bytes: impl Fn(u32) -> u64) -> Vec<Step> {
    let mut steps: Vec<Vec<Message>> = Vec::new();
    // The number of the step after which each member has its data.
    let mut after = vec![0; count as usize];
    for child in 1..count {
        let width = child & child.wrapping_neg();
        let parent = child - width;
        let at = after[parent as usize] + width.trailing_zeros() as usize;
        after[child as usize] = at + 1;
        steps.resize(steps.len().max(at + 1), Vec::new());
        let part = width.min(count - child);
        steps[at].push(((parent + root) % count, (child + root) % count, bytes(part)));
    }
    steps.into_iter().map(|messages| once(messages.into_iter())).collect()
}

/// Bruck's algorithm, and the dissemination barrier: each member sends to the member whose number is larger by a power
/// of two, for each power, with the bytes for that many members.
pub(super) fn bruck(count: u32, bytes: impl Fn(u32) -> u64) -> Vec<Step> {
    let step = |away: u32| {
        let part = bytes(away.min(count - away));
        once((0..count).map(|member| (member, (member + away) % count, part)))
    };
    powers(count).into_iter().map(step).collect()
}

/// A ring, around which all data goes.
pub(super) fn ring(count: u32, bytes: u64) -> Vec<Step> {
    let messages = (0..count).map(|member| (member, (member + 1) % count, bytes)).collect();
    let times = count.saturating_sub(1);
    if times == 0 { Vec::new() } else { vec![Step::Messages(messages, times)] }
}

/// The largest power of two of members, and the number of others, which take part through a neighbor.
pub(super) fn divided(count: u32) -> (u32, u32) {
    let most = (count + 1).next_power_of_two() / 2;
    (most, count - most)
}

/// The member with a number among the largest power of two, if so many are left.
fn member(number: u32, left: u32) -> u32 {
    if number < left { 2 * number + 1 } else { number + left }
}

/// Exchanges between members whose numbers differ by powers of two, with the bytes for each. If the number of members
/// is not a power of two, some take part through a neighbor: they send it this many bytes before, and get this many
/// after.
fn between_powers(
    count: u32,
    exchanges: impl IntoIterator<Item = (u32, u64)>,
    [before, after]: [Option<u64>; 2],
) -> Vec<Step> {
    let (most, left) = divided(count);
    let neighbors = |bytes| once((0..left).map(move |pair| (2 * pair, 2 * pair + 1, bytes)));
    let exchange = |(away, bytes): (u32, u64)| {
        once((0..most).map(|one| (member(one, left), member(one ^ away, left), bytes)))
    };
    let first = before.filter(|_| left > 0).map(neighbors);
    let last = after.filter(|_| left > 0).map(|bytes| neighbors(bytes).turned());
    first.into_iter().chain(exchanges.into_iter().map(exchange)).chain(last).collect()
}

/// The powers of two by which the members of [`between_powers`] differ.
fn distances(count: u32) -> Vec<u32> {
    powers(divided(count).0)
}

/// Recursive doubling of a reduction: all bytes at each step.
pub(super) fn recursive_doubling(count: u32, bytes: u64) -> Vec<Step> {
    let exchanges = distances(count).into_iter().map(|away| (away, bytes));
    between_powers(count, exchanges, [Some(bytes); 2])
}

/// Recursive doubling of an allgather, or Bruck's algorithm if the number of members is not a power of two.
pub(super) fn allgather_by_doubling(count: u32, bytes: u64) -> Vec<Step> {
    if !count.is_power_of_two() {
        return bruck(count, |part| times(bytes, part));
    }
    let exchanges = distances(count).into_iter().map(|away| (away, times(bytes, away)));
    between_powers(count, exchanges, [None; 2])
}

/// Recursive halving of a reduction: half of all bytes with the farthest, half of the rest at each nearer distance.
pub(super) fn recursive_halving(count: u32, all: u64) -> Vec<Step> {
    let exchanges = distances(count).into_iter().rev().zip((1..32).map(|power| all >> power));
    let own = all / u64::from(count.max(1));
    between_powers(count, exchanges, [Some(all), Some(own)])
}

/// The exchanges of Rabenseifner's algorithm: half of the bytes between neighbors, half of the rest at each distance.
fn halves(count: u32, bytes: u64) -> Vec<(u32, u64)> {
    let half = |away: u32| (away, bytes / u64::from(2 * away));
    distances(count).into_iter().map(half).collect()
}

/// Rabenseifner's allreduce: the halves are reduced, and gathered by the same pairs.
pub(super) fn rabenseifner(count: u32, bytes: u64) -> Vec<Step> {
    let halves = halves(count, bytes);
    let exchanges = halves.iter().chain(halves.iter().rev()).copied();
    between_powers(count, exchanges, [Some(bytes); 2])
}

/// Rabenseifner's reduce: the halves are reduced, and go to the root by the same pairs.
pub(super) fn rabenseifner_to(count: u32, root: u32, bytes: u64) -> Vec<Step> {
    let (_, left) = divided(count);
    let number = if root < 2 * left { root / 2 } else { root - left };
    let halves = halves(count, bytes);
    let mut steps = between_powers(count, halves.iter().copied(), [Some(bytes), None]);
    for (away, part) in halves.into_iter().rev() {
        let pair = |one: u32| (member(one ^ number, left), member(one ^ number ^ away, left), part);
        steps.push(once((away..2 * away).map(pair)));
    }
    if member(number, left) != root {
        steps.push(once([(member(number, left), root, bytes)].into_iter()));
    }
    steps
}

/// A large broadcast: parts to all, which gather them, by doubling below this number of bytes, and otherwise by a ring.
pub(super) fn scatter_and_allgather(count: u32, root: u32, bytes: u64, least: u64) -> Vec<Step> {
    let part = bytes.div_ceil(u64::from(count.max(1)));
    let gathered = match count.is_power_of_two() && bytes < least {
        true => allgather_by_doubling(count, part),
        false => ring(count, part),
    };
    tree_from(count, root, 2, |parts| times(part, parts)).into_iter().chain(gathered).collect()
}

/// A scan by exchanges at growing distances.
pub(super) fn scan(count: u32, bytes: u64) -> Vec<Step> {
    let step = |away: u32| {
        let pairs = (0..count).map(|member| (member, member ^ away, bytes));
        once(pairs.filter(|(_, to, _)| *to < count))
    };
    powers(count).into_iter().map(step).collect()
}
