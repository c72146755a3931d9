//! mini, the MPI of `c_tests/mini`, and Cartograph over it in setups that no real host allows: with only the required
//! functions, as a part of the host, under valgrind and under the sanitizers. The library is mini's own and the one for
//! the standard ABI, which is built for another host.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use super::Outcome;
use super::symbols::{Names, names_under, same, symbols};
use crate::session::{Session, count, word};
use crate::testlist::top;

/// `lifetime.c` makes edges that do not match, and wants the error.
const EDGES: &str = "CARTOGRAPH_CHECK=edges";

/// Waits for the other two of three processes, then process 1 ends with the code, if there is one.
const JOB: &str = r#"
echo $$ >"$1/pid.$MINI_RANK"
while [ "$(ls "$1" | wc -l)" -lt 3 ]; do sleep 0.05; done
if [ "$MINI_RANK" = 1 ] && [ $# = 2 ]; then exit "$2"; fi
exec sleep 100
"#;

/// Programs that valgrind and the sanitizers watch, with the arguments under each.
const WATCHED: [(&str, [&[&str]; 2]); 5] = [
    ("mini/host", [&[]; 2]),
    ("mini/required", [&[]; 2]),
    ("mini/neighbor", [&[]; 2]),
    ("tool/tool_calls", [&[]; 2]),
    ("lifetime/lifetime", [&["50"], &["500"]]),
];

struct Mini<'a, 'b> {
    session: &'a mut Session<'b>,
    /// The build of mini without Cartograph.
    plain: PathBuf,
    /// The folders of the libraries for the standard ABI and for mini.
    abi: String,
    own: String,
}

pub(super) fn run(mut session: Session<'_>) -> Outcome {
    session.preloaded.clear();
    session.seconds = 60;
    let lib = |host: &str| word(&top().join("build").join(host).join("lib")).to_owned();
    let mut mini = Mini {
        plain: top().join("build/mini/host"),
        abi: lib("abi"),
        own: lib("mini"),
        session: &mut session,
    };
    // Both builds of the library are for it.
    mini.make(&["lib", "HOST=abi"]);
    mini.launcher()?;
    mini.parts()?;
    mini.standard_abi();
    mini.adopted()?;
    mini.required_only()?;
    mini.valgrind();
    mini.sanitizers();
    session.verdict()
}

/// Options that link with the shared library in a folder.
fn shared(lib: &str) -> [String; 3] {
    ["-Wl,--no-as-needed".into(), format!("{lib}/libcartograph.so"), format!("-Wl,-rpath,{lib}")]
}

/// Options that link with all of the archive in a folder.
fn archived(lib: &str) -> [String; 3] {
    let whole = "-Wl,--whole-archive";
    [whole.into(), format!("{lib}/libcartograph.a"), "-Wl,--no-whole-archive".into()]
}

/// The wrapper of mini in a folder; without a folder, that of mini without Cartograph.
fn wrapper(mini: &str) -> Command {
    let mut wrapper = Command::new(top().join("c_tests/mini/mpicc"));
    wrapper.env("MINI", mini);
    wrapper
}

/// cc, with the headers of mini in a folder.
fn cc(mini: &str) -> Command {
    let mut cc = Command::new("cc");
    cc.arg(format!("-I{mini}/include"));
    cc
}

fn pids(folder: &Path) -> Vec<String> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    files.map(|file| fs::read_to_string(file.path()).unwrap_or_default().trim().into()).collect()
}

/// Waits for a condition that should hold soon; true if it does.
fn soon(is_so: impl Fn() -> bool) -> bool {
    (0..100).any(|_| {
        sleep(Duration::from_millis(50));
        is_so()
    })
}

/// True if three processes have been in a folder and all are gone soon.
fn gone(folder: &Path) -> bool {
    let pids = pids(folder);
    let lives = |pid: &String| Path::new("/proc").join(pid).exists();
    pids.len() == 3 && soon(|| !pids.iter().any(lives))
}

