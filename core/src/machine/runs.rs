//! A compact layout, in the form in which processes send and store it.
//!
//! Ranks next to each other usually share a node: a run of such ranks takes one word, plus one for each level. Ranks
//! that are distributed round-robin form repeating runs, so only the first round is stored. Blocks and rounds thus take
//! O(nodes) words, whatever the number of ranks; an irregular order takes O(ranks).

use super::torus::Torus;
use super::{Level, LevelKind, MOST_LEVELS, Machine};

/// A [`Machine`] in compressed form: runs of consecutive ranks in one location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Runs {
    /// The number of ranks, the number of levels, the number of words for the coordinates of nodes, the kind of each
    /// level, these words, and the runs: their numbers of ranks, and their group at each level. After the last run, the
    /// list repeats from the first, until all ranks are covered.
    words: Box<[u32]>,
}

/// The number of words before the kinds of levels.
const HEAD: usize = 3;

impl From<&Machine> for Runs {
    fn from(machine: &Machine) -> Self {
        let levels = machine.levels();
        let groups = |rank: usize| levels.iter().map(move |level| level.group_of[rank]);
        let mut runs: Vec<u32> = Vec::new();
        let mut start = 0;
        for rank in 1..=machine.ranks() {
            if rank == machine.ranks() || !groups(rank).eq(groups(start)) {
                runs.push((rank - start) as u32);
                runs.extend(groups(start));
                start = rank;
            }
        }
        let run = 1 + levels.len();
        let round = round(&runs.chunks_exact(run).collect::<Vec<_>>());
        let torus: Vec<u32> = machine.torus().into_iter().flat_map(Torus::words).collect();
        let head = [machine.ranks() as u32, levels.len() as u32, torus.len() as u32].into_iter();
        let kinds = levels.iter().map(|level| level.kind as u32);
        let runs = runs[..run * round].iter().copied();
        Self { words: head.chain(kinds).chain(torus).chain(runs).collect() }
    }
}

impl Runs {
    /// The words to send to another process.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// The runs that [`words`](Self::words) describes; `None` if the words are malformed.
    pub fn from_words(words: Box<[u32]>) -> Option<Self> {
        let (ranks, levels) = (*words.first()?, *words.get(1)? as usize);
        let kinds = words.get(HEAD..HEAD.checked_add(levels)?)?;
        let (node, last) = (LevelKind::Node as u32, LevelKind::ALL.len() as u32);
        let (above, below) = kinds.split_at(kinds.iter().position(|kind| *kind == node)?);
        let nest = above.iter().all(|kind| *kind < node)
            && below[1..].iter().all(|kind| (node + 1..last).contains(kind));
        let torus = words.get(HEAD + levels..)?.get(..*words.get(2)? as usize)?;
        let runs = words[HEAD + levels + torus.len()..].chunks_exact(1 + levels);
        if !torus.is_empty() {
            let nodes = runs.clone().map(|run| run[1 + above.len()] as usize + 1).max()?;
            Torus::from_words(torus).filter(|torus| torus.at.len() == nodes)?;
        }
        let whole = nest && levels <= MOST_LEVELS && runs.remainder().is_empty();
        let full = runs.clone().all(|run| run[0] > 0) && (runs.len() > 0 || ranks == 0);
        (whole && full).then_some(Self { words })
    }

    /// The number of ranks.
    pub fn ranks(&self) -> usize {
        self.words[0] as usize
    }

    fn levels(&self) -> usize {
        self.words[1] as usize
    }

    /// The runs of one round.
    fn runs(&self) -> impl Iterator<Item = &[u32]> + Clone {
        self.words[HEAD + self.levels() + self.words[2] as usize..].chunks_exact(1 + self.levels())
    }

    /// Like [`Machine::is_flat`].
    pub fn is_flat(&self) -> bool {
        self.runs().all(|run| run[1..].iter().all(|group| *group == 0))
    }

    /// The layout itself, with a word for each rank and level.
    pub fn machine(&self) -> Machine {
        let level = |level: usize| {
            let groups = self
                .runs()
                .cycle()
                .flat_map(move |run| std::iter::repeat_n(run[1 + level], run[0] as usize));
            Level {
                kind: LevelKind::ALL[self.words[HEAD + level] as usize],
                group_of: groups.take(self.ranks()).collect(),
            }
        };
        let levels = (0..self.levels()).map(level).collect();
        let torus =
            Torus::from_words(&self.words[HEAD + self.levels()..][..self.words[2] as usize]);
        let mut machine = Machine::of_levels(levels).expect("levels of a layout");
        machine.torus = torus;
        machine
    }
}

