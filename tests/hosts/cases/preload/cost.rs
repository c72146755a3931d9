//! The cost of preloading: only a little memory and time for programs without MPI, and a few instructions for a query.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::Preload;
use crate::session::{Session, word};

impl Preload<'_> {
    /// Programs without MPI load nothing and print nothing, and pay little.
    pub(super) fn without_mpi(&mut self) -> Result<(), String> {
        let one = self.one.clone();
        let mut shell = Command::new("bash");
        shell.args(["-c", "echo one | tr o O; /bin/true"]).env("LD_PRELOAD", &one);
        let ran = self.session.finish(&mut shell);
        let quiet = self.session.out == "One\n" && self.session.err.is_empty();
        self.session.check("a shell and its children print nothing", ran && quiet);
        let steps = self.steps.clone();
        self.checks("the library loads no MPI", "mapped: 0 MPI, 1 of ours\n", &[&steps, "mpis"]);

        // The median of several, since it depends on load addresses. Only files that a process does not have without
        // the library count: of the others, the kernel maps the pages that it happens to have in memory.
        let smaps = |session: &mut Session<'_>, library: Option<&Path>| {
            let mut cat = Command::new("cat");
            library.map(|library| cat.env("LD_PRELOAD", library));
            session.finish(cat.arg("/proc/self/smaps"));
            Mapped::read(&session.out)
        };
        let usual = smaps(&mut self.session, None);
        let middle = |mut numbers: Vec<i64>| {
            numbers.sort_unstable();
            numbers[numbers.len() / 2]
        };
        let own = middle((0..15).map(|_| smaps(&mut self.session, None).own()).collect());
        let with: Vec<Mapped> = (0..15).map(|_| smaps(&mut self.session, Some(&one))).collect();
        let files = middle(with.iter().map(|mapped| mapped.files_beside(&usual)).collect());
        let all = middle(with.iter().map(|m| m.files_beside(&usual) + m.own()).collect());
        self.session.err = format!("{files} kB of files, {all} kB in all where {own} are usual");
        self.session.check("the library takes at most 200 KB", files > 0 && all - own <= 200);

        let cost = self.session.compile_with("gcc", "cost", "c_tests/preload/cost.c", &[]);
        let ran = self.session.finish(Command::new(cost).arg(&one).arg("/bin/true"));
        let microseconds = self.session.out.rsplit(", ").next().and_then(|rest| {
            rest.trim().strip_suffix(" us more").and_then(|number| number.parse::<i64>().ok())
        });
        self.session.check(
            "the library takes at most 1 ms",
            ran && microseconds.is_some_and(|us| us <= 1000),
        );
        Ok(())
    }

    /// The instructions of one query with a library, with the calls' loop.
    pub(super) fn counted(&mut self, library: &Path, words: &[&str]) -> Result<i64, String> {
        let count = self.session.work("count");
        let file = format!("--callgrind-out-file={}", count.display());
        let tool = ["valgrind", "--quiet", "--tool=callgrind", "--toggle-collect=query", &file];
        if !self.runs(&[library], &[], &[&tool[..], words].concat()) {
            return Err(self.session.err.clone());
        }
        let calls: f64 = self.session.out.trim().parse().map_err(|_| self.session.out.clone())?;
        let text = fs::read_to_string(&count).map_err(|error| error.to_string())?;
        let sum = |line: &str| {
            let rest = line.strip_prefix("summary: ").or_else(|| line.strip_prefix("totals: "))?;
            rest.trim().parse::<f64>().ok()
        };
        let sum = text.lines().find_map(sum).ok_or("callgrind has counted nothing")?;
        Ok((sum / calls).round() as i64)
    }

    /// A query takes four instructions more; from a module that loads its MPI late, at most a hundred.
    pub(super) fn cost_of_a_query(&mut self) -> Result<(), String> {
        // Other MPIs use the same code; these run under valgrind.
        let bears = ["mpich", "openmpi", "mpich5", "openmpi5"];
        if self.session.host.shortened || !bears.contains(&&self.session.host.name[..]) {
            return Ok(());
        }
        let source = "c_tests/preload/query.c";
        let program = self.session.compile("query", source, &["-O2"]);
        let module = self.session.compile("query.so", source, &["-O2", "-fPIC", "-shared"]);
        let main = "#include <dlfcn.h>\nint main(int argc, char **argv)\n{\n    return ((int (*)(int, char \
                    **))dlsym(dlopen(argv[1], RTLD_NOW | RTLD_LOCAL), \"main\"))(argc, argv);\n}\n";
        let main = self.session.write("late.c", main);
        let late = self.session.compile_with("gcc", "late", word(&main), &["-ldl"]);
        let (one, own) = (self.one.clone(), self.own.clone());
        let direct = self.counted(&own, &[word(&program)])?;
        let through = self.counted(&one, &[word(&program)])?;
        let by_module = self.counted(&one, &[word(&late), word(&module)])?;
        self.session.err = format!("{direct} instructions, {through} through it, {by_module} late");
        let right = direct > 0 && through - direct <= 4;
        self.session.check("a query takes at most four more instructions", right);
        self.session.check(
            "a query with a late MPI takes at most a hundred more instructions",
            by_module - direct <= 100,
        );
        Ok(())
    }
}

/// The memory of a process, in kB: for each mapping its file, its resident memory, and the process's private part.
struct Mapped(Vec<(String, i64, i64)>);

impl Mapped {
    fn read(smaps: &str) -> Self {
        let mut all: Vec<(String, i64, i64)> = Vec::new();
        for line in smaps.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let number = || words.get(1).and_then(|word| word.parse().ok()).unwrap_or(0);
            match (words.first().copied().unwrap_or_default(), all.last_mut()) {
                ("Rss:", Some(last)) => last.1 = number(),
                ("Anonymous:", Some(last)) => last.2 = number(),
                (range, _) if range.contains('-') => {
                    all.push((words.get(5).copied().unwrap_or_default().to_owned(), 0, 0));
                }
                _ => {}
            }
        }
        Self(all)
    }

    /// The private memory of the process.
    fn own(&self) -> i64 {
        self.0.iter().map(|(.., own)| own).sum()
    }

    /// The memory of files that another process does not map.
    fn files_beside(&self, usual: &Self) -> i64 {
        let is_new =
            |file: &str| file.starts_with('/') && !usual.0.iter().any(|(of, ..)| of == file);
        self.0.iter().filter(|(file, ..)| is_new(file)).map(|(_, all, own)| all - own).sum()
    }
}
