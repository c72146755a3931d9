//! Many parts of exact sizes: by recursive bisection, then by refinement of neighboring pairs.

use super::bisect::{Effort, bisect};
use super::fm::{Limits, refine};
use super::net::{Arc, Net};
use super::work::{Rng, Work};

/// The part of each vertex; part `i` has `sizes[i]` vertices. All vertices have the size 1, and there
/// are as many as the sizes add up to.
pub(super) fn partition(
    net: &Net,
    sizes: &[usize],
    effort: Effort,
    rng: &mut Rng,
    work: &mut Work,
) -> Vec<u32> {
    let mut part = vec![0; net.len()];
    let all: Vec<u32> = (0..net.len() as u32).collect();
    let mut local = Vec::new();
    split(net, &all, sizes, 0, &mut part, &mut local, effort, rng, work);
    part
}

/// Distributes `vertices` of the whole graph, whose graph is `net`, over the parts from `first` on.
#[allow(clippy::too_many_arguments, reason = "a recursion that hands on its context")]
fn split(
    net: &Net,
    vertices: &[u32],
    sizes: &[usize],
    first: usize,
    part: &mut [u32],
    local: &mut Vec<u32>,
    effort: Effort,
    rng: &mut Rng,
    work: &mut Work,
) {
    if sizes.len() < 2 {
        for vertex in vertices {
            part[*vertex as usize] = first as u32;
        }
        return;
    }
    let (count, target) = half(sizes);
    let sides = bisect(net, target as i64, effort, rng, work);
    for side in [0, 1] {
        let mine: Vec<u32> =
            (0..net.len() as u32).filter(|vertex| sides[*vertex as usize] == side).collect();
        let theirs: Vec<u32> = mine.iter().map(|vertex| vertices[*vertex as usize]).collect();
        let (sizes, first) =
            if side == 0 { (&sizes[..count], first) } else { (&sizes[count..], first + count) };
        work.spend(net.sweep());
        let net = if sizes.len() < 2 {
            Net::default()
        } else {
            local.resize(local.len().max(net.len()), u32::MAX);
            net.induced(&mine, local)
        };
        split(&net, &theirs, sizes, first, part, local, effort, rng, work);
    }
}

/// How many of the sizes, from the first on, come closest to half of all, and how much they are. At
/// least one size is on either side.
fn half(sizes: &[usize]) -> (usize, usize) {
    let all: usize = sizes.iter().sum();
    let mut sum = 0;
    let mut best = (usize::MAX, 0, 0);
    for (i, size) in sizes[..sizes.len() - 1].iter().enumerate() {
        sum += size;
        best = best.min(((2 * sum).abs_diff(all), i + 1, sum));
    }
    (best.1, best.2)
}

/// Parts of a graph that are being improved. Their sizes stay as they are.
pub(super) struct Parts<'a> {
    pub(super) net: &'a Net,
    pub(super) part: Vec<u32>,
    members: Vec<Vec<u32>>,
    /// Scratch: of vertices, and of parts.
    local: Vec<u32>,
    weight_to: Vec<i64>,
}

impl<'a> Parts<'a> {
    pub(super) fn new(net: &'a Net, part: Vec<u32>, count: usize) -> Self {
        let mut members = vec![Vec::new(); count];
        for (vertex, part) in part.iter().enumerate() {
            members[*part as usize].push(vertex as u32);
        }
        let local = vec![u32::MAX; net.len()];
        Self { net, part, members, local, weight_to: vec![0; count] }
    }

    pub(super) fn count(&self) -> usize {
        self.members.len()
    }

