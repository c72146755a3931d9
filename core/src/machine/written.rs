//! Machines as people write them: sizes, or files with the place of each rank.

use std::io;

use super::error::LayoutError;
use super::network::NetworkMapFile;
use super::notation::{self, names_a_file};
use super::paths;
use super::tree::Machine;

impl Machine {
    /// Reads the text of a setting: sizes as for [`parse`](Self::parse) or, if it [does not have that
    /// form](names_a_file), the name of a file for [`from_names`](Self::from_names). `read` returns the file's text.
    ///
    /// # Errors
    ///
    /// [`LayoutError`].
    pub fn written(
        text: &str,
        ranks: usize,
        read: impl FnOnce(&str) -> io::Result<String>,
    ) -> Result<Self, LayoutError> {
        if !names_a_file(text) {
            return Self::parse(text, ranks);
        }
        let names = read(text).map_err(|error| LayoutError::Unreadable {
            name: text.to_owned(),
            why: error.to_string(),
        })?;
        if NetworkMapFile::read(&names).is_some() {
            return Err(LayoutError::NetworkMap(text.to_owned()));
        }
        Self::from_names(&names, ranks)
    }

    /// Reads "4x16" (4 nodes of 16), "2x4x16" (2 switches of 4 nodes of 16; more levels likewise), node sizes
    /// such as "16,16,8" or "40*48,10*30", or a list of switches such as "2x4x16,1x3x8".
    ///
    /// # Errors
    ///
    /// [`LayoutError`]. A node without processes is invalid.
    pub fn parse(text: &str, ranks: usize) -> Result<Self, LayoutError> {
        let machine = notation::parse(text, ranks)?;
        machine.filled(ranks, text)
    }

    /// Reads a file's text: a word for each rank, in the order of ranks. Ranks with the same word share a node. A word
    /// may be a path: the switches above the node and the domains below it, as `s1/n5` or `s1/n5/package0/numa1`. The
    /// node is the last part that is not `package`, `numa` or `l3` with a number.
    ///
    /// # Errors
    ///
    /// [`LayoutError::OtherSize`], or [`LayoutError::Line`] if paths are inconsistent.
    pub fn from_names(text: &str, ranks: usize) -> Result<Self, LayoutError> {
        paths::read(text)?.filled(ranks, "from a file with a word for each rank")
    }

    /// This layout, if it has `ranks` ranks.
    fn filled(self, ranks: usize, text: &str) -> Result<Self, LayoutError> {
        match self.ranks() {
            places if places == ranks => Ok(self),
            places => Err(LayoutError::OtherSize { text: text.to_owned(), places, ranks }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_take_precedence_over_file_names() {
        let file = |_: &str| Ok("a b a".to_owned());
        assert_eq!(Machine::written("1,2", 3, file), Ok(Machine::blocks(&[1, 2])));
        assert_eq!(Machine::written("4x16", 3, file), Machine::parse("4x16", 3));
        assert_eq!(Machine::written("round_robin", 3, file).unwrap().nodes(), [0, 1, 0]);
        let network = |_: &str| Ok("SwitchName=s1 Nodes=n[1-3]\n".to_owned());
        let error = Machine::written("topology.conf", 3, network);
        assert_eq!(error, Err(LayoutError::NetworkMap("topology.conf".into())));
        let none = |_: &str| Err(io::Error::from(io::ErrorKind::NotFound));
        let error = Machine::written("4xfour", 3, none).unwrap_err().to_string();
        assert!(
            error.contains("'4xfour' is neither") && error.contains("cannot be read"),
            "{error}"
        );
        assert!(names_a_file("./4x16") && !names_a_file("40*48, 1") && !names_a_file("2x4x16"));
    }
}
