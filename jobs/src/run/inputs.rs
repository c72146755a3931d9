//! A digest of a job's inputs before it starts, by which its kind of work is guessed: of its arguments, of the small
//! files that they name, and of the file on stdin. Nothing is consumed, and only numbers are kept.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Seek};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::PathBuf;

use cartograph_core::launcher::variables;
use cartograph_shim::splitmix::digest;

use crate::program::program_at;

/// Of larger files, only the size and the time of the last change count.
const LARGE: u64 = 1 << 20;

/// The most bytes that are read of all files together: the job waits for it.
const MOST: u64 = 16 << 20;

/// A shorter name of the batch job may occur in arguments by chance.
const SHORT: usize = 4;

/// The inputs of a job as they were before it started.
pub struct Inputs {
    words: Vec<Word>,
    stdin: u64,
}

/// A word of the command line.
struct Word {
    /// A number for its text.
    text: u64,
    /// The path that it is or assigns, as in `-in=path`, with a number for the text before the path.
    path: (PathBuf, u64),
    /// A number for the file's content, if there is such a file.
    content: Option<u64>,
}

impl Inputs {
    /// The inputs of a job that runs programs with arguments, after any wrappers.
    pub fn of<'a>(programs: impl IntoIterator<Item = &'a [OsString]>) -> Self {
        let job = variables::JOBS.iter().find_map(env::var_os);
        Self::new(programs, job.as_deref(), &io::stdin())
    }

    fn new<'a>(
        programs: impl IntoIterator<Item = &'a [OsString]>,
        job: Option<&OsStr>,
        stdin: &impl AsFd,
    ) -> Self {
        let mut left = MOST;
        let mut words = Vec::new();
        for program in programs {
            let at = program_at(program);
            let others = program.iter().enumerate().filter(|(word, _)| Some(*word) != at);
            words.extend(others.map(|(_, word)| Word::new(word.as_bytes(), job, &mut left)));
        }
        Self { words, stdin: of_stdin(stdin).unwrap_or(0) }
    }

    /// The digest. Words of these numbers name files that the program writes: their contents do not count.
    pub fn digest(&self, outputs: &[u64]) -> u64 {
        let of = |word: &Word| match word.content {
            Some(content) if !outputs.contains(&word.text) => [word.path.1, content],
            _ => [word.text, 0],
        };
        let numbers = self.words.iter().flat_map(of).chain([self.stdin]);
        digest(&numbers.flat_map(u64::to_le_bytes).collect::<Vec<u8>>())
    }

    /// The numbers of words whose files have changed since: the job has written them.
    pub fn written(&self) -> Vec<u64> {
        let mut left = MOST;
        let changed = |word: &&Word| {
            let now = of_file(&word.path.0, &mut left);
            now.is_some() && now != word.content
        };
        self.words.iter().filter(changed).map(|word| word.text).collect()
    }
}

impl Word {
    fn new(word: &[u8], job: Option<&OsStr>, left: &mut u64) -> Self {
        let start = word.iter().position(|byte| *byte == b'=').map_or(0, |at| at + 1);
        let whole = PathBuf::from(OsStr::from_bytes(word));
        // A path may have the character.
        let start = if start == word.len() || whole.exists() { 0 } else { start };
        let path = PathBuf::from(OsStr::from_bytes(&word[start..]));
        let content = of_file(&path, left);
        Self { text: digest(&without(word, job)), path: (path, digest(&word[..start])), content }
    }
}

/// A word without the name of the batch job, which many scripts put into names of outputs.
fn without(word: &[u8], job: Option<&OsStr>) -> Vec<u8> {
    let Some(job) = job.map(OsStr::as_bytes).filter(|job| job.len() >= SHORT) else {
        return word.to_vec();
    };
    let mut rest = word;
    let mut text = Vec::new();
    while let Some(byte) = rest.first() {
        match rest.strip_prefix(job) {
            Some(after) => rest = after,
            None => {
                text.push(*byte);
                rest = &rest[1..];
            }
        }
    }
    text
}

/// A number for the content of a regular file: nothing else is opened, since that may block or have effects.
fn of_file(path: &PathBuf, left: &mut u64) -> Option<u64> {
    let found = fs::metadata(path).ok().filter(Metadata::is_file)?;
    if found.len() > LARGE.min(*left) {
        return Some(of_metadata(&found));
    }
    let flags = nix::libc::O_NONBLOCK | nix::libc::O_NOCTTY;
    let Ok(file) = OpenOptions::new().read(true).custom_flags(flags).open(path) else {
        return Some(of_metadata(&found));
    };
    file.metadata().ok().filter(Metadata::is_file)?;
    let mut bytes = Vec::new();
    file.take(LARGE).read_to_end(&mut bytes).ok()?;
    *left = left.saturating_sub(bytes.len() as u64);
    Some(digest(&bytes))
}

