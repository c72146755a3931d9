//! Messages of programs and launchers.

use crate::pmi::agreement::Placed;
use crate::pmi::{Agreement, End, Mapping, Order, Relay, Version};

/// The number of ranks.
const SIZE: usize = 4;

/// A launcher's mapping in the first line, an order in the second, then messages: half of them from each end.
pub fn pmi(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut lines = text.splitn(3, '\n');
    let [first, second, _] = [(); 3].map(|()| lines.next().unwrap_or_default());
    let mapping = Mapping::parse(first, SIZE);
    if let Some(mapping) = &mapping {
        assert_eq!(Mapping::parse(&mapping.text(), SIZE).as_ref(), Some(mapping));
    }
    let order = Order::parse(second).filter(|order| order.size() == SIZE);
    let messages = data.splitn(3, |byte| *byte == b'\n').nth(2).unwrap_or_default();
    exchange(Agreement::default(), messages, true);
    if let (Some(mapping), Some(order)) = (mapping, order) {
        let mut ranks = order.old_ranks();
        ranks.sort_unstable();
        assert!(ranks.iter().copied().eq(0..SIZE as u32));
        let found = "cmd=get_result rc=0 value=".to_owned();
        let mapping = order.mapping(&mapping);
        let placed = Some(Placed { order, mapping, longest: 100, found });
        let mapping = ("cmd=get key=PMI_process_mapping".into(), String::new());
        for version in [Version::One, Version::Two] {
            let (answers, placed) = (vec![mapping.clone()], placed.clone());
            exchange(Agreement { version, answers, placed, number: None }, messages, false);
        }
    }
}

/// Passes messages on; without a placement, all bytes arrive as they were sent.
fn exchange(agreement: Agreement, messages: &[u8], is_transparent: bool) {
    let mut relay = Relay::new(agreement);
    let halves = messages.split_at(messages.len() / 2);
    for (from, to, bytes) in
        [(End::Program, End::Launcher, halves.0), (End::Launcher, End::Program, halves.1)]
    {
        // In pieces, as they may come.
        bytes.chunks(7).for_each(|piece| relay.receive(from, piece));
        if from == End::Program {
            relay.program_ended();
        }
        let arrived = relay.unsent(to);
        assert!(!is_transparent || bytes.starts_with(arrived));
        assert!(!is_transparent || from == End::Launcher || arrived == bytes);
    }
}
