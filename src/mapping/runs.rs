//! A layout in few words, as processes send and keep it.
//!
//! Neighbors in rank mostly share a node: a run of them takes one word and one more for each level. Ranks
//! that are dealt to nodes in turn make runs that repeat, of which the first round is kept. So blocks and
//! rounds take O(nodes) words, whatever the number of ranks; an order without any order takes O(ranks).

use super::Layout;

/// The places of all ranks, as runs of neighbors that are at the same one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Runs {
    /// The number of ranks, the number of levels, and the runs: how many ranks, and their group at each
    /// level. After the last run comes the first again, until all ranks have their place.
    words: Box<[u32]>,
}

/// The words before the runs.
const HEAD: usize = 2;

impl From<&Layout> for Runs {
    fn from(layout: &Layout) -> Self {
        let levels = layout.levels();
        let groups = |rank: usize| levels.iter().map(move |level| level[rank]);
        let mut runs: Vec<u32> = Vec::new();
        let mut start = 0;
        for rank in 1..=layout.ranks() {
            if rank == layout.ranks() || !groups(rank).eq(groups(start)) {
                runs.push((rank - start) as u32);
                runs.extend(groups(start));
                start = rank;
            }
        }
        let run = 1 + levels.len();
        let round = round(&runs.chunks_exact(run).collect::<Vec<_>>());
        let head = [layout.ranks() as u32, levels.len() as u32];
        Self { words: head.into_iter().chain(runs[..run * round].iter().copied()).collect() }
    }
}

impl Runs {
    /// The words, for another process.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// What [`words`](Self::words) gave; `None` if these are no such words.
    pub fn from_words(words: Box<[u32]>) -> Option<Self> {
        let (ranks, levels) = (*words.first()?, *words.get(1)? as usize);
        let runs = words[HEAD..].chunks_exact(levels.checked_add(1)?);
        let whole = levels > 0 && runs.remainder().is_empty();
        let full = runs.clone().all(|run| run[0] > 0) && (runs.len() > 0 || ranks == 0);
        (whole && full).then_some(Self { words })
    }

    /// How many ranks there are.
    pub fn ranks(&self) -> usize {
        self.words[0] as usize
    }

    fn levels(&self) -> usize {
        self.words[1] as usize
    }

    /// The runs of one round.
    fn runs(&self) -> impl Iterator<Item = &[u32]> + Clone {
        self.words[HEAD..].chunks_exact(1 + self.levels())
    }

    /// As [`Layout::is_flat`].
    pub fn is_flat(&self) -> bool {
        self.runs().all(|run| run[1..].iter().all(|group| *group == 0))
    }

    /// The layout with a word a rank and level.
    pub fn layout(&self) -> Layout {
        let level = |level: usize| {
            let groups = self
                .runs()
                .cycle()
                .flat_map(move |run| std::iter::repeat_n(run[1 + level], run[0] as usize));
            groups.take(self.ranks()).collect()
        };
        Layout::of_levels((0..self.levels()).map(level).collect())
    }
}

/// How many runs there are before they repeat: the last of the rounds may break off, even within a run.
fn round(runs: &[&[u32]]) -> usize {
    let last = runs.len().saturating_sub(1);
    let same = |late: usize, early: usize| {
        let (late_run, early_run) = (runs[late], runs[early]);
        let breaks_off = late == last && late_run[0] < early_run[0];
        late_run[1..] == early_run[1..] && (late_run[0] == early_run[0] || breaks_off)
    };
    // For each beginning of the list, how long the longest shorter beginning is that it also ends with.
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

    /// How many words a layout takes; it is the same again afterwards.
    fn words(layout: &Layout) -> usize {
        let runs = Runs::from(layout);
        assert_eq!(runs.layout(), *layout);
        assert_eq!((runs.ranks(), runs.is_flat()), (layout.ranks(), layout.is_flat()));
        assert_eq!(Runs::from_words(runs.words().into()), Some(runs.clone()));
        runs.words().len()
    }

    fn dealt(ranks: u64, nodes: u64, at_once: u64) -> Layout {
        Layout::from_ids(&(0..ranks).map(|rank| rank / at_once % nodes).collect::<Vec<_>>())
    }

    #[test]
    fn blocks_and_rounds_take_words_by_nodes() {
        assert_eq!(words(&Layout::one_node(0)), HEAD);
        assert_eq!(words(&Layout::one_node(1_000_000)), HEAD + 2);
        assert_eq!(words(&Layout::blocks(&[48; 1000])), HEAD + 2 * 1000);
        for (ranks, at_once) in [(48_000, 1), (47_999, 1), (48_000, 8), (47_995, 8), (1_000, 1)] {
            assert_eq!(words(&dealt(ranks, 1000, at_once)), HEAD + 2 * 1000);
        }
        let packages = |layout: Layout| {
            let packages: Vec<u64> = (0..layout.ranks() as u64).map(|rank| rank / 4).collect();
            layout.with_level(&packages)
        };
        assert_eq!(words(&packages(Layout::blocks(&[8; 100]))), HEAD + 3 * 200);
        // Where nothing repeats all is kept.
        assert_eq!(words(&Layout::from_ids(&[1, 2, 1, 1, 2, 3])), HEAD + 2 * 5);
    }

    #[test]
    fn other_words_are_refused() {
        for words in [&[][..], &[1], &[1, 0], &[1, 1], &[1, 1, 1], &[1, 1, 0, 0], &[9, u32::MAX, 1]]
        {
            assert_eq!(Runs::from_words(words.into()), None, "{words:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_kept_is_the_layout(
            round in proptest::collection::vec((0u64..4, 0u64..3, 1usize..4), 1..8),
            ranks in 1usize..60,
        ) {
            let places = round.iter().flat_map(|(node, package, count)| {
                std::iter::repeat_n((*node, *package), *count)
            });
            let places: Vec<(u64, u64)> = places.cycle().take(ranks).collect();
            let (nodes, packages): (Vec<u64>, Vec<u64>) = places.into_iter().unzip();
            let layout = Layout::from_ids(&nodes).with_level(&packages);
            words(&layout);
        }
    }
}
