//! Tables out of the lines that scripts measure: words with bars between them, the last of which are numbers.

use std::collections::HashMap;
use std::io;

use cartograph_lab::Table;

/// Measured numbers by case and variant, with cases in order of appearance.
#[derive(Default)]
pub(crate) struct Measured {
    cases: Vec<String>,
    numbers: HashMap<(String, String), Vec<Vec<f64>>>,
    /// A word in place of numbers: the run failed, or its answers differ.
    faults: HashMap<(String, String), String>,
}

impl Measured {
    /// Reads lines: `words` of the case, the variant, and numbers or one other word.
    pub(crate) fn read(text: &str, words: usize) -> io::Result<Self> {
        let mut all = Self::default();
        for line in text.lines() {
            let parts: Vec<&str> = line.split('|').map(str::trim).collect();
            let wrong = || io::Error::other(format!("'{line}' is not measured"));
            let (case, rest) = parts.split_at_checked(words).ok_or_else(wrong)?;
            let (way, values) = rest.split_first().ok_or_else(wrong)?;
            let case = case.join("|");
            if !all.cases.contains(&case) {
                all.cases.push(case.clone());
            }
            let key = (case, (*way).to_owned());
            let numbers: Option<Vec<f64>> = values.iter().map(|word| word.parse().ok()).collect();
            match (numbers, values) {
                (Some(numbers), [_, ..]) => all.numbers.entry(key).or_default().push(numbers),
                (None, [word]) => drop(all.faults.insert(key, (*word).to_owned())),
                _ => return Err(wrong()),
            }
        }
        if all.cases.is_empty() { Err(io::Error::other("nothing is measured")) } else { Ok(all) }
    }

    /// The cases, in the order in which they came.
    pub(crate) fn cases(&self) -> &[String] {
        &self.cases
    }

    /// A word in place of numbers, if there is one.
    pub(crate) fn fault(&self, case: &str, way: &str) -> Option<&str> {
        self.faults.get(&(case.to_owned(), way.to_owned())).map(String::as_str)
    }

    /// The numbers of a column, in the order of the runs; empty if there are none.
    pub(crate) fn in_order(&self, case: &str, way: &str, column: usize) -> Vec<f64> {
        let runs = self.numbers.get(&(case.to_owned(), way.to_owned()));
        let runs = runs.map_or(&[][..], Vec::as_slice);
        runs.iter().filter_map(|run| run.get(column).copied()).collect()
    }

    /// The median of a column; `None` if this variant of the case was not run.
    fn median(&self, case: &str, way: &str, column: usize) -> Option<f64> {
        let mut numbers = self.in_order(case, way, column);
        numbers.sort_by(f64::total_cmp);
        let middle = numbers.len() / 2;
        match numbers.len() {
            0 => None,
            odd if odd % 2 == 1 => Some(numbers[middle]),
            _ => Some(f64::midpoint(numbers[middle - 1], numbers[middle])),
        }
    }

    /// The median, or not a number.
    fn number(&self, case: &str, way: &str, column: usize) -> f64 {
        self.median(case, way, column).unwrap_or(f64::NAN)
    }
}

/// The columns of a run on nodes: a time, and the bytes on all wires and from the node that sends most.
pub(crate) const TIME: usize = 0;
const ALL: usize = 1;
pub(crate) const MOST: usize = 2;