impl Mini<'_, '_> {
    fn make(&mut self, words: &[&str]) {
        let mut make = Command::new("make");
        let ran = self
            .session
            .finish(make.args(["-s", "--no-print-directory"]).args(words).current_dir(top()));
        self.session.check(&format!("make {}", words.join(" ")), ran);
    }

    /// Compiles with a wrapper of mini, or with cc.
    fn compile(
        &mut self,
        compiler: Command,
        name: &str,
        source: &str,
        options: &[String],
    ) -> String {
        let (mut compiler, output) = (compiler, self.session.work(name));
        compiler.args(["-g", "-O1", "-Wall", "-pthread", "-o"]).arg(&output);
        compiler.arg(format!("c_tests/{source}.c")).args(options).args(["-ldl", "-lm"]);
        let compiled = self.session.finish(compiler.current_dir(top()));
        self.session.check(&format!("{name} is compiled"), compiled);
        word(&output).to_owned()
    }

    /// No process remains when another fails or when the launcher is ended.
    fn launcher(&mut self) -> Result<(), String> {
        let explain = |error: std::io::Error| error.to_string();
        let job = self.session.write("job", JOB);
        let folder = self.session.work("pids");
        fs::create_dir(&folder).map_err(explain)?;
        self.session.run(3, &[], &["sh", word(&job), word(&folder), "7"]);
        let right = self.session.code == 7;
        self.session.check("the exit code is that of the process that failed", right);
        self.session.check("the other processes are ended", gone(&folder));
        for signal in ["TERM", "KILL"] {
            let folder = self.session.work(signal);
            fs::create_dir(&folder).map_err(explain)?;
            let mut mpiexec = Command::new(self.plain.join("bin/mpiexec"));
            mpiexec.args(["-n", "3", "sh"]).args([&job, &folder]);
            let mut mpiexec = mpiexec.spawn().map_err(explain)?;
            let began = soon(|| pids(&folder).iter().filter(|pid| !pid.is_empty()).count() == 3);
            let pid = mpiexec.id().to_string();
            let sent = Command::new("kill").args([&format!("-{signal}"), &pid]).status();
            let status = mpiexec.wait().map_err(explain)?;
            let ended = began && sent.is_ok_and(|sent| sent.success()) && !status.success();
            let right = ended && gone(&folder);
            self.session.check(&format!("SIG{signal} ends all processes"), right);
        }
        let none = self.session.work("none");
        self.session.run(2, &[], &[word(&none)]);
        let right = self.session.code == 127;
        self.session.check("a program that does not exist", right);
        Ok(())
    }

    /// mini itself. Its Makefile lists the parts from the top down: none needs a name defined in an earlier one.
    fn parts(&mut self) -> Result<(), String> {
        let makefile = top().join("c_tests/mini/Makefile");
        let makefile = fs::read_to_string(makefile).map_err(|error| error.to_string())?;
        let parts = makefile.lines().find_map(|line| line.strip_prefix("PARTS := "));
        let parts: Vec<&str> = parts.ok_or("no PARTS")?.split_whitespace().collect();
        self.session.check("mini has parts", parts.len() > 5);
        let mut upper = Names::new();
        for part in parts {
            let object = self.plain.join(format!("{part}.o"));
            let mut names = |option| -> Names {
                let symbols = symbols(self.session, &[option], word(&object));
                symbols.into_iter().map(|(name, _)| name).collect()
            };
            let (needed, defined) = (names("-u"), names("--defined-only"));
            let upward = needed.intersection(&upper).cloned().collect();
            let what = format!("{part} of mini uses only parts below it");
            same(self.session, &what, &Names::new(), &upward);
            upper.extend(defined);
        }
        let host = self.compile(wrapper(""), "host", "mini/host", &[]);
        for processes in [1, 3, 16] {
            self.session.runs(&format!("mini, {processes} processes"), processes, &[], &[&host]);
        }
        Ok(())
    }

