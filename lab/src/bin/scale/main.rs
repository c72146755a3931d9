//! `make lab-scale`: traces of public programs, replayed by SimGrid on networks of today with their ranks in several
//! orders. Writes `lab/results/scale.json`; `scale TRACE...` replays some, whose rows it replaces.
//!
//! `scale trace LIST FIRST LAST TITLE GRID FILE` makes a trace of what `smpirun -trace-ti` wrote: the calls after
//! collective FIRST up to collective LAST. GRID is `-`, or the grid that the program makes with `reorder = 1`: `16x16`.

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
