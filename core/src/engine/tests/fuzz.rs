//! The body of the fuzz target `constructors`: simulated processes, each of which makes arbitrary calls. `cartograph-jobs`
//! has the others.

use arbitrary::{Result, Unstructured};

use super::calls::{ConstructorCall, fits, make};
use super::check::Check;
use super::comm::Comm;
use super::decision::CallSettings;
use super::policy::Reorder;
use super::sim;
use crate::machine::Machine;
use crate::mapping::Options;
use crate::topology::Cart;

/// Checks that all ranks get one result: a matching communicator, or one error.
pub fn constructors(data: &[u8]) {
    let _ = any_calls(&mut Unstructured::new(data));
}

fn any_calls(u: &mut Unstructured) -> Result<()> {
    let size = u.int_in_range(1..=4)?;
    let calls = [any_call(u, size)?, any_call(u, size)?];
    // Most ranks make the first call.
    let picks = (0..size).map(|_| u.ratio(1, 5)).collect::<Result<Vec<bool>>>()?;
    let nodes = (0..size).map(|_| u.int_in_range(0..=2)).collect::<Result<Vec<u64>>>()?;
    let layout = u.arbitrary::<bool>()?.then(|| Machine::from_ids(&nodes));
    let settings = CallSettings {
        reorder: *u.choose(&[
            Reorder::Off,
            Reorder::Known,
            Reorder::On,
            Reorder::All,
            Reorder::Always,
        ])?,
        info: u.arbitrary()?,
        reporting: u.arbitrary()?,
        check: if u.arbitrary()? { Check::ALL } else { Check::default() },
        options: Options { seconds: Some(1e-5), ..Options::default() },
    };
    let grid = Cart::new(&[1, size], &[true, false], size).expect("as many cells as processes");
    let results = sim::run_on(layout, size, |comm| {
        let rank = comm.rank()?;
        let call = &calls[usize::from(picks[rank as usize])];
        let made = make(comm, settings, &grid, call);
        if let Ok(Some((made, topology))) = &made {
            assert!(fits(made, topology, size), "{topology:?} on {} processes", made.size()?);
            // All members enter a call on it.
            made.min(&mut [0])?;
        }
        comm.min(&mut [0])?;
        made.map(|_| ())
    });
    assert!(results.iter().all(|result| *result == results[0]), "{results:?}");
    Ok(())
}

/// Any call, right more often than not on `size` processes.
fn any_call(u: &mut Unstructured, size: i32) -> Result<ConstructorCall> {
    let reorder = u.arbitrary()?;
    let number = |u: &mut Unstructured, most: i32| match u.ratio(1, 30)? {
        true => u.arbitrary(),
        false => u.int_in_range(0..=most),
    };
    let numbers = |u: &mut Unstructured, count: i32, most: i32| {
        let count = u.int_in_range(0..=count)?;
        (0..count).map(|_| number(u, most)).collect::<Result<Vec<i32>>>()
    };
    let ends = |u: &mut Unstructured| {
        let count = u.int_in_range(0..=3)?;
        (0..count).map(|_| Ok([number(u, size - 1)?, number(u, 3)?])).collect::<Result<Vec<_>>>()
    };
    Ok(match u.int_in_range(0..=4)? {
        0 => {
            let dims = numbers(u, 3, 3)?;
            let periods = dims.iter().map(|_| u.arbitrary()).collect::<Result<_>>()?;
            ConstructorCall::Cart { dims, periods, reorder }
        }
        1 => {
            let mut sum = 0i32;
            let mut index = numbers(u, size, 2)?;
            for entry in &mut index {
                // The array of edges must have the length that this gives.
                sum = sum.saturating_add(*entry).min(20);
                *entry = sum;
            }
            let edges = index.last().map_or(0, |edges| (*edges).max(0));
            let most = index.len().max(1) as i32 - 1;
            let edges = (0..edges).map(|_| number(u, most)).collect::<Result<_>>()?;
            ConstructorCall::Graph { index, edges, reorder }
        }
        2 => ConstructorCall::Sub { remain: u.arbitrary()? },
        3 => {
            let edges = ends(u)?.into_iter();
            let edges = edges.map(|[to, weight]| Ok([number(u, size - 1)?, to, weight]));
            let edges = edges.collect::<Result<_>>()?;
            ConstructorCall::Edges { edges, weighted: u.arbitrary()?, reorder }
        }
        _ => ConstructorCall::Adjacent {
            into: ends(u)?,
            away: ends(u)?,
            weighted: u.arbitrary()?,
            reorder,
        },
    })
}
