//! `make lab-scale`: traces of public programs, replayed by SimGrid on current networks with their ranks in several
//! orders. Writes `lab/results/scale.json`; `scale TRACE...` replays only these traces, and replaces their rows.
//!
//! `scale trace LIST FIRST LAST TITLE GRID FILE` converts the output of `smpirun -trace-ti` to a trace: the calls after
//! collective FIRST up to collective LAST. GRID is `-`, or the grid that the program creates with `reorder = 1`, such
//! as `16x16`.

mod collectives;
mod machine;
mod measure;
mod orders;
mod recording;
mod smpi;
mod trace;

use std::error::Error;
use std::path::Path;

use trace::Trace;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["trace", list, first, last, title, grid, file] => {
            let mut program = smpi::read(Path::new(list), [first.parse()?, last.parse()?])?;
            trace::without_noise(&mut program);
            let sides = grid.split('x').map(str::parse).collect::<Result<Vec<i32>, _>>().ok();
            let grid = sides.map(|sides| (sides, false));
            Trace { title: title.into(), grid, program }.write(Path::new(file))
        }
        ["collectives"] => collectives::all(),
        _ => measure::all(&words),
    }
}
