//! `make install` puts its files in the documented places; programs are built and run with the output of pkg-config and
//! CMake, in a separate prefix, staged for a package with DESTDIR, and moved elsewhere; and `make uninstall` leaves no
//! file and no directory of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use regex::Regex;
use serde_json::{Value, json};

use super::Outcome;
use super::symbols::{Names, same};
use crate::session::{Session, count, word};
use crate::testlist::{expand, top};

/// Below the prefix, besides the pages of docs.
const FILES: [&str; 14] = [
    "bin/cartograph",
    "include/cartograph.h",
    "lib/cartograph/HOST/halo",
    "lib/cartograph/HOST/libcartograph{.a,.so,.so.0,_record.so}",
    "lib/cartograph/record-{3,4,4c}.so",
    "lib/cmake/Cartograph/CartographConfig{,Version}.cmake",
    "lib/libcartograph.so{,.0}",
    "lib/pkgconfig/cartograph-HOST.pc",
    "share/bash-completion/completions/cartograph",
    "share/doc/cartograph/{CHANGELOG.md,LICENSE-APACHE,LICENSE-MIT,README.md}",
    "share/fish/vendor_completions.d/cartograph.fish",
    "share/man/man1/cartograph{,-dims,-exec,-info,-known,-plan,-run,-show,-try,-tune}.1",
    "share/modulefiles/cartograph/VERSION{,.lua}",
    "share/zsh/site-functions/_cartograph",
];

/// The program checks results that only Cartograph returns.
const PROGRAM: &str = "c_tests/tool/tool_calls.c";

const CMAKE: &str = r#"
cmake_minimum_required(VERSION 3.13)
project(uses_cartograph C)
find_package(Cartograph 0.1 REQUIRED COMPONENTS openmpi)
find_package(Cartograph 99 QUIET)
if(Cartograph_FOUND)
  message(FATAL_ERROR "this is no version 99")
endif()
find_package(Cartograph QUIET COMPONENTS nompi)
if(Cartograph_FOUND)
  message(FATAL_ERROR "there is no host nompi")
endif()
find_package(Cartograph REQUIRED)
add_executable(shared PROGRAM)
target_link_libraries(shared Cartograph::cartograph m)
add_executable(archived PROGRAM)
target_link_libraries(archived Cartograph::openmpi_static)
"#;

/// Bash's completions for a tab.
const TAB: &str = r#"source "$0" && COMP_WORDS=(cartograph pl) COMP_CWORD=1 && _cartograph cartograph pl cartograph &&
    [ "${COMPREPLY[*]}" = plan ]"#;

struct Installation<'a, 'b> {
    session: &'a mut Session<'b>,
    host: String,
    version: String,
    /// The directory of the installation now.
    prefix: PathBuf,
}

pub(super) fn run(mut session: Session<'_>) -> Outcome {
    session.finish(&mut Command::new(top().join("scripts/version.sh")));
    let version = session.out.trim().to_owned();
    let work = session.work("").canonicalize().map_err(|error| error.to_string())?;
    let host = session.host.name.clone();
    let prefix = work.join("own");
    let mut own = Installation { session: &mut session, host, version, prefix };
    let listed = own.listed();
    own.builds_first();
    own.in_a_prefix_of_its_own(&listed)?;
    own.pages();
    own.elsewhere(work.join("moved"))?;
    own.staged(work.join("stage"), &listed)?;
    session.verdict()
}

/// Paths below a directory, from `find`.
fn find(directory: &Path, conditions: &[&str]) -> Names {
    let mut find = Command::new("find");
    let output = find.arg(directory).args(conditions).args(["-printf", "%P\n"]).output();
    let output = output.expect("find starts").stdout;
    String::from_utf8_lossy(&output).lines().map(str::to_owned).collect()
}

/// A command in an environment that does not lead to other libraries.
fn plain(program: &str) -> Command {
    let mut command = Command::new(program);
    for name in ["PKG_CONFIG_PATH", "PKG_CONFIG_SYSROOT_DIR", "LD_LIBRARY_PATH"] {
        command.env_remove(name);
    }
    command.current_dir(top());
    command
}

