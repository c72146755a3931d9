//! Tables of results on pages: the text between two comments
//!
//! ```text
//! <!-- results FILE: TABLE [columns: A; B] [rows: C; D] -->
//! <!-- end of results -->
//! ```
//!
//! is the table of that name in `lab/results/FILE.json`, or only these columns of it, and the rows with one of these
//! cells.

use std::path::{Path, PathBuf};
use std::{fs, io};

use super::{File, directory, top};

const BEGIN: &str = "<!-- results ";
const END: &str = "<!-- end of results -->";

/// All pages that may have results: the Markdown files of `docs`, and the README.
///
/// # Errors
///
/// If a directory cannot be read.
pub fn all() -> io::Result<Vec<PathBuf>> {
    let mut pages = vec![top().join("README.md")];
    let mut directories = vec![top().join("docs")];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory)? {
            let path = entry?.path();
            if path.is_dir() {
                directories.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    Ok(pages)
}

/// The text of a page with the current results.
///
/// # Errors
///
/// Fails with the line of an invalid comment.
pub fn filled(page: &Path) -> io::Result<String> {
    let text = fs::read_to_string(page)?;
    let mut filled = String::new();
    let mut lines = text.split_inclusive('\n');
    while let Some(line) = lines.next() {
        filled += line;
        let Some(comment) = line.trim().strip_prefix(BEGIN) else { continue };
        let wrong = |why: String| io::Error::other(format!("{}: {line}{why}", page.display()));
        let asked = comment.strip_suffix("-->").ok_or_else(|| wrong("has no end".into()))?;
        filled += &format!("\n{}\n{END}\n", table(asked.trim()).map_err(wrong)?);
        if !lines.any(|line| line.trim() == END) {
            return Err(wrong("no end of results follows".into()));
        }
    }
    Ok(filled)
}

/// The table that a comment names, in Markdown.
fn table(asked: &str) -> Result<String, String> {
    let (asked, rows) = list(asked, "rows");
    let (asked, columns) = list(asked, "columns");
    let (name, table) = asked.split_once(':').ok_or("says no table")?;
    let path = directory().join(name.trim()).with_extension("json");
    let file = File::read(&path).map_err(|error| error.to_string())?;
    let table = file.table(table.trim()).ok_or(format!("no such table in {name}"))?;
    table.markdown(&columns, &rows)
}

/// Removes the list in brackets of this name from a comment; returns both.
fn list<'a>(asked: &'a str, name: &str) -> (&'a str, Vec<&'a str>) {
    let Some((before, list)) = asked.split_once(&format!("[{name}:")) else {
        return (asked, Vec::new());
    };
    let list = list.trim().strip_suffix(']').unwrap_or(list);
    (before.trim(), list.split(';').map(str::trim).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `make lab-results` rewrites them.
    #[test]
    fn pages_show_the_current_results() {
        let mut count = 0;
        for page in all().unwrap() {
            let filled = filled(&page).unwrap();
            count += filled.matches(END).count();
            assert!(filled == fs::read_to_string(&page).unwrap(), "{} is old", page.display());
        }
        assert!(count > 5, "only {count} tables were found");
    }

    #[test]
    fn comments_name_the_tables_shown() {
        let (rest, rows) = list("a: b [columns: c; d e] [rows: f]", "rows");
        assert_eq!((rest, rows), ("a: b [columns: c; d e]", vec!["f"]));
        assert_eq!(list(rest, "columns"), ("a: b", vec!["c", "d e"]));
        assert!(table("nothing: there").is_err() && table("nothing").is_err());
    }
}
