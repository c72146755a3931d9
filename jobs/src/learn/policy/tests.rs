use super::*;
use crate::learn::spent::Cost;

fn run((arm, seconds): &(usize, f64)) -> Run {
    Run { arm: *arm, group: 1, shape: 0, seconds: *seconds }
}

fn of(
    predicted: &[f64],
    runs: &[Run],
    experience: &[(f64, f64)],
    conditions: &Conditions,
) -> Choice {
    let cost = |run: &Run| {
        let bare = if run.arm == 0 { run.seconds } else { 10.0 };
        Cost {
            bare,
            more: run.seconds.min(15.0) - bare,
            is_check: run.arm == 0,
            is_uncompared: false,
        }
    };
    let spent = Spent::new(&runs.iter().map(cost).collect::<Vec<Cost>>());
    choose(
        &Known {
            predicted,
            runs,
            experience,
            is_first_here: true,
            spent,
            is_uncompared_here: false,
            is_changed: false,
        },
        conditions,
    )
}

fn next(predicted: &[f64], all: &[(usize, f64)]) -> (usize, Reason) {
    let runs: Vec<Run> = all.iter().map(run).collect();
    let choice = of(predicted, &runs, &[], &Conditions::default());
    (choice.arm, choice.reason)
}

/// The jobs after the first one, given the times of each arm, that run in the default order.
fn own_jobs(times: impl Fn(usize) -> [f64; 2], count: usize) -> Vec<usize> {
    let (mut runs, mut own) = (Vec::new(), Vec::new());
    for job in 2..count {
        let (arm, _) = next(&[1.0, 1.3], &runs);
        if arm == 0 {
            own.push(job);
        }
        runs.push((arm, times(job)[arm]));
    }
    own
}

#[test]
fn the_default_order_runs_again_after_the_first_placed_job_and_then_at_growing_distances() {
    assert_eq!(next(&[1.0, 1.3], &[]), (1, Reason::Trial));
    assert_eq!(next(&[1.0, 1.3], &[(1, 8.0)]), (0, Reason::Check));
    for gain in [1.3, 17.0] {
        let checks = own_jobs(|_| [10.0, 10.0 / gain], 120);
        assert_eq!(checks[0], 3, "{checks:?}");
        let gaps: Vec<usize> = checks.windows(2).map(|two| two[1] - two[0]).collect();
        let grow = gaps.windows(3).all(|gaps| gaps[2] > gaps[0]);
        assert!(grow && (5..=6).contains(&checks.len()), "{checks:?}");
    }
}

#[test]
fn a_slower_placement_is_dropped_after_its_first_trial() {
    for seconds in [11.5, 12.0, 14.0] {
        let own = own_jobs(|_| [10.0, seconds], 20);
        assert_eq!(own, (3..20).collect::<Vec<usize>>(), "{seconds}");
    }
    // Another placement with an equal prediction is not tried at once either.
    assert_ne!(next(&[1.0, 1.3, 1.29], &[(1, 16.0), (0, 10.0)]).0, 1);
}

#[test]
fn a_placement_that_becomes_slower_is_noticed() {
    let own = own_jobs(|job| if job < 12 { [10.0, 5.0] } else { [10.0, 14.0] }, 40);
    let placed = (12..40).filter(|job| !own.contains(job)).count();
    assert_eq!(placed, 2, "{own:?}");
    // If everything becomes slower, the placement is compared once, and stays.
    let own = own_jobs(|job| if job < 12 { [10.0, 5.0] } else { [20.0, 10.0] }, 40);
    assert!(own.contains(&13) && own.len() <= 6, "{own:?}");
}

#[test]
fn the_default_order_runs_after_a_slow_run_and_nothing_is_tried_meanwhile() {
    let runs = [(1, 8.0), (0, 10.0), (1, 8.0), (1, 8.0), (1, 14.0)];
    let next = |runs: &[(usize, f64)]| next(&[1.0, 1.3, 1.6], runs);
    assert_eq!(next(&runs), (0, Reason::Check));
    assert_ne!(next(&[&runs[..], &[(0, 10.0)]].concat()).1, Reason::Trial);
}

#[test]
fn a_placement_slower_than_all_runs_in_the_default_order_is_not_tried_again_soon() {
    let own = own_jobs(|job| if job % 2 == 0 { [30.0, 46.0] } else { [10.0, 15.0] }, 50);
    assert_eq!(own, (3..50).collect::<Vec<usize>>());
}

#[test]
fn an_uncertain_placement_does_not_run_more_often_than_it_may_cost() {
    // Its times are as far apart as those of the default order.
    let times = [[10.0, 9.0], [14.0, 13.0], [8.0, 7.5], [12.0, 11.0], [9.0, 14.0]];
    let own = own_jobs(|job| times[job % 5], 60);
    assert!(own.len() > 20, "{own:?}");
}