fn of_metadata(file: &Metadata) -> u64 {
    let numbers = [file.len(), file.mtime().cast_unsigned(), file.mtime_nsec().cast_unsigned()];
    digest(&numbers.map(u64::to_le_bytes).concat())
}

/// A number for the rest of the file on stdin, which stays to be read; `None` if that is not a regular file.
fn of_stdin(stdin: &impl AsFd) -> Option<u64> {
    let mut file = File::from(stdin.as_fd().try_clone_to_owned().ok()?);
    let found = file.metadata().ok().filter(Metadata::is_file)?;
    let at = file.stream_position().ok()?;
    let length = found.len().saturating_sub(at);
    if length > LARGE {
        return Some(digest(&[at, of_metadata(&found)].map(u64::to_le_bytes).concat()));
    }
    let mut bytes = vec![0; length as usize];
    file.read_exact_at(&mut bytes, at).ok()?;
    Some(digest(&bytes))
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::{Duration, SystemTime};

    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    fn of(line: &str) -> u64 {
        let null = File::open("/dev/null").unwrap();
        Inputs::new([&*words(line)], None, &null).digest(&[])
    }

    #[test]
    fn arguments_and_contents_of_files_count_but_paths_do_not() {
        let directory = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = directory.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            path.display().to_string()
        };
        let first = file("one/in", "steps 10");
        let base = of(&format!("true -in {first} -x 1"));
        assert_eq!(of(&format!("/bin/true -in {first} -x 1")), base);
        assert_ne!(of(&format!("true -in {first} -x 2")), base);
        assert_ne!(of(&format!("true -in {first}")), base);
        let moved = file("two/in", "steps 10");
        assert_eq!(of(&format!("true -in {moved} -x 1")), base);
        let changed = file("two/in", "steps 20");
        assert_ne!(of(&format!("true -in {changed} -x 1")), base);
        // The same for a path that is assigned.
        assert_eq!(
            of(&format!("true -in={first}")),
            of(&format!("true -in={}", file("in", "steps 10")))
        );
        assert_ne!(of(&format!("true -in={first}")), of(&format!("true -in={changed}")));
        assert_ne!(of(&format!("true -in={first}")), of(&format!("true -out={first}")));
    }

    #[test]
    fn large_files_are_identified_by_size_and_time() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("mesh");
        let line = format!("true {}", path.display());
        let file = File::create(&path).unwrap();
        file.set_len(LARGE + 1).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        file.set_modified(time).unwrap();
        let base = of(&line);
        file.write_all_at(b"other", 0).unwrap();
        file.set_modified(time).unwrap();
        assert_eq!(of(&line), base);
        file.set_modified(time + Duration::from_secs(1)).unwrap();
        assert_ne!(of(&line), base);
    }

    #[test]
    fn nothing_blocks_or_is_consumed() {
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let line =
            format!("true {} /dev/zero /dev/stdin {}", pipe.display(), directory.path().display());
        assert_eq!(of(&line), of(&line));
        let input = directory.path().join("input");
        fs::write(&input, "head\ndata").unwrap();
        let mut stdin = File::open(&input).unwrap();
        let with = |stdin: &File| Inputs::new([&*words("true")], None, stdin).digest(&[]);
        let whole = with(&stdin);
        assert_ne!(whole, of("true"));
        assert_eq!(stdin.stream_position().unwrap(), 0);
        // A script may have read the beginning.
        stdin.seek(io::SeekFrom::Start(5)).unwrap();
        let rest = with(&stdin);
        assert_ne!(rest, whole);
        assert_eq!(stdin.stream_position().unwrap(), 5);
        fs::write(&input, "data").unwrap();
        assert_eq!(with(&File::open(&input).unwrap()), rest);
        let socket = std::os::unix::net::UnixStream::pair().unwrap();
        assert_eq!(of_stdin(&socket.0), None);
    }

    #[test]
    fn files_that_the_job_writes_and_its_name_do_not_count() {
        let directory = tempfile::tempdir().unwrap();
        let [log, new] = ["log", "new"].map(|name| directory.path().join(name));
        fs::write(&log, "took 1 s").unwrap();
        let line = words(&format!("true -log {} -to {}", log.display(), new.display()));
        let null = File::open("/dev/null").unwrap();
        let inputs = || Inputs::new([&*line], None, &null);
        let before = inputs();
        assert!(before.written().is_empty());
        fs::write(&log, "took 2 s").unwrap();
        fs::write(&new, "result").unwrap();
        let written = before.written();
        assert_eq!(written.len(), 2);
        assert_eq!(inputs().digest(&written), before.digest(&written));
        assert_ne!(inputs().digest(&[]), before.digest(&[]));
        let of = |line: &str, job: &str| {
            Inputs::new([&*words(line)], Some(job.as_ref()), &null).digest(&[])
        };
        assert_eq!(of("true -o out.123456", "123456"), of("true -o out.123457", "123457"));
        assert_ne!(of("true -n 12", "12"), of("true -n 13", "13"));
    }
}
