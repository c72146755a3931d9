//! Texts of warnings to users.

use crate::launcher::variables;
use crate::topology::Cart;

/// The warning that `function`, a neighborhood collective, is used on a grid that is periodic along a dimension of one
/// or two processes: hosts return wrong results there, so the program behaves differently without Cartograph, unless
/// Cartograph delivers the host's results for a reason, `as_host`. `None` if there is no such dimension.
pub fn short_periodic_sides(function: &str, grid: &Cart, as_host: Option<&str>) -> Option<String> {
    let sides = grid.dimensions();
    let short = sides.iter().enumerate().filter(|(_, side)| side.periodic && side.size <= 2);
    let short: Vec<String> = short.map(|(i, side)| format!("dims[{i}] = {}", side.size)).collect();
    (!short.is_empty()).then(|| {
        let outcome = match as_host {
            None => "without Cartograph MPI libraries may return wrong data here".to_owned(),
            Some(why) => format!("data is delivered as without Cartograph, since {why}"),
        };
        format!(
            "{function} on a periodic dimension of fewer than three processes ({}): {outcome}",
            short.join(", ")
        )
    })
}

/// The rank of this process and the number of processes, as set by launchers. `environment` gives the value of a
/// variable.
pub fn launched(environment: impl Fn(&str) -> Option<String>) -> Option<(i32, i32)> {
    let read = |name| environment(name)?.parse::<i32>().ok();
    variables::ALL.iter().find_map(|of| read(of.rank).zip(of.size.and_then(read)))
}

/// The warning that each process is a separate job: `MPI_COMM_WORLD` has only one process although a launcher started
/// several, as with another MPI's launcher. `environment` gives the value of a variable.
pub fn foreign_launcher(
    processes: i32,
    environment: impl Fn(&str) -> Option<String>,
) -> Option<String> {
    variables::ALL.iter().filter(|_| processes == 1).find_map(|of| {
        let (variable, launcher) = (of.size?, of.launcher);
        let started = environment(variable)?.parse::<u64>().ok().filter(|started| *started > 1)?;
        Some(format!(
            "MPI_COMM_WORLD has one process, but {launcher} started {started} ({variable}): \
             start the program with the launcher of the MPI it is linked with"
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_short_periodic_sides_cause_a_warning() {
        let warning = |dims: &[i32], periods: &[bool]| {
            let grid = Cart::new(dims, periods, 99).unwrap();
            short_periodic_sides("MPI_Neighbor_alltoall", &grid, None)
        };
        let ring = Cart::new(&[2], &[true], 99).unwrap();
        let text = short_periodic_sides("MPI_Neighbor_alltoall", &ring, Some("it is so")).unwrap();
        assert!(
            text.ends_with("data is delivered as without Cartograph, since it is so"),
            "{text}"
        );
        assert_eq!(warning(&[1, 2, 3], &[false, false, true]), None);
        let text = warning(&[4, 2, 1], &[true, true, true]).unwrap();
        assert!(text.contains("(dims[1] = 2, dims[2] = 1)"), "{text}");
    }

    #[test]
    fn the_rank_is_read_from_variables_of_the_launcher() {
        let told = |pairs: &'static [(&str, &str)]| {
            launched(|name| pairs.iter().find(|pair| pair.0 == name).map(|pair| pair.1.to_owned()))
        };
        assert_eq!(told(&[]), None);
        assert_eq!(told(&[("PMI_RANK", "3"), ("PMI_SIZE", "8")]), Some((3, 8)));
        assert_eq!(told(&[("PMI_RANK", "x"), ("PMI_SIZE", "8"), ("SLURM_PROCID", "1")]), None);
    }

    #[test]
    fn a_launcher_of_another_mpi_causes_a_warning() {
        let warning = |processes: i32, started: &'static str| {
            foreign_launcher(processes, |name| (name == "PMI_SIZE").then(|| started.to_owned()))
        };
        assert!(warning(1, "4").unwrap().contains("started 4 (PMI_SIZE)"));
        for (processes, started) in [(1, "1"), (4, "4"), (2, "4"), (1, "x"), (1, "")] {
            assert_eq!(warning(processes, started), None, "{processes} of {started}");
        }
    }
}
