//! `cartograph pages`: man pages and shell completions, from the command's own definition.

use std::fs;
use std::path::{Path, PathBuf};

use cartograph_core::settings::{self, Known};
use clap::Command;
use clap_complete::Shell;

use crate::help;
use crate::output::{Failure, Result};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The prefix of share/man, share/bash-completion, ...
    directory: PathBuf,
}

/// The file that each shell looks for, below a prefix.
const COMPLETIONS: [(Shell, &str); 3] = [
    (Shell::Bash, "share/bash-completion/completions/cartograph"),
    (Shell::Zsh, "share/zsh/site-functions/_cartograph"),
    (Shell::Fish, "share/fish/vendor_completions.d/cartograph.fish"),
];

pub(crate) fn run(arguments: &Arguments, command: Command) -> Result<()> {
    // Hidden commands have no page.
    let mut shown = Command::new("cartograph").disable_help_subcommand(true);
    shown = shown.version(env!("CARGO_PKG_VERSION"));
    if let Some(about) = command.get_about() {
        shown = shown.about(about.clone());
    }
    shown = shown.subcommands(command.get_subcommands().filter(|one| !one.is_hide_set()).cloned());
    shown = shown.subcommand_required(true).after_help(help::COMMAND);

    for (shell, file) in COMPLETIONS {
        let mut text = Vec::new();
        clap_complete::generate(shell, &mut shown.clone(), "cartograph", &mut text);
        write(&arguments.directory.join(file), &text)?;
    }
    let manuals = arguments.directory.join("share/man/man1");
    for mut one in shown.get_subcommands().cloned() {
        // The pages of subcommands are named like git's: cartograph-plan(1).
        let name = format!("cartograph-{}", one.get_name());
        let more = sections(&one) + &see_also(&["cartograph"]);
        one = one.version(env!("CARGO_PKG_VERSION"));
        one = one.bin_name(name.replacen('-', " ", 1));
        manual(one.display_name(name.clone()), &more, &manuals.join(format!("{name}.1")))?;
    }
    let names = shown.get_subcommands().map(|one| format!("cartograph-{}", one.get_name()));
    let names: Vec<String> = names.collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let more = sections(&shown) + &environment() + &see_also(&names);
    manual(shown, &more, &manuals.join("cartograph.1"))
}

/// Writes the page of a command, followed by more sections.
fn manual(command: Command, more: &str, file: &Path) -> Result<()> {
    let mut text = Vec::new();
    // With a date, no two builds would be equal.
    let page = clap_mangen::Man::new(command).date("").manual("Cartograph");
    page.render(&mut text).map_err(|error| Failure::new(error.to_string()))?;
    // The end of --help becomes separate sections instead.
    let mut text = String::from_utf8_lossy(&text).into_owned();
    if let Some(start) = text.find(".SH EXTRA\n") {
        let end = text[start + 1..].find(".SH ").map_or(text.len(), |end| start + 1 + end);
        text.replace_range(start..end, "");
    }
    text += more;
    write(file, text.as_bytes())
}

/// The sections at the end of `--help`, such as examples and exit codes.
fn sections(command: &Command) -> String {
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let mut text = String::new();
    for section in help.split("\n\n").filter(|section| !section.is_empty()) {
        let (title, lines) = section.split_once(":\n").expect("a section has a title");
        let lines: String =
            lines.lines().map(|line| line.trim().replace('-', "\\-") + "\n").collect();
        text += &format!(".SH {}\n.nf\n{lines}.fi\n", title.to_uppercase());
    }
    text
}

/// The section with references to other pages.
fn see_also(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("\\fB{name}\\fR(1)")).collect();
    format!(".SH \"SEE ALSO\"\n{}\n", names.join(",\n"))
}

/// The section on environment variables.
fn environment() -> String {
    let of =
        |setting: &&dyn Known| format!(".TP\n\\fB{}\\fR\n{}\n", setting.name(), setting.text());
    let public = settings::ALL.iter().filter(|setting| setting.is_public());
    let variables: String = public.map(of).collect();
    format!(".SH ENVIRONMENT\n{variables}")
}

fn write(file: &Path, text: &[u8]) -> Result<()> {
    let directory = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(directory)
        .and_then(|()| fs::write(file, text))
        .map_err(|error| Failure::new(format!("{}: {error}", file.display())))
}
