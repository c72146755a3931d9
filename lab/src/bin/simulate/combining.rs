//! Small blocks of neighborhood collectives on simulated nodes, without and with combining. SMPI has no distributed graphs
//! of its own to compare with.

use std::error::Error;
use std::path::Path;

use cartograph_lab::Table;

use crate::machine::{Costs, Launch, Machine};

/// Machines with the sides of their torus of processes.
const MACHINES: [(Machine, [u32; 3]); 2] = [
    (Machine { nodes: 4, processes: 4 }, [4, 2, 2]),
    (Machine { nodes: 64, processes: 16 }, [16, 8, 8]),
];

/// Microseconds that a message takes of a processor, inside a node and between nodes.
const COSTS: [Costs; 2] =
    [Costs { inside: 0.5, between: 0.5 }, Costs { inside: 0.3, between: 1.5 }];

/// Patterns of neighbors, and how many each process has.
const PATTERNS: [(&str, &str); 3] = [("box", "26"), ("faces", "6"), ("sparse", "6, sparse")];

/// Bytes of a block.
const SIZES: [u32; 4] = [8, 64, 256, 1024];

const EXCHANGES: u32 = 2;

/// The exchanges of one pattern.
#[derive(Debug, Default, PartialEq)]
struct Exchanges {
    /// Bytes of a block, and microseconds.
    times: Vec<(u32, f64)>,
    /// Messages between nodes in an exchange, and the most of them from one node to another.
    messages: [f64; 2],
}

impl Exchanges {
    /// Reads the output: a line for each number of bytes, `0 wrong`, and what was counted.
    fn parse(output: &str) -> Result<Self, Box<dyn Error>> {
        let mut found = Self::default();
        let per_exchange = f64::from(EXCHANGES) * SIZES.len() as f64;
        for line in output.lines() {
            match line.split_whitespace().collect::<Vec<_>>()[..] {
                [count, "wrong"] if count != "0" => {
                    return Err(format!("{count} words are wrong").into());
                }
                ["between", "nodes", all, _pairs, most] => {
                    let messages = [all.parse::<f64>()?, most.parse::<f64>()?];
                    found.messages = messages.map(|count| count / per_exchange);
                }
                [bytes, time] => {
                    if let (Ok(bytes), Ok(time)) = (bytes.parse(), time.parse()) {
                        found.times.push((bytes, time));
                    }
                }
                _ => {}
            }
        }
        match found.times.len() == SIZES.len() {
            true => Ok(found),
            false => Err(format!("the program printed: {output}").into()),
        }
    }
}

/// Measures all exchanges.
pub(crate) fn table(launch: &Launch) -> Result<Table, Box<dyn Error>> {
    let program = launch.compile("neighbors", &[])?;
    let mut table = Table::new(
        "On simulated nodes, us",
        "nodes | a message | neighbors | bytes | off | on | off / on | off: between nodes | on: between nodes",
    );
    for costs in COSTS {
        for (machine, sides) in MACHINES {
            for (pattern, neighbors) in PATTERNS {
                let run = |combine| {
                    exchanges(launch, &program, (machine, costs), combine, (pattern, sides))
                };
                let [off, on] = [run("off")?, run("on")?];
                let case = format!(
                    "{} x {} | {} + {} | {neighbors}",
                    machine.nodes, machine.processes, costs.inside, costs.between
                );
                add(&mut table, &case, &off, &on);
                println!("{case}");
            }
        }
    }
    Ok(table)
}

fn exchanges(
    launch: &Launch,
    program: &Path,
    on: (Machine, Costs),
    combine: &str,
    (pattern, sides): (&str, [u32; 3]),
) -> Result<Exchanges, Box<dyn Error>> {
    let numbers =
        [EXCHANGES].into_iter().chain(sides).chain(SIZES).map(|number| number.to_string());
    let arguments: Vec<String> = [pattern.to_owned()].into_iter().chain(numbers).collect();
    Exchanges::parse(&launch.run_counted(program, on, combine, &arguments)?)
}

fn add(table: &mut Table, case: &str, off: &Exchanges, on: &Exchanges) {
    let [messages_off, messages_on] =
        [off, on].map(|exchanges| format!("{} ({})", exchanges.messages[0], exchanges.messages[1]));
    for ((bytes, off), (_, on)) in off.times.iter().zip(&on.times) {
        table.row(&format!(
            "{case} | {bytes} | {off:.1} | {on:.1} | {:.2} | {messages_off} | {messages_on}",
            off / on
        ));
    }
}

#[test]
fn small_blocks_share_messages() {
    let lines = |factor: f64, all: u32, most: u32| {
        let times: String = SIZES.iter().map(|bytes| format!("{bytes} {factor}\n")).collect();
        format!("{times}0 wrong\nbetween nodes {all} 2 {most}\n")
    };
    let off = Exchanges { times: vec![(8, 3.0)], messages: [96.0, 8.0] };
    let on = Exchanges { times: vec![(8, 2.0)], messages: [48.0, 4.0] };
    let mut table = Table::new("t", "a | b | c | d | e | f | g | h | i");
    add(&mut table, "4 x 4 | 0.3 + 1.5 | 6", &off, &on);
    let row = "4 x 4 | 0.3 + 1.5 | 6 | 8 | 3.0 | 2.0 | 1.50 | 96 (8) | 48 (4)";
    assert_eq!(table.rows, [row.split(" | ").map(str::to_owned).collect::<Vec<_>>()]);
    assert_eq!(Exchanges::parse(&lines(1.0, 80, 8)).unwrap().messages, [10.0, 1.0]);
    assert!(Exchanges::parse("3 wrong\n").is_err() && Exchanges::parse("8 1.0\n").is_err());
}
