//! The box of a volume with the least surface.

/// The sides of the box of this volume with the least surface, given the weight of each dimension's walls and its
/// maximal length. The surface across a dimension is the volume divided by the side, so sides are in proportion to the
/// weights.
pub(super) fn compact_box(volume: f64, walls: &[(i64, f64)]) -> Vec<f64> {
    let first = walls[0].0.max(1) as f64;
    let sides = |unit: f64| {
        let side =
            move |(weight, most): &(i64, f64)| (unit * *weight as f64 / first).clamp(1.0, *most);
        walls.iter().map(side)
    };
    // Sides are computed by bisection: every machine rounds these operations in the same way.
    let (mut low, mut high) = (0.0, volume * first + 1.0);
    for _ in 0..100 {
        let unit = 0.5 * (low + high);
        *(if sides(unit).product::<f64>() <= volume { &mut low } else { &mut high }) = unit;
    }
    sides(low).collect()
}
