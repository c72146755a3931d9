//! The arguments of a constructor that must be the same on all ranks, and how ranks compare them.

use super::digest::Digest;

/// A collective function of the chapter. If processes call different ones on one communicator, that is an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Function {
    /// `MPI_Cart_create`.
    CartCreate,
    /// `MPI_Cart_sub`.
    CartSub,
    /// `MPI_Graph_create`.
    GraphCreate,
    /// `MPI_Dist_graph_create`.
    DistGraphCreate,
    /// `MPI_Dist_graph_create_adjacent`.
    DistGraphCreateAdjacent,
}

impl Function {
    /// Its name in C.
    pub const fn name(self) -> &'static str {
        match self {
            Self::CartCreate => "MPI_Cart_create",
            Self::CartSub => "MPI_Cart_sub",
            Self::GraphCreate => "MPI_Graph_create",
            Self::DistGraphCreate => "MPI_Dist_graph_create",
            Self::DistGraphCreateAdjacent => "MPI_Dist_graph_create_adjacent",
        }
    }

    /// Its name in settings, in lower case without the prefix: `cart_create`.
    pub fn word(self) -> String {
        self.name()["MPI_".len()..].to_ascii_lowercase()
    }
}

/// An argument that must be the same on all processes.
#[derive(Debug, Clone, Copy)]
pub struct Argument<'a> {
    /// Its name in the standard.
    pub name: &'static str,
    /// Its values; a scalar is a slice of one.
    pub values: &'a [i32],
    /// True if different values are accepted, because every host accepts them: each process keeps its own,
    /// unless [`Rule::Arguments`](super::check::Rule::Arguments) is checked.
    pub tolerated: bool,
}

impl<'a> Argument<'a> {
    /// Creates an argument that must be the same on all processes.
    pub const fn exact(name: &'static str, values: &'a [i32]) -> Self {
        Self { name, values, tolerated: false }
    }

    /// Creates an argument in which processes may differ.
    pub const fn tolerated(name: &'static str, values: &'a [i32]) -> Self {
        Self { name, values, tolerated: true }
    }
}

/// The arguments that a process passed to a function, in the order of the call.
#[derive(Debug, Clone, Copy)]
pub struct Shared<'a> {
    /// The function.
    pub function: Function,
    /// Its arguments.
    pub arguments: &'a [Argument<'a>],
}

impl Shared<'_> {
    /// A digest of the function and the arguments that must be equal, and a digest of all arguments.
    pub(super) fn digests(&self) -> [u64; 2] {
        let start = Digest::default().number(self.function as u64);
        let of = |arguments: &mut dyn Iterator<Item = &Argument<'_>>| {
            arguments.fold(start, |so_far, argument| so_far.array(argument.values)).finish()
        };
        let exact = of(&mut self.arguments.iter().filter(|argument| !argument.tolerated));
        [exact, of(&mut self.arguments.iter())]
    }

    /// The function's number, then each argument's length and values, four bytes each.
    pub(super) fn encode(&self) -> Vec<u8> {
        let length = |argument: &Argument<'_>| argument.values.len() as i32;
        let arguments = self.arguments.iter();
        let words = arguments.flat_map(|argument| {
            std::iter::once(length(argument)).chain(argument.values.iter().copied())
        });
        let words = std::iter::once(self.function as i32).chain(words);
        words.flat_map(i32::to_le_bytes).collect()
    }

    /// The first difference between these arguments and rank 0's, which are encoded. Arguments that may differ are
    /// compared only if `strict`.
    pub(super) fn difference(&self, encoded: &[u8], strict: bool) -> Option<String> {
        const FUNCTIONS: [Function; 5] = [
            Function::CartCreate,
            Function::CartSub,
            Function::GraphCreate,
            Function::DistGraphCreate,
            Function::DistGraphCreateAdjacent,
        ];
        let (words, _) = encoded.as_chunks::<4>();
        let mut words = words.iter().map(|word| i32::from_le_bytes(*word));
        let function = words.next()?;
        if function != self.function as i32 {
            let theirs = FUNCTIONS.into_iter().find(|known| *known as i32 == function)?;
            let (own, theirs) = (self.function.name(), theirs.name());
            return Some(format!("calls {own} while rank 0 calls {theirs}"));
        }
        let must = "it must be the same on all ranks";
        for Argument { name, values, tolerated } in self.arguments {
            let length = words.next()? as usize;
            let theirs: Vec<i32> = words.by_ref().take(length).collect();
            if *tolerated && !strict {
                continue;
            }
            if values.len() != theirs.len() {
                let own = values.len();
                return Some(format!("{name} has {own} entries, but {length} on rank 0; {must}"));
            }
            if let Some(i) = (0..length).find(|i| values[*i] != theirs[*i]) {
                let place = if length == 1 { String::new() } else { format!("[{i}]") };
                let (own, theirs) = (values[i], theirs[i]);
                return Some(format!("{name}{place} is {own}, but {theirs} on rank 0; {must}"));
            }
        }
        None
    }
}

/// The arguments of one process in `MPI_Cart_create`. Arrays have one entry per dimension.
pub struct CartArguments<'a> {
    /// Processes along each dimension.
    pub dims: &'a [i32],
    /// True for each periodic dimension.
    pub periods: &'a [bool],
    /// True if ranks may be reordered.
    pub reorder: bool,
}

/// The arguments of one process in `MPI_Graph_create`. The last entry of `index` is the length of `edges`.
pub struct GraphArguments<'a> {
    /// For each node the number of edges that leave it or a node before it.
    pub index: &'a [i32],
    /// The node that each edge leads to.
    pub edges: &'a [i32],
    /// True if ranks may be reordered.
    pub reorder: bool,
}

/// The weights argument of one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EdgeWeights<'a> {
    /// `MPI_UNWEIGHTED`.
    Unweighted,
    /// One weight per edge; `MPI_WEIGHTS_EMPTY` is an empty array.
    Given(&'a [i32]),
    /// A null pointer without edges: it fits a weighted graph and an unweighted one.
    Either,
}

impl EdgeWeights<'_> {
    /// True if this rank passes weights, `None` if its arguments fit both.
    pub(super) fn weighted(self) -> Option<bool> {
        match self {
            Self::Unweighted => Some(false),
            Self::Given(_) => Some(true),
            Self::Either => None,
        }
    }

    pub(super) fn entries(&self) -> &[i32] {
        match self {
            Self::Given(entries) => entries,
            _ => &[],
        }
    }
}

/// The arguments of one process in `MPI_Dist_graph_create_adjacent`.
pub struct AdjacentArguments<'a> {
    /// The rank that each edge into this process comes from.
    pub sources: &'a [i32],
    /// Their weights.
    pub source_weights: EdgeWeights<'a>,
    /// The rank that each edge out of this process leads to.
    pub destinations: &'a [i32],
    /// Their weights.
    pub dest_weights: EdgeWeights<'a>,
    /// True if ranks may be reordered.
    pub reorder: bool,
}

/// The arguments of one process in `MPI_Dist_graph_create`: any edges of the graph.
pub struct EdgeArguments<'a> {
    /// The rank that edges start from.
    pub sources: &'a [i32],
    /// The number of entries of `destinations` that belong to each of the `sources`.
    pub degrees: &'a [i32],
    /// The rank that each edge leads to.
    pub destinations: &'a [i32],
    /// A weight for each of the `destinations`.
    pub weights: EdgeWeights<'a>,
    /// True if ranks may be reordered.
    pub reorder: bool,
}
