//! The figures of README.md are those of the pages that it links to: each is worked out from a page's table again, and no
//! other is there.

use std::fs;

/// The cells of the rows below a heading, without the heads of tables.
fn rows(page: &str, heading: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(format!("docs/{page}.md")).unwrap();
    let (_, below) = text.split_once(&format!("# {heading}\n")).expect(heading);
    let until = below.find("\n#").unwrap_or(below.len());
    let lines: Vec<&str> = below[..until].lines().collect();
    let is_row = |at: usize| lines[at].starts_with('|') && !lines[at].starts_with("|-");
    let is_head = |at: usize| lines.get(at + 1).is_some_and(|line| line.starts_with("|-"));
    let cells = |line: &str| {
        let inner = line.trim_matches('|').split('|');
        inner.map(|cell| cell.trim().to_owned()).collect::<Vec<_>>()
    };
    let found: Vec<_> = (0..lines.len())
        .filter(|at| is_row(*at) && !is_head(*at))
        .map(|at| cells(lines[at]))
        .collect();
    assert!(!found.is_empty(), "{page}: {heading}");
    found
}

/// The first number of a cell.
fn number(cell: &str) -> f64 {
    let start = cell.find(|c: char| c.is_ascii_digit()).expect(cell);
    let digits = |c: char| c.is_ascii_digit() || c == '.';
    let end = cell[start..].find(|c| !digits(c)).map_or(cell.len(), |end| start + end);
    cell[start..end].parse().unwrap()
}

fn least(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(f64::INFINITY, f64::min)
}

fn most(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(f64::NEG_INFINITY, f64::max)
}

/// What README.md says of times and gains, from the tables.
fn claims() -> Vec<String> {
    let mut claims = Vec::new();
    let quality = rows("quality", "720 more");
    claims.push(format!("{} times the lower bound in the mean", quality[0].last().unwrap()));

    let plans = rows("quality", "Time and memory of grids");
    let of = |range: std::ops::RangeInclusive<u64>, column: usize| {
        let inside = move |row: &&Vec<String>| range.contains(&row[0].parse().unwrap());
        plans.iter().filter(inside).map(move |row| number(&row[column])).collect::<Vec<_>>()
    };
    let (known, unknown) = (of(0..=65_536, 3), of(0..=65_536, 5));
    let (from, to) = (least(known.iter().copied()), most(known.into_iter()));
    claims.push(format!("{from:.0} to {to:.0} ms where it is known what the dimensions weigh"));
    claims.push(format!("up to {:.0} ms where it is not", most(unknown.into_iter())));
    let million = of(1_000_000..=u64::MAX, 3).into_iter().chain(of(1_000_000..=u64::MAX, 5));
    claims.push(format!("a million at most {:.0} ms", most(million)));

    let cluster = rows("cluster", "Exchanges between neighbors on a cluster");
    // The second table of the page has as many columns and other cells.
    let gain = |row: &Vec<String>| Some(number(row[4].strip_prefix("**")?));
    let gains = |name: &str| -> Vec<f64> {
        cluster.iter().filter(|row| row[0].starts_with(name)).filter_map(gain).collect()
    };
    let (from, to) = (least(gains("4 x 4").into_iter()), most(gains("4 x 4").into_iter()));
    claims.push(format!("{from:.2} to {to:.2} times as fast as with Open MPI alone"));
    claims.push(format!("they are {:.2} times as fast", gains("4 x 2 x 2")[0]));

    let simulated = rows("simulate", "Exchange of six faces");
    let simulated = || simulated.iter().filter(|row| row.len() == 6 && row[3].contains('('));
    let times = |column: usize| {
        let cells = simulated().map(move |row| number(row[column].split_once('(').unwrap().1));
        let cells: Vec<f64> = cells.collect();
        (least(cells.iter().copied()), most(cells.into_iter()))
    };
    let ((from, to), (least_block, most_block)) = (times(3), times(4));
    claims.push(format!("{from:.2} to {to:.2} times as long with cyclic ranks"));
    claims.push(format!("{least_block:.2} to {most_block:.2} times as long with ranks in blocks"));

    let wrong = fs::read_to_string("docs/wrong-arguments.md").unwrap();
    let counted = wrong.lines().find_map(|line| line.strip_prefix("Of ")).expect("it counts calls");
    let (all, failing) = counted.split_once(" calls ").expect("calls");
    claims.push(format!("{} of {all} wrong calls", number(failing)));
    claims
}

/// The text of README.md without code, with single spaces. Blocks of code follow an empty line.
fn readme() -> String {
    let text = fs::read_to_string("README.md").unwrap();
    let blocks = text.split("\n\n").filter(|block| !block.starts_with("    "));
    let prose = blocks.collect::<Vec<_>>().join(" ");
    let prose: String = prose.split('`').step_by(2).collect();
    prose.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Figures that something was measured to have: with a unit or "times" behind them.
fn measured(text: &str) -> Vec<&str> {
    let units = ["ms", "us", "s", "%", "times", "GB", "MB"];
    let words: Vec<&str> = text.split(' ').collect();
    let is_figure = |word: &str| word.starts_with(|c: char| c.is_ascii_digit());
    let pairs = words.windows(2).filter(|pair| {
        is_figure(pair[0]) && units.contains(&pair[1].trim_end_matches([',', '.', ';', ')', ':']))
    });
    pairs.map(|pair| pair[0]).collect()
}

#[test]
fn readme_says_what_its_pages_say() {
    let mut text = readme();
    for claim in claims() {
        assert!(text.contains(&claim), "README.md does not say \"{claim}\"");
        text = text.replace(&claim, "");
    }
    assert_eq!(measured(&text), [""; 0], "no page is compared with these figures of README.md");
}

#[test]
fn figures_without_a_page_are_found() {
    assert_eq!(
        measured("it is 1.9 times as fast, takes 3 ms, and 4 x 4 of 8 5 %."),
        ["1.9", "3", "5"]
    );
    assert_eq!(measured("MPICH 4.0 and 2,147 processes"), [""; 0]);
}

#[test]
fn queries_take_fewer_instructions() {
    // "most take a half to a quarter of MPICH's instructions, and none more than Open MPI's"
    assert!(readme().contains(
        "most take a half to a quarter of MPICH's instructions, and none more than Open MPI's"
    ));
    for heading in ["Local queries, C, instructions", "Local queries, Fortran, instructions"] {
        let rows = rows("performance", heading);
        let ratio = |cell: &str| cell.split_once("= ").map(|(_, ratio)| number(ratio));
        let of = |host: usize| {
            rows.iter().filter_map(move |row| ratio(&row[2 + host])).collect::<Vec<_>>()
        };
        let (mpich, openmpi) = (of(0), of(1));
        assert!(mpich.len() > 10 && openmpi.len() > 10);
        let between = mpich.iter().filter(|ratio| (2.0..=4.0).contains(*ratio)).count();
        assert!(2 * between > mpich.len() && openmpi.iter().all(|ratio| *ratio >= 1.0));
    }
}
