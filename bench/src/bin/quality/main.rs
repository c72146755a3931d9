//! How good the mappings are, as tables.

mod generate;
mod graphs;

fn main() {
    graphs::run();
}
