//! The files by which launchers place ranks.

/// The longest argument that Linux passes to a program, in bytes, including its end.
const LONGEST_WORD: usize = 128 * 1024;

/// The format of a rank file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Open MPI's rank file: a line for each rank, with its node and its core there.
    Openmpi,
    /// A host file in the order of ranks: a line for each rank, with its node.
    Slurm,
    /// Cray MPICH's `MPICH_RANK_ORDER`: the ranks in the order of the slots, a line for each node.
    Cray,
    /// Flux's task map (RFC 34).
    Flux,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Openmpi, Self::Slurm, Self::Cray, Self::Flux];

    /// The name on command lines and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Openmpi => "openmpi",
            Self::Slurm => "slurm",
            Self::Cray => "cray",
            Self::Flux => "flux",
        }
    }

    /// The format with a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// True if the file contains node names; otherwise nodes are numbered in allocation order.
    pub const fn takes_names(self) -> bool {
        matches!(self, Self::Openmpi | Self::Slurm)
    }

    /// The file's text; rank `r` is to be started on node `node_of[r]`, whose name is `names[node_of[r]]`.
    ///
    /// # Errors
    ///
    /// Why there can be no file of this format, and what to do instead.
    pub fn write(self, node_of: &[u32], names: &[String]) -> Result<String, String> {
        let ranks = node_of.len();
        let nodes = node_of.iter().map(|node| &names[*node as usize]);
        match self {
            Self::Openmpi => {
                let mut slots = vec![0usize; names.len()];
                let line = |((rank, name), node): ((usize, &String), &u32)| {
                    let slot = &mut slots[*node as usize];
                    *slot += 1;
                    format!("rank {rank}={name} slot={}\n", *slot - 1)
                };
                Ok(nodes.enumerate().zip(node_of).map(line).collect())
            }
            Self::Slurm => Ok(nodes.map(|name| format!("{name}\n")).collect()),
            // Slots are filled node by node, in allocation order; the file gives the rank in each.
            Self::Cray => {
                let mut by_node: Vec<usize> = (0..ranks).collect();
                by_node.sort_by_key(|rank| node_of[*rank]);
                let lines = by_node.chunk_by(|one, next| node_of[*one] == node_of[*next]);
                Ok(lines.map(|line| joined(line) + "\n").collect())
            }
            // The node, the number of nodes, the tasks on each, and the number of repetitions.
            Self::Flux => {
                let runs = node_of.chunk_by(|one, next| one == next);
                let blocks = runs.map(|run| format!("[{},1,{},1]", run[0], run.len()));
                let text = format!("[{}]\n", blocks.collect::<Vec<_>>().join(","));
                match text.len() < LONGEST_WORD {
                    true => Ok(text),
                    false => Err(format!(
                        "{ranks} ranks are too many for one argument of flux run; use --rankfile slurm FILE and flux run \
                         --taskmap=hostfile:FILE"
                    )),
                }
            }
        }
    }
}

/// Numbers separated by commas.
fn joined(numbers: &[impl ToString]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_launcher_starts_ranks_at_their_places() {
        let names = ["a".to_owned(), "b".to_owned()];
        let text = |format: Format| format.write(&[1, 0, 1, 0, 1], &names).unwrap();
        assert_eq!(
            text(Format::Openmpi),
            "rank 0=b slot=0\nrank 1=a slot=0\nrank 2=b slot=1\nrank 3=a slot=1\nrank 4=b slot=2\n"
        );
        assert_eq!(text(Format::Slurm), "b\na\nb\na\nb\n");
        assert_eq!(text(Format::Cray), "1,3\n0,2,4\n");
        let flux = Format::Flux.write(&[1, 1, 0, 1], &names).unwrap();
        assert_eq!(flux, "[[1,1,2,1],[0,1,1,1],[1,1,1,1]]\n");
        let many: Vec<u32> = (0..LONGEST_WORD as u32 / 10).map(|rank| rank % 2).collect();
        assert!(Format::Flux.write(&many, &names).is_err());
        assert!(Format::Flux.write(&many[..1000], &names).is_ok());
        for format in Format::ALL {
            assert_eq!(Format::named(format.name()), Some(format));
        }
    }
}
