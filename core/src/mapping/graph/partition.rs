//! Many parts: by recursive bisection. And parts made better by dividing groups of neighboring ones anew.

use std::collections::BTreeMap;
use std::iter::repeat_n;

use super::bisect::bisect;
use super::net::Net;
use crate::mapping::order::breadth_first;
use crate::mapping::refine::Budget;
use crate::mapping::rng::Rng;

/// The sweeps over its graph that a multilevel bisection is counted with. Most take less, those of grids in three dimensions 13.
const MULTILEVEL: usize = 10;

/// The steps that dividing a graph into `parts` takes.
pub(super) fn steps(net: &Net, parts: usize) -> usize {
    MULTILEVEL * parts.next_power_of_two().ilog2() as usize * net.sweep()
}

/// The part of each vertex; part `i` has about the size `sizes[i]`, and exactly if all vertices have the size 1. The
/// sizes add up to that of the graph. `starts`: see [`bisect`].
///
/// Where the budget does not allow all bisections, there is one order for all parts that are left.
pub(super) fn partition(
    net: &Net,
    sizes: &[usize],
    starts: usize,
    rng: &mut Rng,
    budget: &mut Budget,
) -> Vec<u32> {
    let all: Vec<u32> = (0..net.len() as u32).collect();
    let mut division = Division { part: vec![0; net.len()], local: Vec::new(), starts, rng };
    division.split(net, &all, sizes, 0, budget);
    division.part
}

/// A recursive bisection of a graph.
struct Division<'a> {
    part: Vec<u32>,
    /// Scratch: an entry a vertex, all of them `u32::MAX` between uses.
    local: Vec<u32>,
    starts: usize,
    rng: &'a mut Rng,
}

impl Division<'_> {
    /// Distributes `vertices` of the whole graph, whose graph is `net`, over the parts from `first` on.
    fn split(
        &mut self,
        net: &Net,
        vertices: &[u32],
        sizes: &[usize],
        first: usize,
        budget: &mut Budget,
    ) {
        if sizes.len() < 2 || net.len() == 0 {
            return vertices.iter().for_each(|vertex| self.part[*vertex as usize] = first as u32);
        }
        let (count, target) = half(sizes);
        // What is coarse has hardly ever just the size that it is to have.
        let all: usize = sizes.iter().sum();
        let target = (target as f64 / all as f64 * net.total_size() as f64).round() as usize;
        let left = budget.left() as usize;
        if left < steps(net, sizes.len()) {
            let order = if left < 2 * net.sweep() {
                (0..net.len() as u32).collect()
            } else {
                budget.spend(2 * net.sweep());
                breadth_first(net)
            };
            return self.fill(net, &order, vertices, (sizes, first));
        }
        let sides = bisect(net, target as i64, self.starts, self.rng, budget);
        for side in [0, 1] {
            let mine: Vec<u32> =
                (0..net.len() as u32).filter(|vertex| sides[*vertex as usize] == side).collect();
            let theirs: Vec<u32> = mine.iter().map(|vertex| vertices[*vertex as usize]).collect();
            let (sizes, first) =
                if side == 0 { (&sizes[..count], first) } else { (&sizes[count..], first + count) };
            budget.spend(net.sweep());
            let inner = if sizes.len() < 2 {
                Net::default()
            } else {
                self.local.resize(self.local.len().max(net.len()), u32::MAX);
                net.induced(&mine, &mut self.local)
            };
            self.split(&inner, &theirs, sizes, first, budget);
        }
    }

    /// Fills the parts from `first` on, one after the other, in an order of the graph's own vertices.
    fn fill(
        &mut self,
        net: &Net,
        order: &[u32],
        vertices: &[u32],
        (sizes, first): (&[usize], usize),
    ) {
        let (mut at, mut room) = (0, sizes[0] as i64);
        for vertex in order {
            while room <= 0 && at + 1 < sizes.len() {
                at += 1;
                room += sizes[at] as i64;
            }
            room -= net.size(*vertex as usize);
            self.part[vertices[*vertex as usize] as usize] = (first + at) as u32;
        }
    }
}