    /// The library of the standard ABI, which was built for another host.
    fn standard_abi(&mut self) {
        for (way, options) in [("shared", shared(&self.abi)), ("static", archived(&self.abi))] {
            for name in ["required", "neighbor"] {
                let what = format!("{name}.{way}");
                let program = self.compile(wrapper(""), &what, &format!("mini/{name}"), &options);
                self.session.finish(Command::new(&program).env("LD_TRACE_LOADED_OBJECTS", "1"));
                let mpis = count(&self.session.out, "libmpi");
                let path = regex::escape(word(&self.plain.join("lib")));
                let right = mpis == count(&self.session.out, &format!("libmpi.*=> {path}/"));
                self.session.check(&format!("{what} runs on mini"), right && mpis > 0);
                for processes in [1, 2, 6] {
                    let what = format!("{what}, {processes} processes");
                    self.session.runs(&what, processes, &[EDGES], &[&program]);
                }
            }
        }
    }

    /// The commands of docs/design/adopting.md, and programs without any knowledge of Cartograph.
    fn adopted(&mut self) -> Result<(), String> {
        let read = |path: &str| {
            fs::read_to_string(top().join(path)).map_err(|error| format!("{path}: {error}"))
        };
        let page = read("docs/design/adopting.md")?;
        let commands: String = page
            .split("\n```sh\n")
            .skip(1)
            .filter_map(|text| Some(text.split_once("\n```")?.0.to_owned() + "\n"))
            .collect();
        let commands = self.session.write("commands", &commands);
        let mut shell = Command::new("timeout");
        let ran =
            self.session.finish(shell.args(["300", "bash", "-e"]).arg(commands).current_dir(top()));
        self.session.check("the commands of docs/design/adopting.md", ran);
        let right = count(&self.session.out, "^checksum -4.78635") > 0;
        self.session.check("the program of these commands is right", right);

        let adopted = word(&top().join("build/mini/adopted")).to_owned();
        let library = format!("{adopted}/lib/libmpi_abi.so.1");
        let exports = read("include/exports.txt")?;
        let chapter = exports.lines().filter(|name| name.starts_with("MPI_"));
        let chapter: Names =
            chapter.flat_map(|name| [name.to_owned(), format!("P{name}")]).collect();
        let exported = symbols(self.session, &["-D", "--defined-only"], &library);
        let exported = exported.into_iter().map(|(name, _)| name);
        let exported = exported.filter(|name| chapter.contains(name)).collect();
        same(self.session, "the adopted library exports the chapter", &chapter, &exported);

        let plain = format!("LD_LIBRARY_PATH={}", self.plain.join("lib").display());
        let preload = format!("LD_PRELOAD={}/libcartograph.so", self.abi);
        let whole = [format!("{adopted}/lib/libmpi_abi.a")];
        for name in ["required", "neighbor"] {
            let source = format!("mini/{name}");
            let program = self.compile(wrapper(&adopted), &format!("{name}.adopted"), &source, &[]);
            self.session.runs(&format!("adopted: {name}"), 4, &[EDGES], &[&program]);
            // The same program with plain mini, which lacks the chapter, and with Cartograph preloaded.
            self.session.finish(Command::new("env").args([&plain, &program]));
            let right = self.session.code == 127;
            self.session.check(&format!("{name} does not run without the chapter"), right);
            self.session.runs(
                &format!("preloaded: {name}"),
                4,
                &[&plain, &preload, EDGES],
                &[&program],
            );
            let linked =
                self.compile(cc(word(&self.plain)), &format!("{name}.whole"), &source, &whole);
            self.session.runs(&format!("adopted, static: {name}"), 4, &[EDGES], &[&linked]);
        }
        Ok(())
    }