impl Installation<'_, '_> {
    fn listed(&self) -> Names {
        let files = FILES.iter().flat_map(|line| expand(line));
        let files =
            files.map(|file| file.replace("HOST", &self.host).replace("VERSION", &self.version));
        let docs = find(&top().join("docs"), &["-type", "f"]);
        files.chain(docs.iter().map(|page| format!("share/doc/cartograph/docs/{page}"))).collect()
    }

    /// Checks the result of a command.
    fn does(&mut self, what: &str, command: &mut Command) {
        let done = self.session.finish(command);
        self.session.check(what, done);
    }

    fn make(&mut self, words: &[&str]) {
        let mut make = plain("make");
        make.arg("--no-print-directory").args(words).arg(format!("HOST={}", self.host));
        // As if cargo were missing: other tests run existing builds, and building for release takes minutes.
        make.arg("CARGO=");
        self.does(&format!("make {}", words.join(" ")), &mut make);
    }

    /// With cargo, the installed files are built first. A dry run shows that.
    fn builds_first(&mut self) {
        let mut make = plain("make");
        make.args(["-n", "install", "CARGO=cargo", "PREFIX=/nowhere"]);
        make.arg(format!("HOST={}", self.host));
        let ran = self.session.finish(&mut make);
        let parts = [
            "cargo build --profile tool -p cartograph-cli",
            "cargo build --release -p cartograph-preload",
            "cargo build --release --lib",
            "cargo build --release -p cartograph-record",
            "scripts/install.sh common",
        ];
        let places = parts.map(|part| self.session.out.find(part));
        self.session.check(
            "make install builds what it installs",
            ran && places[0].is_some() && places.is_sorted(),
        );
    }

    /// Checks that no file contains the build directory: the installed tree works wherever it was staged from.
    fn unmarked(&mut self, what: &str, directory: &Path, options: &[&str]) {
        self.session.finish(Command::new("grep").arg("-rlF").args(options).arg(directory));
        let none = self.session.code == 1;
        self.session.check(what, none);
    }

    fn pkg_config(&mut self, options: &[&str]) -> Vec<String> {
        let mut command = plain("pkg-config");
        command.env("PKG_CONFIG_LIBDIR", self.prefix.join("lib/pkgconfig")).args(options);
        self.does(
            &format!("pkg-config {options:?}"),
            command.arg(format!("cartograph-{}", self.host)),
        );
        self.session.out.split_whitespace().map(str::to_owned).collect()
    }

    /// Builds the program with Cartograph's own header in front.
    fn builds(&mut self, name: &str, options: &[String]) -> String {
        let compiler = self.session.host.compiler(PROGRAM.as_ref()).expect("one for C");
        let program = word(&self.session.work(name)).to_owned();
        let mut command = plain(&compiler);
        command.args(["-O1", "-w", "-include", "cartograph.h", "-I"]);
        command.arg(self.prefix.join("include")).args(["-o", &program, PROGRAM]).args(options);
        self.does(&format!("a program is {name}"), command.arg("-lm"));
        program
    }

    fn runs(&mut self, what: &str, words: &[&str]) {
        let mut job = self.session.launcher(2);
        let ran = self.session.finish(job.env_remove("LD_LIBRARY_PATH").args(words));
        let right = ran && count(&self.session.out, " 0 failed$") > 0;
        self.session.check(what, right);
    }

    /// Checks that the library is found at its place.
    fn loads(&mut self, what: &str, program: &str) {
        self.session.finish(plain(program).env("LD_TRACE_LOADED_OBJECTS", "1"));
        let line = Regex::new(r"libcartograph\.so\.0 => (\S*) ").expect("a pattern");
        let found =
            line.captures(&self.session.out).and_then(|path| fs::canonicalize(&path[1]).ok());
        let library = format!("lib/cartograph/{}/libcartograph.so.0", self.host);
        self.session.check(what, found == Some(self.prefix.join(library)));
    }