/// The number of the sizes, from the first on, whose sum is closest to half of all, and that sum. At least one size is
/// on either side.
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
pub(super) struct Repartition<'a> {
    net: &'a Net,
    pub(super) part: Vec<u32>,
    members: Vec<Vec<u32>>,
    /// Scratch: an entry a vertex, all of them `u32::MAX` between uses.
    local: Vec<u32>,
}

impl<'a> Repartition<'a> {
    pub(super) fn new(net: &'a Net, part: Vec<u32>, count: usize) -> Self {
        let mut members = vec![Vec::new(); count];
        (0..).zip(&part).for_each(|(vertex, part)| members[*part as usize].push(vertex));
        Self { net, part, members, local: vec![u32::MAX; net.len()] }
    }

    /// Divides groups of neighboring parts anew, each part's in turn, for as long as the budget lasts.
    pub(super) fn improve_groups(&mut self, rng: &mut Rng, budget: &mut Budget) {
        let mut seeds: Vec<u32> = Vec::new();
        while self.members.len() > 1 && !budget.is_spent() {
            if seeds.is_empty() {
                seeds.extend(0..self.members.len() as u32);
                rng.shuffle(&mut seeds);
            }
            let seed = seeds.pop().expect("more than one part");
            let group = self.group(seed, 2 + rng.below(4), rng, budget);
            // Not always the best bisection: its halves may be worse to divide.
            let starts = 1 + rng.below(4);
            budget.spend(100);
            if group.len() > 1 {
                self.redivide(&group, starts, rng, budget);
            }
        }
    }

    /// Divides some neighboring parts anew, and keeps that if it is not worse.
    fn redivide(&mut self, parts: &[u32], starts: usize, rng: &mut Rng, budget: &mut Budget) {
        let members = || parts.iter().map(|part| &self.members[*part as usize]);
        let sizes: Vec<usize> = members().map(Vec::len).collect();
        let vertices: Vec<u32> = members().flatten().copied().collect();
        let before: Vec<u32> =
            (0u32..).zip(&sizes).flat_map(|(i, size)| repeat_n(i, *size)).collect();
        let net = self.net.induced(&vertices, &mut self.local);
        budget.spend(2 * net.sweep());
        let after = partition(&net, &sizes, starts, rng, budget);
        budget.spend(2 * net.sweep());
        // What is as good may lead to what is better.
        if net.cut(&after) <= net.cut(&before) {
            parts.iter().for_each(|part| self.members[*part as usize].clear());
            for (vertex, place) in vertices.into_iter().zip(after) {
                let part = parts[place as usize];
                self.part[vertex as usize] = part;
                self.members[part as usize].push(vertex);
            }
        }
    }

    /// A part and some more around it, each next to one that was there before.
    fn group(&mut self, seed: u32, count: usize, rng: &mut Rng, budget: &mut Budget) -> Vec<u32> {
        let mut parts = vec![seed];
        let mut around: Vec<(u32, i64)> = Vec::new();
        let mut last = seed;
        while parts.len() < count {
            let mut beside: BTreeMap<u32, i64> = BTreeMap::new();
            for vertex in &self.members[last as usize] {
                let edges = self.net.edges(*vertex as usize);
                budget.spend(1 + edges.len());
                for (to, weight) in edges.filter(|(to, _)| self.part[*to] != last) {
                    *beside.entry(self.part[to]).or_insert(0) += weight;
                }
            }
            for (part, weight) in beside {
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
            // Parts without edges to these may still take vertices from them.
            last = hit.map_or_else(|| rng.below(self.members.len()) as u32, |(part, _)| *part);
            if parts.contains(&last) {
                break;
            }
            parts.push(last);
        }
        rng.shuffle(&mut parts);
        parts
    }
}