/// `make lab-cluster`: exchanges with Open MPI, with Cartograph without reordering, and with Cartograph. A line of
/// `edges` has the edges between nodes and those of the busiest node, before and after.
pub(crate) fn cluster(runs: &str, edges: &str) -> io::Result<Vec<Table>> {
    let runs = Measured::read(runs, 1)?;
    let edges: HashMap<&str, Vec<&str>> = edges
        .lines()
        .filter_map(|line| line.split_once('|'))
        .map(|(case, numbers)| (case, numbers.split('|').collect()))
        .collect();
    let mut times = Table::new(
        "Exchanges between neighbors",
        "exchange | Open MPI, ms | Cartograph, reorder off, ms | Cartograph, ms | Open MPI / Cartograph | off / Cartograph",
    );
    let mut bytes = Table::new(
        "Bytes of these exchanges",
        "exchange | edges between nodes | of the busiest node | Open MPI, MB on the wires | Cartograph, MB on the wires | \
         Open MPI, MB of the busiest node | Cartograph, MB of the busiest node",
    );
    for case in &runs.cases {
        let [alone, off, ours] =
            ["alone", "off", "cartograph"].map(|way| runs.number(case, way, TIME));
        times.row(&format!(
            "{case} | {alone:.1} | {off:.1} | {ours:.1} | {:.2} | {:.2}",
            alone / ours,
            off / ours
        ));
        let [all, busiest] = match edges.get(&case[..]).map(Vec::as_slice) {
            Some([all, busiest, all_after, busiest_after]) => {
                [format!("{all} -> {all_after}"), format!("{busiest} -> {busiest_after}")]
            }
            _ => return Err(io::Error::other(format!("{case}: its edges are missing"))),
        };
        let [wires, node] = [ALL, MOST]
            .map(|column| ["alone", "cartograph"].map(|way| runs.number(case, way, column) / 1e6));
        bytes.row(&format!(
            "{case} | {all} | {busiest} | {:.2} | {:.2} | {:.2} | {:.2}",
            wires[0], wires[1], node[0], node[1]
        ));
    }
    Ok(vec![times, bytes])
}

/// The number of neighbors of a pattern of `c_tests/simulate/neighbors.c`.
fn neighbors(pattern: &str) -> &str {
    match pattern {
        "box" => "26",
        "faces" => "6",
        "sparse" => "6, sparse",
        "box-same" => "26, allgather",
        "sparse-same" => "6, sparse, allgather",
        other => other,
    }
}

/// The words of a case.
fn words<const N: usize>(case: &str) -> io::Result<[&str; N]> {
    let words: Vec<&str> = case.split('|').collect();
    words.try_into().map_err(|_| io::Error::other(format!("'{case}' has other words")))
}

/// `make lab-cluster SECTION=combining`: small blocks with Open MPI, and with Cartograph without and with combining.
pub(crate) fn combining(runs: &str) -> io::Result<Vec<Table>> {
    let runs = Measured::read(runs, 3)?;
    let mut table = Table::new(
        "On four nodes, us",
        "links | neighbors | bytes | Open MPI | off | on | Open MPI / on | off / on",
    );
    for case in &runs.cases {
        let [links, pattern, bytes] = words(case)?;
        let [alone, off, on] = ["alone", "off", "on"].map(|way| runs.number(case, way, TIME));
        table.row(&format!(
            "{links} | {} | {bytes} | {alone:.0} | {off:.0} | {on:.0} | {:.2} | {:.2}",
            neighbors(pattern),
            alone / on,
            off / on
        ));
    }
    Ok(vec![table])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(tables: &[Table]) -> Vec<Vec<String>> {
        tables.iter().flat_map(|table| &table.rows).map(|row| vec![row.join(" | ")]).collect()
    }

    #[test]
    fn medians_ratios_and_bytes_of_exchanges() {
        let runs = "4 x 4|alone|3|2e6|1000000\n4 x 4|off|4|1|1\n4 x 4|cartograph|1|1e6|500000\n\
                    4 x 4|alone|9|2e6|1000000\n4 x 4|alone|2|2e6|1000000\n4 x 4|cartograph|2|1e6|500000\n";
        let tables = cluster(runs, "4 x 4|24|8|16|4\n").unwrap();
        let expected = [
            "4 x 4 | 3.0 | 4.0 | 1.5 | 2.00 | 2.67",
            "4 x 4 | 24 -> 16 | 8 -> 4 | 2.00 | 1.00 | 1.00 | 0.50",
        ];
        assert_eq!(rows(&tables), expected.map(|row| vec![row.to_owned()]));
        assert!(cluster(runs, "").is_err() && cluster("", "").is_err());
    }

    #[test]
    fn small_blocks_share_messages() {
        let runs = "no limit|box|8|alone|40\nno limit|box|8|off|30\nno limit|box|8|on|10\n";
        let row = "no limit | 26 | 8 | 40 | 30 | 10 | 4.00 | 3.00";
        assert_eq!(rows(&combining(runs).unwrap()), [[row]]);
    }
}
