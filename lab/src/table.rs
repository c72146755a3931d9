//! Tables, and the files of `lab/results` that hold them.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use serde_json::{Value, json};

/// A table of results.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Table {
    /// Its name, by which pages refer to it.
    pub name: String,
    /// The command that creates it, with its date, machine and commit.
    pub made: Vec<(String, String)>,
    /// The names of the columns, the first of which has the labels of the rows.
    pub columns: Vec<String>,
    /// A cell for each column.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table. `columns` are separated by ` | `.
    pub fn new(name: &str, columns: &str) -> Self {
        Self { name: name.to_owned(), columns: cells(columns), ..Self::default() }
    }

    /// Adds a row, whose cells are separated by ` | `.
    pub fn row(&mut self, row: &str) {
        let row = cells(row);
        assert_eq!(row.len(), self.columns.len(), "{}: {row:?}", self.name);
        self.rows.push(row);
    }

    /// The columns of measured values, with their names: all except the label, the processes and the unit.
    pub fn measured(&self) -> impl Iterator<Item = (usize, &str)> {
        let named = self.columns.iter().map(String::as_str).enumerate();
        named.filter(|(_, name)| !["", "processes"].contains(name))
    }

    /// The number of processes of a row, if the table has it.
    pub fn processes(&self, row: &[String]) -> Option<u32> {
        let column = self.columns.iter().position(|name| name == "processes")?;
        row.get(column)?.parse().ok()
    }

    /// The table in Markdown, with numbers right-aligned: the given `columns`, or all, of the rows with a cell in
    /// `rows`, or all.
    ///
    /// # Errors
    ///
    /// A name that the table does not have.
    pub fn markdown(&self, columns: &[&str], rows: &[&str]) -> Result<String, String> {
        let known = |name: &&str| {
            let found = self.columns.iter().position(|column| column == name);
            found.ok_or_else(|| format!("{} has no column '{name}'", self.name))
        };
        let shown: Vec<usize> = match columns {
            [] => (0..self.columns.len()).collect(),
            names => names.iter().map(known).collect::<Result<_, _>>()?,
        };
        if let Some(missing) =
            rows.iter().find(|name| !self.rows.iter().flatten().any(|cell| cell == *name))
        {
            return Err(format!("{} has no cell '{missing}'", self.name));
        }
        let chosen = |row: &&Vec<String>| {
            rows.is_empty() || row.iter().any(|cell| rows.contains(&cell.as_str()))
        };
        let line = |row: &[String]| {
            let cells: Vec<&str> = shown.iter().map(|column| row[*column].as_str()).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let is_number = |column: &usize| {
            let mut cells = self.rows.iter().map(|row| &row[*column]);
            cells.all(|cell| !cell.contains(|c: char| c.is_alphabetic()))
        };
        let rule = |column| if is_number(column) { "---:|" } else { "---|" };
        let rule: String = shown.iter().map(rule).collect();
        let body: String = self.rows.iter().filter(chosen).map(|row| line(row)).collect();
        Ok(format!("{}|{rule}\n{body}", line(&self.columns)))
    }
}

fn cells(row: &str) -> Vec<String> {
    row.split('|').map(|cell| cell.trim().to_owned()).collect()
}

/// A file of tables.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct File {
    /// In the order of the page that shows them.
    pub tables: Vec<Table>,
}

impl File {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is not such a file.
    pub fn read(path: &Path) -> io::Result<Self> {
        let wrong = || io::Error::other(format!("{}: not a file of results", path.display()));
        let value: Value = serde_json::from_str(&fs::read_to_string(path)?)?;
        let words = |value: &Value| -> Option<Vec<String>> {
            value.as_array()?.iter().map(|word| Some(word.as_str()?.to_owned())).collect()
        };
        let table = |table: &Value| -> Option<Table> {
            let made = table["made"].as_object()?.iter();
            Some(Table {
                name: table["name"].as_str()?.to_owned(),
                made: made
                    .map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
                    .collect::<Option<_>>()?,
                columns: words(&table["columns"])?,
                rows: table["rows"].as_array()?.iter().map(words).collect::<Option<_>>()?,
            })
        };
        let tables = value["tables"].as_array().ok_or_else(wrong)?;
        let tables = tables.iter().map(table).collect::<Option<_>>().ok_or_else(wrong)?;
        Ok(Self { tables })
    }