    /// Only the required functions.
    fn required_only(&mut self) -> Result<(), String> {
        let page = fs::read_to_string(top().join("docs/design/host-functions.md"));
        let page = page.map_err(|error| error.to_string())?;
        let required = names_under(&page, "Required", "mini");
        self.session.check("docs/design/host-functions.md lists functions", !required.is_empty());
        let required = required.iter().filter_map(|name| name.strip_prefix('P'));
        let names: Names = required
            .chain(["MPI_Init", "MPI_Finalize"])
            .flat_map(|name| [name.to_owned(), format!("P{name}")])
            .collect();
        let lines: String = names.iter().map(|name| format!("{name}\n")).collect();
        let lines = self.session.write("names", &lines);
        let folder = word(&self.session.work("required")).to_owned();
        let (out, listed) = (format!("OUT={folder}"), format!("NAMES={}", lines.display()));
        self.make(&["-C", "c_tests/mini", &out, &listed]);
        let library = format!("{folder}/lib/libmpi_abi.so.1");
        let exported = symbols(self.session, &["-D", "--defined-only"], &library);
        let exported = exported.into_iter().map(|(name, _)| name).collect();
        same(self.session, "a mini with the required functions only", &names, &exported);
        for lib in [self.abi.clone(), self.own.clone()] {
            for options in [shared(&lib), archived(&lib)] {
                let program = self.compile(wrapper(&folder), "only", "mini/required", &options);
                let what = format!("required only: {options:?}");
                self.session.runs(&what, 3, &[EDGES], &[&program, "classes"]);
            }
        }
        Ok(())
    }

    /// Settings of a run with random reordering, and a report at the end.
    fn moved(&self) -> [String; 3] {
        let report = format!("CARTOGRAPH_REPORT={}", self.session.work("report.json").display());
        [EDGES.into(), "CARTOGRAPH_LAYOUT=2,1,1".into(), report]
    }

    /// valgrind's memcheck: no errors and no leaks, whatever their origin.
    fn valgrind(&mut self) {
        let memcheck = ["valgrind", "--quiet", "--leak-check=full", "--error-exitcode=9"];
        let all =
            [&memcheck[..], &["--show-leak-kinds=all", "--errors-for-leak-kinds=all"]].concat();
        let options = shared(&self.own);
        for (source, [rounds, _]) in WATCHED {
            let name = source.replace('/', ".");
            let program = self.compile(wrapper(""), &name, source, &options);
            let words = [&all[..], &[&program], rounds].concat();
            self.session.runs(&format!("valgrind: {source}"), 2, &[EDGES], &words);
        }
        // Settings from the environment are cached once per process.
        let (moved, program) = (self.moved(), self.session.work("mini.required"));
        let lost = "--errors-for-leak-kinds=definite,indirect,possible";
        let words = [&memcheck[..], &[lost, word(&program)]].concat();
        self.session.runs(
            "moved and reported: valgrind",
            4,
            &moved.each_ref().map(|s| &s[..]),
            &words,
        );
        let report = fs::metadata(self.session.work("report.json"));
        self.session.check("the report is written", report.is_ok_and(|file| file.len() > 0));
    }

    /// The compiler's sanitizers, over mini, the programs and the archive's use of memory.
    fn sanitizers(&mut self) {
        let sanitize = [
            "-fsanitize=address,undefined",
            "-fno-sanitize-recover=all",
            "-fno-omit-frame-pointer",
        ];
        let folder = word(&self.session.work("sanitized")).to_owned();
        let with = format!("SANITIZE={}", sanitize.join(" "));
        self.make(&["-C", "c_tests/mini", &format!("OUT={folder}"), &with]);
        let archives = [&archived(&self.own)[..], &[format!("{folder}/lib/libmpi_abi.a")]].concat();
        let options = [&sanitize.map(str::to_owned)[..], &archives].concat();
        for (source, [_, rounds]) in WATCHED {
            let name = source.replace('/', ".");
            let program = self.compile(cc(&folder), &name, source, &options);
            let words = [&[&program[..]], rounds].concat();
            let settings = [EDGES, "ASAN_OPTIONS=detect_leaks=1"];
            self.session.runs(&format!("sanitizers: {source}"), 2, &settings, &words);
        }
        let (moved, program) = (self.moved(), self.session.work("mini.required"));
        let moved = moved.each_ref().map(|setting| &setting[..]);
        self.session.runs("moved and reported: sanitizers", 4, &moved, &[word(&program)]);
    }
}
