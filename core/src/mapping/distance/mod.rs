//! The cost of a mapping on a machine: by the levels that edges cross, or by the links of a torus.

pub(super) mod distance_model;
pub(super) mod distances;
pub(super) mod torus;
