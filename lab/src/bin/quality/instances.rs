//! The measured grids.

use cartograph_core::machine::Machine;
use cartograph_core::mapping::{Grid, Offset};
use cartograph_core::topology::dims_create;

/// One grid on one machine.
pub(crate) struct Instance {
    pub(crate) name: &'static str,
    pub(crate) dims: Vec<usize>,
    pub(crate) periodic: bool,
    pub(crate) stencil: Vec<Offset>,
    pub(crate) layout: Machine,
}

impl Instance {
    /// Nearest neighbors on nodes of these sizes.
    fn new(name: &'static str, dims: &[usize], sizes: &[usize]) -> Self {
        let stencil = Grid::nearest_neighbors(&vec![1; dims.len()]);
        let layout = Machine::blocks(sizes);
        Self { name, dims: dims.to_vec(), periodic: false, stencil, layout }
    }

    pub(crate) fn torus(self) -> Self {
        Self { periodic: true, ..self }
    }

    fn with(self, vectors: &[&[i32]]) -> Self {
        let vector = |by: &&[i32]| Offset { by: by.to_vec(), weight: 1 };
        Self { stencil: vectors.iter().map(vector).collect(), ..self }
    }

    pub(crate) fn grid(&self) -> Grid {
        let periodic = vec![self.periodic; self.dims.len()];
        Grid::new(self.dims.clone(), periodic, self.stencil.clone())
    }
}

/// J_sum and J_max of one method on one instance.
pub(crate) type Figures = (i64, i64);

/// Results of other methods, copied from their papers or measured earlier with their programs: see the head of
/// docs/results/quality.md.
pub(crate) struct Published {
    pub(crate) blocked: Figures,
    pub(crate) hyperplane: Figures,
    pub(crate) kd_tree: Figures,
    pub(crate) strips: Figures,
    pub(crate) nodecart: Option<Figures>,
    pub(crate) best: Figures,
    pub(crate) annealing: Figures,
}

/// The instances of the literature.
pub(crate) fn listed() -> Vec<(Instance, Published)> {
    let uneven = |parts: &[(usize, usize)]| -> Vec<usize> {
        parts.iter().flat_map(|(count, size)| vec![*size; *count]).collect()
    };
    let row = |instance, columns: [Figures; 7]| {
        let [blocked, hyperplane, kd_tree, strips, nodecart, best, annealing] = columns;
        let nodecart = Some(nodecart).filter(|figures| *figures != (0, 0));
        (instance, Published { blocked, hyperplane, kd_tree, strips, nodecart, best, annealing })
    };
    let even = |name, dims: &[usize], nodes, size| Instance::new(name, dims, &vec![size; nodes]);
    let hops: [&[i32]; 8] =
        [&[-1, 0], &[1, 0], &[0, -1], &[0, 1], &[-2, 0], &[2, 0], &[-3, 0], &[3, 0]];
    vec![
        row(
            even("50x48, 50 of 48", &[50, 48], 50, 48),
            [(4704, 96), (1328, 38), (1732, 46), (1244, 28), (2404, 50), (1224, 30), (1218, 30)],
        ),
        row(
            even("50x48, 50 of 48, hops", &[50, 48], 50, 48).with(&hops),
            [
                (13824, 288),
                (3268, 108),
                (4364, 114),
                (3868, 88),
                (11524, 242),
                (2956, 68),
                (2956, 68),
            ],
        ),
        row(
            even("50x48, 50 of 48, component", &[50, 48], 50, 48).with(&[&[-1, 0], &[1, 0]]),
            [(4704, 96), (288, 16), (96, 2), (96, 2), (2304, 48), (96, 2), (96, 2)],
        ),
        row(
            even("75x64, 100 of 48", &[75, 64], 100, 48),
            [(9622, 98), (2802, 38), (3490, 46), (2654, 30), (3522, 38), (2562, 28), (2558, 30)],
        ),
        row(
            even("75x64 torus, 100 of 48", &[75, 64], 100, 48).torus(),
            [(9900, 100), (3080, 38), (3768, 46), (2932, 40), (3800, 38), (2840, 38), (2840, 38)],
        ),
        row(
            even("16x15x10, 50 of 48", &[16, 15, 10], 50, 48),
            [(5508, 118), (3068, 80), (3796, 98), (3500, 86), (3500, 86), (2976, 80), (2968, 80)],
        ),
        row(
            even("20x16x15, 100 of 48", &[20, 16, 15], 100, 48),
            [(11680, 128), (6616, 88), (8040, 104), (7136, 92), (6280, 80), (6280, 80), (6280, 80)],
        ),
        row(
            even("12x8x8, 16 of 48", &[12, 8, 8], 16, 48),
            [(1600, 112), (768, 56), (768, 56), (896, 68), (768, 56), (768, 56), (768, 56)],
        ),
        row(
            even("32x16x16, 64 of 128", &[32, 16, 16], 64, 128),
            [
                (16896, 272),
                (7680, 144),
                (7680, 144),
                (9952, 204),
                (7680, 160),
                (7680, 144),
                (7680, 144),
            ],
        ),
        row(
            even("40x40x40, 1000 of 64", &[40, 40, 40], 1000, 64),
            [
                (203200, 210),
                (100992, 152),
                (117296, 142),
                (109240, 124),
                (86400, 96),
                (86400, 96),
                (86400, 96),
            ],
        ),
        row(
            even("47x13, 13 of 47", &[47, 13], 13, 47),
            [(336, 28), (688, 94), (372, 43), (260, 23), (1128, 94), (260, 23), (256, 24)],
        ),
        row(
            even("37x6x4, 24 of 37", &[37, 6, 4], 24, 37),
            [(1300, 58), (1996, 96), (1244, 64), (1068, 48), (2812, 148), (964, 44), (924, 44)],
        ),
        row(
            even("17x12x10, 60 of 34", &[17, 12, 10], 60, 34),
            [(5036, 90), (4028, 102), (3842, 78), (3292, 74), (5372, 102), (3176, 72), (3092, 74)],
        ),
        row(
            even("53x47, 53 of 47", &[53, 47], 53, 47),
            [(4888, 94), (3040, 94), (1860, 46), (1394, 30), (4888, 94), (1348, 30), (1334, 32)],
        ),
        row(
            Instance::new("50x48, uneven", &[50, 48], &uneven(&[(40, 48), (10, 30), (12, 15)])),
            [(4744, 96), (1664, 44), (1902, 46), (1392, 28), (0, 0), (1372, 28), (1366, 32)],
        ),
        row(
            Instance::new("12x8x8, uneven", &[12, 8, 8], &uneven(&[(10, 48), (6, 32), (4, 24)])),
            [(1632, 112), (912, 56), (944, 68), (960, 68), (0, 0), (880, 56), (880, 56)],
        ),
    ]
}

