//! The command `cartograph`: runs programs under the library, plans mappings without MPI, draws
//! reports.
#![forbid(unsafe_code)]

mod dims;
mod elf;
mod exec;
mod help;
mod hosts;
mod info;
mod output;
mod pages;
mod plan;
mod predict;
mod rank_file;
mod run;
mod runs;
mod show;
mod site;
mod traffic;
mod trial;
mod tune;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use output::Failure;

/// The process-topology chapter of MPI as a library of its own.
#[derive(Parser)]
#[command(name = "cartograph", version, max_term_width = 100, after_help = help::COMMAND)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs a job in the best placement that its earlier jobs have taught: cartograph run mpiexec -n 64 ./app
    #[command(after_help = help::RUN)]
    Run(run::Arguments),
    /// Lists what is known of programs by their runs, and what that has saved
    Known(run::KnownArguments),
    /// Runs a program with the library for its MPI: mpiexec -n 8 cartograph exec ./program
    #[command(after_help = help::EXEC)]
    Exec(exec::Arguments),
    /// Finds the fastest placement of a program, by runs: cartograph tune -- mpiexec -n 64 ./app
    #[command(after_help = help::TUNE)]
    Tune(tune::Arguments),
    /// Plans the placement of a grid, a graph or a recorded program, and shows what it gains
    #[command(after_help = help::PLAN)]
    Plan(plan::Arguments),
    /// Prints the answer of MPI_Dims_create
    #[command(after_help = help::DIMS)]
    Dims(dims::Arguments),
    /// Prints or draws a report in JSON, as exec --report=FILE.json writes it, or a recorded run
    #[command(after_help = help::SHOW)]
    Show(show::Arguments),
    /// Lists the reports of many jobs by what these would gain: cartograph site DIR
    #[command(after_help = help::SITE)]
    Site(site::Arguments),
    /// Finds out whether a program still works when its processes are moved: cartograph try mpiexec -n 8 ./app
    #[command(after_help = help::TRY)]
    Try(trial::Arguments),
    /// Prints the version, the libraries that were found, and the settings in the environment
    #[command(after_help = help::INFO)]
    Info,
    /// Prints the place of this process; run starts it in place of the program, to find out the nodes of a job
    #[command(hide = true)]
    Where,
    /// Becomes a command that ends with the process that started it
    #[command(hide = true)]
    Under {
        parent: u32,
        #[arg(required = true, trailing_var_arg = true)]
        command: Vec<std::ffi::OsString>,
    },
    /// Writes man pages and shell completions below a directory, as `make install` puts them
    #[command(hide = true)]
    Pages(pages::Arguments),
}

fn main() -> ExitCode {
    let result = match Arguments::try_parse() {
        Ok(arguments) => match arguments.command {
            Command::Run(arguments) => return run::run(&arguments),
            Command::Known(arguments) => run::known(&arguments),
            Command::Exec(arguments) => exec::run(&arguments),
            Command::Tune(arguments) => tune::run(&arguments),
            Command::Plan(arguments) => plan::run(&arguments),
            Command::Dims(arguments) => dims::run(&arguments),
            Command::Show(arguments) => show::run(&arguments),
            Command::Site(arguments) => site::run(&arguments),
            Command::Try(arguments) => trial::run(&arguments),
            Command::Info => info::run(),
            Command::Where => run::print_place(),
            Command::Under { parent, command } => {
                let error = run::under(parent, &command);
                let failure =
                    Failure::new(format!("cannot run {}: {error}", command[0].to_string_lossy()));
                let is_missing = error.kind() == std::io::ErrorKind::NotFound;
                Err(failure.with_code(if is_missing { 127 } else { 126 }))
            }
            Command::Pages(arguments) => pages::run(&arguments, self::Arguments::command()),
        },
        Err(error) if error.use_stderr() => Err(Failure::of_arguments(&error)),
        // Help and version were asked for.
        Err(text) => output::print(&text.render().ansi().to_string()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.tell(),
    }
}
