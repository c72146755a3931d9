//! Other dims with which a recorded grid would send less.

use cartograph_core::mapping::Grid;
use cartograph_core::topology::BoxShape;
use cartograph_traffic::{Recording, Topology};

use crate::dims::sides_text;

/// A smaller ratio is not shown.
const LEAST_GAIN: f64 = 1.1;

/// The weights of a grid's edges along its dimensions, as `CARTOGRAPH_WEIGHTS` takes them; `None` if nothing was sent.
pub(crate) fn weights(recording: &Recording, grid: &Topology) -> Option<String> {
    if grid.function != "MPI_Cart_create" {
        return None;
    }
    let weights = recording.weights(&grid.dims, Grid::most_weight(recording.size as usize))?;
    let words: Vec<String> = weights.iter().map(i64::to_string).collect();
    Some(format!("CARTOGRAPH_WEIGHTS={}", words.join(",")))
}

/// A line on dims that divide a grid's box, as its faces show it, better; `None` if there are none.
pub(crate) fn better_dims(recording: &Recording, grid: &Topology) -> Option<String> {
    if grid.function != "MPI_Cart_create" {
        return None;
    }
    let processes: u32 = grid.dims.iter().product();
    let faces = recording.weights(&grid.dims, Grid::most_weight(recording.size as usize))?;
    let faces: Option<Vec<u64>> = faces.iter().map(|face| u64::try_from(*face).ok()).collect();
    let shape = BoxShape::from_faces(&grid.dims, &faces?)?;
    let now: Vec<i32> = grid.dims.iter().map(|side| *side as i32).collect();
    let better = shape.dims(i32::try_from(processes).ok()?, &[]).ok()?;
    let [before, after] = [&now, &better].map(|dims| shape.bytes(dims, &grid.periodic) as f64);
    let gain = before / after;
    if after <= 0.0 || gain < LEAST_GAIN {
        return None;
    }
    let [now, better] = [&now, &better].map(|dims| sides_text(dims));
    // Sides of a box that are large numbers have no text.
    let setting = shape.sides().map_or_else(String::new, |sides| {
        format!("; CARTOGRAPH_DIMS={} makes MPI_Dims_create choose them", sides_text(&sides))
    });
    Some(format!("dims {now} -> {better}: {gain:.1} times fewer bytes between neighbors{setting}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cartograph_traffic::Count;

    #[test]
    fn the_shape_of_a_box_follows_from_its_faces() {
        // Blocks of 8 x 8 x 80 in 4 x 4 x 4 processes: 48 pairs of neighbors along each dimension.
        let count = |face: u64| Count { messages: 96, bytes: 96 * face };
        let grid = |function: &str, faces: [u64; 3]| Topology {
            along: faces.map(count).to_vec(),
            ..Topology::new(function, &[4, 4, 4], &[false; 3])
        };
        let line = |function, faces| {
            let grid = grid(function, faces);
            let recording =
                Recording { size: 64, topologies: vec![grid.clone()], ..Recording::default() };
            better_dims(&recording, &grid)
        };
        let found = line("MPI_Cart_create", [5120, 5120, 512]).unwrap();
        let wanted = "dims 4x4x4 -> 2x2x16: 1.8 times fewer bytes between neighbors; CARTOGRAPH_DIMS=1x1x10 ";
        assert!(found.starts_with(wanted), "{found}");
        assert_eq!(line("MPI_Cart_create", [512, 512, 512]), None);
        assert_eq!(line("MPI_Cart_create", [512, 0, 512]), None);
        assert_eq!(line("MPI_Cart_sub", [5120, 5120, 512]), None);
    }
}
