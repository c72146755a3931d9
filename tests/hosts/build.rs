//! Compiles and links the programs of a host, and checks which library their calls reach.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Host, Library, SECONDS, succeeded};
use crate::testlist::top;

impl Host {
    /// Compiles and links a program once, and checks that all of the chapter's functions that it calls are ours;
    /// returns its path.
    pub(crate) fn build(&self, source: &Path, library: Library) -> Result<PathBuf, String> {
        let name = source.file_name().expect("a file name").to_string_lossy();
        let object = self.program(&name, ".o");
        self.once(&object, || self.compile(source, &object, &[]))?;
        self.finish(&name, source, &[object], library)
    }

    /// Like `build`, one program of many: the driver of a folder, which runs those that its arguments name.
    pub(crate) fn build_driver(
        &self,
        folder: &Path,
        sources: &[PathBuf],
        library: Library,
    ) -> Result<PathBuf, String> {
        let name = format!("{}.driver", folder.file_name().expect("a folder").to_string_lossy());
        let mut objects = Vec::new();
        let mut programs = String::new();
        for source in sources {
            let stem = source.file_stem().expect("a file name").to_string_lossy();
            let object = self.program(&stem, ".driven.o");
            let entry = format!("driven_{stem}");
            // As programs define it, since driven.h is read first.
            let options = ["-D_GNU_SOURCE=", "-include", "c_tests/driven.h"].map(str::to_owned);
            let options = [&options[..], &[format!("-Dmain={entry}")]].concat();
            self.once(&object, || {
                self.compile(source, &object, &options)?;
                check_names(&object, &entry)?;
                keep_variables_apart(&object)
            })?;
            programs += &format!("PROGRAM({stem}) ");
            objects.push(object);
        }
        let driver = Path::new("c_tests/driver.c");
        let object = self.program(&name, &format!("{}.o", library.suffix()));
        let options = [format!("-DPROGRAMS={programs}")];
        self.once(&object, || self.compile(driver, &object, &options))?;
        objects.push(object);
        self.finish(&name, driver, &objects, library)
    }

    /// Links and checks a program once.
    fn finish(
        &self,
        name: &str,
        source: &Path,
        objects: &[PathBuf],
        library: Library,
    ) -> Result<PathBuf, String> {
        let program = self.program(name, library.suffix());
        self.once(&program, || self.link(source, objects, library, &program))?;
        if !matches!(library, Library::None | Library::Static) {
            let checked = self.program(name, &format!(".{library:?}"));
            self.once(&checked, || self.check_bindings(source, &program, library))?;
        }
        Ok(program)
    }

    fn program(&self, name: &str, kind: &str) -> PathBuf {
        self.directory.join("programs").join(format!("{name}{kind}"))
    }

    /// Builds the file once, whichever trial needs it first.
    fn once(&self, file: &Path, make: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
        let made = self.made.lock().expect("nothing panics in here");
        let made = { made }.entry(file.to_owned()).or_default().clone();
        made.get_or_init(make).clone()
    }

    fn compile(&self, source: &Path, object: &Path, options: &[String]) -> Result<(), String> {
        // Modules of one program are kept apart from those of another.
        let modules = format!("{}.modules", object.display());
        std::fs::create_dir_all(&modules).map_err(|error| error.to_string())?;
        let mut command = self.compiler_of(source);
        command.args(["-O0", "-Wall", "-c", "-o"]).arg(object);
        if source.extension().is_some_and(|e| e.to_string_lossy().starts_with('f')) {
            command.arg("-J").arg(&modules);
        } else {
            command.arg("-pthread");
        }
        succeeded("the compiler", command.args(options).arg(source).output()).map(|_| ())
    }

    fn link(
        &self,
        source: &Path,
        objects: &[PathBuf],
        library: Library,
        program: &Path,
    ) -> Result<(), String> {
        let lib = self.lib().display().to_string();
        let mut command = self.compiler_of(source);
        command.args(["-pthread", "-o"]).arg(program).args(objects);
        match library {
            Library::None | Library::Preloaded | Library::Forwarded => {}
            Library::Linked => {
                command.args(["-Wl,--no-as-needed", "-L", &lib, "-lcartograph"]);
                command.arg(format!("-Wl,-rpath,{lib}"));
            }
            Library::Static => {
                // A program with `use mpi_f08` references only the host's own wrappers, for which the linker would take
                // nothing from an archive.
                command.arg("-Wl,--whole-archive");
                command.arg(format!("{lib}/libcartograph.a"));
                command.arg("-Wl,--no-whole-archive");
            }
        }
        succeeded("the linker", command.arg("-lm").output()).map(|_| ())
    }

