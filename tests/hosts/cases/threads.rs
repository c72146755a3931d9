//! The library under ThreadSanitizer, with the programs that call it from several threads at once. The library and
//! Rust's standard library are recompiled with each access to memory instrumented: otherwise the standard library's
//! locks and counters would be reported as races. The host is not instrumented, so only races with the library in one
//! of their stacks count.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Outcome;
use crate::output::Verdict;
use crate::session::{Session, word};
use crate::testlist::top;

pub(super) fn run(mut session: Session<'_>) -> Outcome {
    let s = &mut session;
    s.seconds = 300;
    s.must(Command::new("rustc").args(["--print", "sysroot"]))?;
    let rustlib = PathBuf::from(s.out.trim()).join("lib/rustlib");
    let has_sources = rustlib.join("src/rust/library/Cargo.lock").exists()
        || s.finish(Command::new("rustup").args(["component", "add", "rust-src"]));
    if !has_sources {
        let why = "there are no sources of Rust's standard library (rustup component add rust-src)";
        return Ok(Verdict::Ignored(why.into()));
    }
    s.must(Command::new("rustc").arg("-vV"))?;
    let target = s.out.lines().find_map(|line| line.strip_prefix("host: "));
    let target = target.ok_or("rustc names no host")?.to_owned();
    let entries = std::fs::read_dir(rustlib.join(&target).join("lib"));
    let mut entries = entries.map_err(|error| error.to_string())?.flatten();
    let runtime = entries.find(|entry| word(&entry.path()).ends_with("_rt.tsan.a"));
    let runtime = runtime.ok_or("there is no ThreadSanitizer")?.path();
    let library = build(s, &target)?;
    s.preloaded.clear();

    let folder = word(library.parent().ok_or("a folder")?);
    let rpath = format!("-Wl,-rpath,{folder}");
    let options = ["-pthread", "-Wl,--no-as-needed", "-L", folder, "-lcartograph", &rpath];
    let whole = ["-Wl,--whole-archive", word(&runtime), "-Wl,--no-whole-archive"];
    let others = ["-Wl,--export-dynamic", "-lm", "-ldl", "-lrt", "-lstdc++"];
    let options = [&options[..], &whole, &others].concat();
    for source in ["lifetime/threads", "lifetime/handles", "neighbor/neighbor_threads"] {
        let program = s.compile("program", &format!("c_tests/{source}.c"), &options);
        for processes in [1, 2] {
            let preload = s.preload();
            let mut job = s.launcher(processes);
            job.env("TSAN_OPTIONS", "exitcode=0").arg("env").arg(preload);
            let ran = s.finish(job.arg(&program));
            let passed = matches!(Verdict::of(&s.out), Ok(Verdict::Passed));
            s.check(&format!("{source}, {processes} processes"), ran && passed);
            // A report extends from one line of equal signs to the next.
            let reports = s.err.split("==================\n");
            s.err = reports.filter(|report| report.contains("libcartograph.so")).collect();
            s.check(&format!("no race: {source}, {processes} processes"), s.err.is_empty());
        }
    }
    session.verdict()
}

/// Builds the library with the sanitizer, which is not stable yet; the shipped library is compiled without this.
fn build(session: &mut Session<'_>, target: &str) -> Result<PathBuf, String> {
    let folder = top().join("build/threads");
    if !folder.exists() {
        // Crates for build time are copied from the host's own library.
        let from = top().join("build").join(&session.host.name).join("release");
        let to = folder.join("release");
        std::fs::create_dir_all(&to).map_err(|error| error.to_string())?;
        let mut copy = Command::new("cp");
        copy.args(["-a", "--reflink=auto", "-t"]).arg(&to);
        session.must(copy.args([".fingerprint", "build", "deps"].map(|part| from.join(part))))?;
    }
    let compiler = session.host.compiler(Path::new("program.c")).ok_or("a compiler for C")?;
    let wrapper = session.write("rustc", "#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec \"$@\"\n");
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&wrapper, executable).map_err(|error| error.to_string())?;
    let mut cargo = Command::new(top().join("scripts/with-env.sh"));
    cargo.args([&session.host.name, "cargo", "rustc", "--quiet", "--release", "--lib"]);
    cargo.args(["--crate-type", "cdylib", "-Zbuild-std=std,panic_abort"]);
    cargo.args(["-Zbuild-std-features=", "--target", target]);
    // Cargo and the compiler accept this with RUSTC_BOOTSTRAP, but with that variable in cargo's environment, the
    // copied crates that depend on it, and all crates that use them, such as bindgen, would be compiled again.
    cargo.env("__CARGO_TEST_CHANNEL_OVERRIDE_DO_NOT_USE_THIS", "nightly");
    cargo.env("RUSTC_WRAPPER", wrapper);
    cargo.env("RUSTFLAGS", "-Zsanitizer=thread").env("MPICC", compiler);
    cargo.env("CARGO_TARGET_DIR", &folder).env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16");
    session.must(cargo.env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0"))?;
    let library = folder.join(target).join("release/libcartograph.so");
    let named = library.with_extension("so.0");
    let _ = std::fs::remove_file(&named);
    std::os::unix::fs::symlink("libcartograph.so", named).map_err(|error| error.to_string())?;
    Ok(library)
}
