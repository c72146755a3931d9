//! The programs that processes become by their ranks.

use std::ffi::OsString;
use std::fmt;

/// Several programs that are started as one: the numbers of processes and of words of each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parts(pub(crate) Vec<[usize; 2]>);

impl Parts {
    /// Reads the text of these numbers: `8:2,8:1`.
    pub fn parse(text: &str) -> Option<Self> {
        let part = |part: &str| {
            let (processes, words) = part.split_once(':')?;
            let numbers = [processes.parse().ok()?, words.parse().ok()?];
            (!numbers.contains(&0)).then_some(numbers)
        };
        text.split(',').map(part).collect::<Option<Vec<_>>>().map(Self)
    }

    /// The number of the program that a rank runs.
    pub fn of_rank(&self, rank: usize) -> Option<usize> {
        let mut left = rank;
        self.0.iter().position(|[processes, _]| match left.checked_sub(*processes) {
            Some(rest) => {
                left = rest;
                false
            }
            None => true,
        })
    }

    /// A shell's script that becomes the program of the process's rank in Slurm, with all words as its arguments.
    pub(crate) fn by_rank(&self) -> String {
        let (mut ranks, mut before) = (0, 0);
        let part = |[processes, words]: &[usize; 2]| {
            ranks += processes;
            let own = (before..before + words).map(|at| format!(" \"${{{}}}\"", at + 1));
            before += words;
            format!("[ \"$SLURM_PROCID\" -ge {ranks} ] || exec{}\n", own.collect::<String>())
        };
        self.0.iter().map(part).collect()
    }

    /// The words of the program of this number, among those of all.
    pub fn words<'a>(&self, number: usize, all: &'a [OsString]) -> Option<&'a [OsString]> {
        let start: usize = self.0.get(..number)?.iter().map(|[_, words]| words).sum();
        all.get(start..start.checked_add(self.0.get(number)?[1])?)
    }
}

impl fmt::Display for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = self.0.iter().map(|[processes, words]| format!("{processes}:{words}"));
        f.write_str(&parts.collect::<Vec<_>>().join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rank_has_a_program_with_its_words() {
        let words = ["./a", "x y", "./b"].map(OsString::from);
        let parts = Parts::parse("2:2,1:1").unwrap();
        assert_eq!(parts.to_string(), "2:2,1:1");
        let of = |rank| Some(parts.words(parts.of_rank(rank)?, &words)?.to_vec());
        assert_eq!([0, 1].map(of), [Some(words[..2].to_vec()), Some(words[..2].to_vec())]);
        assert_eq!([2, 3].map(of), [Some(words[2..].to_vec()), None]);
        let run = |rank: &str| {
            let mut shell = std::process::Command::new("sh");
            shell.args(["-c", &parts.by_rank(), "0", "echo", "x y", "pwd"]);
            let output = shell.env("SLURM_PROCID", rank).current_dir("/").output().unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        assert_eq!(["0", "1", "2"].map(run), ["x y\n", "x y\n", "/\n"]);
        // More words than there are.
        let parts = Parts::parse("1:2,1:2").unwrap();
        assert_eq!(parts.words(1, &words), None);
        for wrong in ["", "2", "2:", "0:1", "1:0", "1:1,", "1:1:1"] {
            assert_eq!(Parts::parse(wrong), None, "{wrong}");
        }
    }
}
