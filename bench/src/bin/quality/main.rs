mod generate;
mod graphs;
mod instances;
use cartograph::mapping::*;
use std::time::Instant;
fn main() {
    let arg = std::env::args().nth(1).unwrap_or_default();
    let options = Options {
        seconds: std::env::args().nth(2).map(|s| s.parse().unwrap()),
        ..Options::default()
    };
    if arg == "graphs" {
        graphs::run();
    } else if arg == "listed" {
        for (instance, published) in instances::listed() {
            if std::env::args()
                .nth(3)
                .is_some_and(|f| !f.split(';').any(|f| instance.name.starts_with(f)))
            {
                continue;
            }
            let t = Instant::now();
            let plan = plan_cart(&instance.grid(), &instance.layout, &options);
            println!(
                "{:28} LB {:6} | {:?} best {:?} SA {:?} | {} {} | {:?} {}",
                instance.name,
                plan.lower_bound,
                (plan.after.inter_node_edges, plan.after.max_node_edges),
                published.best,
                published.annealing,
                if (plan.after.inter_node_edges) <= published.annealing.0 { "ok" } else { "--" },
                plan.after.inter_node_edges as f64 / published.annealing.0 as f64,
                t.elapsed(),
                plan.algorithm
            );
        }
    } else if arg == "many" {
        let (mut s, mut n) = (0.0, 0);
        let t = Instant::now();
        for i in instances::many() {
            let plan = plan_cart(&i.grid(), &i.layout, &options);
            let r = plan.after.inter_node_edges as f64 / plan.lower_bound as f64;
            if r < 1.0 {
                println!("BAD {:?} {} {:?}", i.dims, i.periodic, plan.after);
            }
            s += r.ln();
            n += 1;
        }
        println!("{n} geomean {:.4} {:?}", (s / n as f64).exp(), t.elapsed());
    } else {
        for (dims, sizes) in [
            (vec![32, 32], vec![32; 32]),
            (vec![16, 8, 8], vec![32; 32]),
            (vec![128, 80], vec![64; 160]),
            (vec![25, 20, 20], vec![50; 200]),
            (vec![256, 256], vec![64; 1024]),
            (vec![64, 32, 32], vec![64; 1024]),
            (vec![256, 256], (0..1024).map(|i| 48 + 32 * (i % 2)).collect()),
            (vec![64, 32, 32], (0..1024).map(|i| 48 + 32 * (i % 2)).collect()),
            (vec![64, 32, 32], vec![47; 65536 / 47].into_iter().chain([65536 % 47]).collect()),
            (vec![1024, 1024], vec![64; 16384]),
            (vec![128, 128, 64], vec![64; 16384]),
            (vec![1024, 1024], (0..16384).map(|i| 48 + 32 * (i % 2)).collect()),
            (vec![128, 128, 64], (0..16384).map(|i| 48 + 32 * (i % 2)).collect()),
        ] {
            let g = Grid::new(
                dims.clone(),
                vec![false; dims.len()],
                Grid::nearest_neighbors(&vec![1; dims.len()]),
            );
            let l = Layout::blocks(&sizes);
            let t = Instant::now();
            let plan = plan_cart(&g, &l, &options);
            println!(
                "{dims:?} {} nodes: {:?} {} LB {} {:?} -> {:?}",
                sizes.len(),
                t.elapsed(),
                plan.algorithm,
                plan.lower_bound,
                plan.before,
                plan.after
            );
        }
    }
}
