//! The command `cartograph`: runs programs under the library, plans mappings without MPI, draws
//! reports.
#![forbid(unsafe_code)]

mod dims;
mod exec;
mod help;
mod hosts;
mod info;
mod output;
mod pages;
mod plan;
mod reports;
mod run;
mod show;
mod traffic;
mod trial;
mod tune;

use std::process::ExitCode;

use cartograph_jobs::error::show_warnings;
use cartograph_jobs::launch::own_place;
use cartograph_jobs::processes::foreground;
use cartograph_jobs::store::Store;
use clap::{CommandFactory, Parser, Subcommand};

use output::{Cause, Failure};

/// The process-topology chapter of MPI as a separate library.
#[derive(Parser)]
#[command(name = "cartograph", version, max_term_width = 100, after_help = help::COMMAND)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run a job in the best placement learned from earlier jobs: cartograph run mpiexec -n 64 ./app
    #[command(after_help = help::RUN)]
    Run(run::Arguments),
    /// List the programs that cartograph run has learned about, with gains and node-hours saved, or the reports of jobs
    #[command(after_help = help::KNOWN)]
    Known(run::KnownArguments),
    /// Run a program with the library for its MPI: mpiexec -n 8 cartograph exec ./program
    #[command(after_help = help::EXEC)]
    Exec(exec::Arguments),
    /// Find the fastest placement of a program by running it: cartograph tune -- mpiexec -n 64 ./app
    #[command(after_help = help::TUNE)]
    Tune(tune::Arguments),
    /// Plan the placement of a grid, a graph or a recorded program, and show what it gains
    #[command(after_help = help::PLAN)]
    Plan(plan::Arguments),
    /// Print the result of MPI_Dims_create
    #[command(after_help = help::DIMS)]
    Dims(dims::Arguments),
    /// Print a JSON report written by exec --report=FILE.json, or print or draw a recorded run
    #[command(after_help = help::SHOW)]
    Show(show::Arguments),
    /// Check that a program gives the same output when its ranks are reordered: cartograph try mpiexec -n 8 ./app
    #[command(after_help = help::TRY)]
    Try(trial::Arguments),
    /// Print the version, the installed libraries and halo exchanges, and the settings in the environment
    #[command(after_help = help::INFO)]
    Info,
    /// Print the place of this process; `run` starts it instead of the program to find the nodes of a job
    #[command(hide = true)]
    Where {
        #[arg(long)]
        cpus: Option<std::path::PathBuf>,
    },
    /// Become a command that ends with the process that started it, or wait for its end
    #[command(hide = true)]
    Under {
        parent: u32,
        #[arg(trailing_var_arg = true)]
        command: Vec<std::ffi::OsString>,
    },
    /// Write man pages and shell completions below a directory, as `make install` does
    #[command(hide = true)]
    Pages(pages::Arguments),
}

fn main() -> ExitCode {
    show_warnings(output::say);
    let result = match Arguments::try_parse() {
        Ok(arguments) => match arguments.command {
            Command::Run(arguments) => return run::run(&arguments),
            Command::Known(arguments) => run::known(&arguments),
            Command::Exec(arguments) => return exec::run(&arguments, Store::follows),
            Command::Tune(arguments) => tune::run(&arguments),
            Command::Plan(arguments) => plan::run(&arguments),
            Command::Dims(arguments) => dims::run(&arguments),
            Command::Show(arguments) => show::run(&arguments),
            Command::Try(arguments) => trial::run(&arguments),
            Command::Info => info::run(),
            Command::Where { cpus } => {
                own_place(cpus.as_deref()).and_then(|line| output::print(&line))
            }
            Command::Under { parent, command } => {
                let error = foreground::under(parent, &command);
                let name = command.first().map(|word| word.to_string_lossy()).unwrap_or_default();
                let failure = Failure::new(format!("cannot run {name}: {error}"));
                let is_missing = error.kind() == std::io::ErrorKind::NotFound;
                Err(failure.with_cause(if is_missing { Cause::NotFound } else { Cause::NotRun }))
            }
            Command::Pages(arguments) => pages::run(&arguments, self::Arguments::command()),
        },
        Err(error) if error.use_stderr() => Err(output::of_arguments(&error)),
        // Help and version were asked for.
        Err(text) => output::print(&text.render().ansi().to_string()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => output::tell(&failure),
    }
}
