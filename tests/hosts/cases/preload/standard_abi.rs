//! Stand-ins for MPIs with the standard ABI that are not installed, made from MPICH's: one that reports itself as Open
//! MPI, one without `PMPI_` names, and one that has these in a separate library.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::super::exec::{OURS, THEIRS};
use super::Preload;
use crate::session::word;

const MPI: &str = "libmpi_abi.so.1";

/// The bytes with one text replaced by another of the same length.
fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut bytes = bytes.to_vec();
    let mut places = 0;
    for at in 0..=bytes.len() - from.len() {
        if bytes[at..].starts_with(from) {
            bytes[at..at + to.len()].copy_from_slice(to);
            places += 1;
        }
    }
    assert!(places > 0, "MPICH's library has {}", String::from_utf8_lossy(from));
    bytes
}

impl Preload<'_> {
    pub(super) fn standard_abi(&mut self) -> Result<(), String> {
        if self.session.host.name != "abi" {
            return Ok(());
        }
        let mpi = self.mpi()?;
        let bytes = fs::read(&mpi).map_err(|error| error.to_string())?;
        let (one, own, linked) = (self.one.clone(), self.own.clone(), self.linked.clone());
        let words = [&linked[..], "self"];

        let open = self.stand_in(
            "calls-itself-open",
            MPI,
            &replaced(&bytes, b"MPICH Version:", b"Open MPI v6.1,"),
        )?;
        for library in [&one, &own] {
            self.answers("it calls itself Open MPI", library, &open, OURS, &words);
        }
        self.wraps(&own, &open, &words);

        // In a library's table of names, a zero precedes that text. The symbol can no longer be found.
        let without = self.stand_in("without", MPI, &replaced(&bytes, b"\0PMPI_", b"\0QMPI_"))?;
        self.answers("it has no PMPI_ names", &one, &without, THEIRS, &words);
        let settings = [&without[..], "CARTOGRAPH_REPORT=1"];
        let reported = self.runs(&[&one], &settings, &[&linked, "self", "self"])
            && self.session.out == THEIRS.repeat(2)
            && self.says(
                1,
                "libmpi_abi.so.1 has no PMPI_ functions such as .*; using the MPI's own functions",
            );
        self.session.check("without PMPI_ names, a line gives the reason", reported);
        let quiet = self.runs(&[&one], &[&without[..], "CARTOGRAPH_REPORT=off"], &words)
            && self.says(0, ".");
        self.session.check("without PMPI_ names and without a report, nothing is printed", quiet);

        let name = "libpmpi_abi.so";
        let split = self.stand_in(
            "split",
            name,
            &replaced(&bytes, b"libmpi_abi.so.1\0", b"libpmpi_abi.so\0\0"),
        )?;
        self.forwards(Path::new(&mpi), name)?;
        for library in [&one, &own] {
            self.answers("its PMPI_ names are in another library", library, &split, OURS, &words);
        }
        Ok(())
    }

    /// Writes a library; returns the setting by which programs find it before MPICH's.
    fn stand_in(&mut self, folder: &str, name: &str, bytes: &[u8]) -> Result<String, String> {
        let mpi = PathBuf::from(self.mpi()?);
        let theirs = mpi.parent().ok_or("the MPI is in a folder")?.display().to_string();
        let folder = self.session.work(folder);
        let written = fs::create_dir(&folder).and_then(|()| fs::write(folder.join(name), bytes));
        written.map_err(|error| error.to_string())?;
        Ok(format!("LD_LIBRARY_PATH={}:{theirs}:{theirs}/mpich", folder.display()))
    }

    /// Creates a library with the MPI's name next to the library `name`, with `MPI_` names that call those there.
    fn forwards(&mut self, mpi: &Path, name: &str) -> Result<(), String> {
        let goes_on = |profiled: &String| {
            let plain = profiled.strip_prefix('P')?;
            plain.starts_with("MPI_").then(|| {
                format!(".globl {plain}\n.type {plain}, @function\n{plain}: jmp *{profiled}@GOTPCREL(%rip)\n")
            })
        };
        let stubs: String = self.names(mpi).iter().filter_map(goes_on).collect();
        let stubs =
            self.session.write("stubs.s", &format!("{stubs}.section .note.GNU-stack,\"\"\n"));
        let folder = self.session.work("split");
        let mut gcc = Command::new("gcc");
        gcc.args(["-shared", "-Wl,--no-as-needed,--allow-shlib-undefined"])
            .arg(format!("-Wl,-soname,{MPI}"));
        let made = self
            .session
            .finish(gcc.arg("-o").arg(folder.join(MPI)).arg(stubs).arg(folder.join(name)));
        made.then_some(()).ok_or_else(|| self.session.err.clone())
    }

    /// Checks that a program prints this over a stand-in, with a library preloaded that prints nothing.
    fn answers(
        &mut self,
        what: &str,
        library: &Path,
        search: &str,
        expected: &str,
        words: &[&str],
    ) {
        let right = self.runs(&[library], &[search], words)
            && self.session.out == expected
            && self.session.is_quiet();
        self.session.check(&format!("{what}: {}", library.display()), right);
    }

    /// The recorder over a stand-in.
    fn wraps(&mut self, own: &Path, search: &str, words: &[&str]) {
        let recorder = own.with_file_name("libcartograph_record.so");
        let folder = self.session.work("recorded");
        let recorded = format!("CARTOGRAPH_RECORD={}", word(&folder));
        let ran = self.runs(&[&recorder], &[search, &recorded], words);
        let written = fs::read_dir(&folder).is_ok_and(|mut files| files.next().is_some());
        self.session.check(
            "the recorder works with an MPI that reports itself as Open MPI",
            ran && written,
        );
    }
}
