//! Graphs to map: meshes, geometric and scale-free graphs, communities; always the same ones.

use cartograph_core::mapping::Csr;

/// Pseudo-random numbers, equal on all machines (xorshift64*).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// In `0..bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }

    /// In `0.0..1.0`.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// A graph with each edge in both directions.
pub fn undirected(vertices: usize, edges: &[(u32, u32, i64)]) -> Csr {
    let both = edges.iter().flat_map(|(a, b, weight)| [(*a, *b, *weight), (*b, *a, *weight)]);
    Csr::from_edges(vertices, both)
}

/// Edges between the cells of a box that differ by one of `steps`.
fn lattice(sides: [usize; 3], steps: &[[usize; 3]], inside: impl Fn([usize; 3]) -> bool) -> Csr {
    let mut number = std::collections::HashMap::new();
    let cells = (0..sides[0])
        .flat_map(|x| (0..sides[1]).flat_map(move |y| (0..sides[2]).map(move |z| [x, y, z])));
    let cells: Vec<[usize; 3]> = cells.filter(|cell| inside(*cell)).collect();
    for cell in &cells {
        number.insert(*cell, number.len() as u32);
    }
    let mut edges = Vec::new();
    for cell in &cells {
        for step in steps {
            let to = [cell[0] + step[0], cell[1] + step[1], cell[2] + step[2]];
            if let Some(to) = number.get(&to) {
                edges.push((number[cell], *to, 1));
            }
        }
    }
    undirected(cells.len(), &edges)
}

/// A grid of two or, with `z` larger than 1, of three dimensions.
pub fn grid(x: usize, y: usize, z: usize) -> Csr {
    lattice([x, y, z], &[[1, 0, 0], [0, 1, 0], [0, 0, 1]], |_| true)
}

/// A mesh of tetrahedra: every cube of a ball with a hole is divided into six.
pub fn tetrahedra(side: usize) -> Csr {
    let steps = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [1, 0, 1], [0, 1, 1], [1, 1, 1]];
    let middle = side as f64 / 2.0;
    lattice([side; 3], &steps, |cell| {
        let square = |c: usize| (c as f64 + 0.5 - middle).powi(2);
        let distance = cell.into_iter().map(square).sum::<f64>().sqrt();
        (middle * 0.4..middle).contains(&distance)
    })
}

/// Random points in the unit square, numbered along strips.
fn points(count: usize, seed: u64) -> Vec<(f64, f64)> {
    let mut random = Random::new(seed);
    let mut points: Vec<(f64, f64)> = (0..count).map(|_| (random.unit(), random.unit())).collect();
    points.sort_by(|a, b| {
        ((a.0 * 16.0) as u32, a.1).partial_cmp(&((b.0 * 16.0) as u32, b.1)).unwrap()
    });
    points
}

/// The triangles between random points, without overlap and as round as can be (Delaunay).
pub fn triangles(vertices: usize, seed: u64) -> Csr {
    let points: Vec<delaunator::Point> =
        points(vertices, seed).into_iter().map(|(x, y)| delaunator::Point { x, y }).collect();
    let corners = delaunator::triangulate(&points).triangles;
    let mut edges = Vec::new();
    for triangle in corners.chunks_exact(3) {
        for (a, b) in [(0, 1), (1, 2), (2, 0)] {
            let (a, b) = (triangle[a] as u32, triangle[b] as u32);
            edges.push((a.min(b), a.max(b), 1));
        }
    }
    edges.sort_unstable();
    edges.dedup();
    undirected(vertices, &edges)
}

/// Random points, of which those closer than a radius are neighbors; the mean degree is `degree`.
pub fn geometric(vertices: usize, degree: f64, seed: u64) -> Csr {
    let points = points(vertices, seed);
    let radius = (degree / (std::f64::consts::PI * vertices as f64)).sqrt();
    let columns = (1.0 / radius) as usize;
    let cell = |(x, y): (f64, f64)| ((x * columns as f64) as usize, (y * columns as f64) as usize);
    let mut cells = vec![Vec::new(); columns * columns];
    for (i, point) in points.iter().enumerate() {
        let (x, y) = cell(*point);
        cells[x * columns + y].push(i);
    }
    let mut edges = Vec::new();
    for (i, point) in points.iter().enumerate() {
        let (x, y) = cell(*point);
        for x in x.saturating_sub(1)..(x + 2).min(columns) {
            for y in y.saturating_sub(1)..(y + 2).min(columns) {
                for j in &cells[x * columns + y] {
                    let (dx, dy) = (point.0 - points[*j].0, point.1 - points[*j].1);
                    if i < *j && dx * dx + dy * dy < radius * radius {
                        edges.push((i as u32, *j as u32, 1));
                    }
                }
            }
        }
    }
    undirected(vertices, &edges)
}

/// A scale-free graph: every new vertex gets `degree` edges to ends of existing edges.
pub fn scale_free(vertices: usize, degree: usize, seed: u64) -> Csr {
    let mut random = Random::new(seed);
    let mut edges: Vec<(u32, u32, i64)> = vec![(0, 1, 1)];
    for vertex in 2..vertices as u32 {
        for _ in 0..degree {
            let edge = edges[random.below(edges.len())];
            let to = if random.below(2) == 0 { edge.0 } else { edge.1 };
            if to != vertex {
                edges.push((to, vertex, 1));
            }
        }
    }
    undirected(vertices, &edges)
}

/// Communities of `size` vertices within communities of `size * groups`: most edges stay in the smaller ones, some in
/// the larger ones, and few leave both. Vertices are numbered at random.
pub fn communities(vertices: usize, size: usize, groups: usize, seed: u64) -> Csr {
    let mut random = Random::new(seed);
    let mut number: Vec<u32> = (0..vertices as u32).collect();
    for i in (1..vertices).rev() {
        number.swap(i, random.below(i + 1));
    }
    let mut edges = Vec::new();
    for vertex in 0..vertices {
        for (reach, count) in [(size, 8), (size * groups, 2), (vertices, 1)] {
            for _ in 0..count {
                let to = vertex / reach * reach + random.below(reach);
                if to < vertices && to != vertex {
                    edges.push((number[vertex], number[to], 1));
                }
            }
        }
    }
    undirected(vertices, &edges)
}

/// The graph with weights from 1 to `most`, equal in both directions.
pub fn weighted(graph: &Csr, most: usize, seed: u64) -> Csr {
    let mut random = Random::new(seed);
    let mut edges = Vec::new();
    for vertex in 0..cartograph_core::mapping::Adjacency::vertices(graph) {
        for (to, _) in graph.edges(vertex).filter(|(to, _)| vertex < *to) {
            // Small weights are more likely than large ones.
            let upto = 1 + random.below(most);
            let weight = 1 + random.below(upto) as i64;
            edges.push((vertex as u32, to as u32, weight));
        }
    }
    undirected(cartograph_core::mapping::Adjacency::vertices(graph), &edges)
}