/// The number of runs before they repeat: the last round may be incomplete, even within a run.
fn round(runs: &[&[u32]]) -> usize {
    let last = runs.len().saturating_sub(1);
    let same = |late: usize, early: usize| {
        let (late_run, early_run) = (runs[late], runs[early]);
        let breaks_off = late == last && late_run[0] < early_run[0];
        late_run[1..] == early_run[1..] && (late_run[0] == early_run[0] || breaks_off)
    };
    // For each prefix of the list, the length of the longest proper prefix that is also its suffix.
    let mut ends_with = vec![0; runs.len()];
    for late in 1..runs.len() {
        let mut early = ends_with[late - 1];
        while early > 0 && !same(late, early) {
            early = ends_with[early - 1];
        }
        ends_with[late] = early + usize::from(same(late, early));
    }
    runs.len() - ends_with.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Counts the words that a layout takes, and checks that it is restored.
    fn words(machine: &Machine) -> usize {
        let runs = Runs::from(machine);
        assert_eq!(runs.machine(), *machine);
        assert_eq!((runs.ranks(), runs.is_flat()), (machine.ranks(), machine.is_flat()));
        assert_eq!(Runs::from_words(runs.words().into()), Some(runs.clone()));
        runs.words().len()
    }

    fn round_robin(ranks: u64, nodes: u64, at_once: u64) -> Machine {
        Machine::from_ids(&(0..ranks).map(|rank| rank / at_once % nodes).collect::<Vec<_>>())
    }

    #[test]
    fn words_for_blocks_and_rounds_grow_with_nodes_only() {
        assert_eq!(words(&Machine::one_node(0)), HEAD + 1);
        assert_eq!(words(&Machine::one_node(1_000_000)), HEAD + 1 + 2);
        assert_eq!(words(&Machine::blocks(&[48; 1000])), HEAD + 1 + 2 * 1000);
        for (ranks, at_once) in [(48_000, 1), (47_999, 1), (48_000, 8), (47_995, 8), (1_000, 1)] {
            assert_eq!(words(&round_robin(ranks, 1000, at_once)), HEAD + 1 + 2 * 1000);
        }
        let packages = |machine: Machine| {
            let packages: Vec<u64> = (0..machine.ranks() as u64).map(|rank| rank / 4).collect();
            machine.with_level(LevelKind::Package, &packages)
        };
        assert_eq!(words(&packages(Machine::blocks(&[8; 100]))), HEAD + 2 + 3 * 200);
        assert_eq!(words(&Machine::parse("10x20x48", 9600).unwrap()), HEAD + 2 + 3 * 200);
        let at = [Some([0, 0, 1]), Some([3, 2, 1])];
        let torus = Machine::blocks(&[8; 2]).with_torus([4, 4, 0], &at);
        assert!(torus.torus().is_some());
        assert_eq!(words(&torus), HEAD + 1 + 3 + 2 * 2);
        // If nothing repeats, all runs are kept.
        assert_eq!(words(&Machine::from_ids(&[1, 2, 1, 1, 2, 3])), HEAD + 1 + 2 * 5);
    }

    #[test]
    fn malformed_words_are_refused() {
        let node = LevelKind::Node as u32;
        for words in [
            &[][..],
            &[1],
            &[1, 0, 0],
            &[1, 1, 0],
            &[1, 1, 0, node],
            &[1, 1, 0, node, 1],
            &[1, 1, 0, node, 0, 0],
            &[1, 1, 0, 0, 1, 0],
            &[1, 1, 0, 99, 1, 0],
            &[1, 2, 0, node, node, 1, 0, 0],
            &[9, u32::MAX, 0, 1],
            &[1, 1, 9, node, 0, 0, 1, 0],
            &[1, 1, 1, node, 0, 1, 0],
            &[1, 1, 2, node, 0, u32::MAX, 1, 0],
        ] {
            assert_eq!(Runs::from_words(words.into()), None, "{words:?}");
        }
    }

    proptest! {
        #[test]
        fn a_layout_is_restored_from_its_runs(
            round in proptest::collection::vec((0u64..4, 0u64..3, 1usize..4), 1..8),
            ranks in 1usize..60,
        ) {
            let places = round.iter().flat_map(|(node, package, count)| {
                std::iter::repeat_n((*node, *package), *count)
            });
            let places: Vec<(u64, u64)> = places.cycle().take(ranks).collect();
            let (nodes, packages): (Vec<u64>, Vec<u64>) = places.into_iter().unzip();
            let machine = Machine::from_ids(&nodes).with_level(LevelKind::Package, &packages);
            words(&machine);
        }
    }
}
