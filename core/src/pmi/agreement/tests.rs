use super::*;
use crate::pmi::fake::{Job, LONGEST};

/// The order by which two nodes of two processes exchange their second processes.
fn order() -> Order {
    Order { new_ranks: vec![0, 2, 1, 3], node_of_rank: vec![0, 1, 0, 1], pretends: false }
}

fn agreed(job: &Job, orders: Vec<Option<Order>>) -> Vec<io::Result<Agreement>> {
    job.run(orders, |server, size, order| agree(server, size, order))
}

#[test]
fn all_processes_place_their_ranks() {
    let job = Job::new("(vector,(0,2,2))");
    for agreement in agreed(&job, vec![Some(order()); 4]) {
        let placed = agreement.unwrap().placed.unwrap();
        assert_eq!(placed.order, order());
        assert_eq!((placed.mapping.nodes(), placed.longest), (&[0, 1, 0, 1][..], LONGEST));
    }
}

#[test]
fn no_process_places_its_rank_if_one_cannot() {
    let job = Job::new("(vector,(0,2,2))");
    let mut orders = vec![Some(order()); 4];
    orders[3] = None;
    for agreement in agreed(&job, orders) {
        let agreement = agreement.unwrap();
        assert_eq!(agreement.placed, None);
        assert_eq!(agreement.answers[0].1, "cmd=response_to_init rc=0");
    }
    // Nor if its order is for another number of processes.
    let mut orders = vec![Some(order()); 4];
    orders[1] = Order::parse(r#"{"new_ranks":[0],"node_of_rank":[0]}"#);
    assert!(agreed(&job, orders).into_iter().all(|one| one.unwrap().placed.is_none()));
}

#[test]
fn other_nodes_leave_ranks_where_they_are() {
    for mapping in ["(vector,(0,2,1))", "(vector,(0,1,3),(1,1,1))", "(vector,(0,4,1))", "none"] {
        let all = agreed(&Job::new(mapping), vec![Some(order()); 4]);
        assert!(all.into_iter().all(|one| one.unwrap().placed.is_none()), "{mapping}");
    }
    // The numbers of nodes do not count.
    let all = agreed(&Job::new("(vector,(3,1,2),(1,1,2))"), vec![Some(order()); 4]);
    for one in all {
        assert_eq!(one.unwrap().placed.unwrap().mapping.nodes(), [3, 1, 3, 1]);
    }
}

#[test]
fn a_process_does_not_start_if_the_others_do_not_learn_of_its_refusal() {
    let job = Job { takes_values: false, ..Job::new("(vector,(0,2,2))") };
    let mut orders = vec![Some(order()); 4];
    orders[2] = None;
    let all = agreed(&job, orders);
    assert!(all[2].is_err() && all[0].as_ref().unwrap().placed.is_some());
}