    /// Writes a file, with one row per line.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let tables = self.tables.iter().map(|table| {
            let made = table.made.iter().map(|(key, value)| (key.clone(), json!(value)));
            let made = Value::Object(made.collect());
            let rows: Vec<String> =
                table.rows.iter().map(|row| format!("    {}", json!(row))).collect();
            format!(
                "{{\"name\": {}, \"made\": {made},\n  \"columns\": {},\n  \"rows\": [\n{}]}}",
                json!(table.name),
                json!(table.columns),
                rows.join(",\n")
            )
        });
        let tables: Vec<String> = tables.collect();
        fs::write(path, format!("{{\"tables\": [\n{}\n]}}\n", tables.join(",\n")))
    }

    /// A table by its name.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name == name)
    }

    /// Puts tables into the results file of this name, replacing those with the same names, with their origin: the
    /// command, the date, the machine and the current commit.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or written.
    pub fn put(name: &str, command: &str, tables: Vec<Table>) -> io::Result<PathBuf> {
        let path = super::directory().join(name).with_extension("json");
        let mut file = if path.exists() { Self::read(&path)? } else { Self::default() };
        let made = made(command);
        for mut table in tables {
            table.made.clone_from(&made);
            match file.tables.iter_mut().find(|known| known.name == table.name) {
                Some(known) => *known = table,
                None => file.tables.push(table),
            }
        }
        file.write(&path)?;
        Ok(path)
    }
}

/// The origin of results, as far as the machine reveals it.
fn made(command: &str) -> Vec<(String, String)> {
    let output = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).current_dir(super::top()).output();
        let text = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
        text.unwrap_or_default()
    };
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let cpu = cpu.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    [
        ("command", command.to_owned()),
        ("commit", output("git", &["rev-parse", "--short", "HEAD"])),
        ("date", output("date", &["-u", "+%F"])),
        ("load", load.split(' ').next().unwrap_or_default().to_owned()),
        ("machine", format!("{}, {processors} processors", cpu.map_or("unknown", |cpu| cpu.1))),
    ]
    .map(|(key, value)| (key.to_owned(), value))
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_files_are_read_and_written_back_unchanged() {
        let mut count = 0;
        for entry in fs::read_dir(crate::directory()).unwrap() {
            let path = entry.unwrap().path();
            let file = File::read(&path).unwrap();
            let copy = std::env::temp_dir().join(format!("results-{}.json", std::process::id()));
            file.write(&copy).unwrap();
            let [here, there] = [&path, &copy].map(|path| fs::read_to_string(path).unwrap());
            fs::remove_file(copy).unwrap();
            assert!(here == there, "{}", path.display());
            for table in &file.tables {
                let wide = |row: &Vec<String>| row.len() == table.columns.len();
                assert!(table.rows.iter().all(wide), "{}: {}", path.display(), table.name);
            }
            count += 1;
        }
        assert!(count > 0);
    }

    #[test]
    fn columns_and_rows_are_chosen_by_name() {
        let mut table = Table::new("a", "case | ms | who");
        table.row("one | 1.5 | x");
        table.row("two | 2 | y");
        let all = "| case | ms | who |\n|---|---:|---|\n| one | 1.5 | x |\n| two | 2 | y |\n";
        assert_eq!(table.markdown(&[], &[]).unwrap(), all);
        let some = table.markdown(&["who", "ms"], &["two"]).unwrap();
        assert_eq!(some, "| who | ms |\n|---|---:|\n| y | 2 |\n");
        assert!(table.markdown(&["s"], &[]).is_err() && table.markdown(&[], &["three"]).is_err());
    }
}