/// 720 grids: 15 node counts, 12 sizes, two and three dimensions, grid and torus.
pub(crate) fn many() -> Vec<Instance> {
    of_counts(
        [4, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 60, 64, 80, 100],
        [16, 20, 24, 28, 32, 36, 40, 48, 56, 64, 96, 128],
    )
}

/// The same with less round numbers.
pub(crate) fn less_round() -> Vec<Instance> {
    of_counts(
        [4, 6, 8, 10, 13, 16, 20, 24, 27, 32, 37, 50, 64, 80, 100],
        [16, 20, 24, 28, 32, 36, 40, 47, 48, 64, 96, 128],
    )
}

fn of_counts(counts: [usize; 15], sizes: [usize; 12]) -> Vec<Instance> {
    let mut instances = Vec::new();
    for count in counts {
        for size in sizes {
            for ndims in [2, 3] {
                let instance = || by_dims_create(count, size, ndims);
                instances.extend([instance(), instance().torus()]);
            }
        }
    }
    instances
}

/// A grid from `MPI_Dims_create`, not periodic.
pub(crate) fn by_dims_create(nodes: usize, size: usize, ndims: usize) -> Instance {
    let mut dims = vec![0; ndims];
    dims_create((nodes * size) as i32, &mut dims).expect("a positive number of ranks");
    let dims: Vec<usize> = dims.iter().map(|side| *side as usize).collect();
    Instance::new("", &dims, &vec![size; nodes])
}

/// Grids as programs create them, on nodes of today's sizes: two and three dimensions, not periodic.
pub(crate) fn everyday(nodes: usize) -> Vec<Instance> {
    let sizes = [32, 48, 64, 128];
    sizes.iter().flat_map(|size| [2, 3].map(|ndims| by_dims_create(nodes, *size, ndims))).collect()
}

/// Small grids on a few small nodes, where little can be gained. Grid and torus.
pub(crate) fn small() -> Vec<Instance> {
    let mut instances = Vec::new();
    for count in [2, 3, 4, 6, 8] {
        for size in [2, 4, 6, 8, 12] {
            for ndims in [2, 3] {
                let mut dims = vec![0; ndims];
                dims_create((count * size) as i32, &mut dims).expect("a positive number of ranks");
                let dims: Vec<usize> = dims.iter().map(|side| *side as usize).collect();
                let instance = || Instance::new("", &dims, &vec![size; count]);
                instances.extend([instance(), instance().torus()]);
            }
        }
    }
    instances
}

/// Sides that are primes or nearly so, on nodes whose sizes do not divide them; the last node is smaller. Grid and
/// torus.
pub(crate) fn held_out() -> Vec<Instance> {
    let sides: [&[usize]; 10] = [
        &[23, 19],
        &[37, 31],
        &[59, 13],
        &[61, 43],
        &[67, 62],
        &[11, 7, 5],
        &[13, 11, 11],
        &[17, 13, 7],
        &[19, 17, 13],
        &[29, 23, 5],
    ];
    let mut instances = Vec::new();
    for dims in sides {
        let cells: usize = dims.iter().product();
        for size in [22, 41, 76] {
            let sizes: Vec<usize> =
                (0..cells).step_by(size).map(|at| size.min(cells - at)).collect();
            instances.push(Instance::new("", dims, &sizes));
            instances.push(Instance::new("", dims, &sizes).torus());
        }
    }
    instances
}
