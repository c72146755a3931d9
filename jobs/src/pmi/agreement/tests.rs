use super::*;
use crate::pmi::fake::{Job, LONGEST};

/// The order by which two nodes of two processes exchange their second processes.
fn order() -> Order {
    Order { new_ranks: vec![0, 2, 1, 3], node_of_rank: vec![0, 1, 0, 1], pretends: false }
}

const BOTH: [Version; 2] = [Version::One, Version::Two];

fn agreed(job: &Job, version: Version, orders: Vec<Option<Order>>) -> Vec<io::Result<Agreement>> {
    job.run(orders, |server, process, order| agree(server, version, process, order))
}

#[test]
fn all_processes_place_their_ranks() {
    let job = Job::new("(vector,(0,2,2))");
    for version in BOTH {
        for agreement in agreed(&job, version, vec![Some(order()); 4]) {
            let placed = agreement.unwrap().placed.unwrap();
            assert_eq!(placed.order, order());
            assert_eq!((placed.mapping.nodes(), placed.longest), (&[0, 1, 0, 1][..], LONGEST));
        }
    }
}

#[test]
fn no_process_places_its_rank_if_one_cannot() {
    let job = Job::new("(vector,(0,2,2))");
    for version in BOTH {
        let mut orders = vec![Some(order()); 4];
        orders[3] = None;
        for agreement in agreed(&job, version, orders) {
            let agreement = agreement.unwrap();
            assert_eq!(agreement.placed, None);
            assert!(agreement.answers[0].1.starts_with("cmd=response_to_init rc=0"));
        }
        // The same if its order is for another number of processes.
        let mut orders = vec![Some(order()); 4];
        orders[1] = Order::parse(r#"{"new_ranks":[0],"node_of_rank":[0]}"#);
        let all = agreed(&job, version, orders);
        assert!(all.into_iter().all(|one| one.unwrap().placed.is_none()));
    }
}

#[test]
fn other_nodes_leave_ranks_where_they_are() {
    for version in BOTH {
        let agreed = |mapping| agreed(&Job::new(mapping), version, vec![Some(order()); 4]);
        for mapping in ["(vector,(0,2,1))", "(vector,(0,1,3),(1,1,1))", "(vector,(0,4,1))", "none"]
        {
            let all = agreed(mapping);
            assert!(all.into_iter().all(|one| one.unwrap().placed.is_none()), "{mapping}");
        }
        // The numbering of nodes does not matter.
        for one in agreed("(vector,(3,1,2),(1,1,2))") {
            assert_eq!(one.unwrap().placed.unwrap().mapping.nodes(), [3, 1, 3, 1]);
        }
    }
}

#[test]
fn a_process_does_not_start_if_the_others_do_not_learn_of_its_refusal() {
    let job = Job { takes_values: false, ..Job::new("(vector,(0,2,2))") };
    for version in BOTH {
        let mut orders = vec![Some(order()); 4];
        orders[2] = None;
        let all = agreed(&job, version, orders);
        assert!(all[2].is_err() && all[0].as_ref().unwrap().placed.is_some());
    }
}

#[test]
fn a_process_does_not_start_if_its_launcher_does_not_speak_the_version() {
    struct Old;
    impl Server for Old {
        fn ask(&mut self, _: Format, _: &str) -> io::Result<String> {
            Ok("cmd=response_to_init rc=-1 pmi_version=1 pmi_subversion=1".to_owned())
        }
    }
    let process = Process { rank: 0, size: 4, job: "kvs".to_owned() };
    assert!(agree(&mut Old, Version::Two, &process, Some(order())).is_err());
}
