//! The pages: every one is in the book, every link leads somewhere, every picture has a description.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use cartograph::{launcher, settings};

/// The files in `docs` with this extension, by their paths below it.
fn files(extension: &str) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    for directory in ["docs", "docs/design", "docs/results"] {
        for path in fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()) {
            if path.extension().is_some_and(|found| found == extension) {
                let name = path.strip_prefix("docs").unwrap().to_str().unwrap().to_owned();
                files.insert(name, fs::read_to_string(&path).unwrap());
            }
        }
    }
    files
}

/// The pages of the book, by their paths in `docs`.
fn pages() -> BTreeMap<String, String> {
    files("md")
}

/// A text without code.
fn prose(text: &str) -> String {
    let mut prose = String::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced && !line.starts_with("    ") {
            // Every second piece is between backticks.
            prose.extend(line.split('`').step_by(2));
            prose.push('\n');
        }
    }
    prose
}

/// The targets of the links and pictures of a text.
fn links(text: &str) -> Vec<String> {
    let prose = prose(text);
    let ends = prose.match_indices("](").map(|(at, _)| &prose[at + 2..]);
    ends.filter_map(|rest| Some(rest.split_once(')')?.0.to_owned())).collect()
}

/// The anchors of a page's headings.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut fenced = false;
    let is_heading = |line: &&str| {
        fenced ^= line.starts_with("```");
        !fenced && line.starts_with('#')
    };
    let anchor = |line: &str| -> String {
        let words = line.trim_start_matches('#').trim().to_lowercase();
        let kept = words.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    text.lines().filter(is_heading).map(anchor).collect()
}

/// A path without `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

/// The fault of a link from a page, if it has one.
fn fault(from: &Path, link: &str) -> Option<String> {
    if link.starts_with("https://") || link.starts_with("mailto:") {
        return None;
    }
    let (file, anchor) = link.split_once('#').map_or((link, None), |(f, a)| (f, Some(a)));
    let to = match file {
        "" => from.to_owned(),
        file => plain(&from.parent().unwrap().join(file)),
    };
    let wrong = |what: &str| Some(format!("{}: ({link}) {what}", from.display()));
    if !to.exists() {
        return wrong("leads nowhere");
    }
    // mdBook turns every link to .md into one to .html, but only pages of the book exist there.
    if from.starts_with("docs") && file.ends_with(".md") && !to.starts_with("docs") {
        return wrong("is not a page of the book");
    }
    match anchor {
        Some(anchor) if !anchors(&fs::read_to_string(&to).unwrap()).contains(anchor) => {
            wrong("has no such heading")
        }
        _ => None,
    }
}

/// All pages below a directory, except in build directories and hidden ones.
fn markdown(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap().map(|entry| entry.unwrap()) {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        if entry.file_type().unwrap().is_dir() {
            let is_skipped = ["build", "target", "book", "ISSUE_TEMPLATE"].contains(&&*name);
            if !is_skipped && (!name.starts_with(".") || name == ".github") {
                markdown(&path, files);
            }
        } else if name.ends_with(".md") {
            files.push(plain(&path));
        }
    }
}

#[test]
fn every_link_has_a_target() {
    let mut files = Vec::new();
    markdown(Path::new("."), &mut files);
    assert!(files.len() > pages().len());
    let mut count = 0;
    let mut faults = Vec::new();
    for file in &files {
        let links = links(&fs::read_to_string(file).unwrap());
        count += links.len();
        faults.extend(links.iter().filter_map(|link| fault(file, link)));
    }
    assert!(count > 100, "only {count} links were found");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The names of variables of Cartograph in the sources below a directory.
fn variables(directory: &Path, names: &mut BTreeSet<String>) {
    const START: &str = "CARTOGRAPH_";
    for path in fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            variables(&path, names);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let rest = text.match_indices(START).map(|(at, _)| &text[at..]);
            let name = |rest: &str| -> String {
                rest.chars().take_while(|c| c.is_ascii_uppercase() || *c == '_').collect()
            };
            names.extend(rest.map(name).filter(|name| name.len() > START.len()));
        }
    }
}

#[test]
fn every_variable_is_a_setting_and_described_once() {
    let mut names = BTreeSet::new();
    for directory in ["core/src", "src", "jobs/src", "cli/src", "preload/src", "record/src"] {
        variables(Path::new(directory), &mut names);
    }
    let known: BTreeSet<String> =
        settings::ALL.iter().map(|setting| setting.name().to_owned()).collect();
    assert_eq!(names, known);
    let rows = |page: &str, heading: &str| -> BTreeSet<String> {
        let text = fs::read_to_string(page).unwrap();
        let section = text.split(heading).nth(1).unwrap().split("\n## ").next().unwrap();
        let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
        rows.filter(|name| name.starts_with("CARTOGRAPH_")).map(str::to_owned).collect()
    };
    let of = |is_public: bool| -> BTreeSet<String> {
        let all = settings::ALL.iter().filter(|setting| setting.is_public() == is_public);
        all.map(|setting| setting.name().to_owned()).collect()
    };
    assert_eq!(rows("docs/settings.md", "# Settings"), of(true));
    assert_eq!(rows("docs/design/architecture.md", "## Variables between parts"), of(false));
}

#[test]
fn wrong_links_are_found() {
    let from = Path::new("docs/settings.md");
    for right in
        ["moving.md", "#the-command", "../README.md", "https://example.org", "plan-50x48.svg"]
    {
        let found = fault(from, right);
        assert_eq!(found.is_some(), right == "../README.md", "{right}: {found:?}");
    }
    for wrong in ["nothing.md", "#nothing", "moving.md#nothing", "../docs/nothing"] {
        assert!(fault(from, wrong).is_some(), "{wrong}");
    }
    assert_eq!(links("[a](b) `[c](d)` ![e](f)\n\n    [g](h)\n```\n[i](j)\n```\n"), ["b", "f"]);
    assert!(anchors("# A b, `c_d`: e\n```\n# f\n```\n").into_iter().eq(["a-b-c_d-e"]));
}