#[test]
fn a_run_that_takes_ten_times_as_long_is_checked_once() {
    let before = own_jobs(|_| [10.0, 8.0], 40);
    let own = own_jobs(|job| if job == 15 { [10.0, 80.0] } else { [10.0, 8.0] }, 40);
    assert!(!before.contains(&15) && own.contains(&16) && own.len() <= before.len() + 1, "{own:?}");
}

#[test]
fn a_gain_far_above_the_predicted_one_is_compared_again_soon() {
    // The run in the default order was disturbed.
    let own = own_jobs(|job| if job == 3 { [100.0, 13.0] } else { [10.0, 13.0] }, 20);
    assert_eq!(own[..2], [3, 6], "{own:?}");
}

#[test]
fn a_placement_faster_on_other_nodes_is_used_on_new_ones_at_once() {
    let next = |experience: &[(f64, f64)], runs: &[Run], in_a_hurry| {
        let conditions = Conditions { in_a_hurry, shape: 5, ..Conditions::default() };
        let elsewhere = [Run { shape: 4, ..run(&(0, 1.0)) }];
        let runs: Vec<Run> = elsewhere.iter().chain(runs).copied().collect();
        let known = Known {
            predicted: &[1.0, 1.5, 1.3],
            runs: &runs,
            experience,
            is_first_here: false,
            spent: Spent::new(&[Cost {
                bare: 1.0,
                more: 0.0,
                is_check: true,
                is_uncompared: false,
            }]),
            is_uncompared_here: false,
            is_changed: false,
        };
        let choice = choose(&known, &conditions);
        (choice.arm, choice.reason)
    };
    let (proven, refuted) = ([(1.6, 1.4)], [(1.6, 0.95)]);
    assert_eq!(next(&proven, &[], false), (1, Reason::Trial));
    assert_eq!(next(&proven, &[], true).0, 0);
    assert_eq!(next(&refuted, &[], false), (0, Reason::Check));
    // When this shape recurs, the placement is compared.
    let placed = Run { shape: 5, ..run(&(1, 7.0)) };
    assert_eq!(next(&proven, &[placed], false), (0, Reason::Check));
}

#[test]
fn nodes_that_never_repeat_are_compared_with_each_other() {
    let next = |runs: &[Run]| {
        let conditions = Conditions { shape: 99, ..Conditions::default() };
        let choice = of(&[1.0, 1.5], runs, &[], &conditions);
        (choice.arm, choice.reason)
    };
    let own = |shape| Run { arm: 0, group: 1, shape, seconds: 10.0 };
    let placed = |shape, seconds| Run { arm: 1, group: 1, shape, seconds };
    assert_eq!(next(&[own(1)]), (1, Reason::Trial));
    let fast = [own(1), placed(2, 5.0), own(3), placed(4, 5.1), own(5)];
    assert_eq!(next(&fast), (1, Reason::Best));
    // A placement that is not faster is not used.
    let equal = [own(1), placed(2, 9.9), own(3), placed(4, 10.1), own(5), placed(6, 9.9)];
    assert_eq!(next(&equal).0, 0);
}

#[test]
fn a_gain_on_three_shapes_in_a_row_needs_no_comparison_on_each_new_one() {
    let own = |shape| Run { arm: 0, group: 1, shape, seconds: 10.0 };
    let placed = |shape| Run { arm: 1, group: 1, shape, seconds: 7.0 };
    let old: Vec<Run> = (1..6).flat_map(|shape| [placed(shape), own(shape)]).collect();
    let next = |gains: &[(f64, f64)], count: usize| {
        let runs = [&old[..], &vec![placed(9); count]].concat();
        let conditions = Conditions { shape: 9, ..Conditions::default() };
        of(&[1.0, 1.5], &runs, gains, &conditions).arm
    };
    let proven = [(1.5, 1.4), (1.5, 1.3), (1.5, 1.4)];
    assert_eq!([0, 1, 2, 3].map(|count| next(&proven, count)), [1, 1, 1, 0]);
    let doubted = [(1.5, 1.4), (1.5, 1.3), (1.5, 0.9)];
    assert_eq!([0, 1].map(|count| next(&doubted, count)), [1, 0]);
}

#[test]
fn nothing_is_tried_in_a_hurry() {
    let hurry = Conditions { in_a_hurry: true, ..Conditions::default() };
    assert_eq!(of(&[1.0, 1.3], &[], &[], &hurry).arm, 0);
    assert_eq!(of(&[1.0, 1.3], &[run(&(0, 10.0))], &[], &hurry).arm, 0);
    // An arm that is known to be faster needs no trial.
    let runs = [run(&(0, 10.0)), run(&(1, 7.0))];
    assert_eq!(of(&[1.0, 1.3], &runs, &[], &hurry).arm, 1);
}