    fn compiler_of(&self, source: &Path) -> Command {
        let mut command = Command::new(self.compiler(source).expect("asked for before"));
        command.current_dir(top());
        command
    }

    /// Asks the loader which functions a program will call: all of the chapter must be ours.
    fn check_bindings(
        &self,
        source: &Path,
        program: &Path,
        library: Library,
    ) -> Result<(), String> {
        let mut command = if self.loads_programs() {
            self.command(program, library, &[], 1, SECONDS)
        } else {
            let mut command = Command::new(program);
            // Loads and binds everything, then ends without running the program.
            command.env("LD_TRACE_LOADED_OBJECTS", "1").env("LD_WARN", "1");
            if let Some(library) = self.preloaded(library) {
                command.env("LD_PRELOAD", library);
            }
            command
        };
        command.env("LD_BIND_NOW", "1").env("LD_DEBUG", "bindings");
        let output = command.output().map_err(|error| error.to_string())?;
        let bindings = String::from_utf8_lossy(&output.stderr);
        let name = program.file_name().expect("a file name").to_string_lossy();
        let of_program = |line: &&str| {
            let binding = line.split("binding file ").nth(1);
            let file = binding.and_then(|rest| rest.split(" [").next()).unwrap_or_default();
            file.rsplit('/').next().unwrap_or_default().starts_with(&*name)
        };
        let exports = std::fs::read_to_string(top().join("include/exports.txt"))
            .map_err(|error| error.to_string())?;
        let names: Vec<String> = exports.lines().map(str::to_lowercase).collect();
        let mut ours = 0;
        for line in bindings.lines().filter(of_program) {
            let symbol = line.split('`').nth(1).and_then(|rest| rest.split('\'').next());
            let plain = symbol.unwrap_or_default().to_lowercase();
            let plain = plain.trim_end_matches('_').trim_start_matches('p').to_owned();
            if !names.contains(&plain) {
                continue;
            }
            if !line.contains("libcartograph.so") {
                return Err(format!("the call is not ours: {}", line.trim()));
            }
            ours += 1;
        }
        // In programs with `use mpi_f08` and C++, the calls come from the host's own libraries.
        let text = std::fs::read_to_string(top().join(source)).unwrap_or_default();
        if ours == 0 && !text.contains("mpi_f08") && !text.contains("MPI::") {
            return Err("the program calls nothing of ours".into());
        }
        Ok(())
    }
}

/// Fails if a program of a driver defines another global name than its entry, such as a function of MPI that it
/// intercepts, which the driver's other programs would call; or if it initializes MPI for threads.
fn check_names(object: &Path, entry: &str) -> Result<(), String> {
    let mut nm = Command::new("nm");
    let output = succeeded("nm", nm.args(["-g", "-P"]).arg(object).output())?;
    let symbols = String::from_utf8_lossy(&output.stdout).into_owned();
    for line in symbols.lines() {
        let mut words = line.split(' ');
        let (name, kind) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let defines = kind != "U" && !kind.eq_ignore_ascii_case("w");
        if name == "MPI_Init_thread" || (defines && name != entry) {
            return Err(format!("{}: '{name}' needs @alone in the testlist", object.display()));
        }
    }
    Ok(())
}

/// Moves the static variables of a driver's program to a section that the driver can reset.
fn keep_variables_apart(object: &Path) -> Result<(), String> {
    let mut objcopy = Command::new("objcopy");
    for section in [".data", ".data.rel", ".data.rel.local", ".bss"] {
        objcopy.arg("--rename-section");
        objcopy.arg(format!("{section}=driven,alloc,load,data,contents"));
    }
    succeeded("objcopy", objcopy.arg(object).output()).map(|_| ())
}