    /// The parts next to one, with the weight of the edges to each, in ascending order.
    pub(super) fn neighbors(&mut self, part: usize, work: &mut Work) -> Vec<(u32, i64)> {
        let mut found = Vec::new();
        for vertex in &self.members[part] {
            let arcs = self.net.arcs(*vertex as usize);
            work.spend(1 + arcs.len());
            for Arc { to, weight } in arcs {
                let other = self.part[*to as usize];
                if other as usize != part {
                    if self.weight_to[other as usize] == 0 {
                        found.push(other);
                    }
                    self.weight_to[other as usize] += weight;
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        let take = |other| (other, std::mem::take(&mut self.weight_to[other as usize]));
        found.into_iter().map(take).collect()
    }

    /// The vertices of some parts in one list, and their graph.
    fn union(&mut self, parts: &[u32], work: &mut Work) -> (Vec<u32>, Net) {
        let lists = parts.iter().map(|part| &self.members[*part as usize]);
        let vertices: Vec<u32> = lists.flatten().copied().collect();
        let net = self.net.induced(&vertices, &mut self.local);
        work.spend(2 * net.sweep());
        (vertices, net)
    }

    /// Puts vertices into parts anew: vertex `i` of the list into `parts[place[i]]`.
    fn assign(&mut self, parts: &[u32], vertices: &[u32], place: impl Fn(usize) -> usize) {
        for part in parts {
            self.members[*part as usize].clear();
        }
        for (i, vertex) in vertices.iter().enumerate() {
            let part = parts[place(i)];
            self.part[*vertex as usize] = part;
            self.members[part as usize].push(*vertex);
        }
    }

    /// Exchanges vertices between two parts while that makes the cut smaller. Whether it did.
    fn improve_pair(&mut self, a: u32, b: u32, work: &mut Work) -> bool {
        let (vertices, net) = self.union(&[a, b], work);
        let first = self.members[a as usize].len();
        let mut sides: Vec<u8> = (0..net.len()).map(|i| u8::from(i >= first)).collect();
        let before = net.cut(&sides);
        let limits = Limits {
            tolerance: 0,
            slack: 1 + first.min(net.len() - first) as i64 / 32,
            patience: 40,
            passes: 4,
        };
        let after = refine(&net, &mut sides, first as i64, limits, work).cut;
        if after < before {
            self.assign(&[a, b], &vertices, |i| sides[i] as usize);
        }
        after < before
    }

    /// Refines all pairs of neighboring parts, again where something changed.
    pub(super) fn improve_pairs(&mut self, work: &mut Work) {
        let mut changed = vec![true; self.count()];
        while changed.contains(&true) && !work.is_spent() {
            let active = std::mem::replace(&mut changed, vec![false; self.count()]);
            for part in 0..self.count() {
                for (other, _) in self.neighbors(part, work) {
                    let each_once = other as usize > part || !active[other as usize];
                    if (active[part] && each_once)
                        && !work.is_spent()
                        && self.improve_pair(part as u32, other, work)
                    {
                        changed[part] = true;
                        changed[other as usize] = true;
                    }
                }
            }
        }
    }

    /// Divides some neighboring parts anew, and keeps that if it is better. Whether it was.
    pub(super) fn redivide(
        &mut self,
        parts: &[u32],
        effort: Effort,
        rng: &mut Rng,
        work: &mut Work,
    ) -> bool {
        let (vertices, net) = self.union(parts, work);
        let sizes: Vec<usize> =
            parts.iter().map(|part| self.members[*part as usize].len()).collect();
        let before: Vec<u32> =
            (0u32..).zip(&sizes).flat_map(|(i, size)| std::iter::repeat_n(i, *size)).collect();
        let mut inner = Parts::new(&net, partition(&net, &sizes, effort, rng, work), parts.len());
        inner.improve_pairs(work);
        let place = inner.part;
        work.spend(2 * net.sweep());
        let (after, before) = (net.cut(&place), net.cut(&before));
        // What is as good may lead to what is better.
        if after <= before {
            self.assign(parts, &vertices, |i| place[i] as usize);
        }
        after < before
    }

    /// A part and some more around it, each next to one that was there before.
    pub(super) fn cluster(&mut self, count: usize, rng: &mut Rng, work: &mut Work) -> Vec<u32> {
        let mut parts = vec![rng.below(self.count()) as u32];
        let mut around: Vec<(u32, i64)> = Vec::new();
        while parts.len() < count {
            let last = *parts.last().expect("there is one from the start") as usize;
            for (part, weight) in self.neighbors(last, work) {
                match around.iter_mut().find(|(other, _)| *other == part) {
                    Some((_, sum)) => *sum += weight,
                    None => around.push((part, weight)),
                }
            }
            around.retain(|(part, _)| !parts.contains(part));
            // Parts with more edges to the others are more likely.
            let all: i64 = around.iter().map(|(_, weight)| weight.max(&1)).sum();
            let mut at = rng.below(all.max(1) as usize) as i64;
            let hit = around.iter().find(|(_, weight)| {
                at -= weight.max(&1);
                at < 0
            });
            let Some((part, _)) = hit else { break };
            parts.push(*part);
        }
        rng.shuffle(&mut parts);
        parts
    }
}