    /// The program finds the library without settings.
    fn in_a_prefix_of_its_own(&mut self, listed: &Names) -> Result<(), String> {
        let own = self.prefix.clone();
        self.make(&["install", &format!("PREFIX={}", own.display())]);
        same(self.session, "its files", listed, &find(&own, &["!", "-type", "d"]));
        let right = self.pkg_config(&["--modversion"]) == [self.version.clone()];
        self.session.check("pkg-config knows the version", right);
        let libraries = self.pkg_config(&["--libs"]);
        let linked = self.builds("linked", &libraries);
        self.loads("it loads the installed library", &linked);
        let (folder, away) = (own.join("lib/pkgconfig"), self.session.work("pkgconfig"));
        fs::rename(&folder, &away).map_err(|error| error.to_string())?;
        self.loads("it loads it where there is no lib/pkgconfig", &linked);
        fs::rename(&away, &folder).map_err(|error| error.to_string())?;
        self.runs("the halo exchange runs", &[&linked]);
        let mut archive = self.pkg_config(&["--variable=archive"]);
        // The archive's own -l options.
        let private = self.pkg_config(&["--static", "--libs"]);
        let is_own = |word: &String| ["-lm", "-ldl", "-lpthread"].contains(&&word[..]);
        archive.extend(private.into_iter().filter(is_own));
        let archived = self.builds("linked with the archive", &archive);
        self.runs("it runs with the archive", &[&archived]);
        let bare = self.builds("linked with the MPI alone", &[]);
        let preload = format!("LD_PRELOAD={}/lib/libcartograph.so", own.display());
        let what = "it runs with the library for every MPI preloaded";
        self.runs(what, &["env", &preload, &bare]);
        let command = own.join("bin/cartograph");
        self.runs("the command finds the library", &[word(&command), "exec", &bare]);
        self.halo()
    }

    /// `info` lists the halo exchange, which runs and is tuned on simulated nodes.
    fn halo(&mut self) -> Result<(), String> {
        let command = word(&self.prefix.join("bin/cartograph")).to_owned();
        let halo = self.prefix.join(format!("lib/cartograph/{}/halo", self.host));
        let found = self.session.finish(plain(&command).arg("info"));
        let line = format!(": {}\n", halo.display());
        let right = found && self.session.out.contains(&line);
        self.session.check("info lists the halo exchange", right);
        let mut job = self.session.launcher(4);
        job.arg(&halo).args(["-n", "3", "4096", "64", "0"]);
        let ran = self.session.finish(&mut job);
        let right = ran && self.session.out == "a grid of 2 x 2 x 1, 0 wrong\n";
        self.session.check("the halo exchange runs", right);

        if !self.session.makes_nodes() {
            return Ok(());
        }
        let job = self.session.on_nodes("a:2,b:2", 4);
        let (json, ranks) = (self.session.work("here.json"), self.session.work("here.ranks"));
        let mut tune = plain(&command);
        tune.args(["tune", "--runs", "2", "--time", "take (.*) s", "--json", word(&json)]);
        tune.args(["--rankfile", word(&ranks), "--"]).args(job).arg(&halo);
        tune.args(["-t", "0.2", "65536", "64"]).envs(self.session.environment());
        let ran = self.session.finish(&mut tune);
        self.session.check("the halo exchange is tuned", ran);
        let text = fs::read_to_string(&json).unwrap_or_default();
        let here: Value = serde_json::from_str(&text).unwrap_or_default();
        let nodes = &here["levels"][0];
        let right = nodes["level"] == "nodes" && nodes["sizes"] == json!([2, 2]);
        self.session.check("tune has found the nodes", right);
        let said = self.session.out.contains("\nranks can be placed by ");
        self.session.check("ranks can be placed", here["places_ranks"] == true && said);
        let variants = here["measured"]["variants"].as_array().cloned().unwrap_or_default();
        let times = |variant: &Value| variant["seconds"].as_array().map_or(0, Vec::len);
        let measured = variants.len() < 2 || variants.iter().any(|one| times(one) == 2);
        let right = here["program"] == "halo" && here["ranks"] == 4 && measured;
        self.session.check("tune has measured the variants", right);
        Ok(())
    }

