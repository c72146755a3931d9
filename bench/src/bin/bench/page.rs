//! The tables of a page, in Markdown as `tables.rs` writes them.

/// A table below a heading.
pub(crate) struct Table {
    pub(crate) heading: String,
    /// The names of the columns, the first of which has the labels of the rows.
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Table {
    /// The columns whose names are those of hosts or of sizes: all after the label, the processes and the unit.
    pub(crate) fn measured(&self) -> impl Iterator<Item = (usize, &str)> {
        let named = self.columns.iter().map(String::as_str).enumerate();
        named.filter(|(_, name)| !["", "processes"].contains(name))
    }

    /// How many processes a row is of, if the table says so.
    pub(crate) fn processes(&self, row: &[String]) -> Option<u32> {
        let column = self.columns.iter().position(|name| name == "processes")?;
        row.get(column)?.parse().ok()
    }
}

/// All tables of a page in their order.
pub(crate) fn tables(page: &str) -> Vec<Table> {
    let mut tables: Vec<Table> = Vec::new();
    let mut heading = "";
    let mut inside = false;
    for line in page.lines() {
        if let Some(words) = line.strip_prefix('#') {
            heading = words.trim_start_matches('#').trim();
        }
        let Some(cells) = line.strip_prefix('|').and_then(|line| line.strip_suffix('|')) else {
            inside = false;
            continue;
        };
        let cells: Vec<String> = cells.split('|').map(|cell| cell.trim().to_owned()).collect();
        match tables.last_mut().filter(|_| inside) {
            None => {
                tables.push(Table { heading: heading.into(), columns: cells, rows: Vec::new() })
            }
            Some(_) if line.starts_with("|--") => {}
            Some(table) => table.rows.push(cells),
        }
        inside = true;
    }
    tables
}

/// The ratio of a cell, `host / Cartograph = ratio`.
pub(crate) fn ratio(cell: &str) -> Option<f64> {
    cell.rsplit_once("= ")?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_read_with_their_headings() {
        let page = "# A\n| | processes | | x |\n|---|---|---|---:|\n| a | 2 | us | 3 / 2 = 1.50 |\n\n### B\n\n| | y |\n|---|---|\n";
        let found = tables(page);
        assert_eq!(found.iter().map(|table| &*table.heading).collect::<Vec<_>>(), ["A", "B"]);
        let [row] = &found[0].rows[..] else { panic!("one row") };
        assert_eq!((found[0].processes(row), found[1].processes(row)), (Some(2), None));
        assert_eq!(found[0].measured().collect::<Vec<_>>(), [(3, "x")]);
        assert_eq!((ratio(&row[3]), ratio("3")), (Some(1.5), None));
    }
}