#[test]
fn every_page_is_in_the_book_once() {
    let mut pages = pages();
    let summary = pages.remove("SUMMARY.md").unwrap();
    let mut listed = links(&summary);
    listed.sort();
    assert!(listed.iter().eq(pages.keys()), "listed: {listed:?}\nthere: {:?}", pages.keys());
    for (name, text) in &pages {
        assert!(text.starts_with("# "), "{name} begins with its title");
    }
}

#[test]
fn pictures_have_a_description_and_a_dark_variant() {
    let all: String =
        pages().into_values().chain([fs::read_to_string("README.md").unwrap()]).collect();
    let mut count = 0;
    for (name, text) in files("svg") {
        for part in ["<title>", "<desc>", "prefers-color-scheme:dark"] {
            assert!(text.contains(part), "{name} has no {part}");
        }
        let file = name.rsplit('/').next().unwrap();
        assert!(all.contains(file), "{name} is on no page");
        count += 1;
    }
    assert!(count > 0);
}

/// Each program on the page is a file of `examples`, which other tests run.
#[test]
fn programs_on_pages_are_the_tested_ones() {
    let page = fs::read_to_string("docs/stencil.md").unwrap();
    let blocks: Vec<&str> = page.split("\n```").collect();
    for (language, file) in
        [("c", "stencil.c"), ("fortran", "stencil.f90"), ("python", "stencil.py")]
    {
        // The crate's package has no examples.
        let Ok(program) = fs::read_to_string(Path::new("examples").join(file)) else { return };
        let block = blocks.iter().find_map(|block| block.strip_prefix(&format!("{language}\n")));
        assert_eq!(block.map(|text| format!("{text}\n")), Some(program), "{file}");
    }
}

/// What a tag names may change; a commit cannot.
#[test]
fn actions_of_workflows_are_pinned_by_commit() {
    let Ok(workflows) = fs::read_dir(".github/workflows") else { return };
    let mut count = 0;
    for path in workflows.map(|entry| entry.unwrap().path()) {
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains("\npermissions:"), "{} has no permissions", path.display());
        for (_, action) in text.lines().filter_map(|line| line.split_once("uses: ")) {
            let (name, commit) = action.split_once('@').unwrap_or_default();
            let (commit, version) = commit.split_once(" # v").unwrap_or_default();
            let is_hash = commit.len() == 40 && commit.bytes().all(|c| c.is_ascii_hexdigit());
            assert!(is_hash && !name.is_empty() && !version.is_empty(), "{action}");
            count += 1;
        }
    }
    assert!(count > 0);
}

/// Without this file, changes land untested.
#[test]
fn the_landing_workflow_runs_the_readmes_test_command() {
    // The crate's package has no scripts.
    let Ok(jobs) = fs::read_to_string("scripts/ci.sh") else { return };
    let mode = fs::metadata(".ci/run").unwrap().permissions().mode();
    assert_eq!(mode & 0o111, 0o111, "{mode:o}");
    assert!(fs::read_to_string(".ci/run").unwrap().ends_with("/scripts/ci.sh\" test\n"));
    assert!(jobs.contains("\ntest) exec make test ;;\n"));
    assert!(fs::read_to_string("README.md").unwrap().contains("\n    make test "));
}

#[test]
fn every_message_has_a_page() {
    let messages = &pages()["messages.md"];
    let is_row = |line: &&str| line.starts_with("| ") && line.contains('`');
    let rows: Vec<&str> = messages.lines().filter(is_row).collect();
    assert!(rows.len() > 20, "{} messages", rows.len());
    let alone: Vec<_> = rows.into_iter().filter(|row| links(row).is_empty()).collect();
    assert!(alone.is_empty(), "{alone:#?}");
}

#[test]
fn every_launcher_is_in_the_table_of_placements() {
    let page = fs::read_to_string("docs/using.md").unwrap();
    let (_, after) = page.split_once("## Launchers that place ranks").unwrap();
    let rows: Vec<&str> = after.lines().filter(|line| line.starts_with('|')).collect();
    for launcher in launcher::table::ALL {
        let is_named = |command: &&str| rows.iter().any(|row| row.contains(&format!("`{command}")));
        assert!(launcher.commands.iter().any(is_named), "{} is in no row", launcher.name);
    }
}

#[test]
fn every_host_is_in_the_table_of_mpis() {
    let page = fs::read_to_string("docs/install.md").unwrap();
    let names = Command::new("scripts/host.sh").output().unwrap().stdout;
    for name in String::from_utf8(names).unwrap().split_whitespace() {
        assert!(page.contains(&format!("\n| `{name}` |")), "{name} is in no row");
    }
}

/// A newcomer can read them in an afternoon, each in some minutes. The tables of one page have all results of mappings.
#[test]
fn pages_are_short() {
    let is_word = |word: &&str| word.contains(char::is_alphanumeric);
    let count = |text: &String| text.split_whitespace().filter(is_word).count();
    let pages = pages();
    for (name, text) in pages.iter().filter(|(name, _)| *name != "results/quality.md") {
        assert!(count(text) <= 1200, "{name} has {} words", count(text));
    }
    let words = pages.values().map(count).sum::<usize>();
    let words = words + count(&fs::read_to_string("README.md").unwrap());
    assert!(words <= 22_000, "the pages and the README have {words} words");
}