    /// The help and completions from the command's own definition, and the output of modules.
    fn pages(&mut self) {
        let share = self.prefix.join("share");
        let module = format!("modulefiles/cartograph/{}", self.version);
        for (file, words) in [
            (module.clone(), "32 bits: the loader says"),
            (format!("{module}.lua"), "32 bits: the loader says"),
            ("man/man1/cartograph.1".into(), "\n.TH"),
            ("man/man1/cartograph.1".into(), r"cartograph\-plan(1)"),
            ("man/man1/cartograph.1".into(), "CARTOGRAPH_REORDER"),
            ("man/man1/cartograph-plan.1".into(), "\n.TH"),
            ("man/man1/cartograph-plan.1".into(), r"\-\-nodes"),
        ] {
            let text = fs::read_to_string(share.join(&file)).unwrap_or_default();
            let has = format!("\n{text}").contains(words);
            self.session.check(&format!("{file} has {words:?}"), has);
        }
        let completions = share.join("bash-completion/completions/cartograph");
        self.does("bash completes", Command::new("bash").args(["-c", TAB]).arg(completions));
        // packaging/try.sh, which rebuilds the libraries, checks this for them.
        let home = std::env::var("HOME").unwrap_or_default();
        let marks = ["-I", "-e", word(top()), "-e", &home];
        let prefix = self.prefix.clone();
        self.unmarked("no text names the building machine", &prefix, &marks);
    }

    fn elsewhere(&mut self, moved: PathBuf) -> Result<(), String> {
        fs::rename(&self.prefix, &moved).map_err(|error| error.to_string())?;
        self.prefix = moved;
        let flags = self.pkg_config(&["--cflags", "--libs"]);
        let after = self.builds("linked with what was moved", &flags);
        self.loads("it loads what was moved", &after);
        // CMake calls an MPI's wrapper: Open MPI represents all.
        if self.host != "openmpi" {
            return Ok(());
        }
        let source = self.session.work("cmake");
        let build = source.join("build");
        fs::create_dir(&source).map_err(|error| error.to_string())?;
        let program = word(&top().join(PROGRAM)).to_owned();
        self.session.write("cmake/CMakeLists.txt", &CMAKE.replace("PROGRAM", &program));
        let compiler = self.session.host.compiler(PROGRAM.as_ref()).expect("one for C");
        let mut cmake = plain("cmake");
        cmake.arg("-S").arg(&source).arg("-B").arg(&build);
        cmake.arg(format!("-DCMAKE_C_COMPILER={compiler}"));
        cmake.arg(format!("-DCMAKE_PREFIX_PATH={}", self.prefix.display()));
        self.does("CMake finds it", &mut cmake);
        self.does("CMake builds with it", plain("cmake").arg("--build").arg(&build));
        let [shared, archived] = ["shared", "archived"].map(|name| build.join(name));
        self.loads("its program loads the library", word(&shared));
        self.runs("its program runs", &[word(&shared)]);
        self.runs("its program with the archive as well", &[word(&archived)]);
        Ok(())
    }

    /// No file refers to the stage, and a view of it links.
    fn staged(&mut self, stage: PathBuf, listed: &Names) -> Result<(), String> {
        let destination = format!("DESTDIR={}", stage.display());
        self.prefix = stage.join("usr");
        let usr = self.prefix.clone();
        self.make(&["install", "PREFIX=/usr", &destination]);
        let files = ["!", "-type", "d"];
        same(self.session, "its files in the stage", listed, &find(&usr, &files));
        self.unmarked("no file names the stage", &stage, &["-e", word(&stage)]);
        let libraries = self.pkg_config(&["--libs"]);
        let staged = self.builds("linked in the stage", &libraries);
        self.runs("it runs in the stage", &[&staged]);
        let others = usr.join("share/zsh/site-functions");
        fs::create_dir_all(&others).map_err(|error| error.to_string())?;
        self.make(&["uninstall", "PREFIX=/usr", &destination]);
        let none = Names::new();
        same(self.session, "it leaves no file", &none, &find(&usr, &files));
        let own = find(&usr, &["-iname", "*cartograph*"]);
        same(self.session, "nor a directory of its own", &none, &own);
        self.session.check("directories that others use stay", others.is_dir());
        Ok(())
    }
}
