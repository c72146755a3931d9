//! All readers of external input.

use std::io;

use cartograph_core::engine::check::Check;
use cartograph_core::engine::policy::Policy;
use cartograph_core::machine::address::{MOST_ABOVE, ReportedAddress, host_number};
use cartograph_core::machine::network::NetworkMapFile;
use cartograph_core::machine::{Machine, host_names, parse_sizes};
use cartograph_core::mapping::{Adjacency, Distances, Weights, weights};
use cartograph_core::metis as format;
use cartograph_core::report::Document;
use cartograph_core::topology::BoxShape;
use cartograph_shim::elf::{self, DynamicTables, Library};
use cartograph_traffic::{Call, Recording, Scale, host_name, is_host_name};

use crate::learn::{Build, Conditions, Entry, Guess, Past, Placement, Rule, Scaling, Seen, gain};

/// A layout as users write it, and other settings: two bytes for the number of ranks, a line, and the text of the file
/// that the line may name.
pub fn layout(data: &[u8]) {
    let Some((ranks, text)) = data.split_first_chunk() else { return };
    let ranks = usize::from(u16::from_le_bytes(*ranks));
    let text = String::from_utf8_lossy(text);
    let (line, file) = text.split_once('\n').unwrap_or((&text, ""));
    let _ = (line.parse::<Policy>(), Check::parse(line), line.parse::<BoxShape>());
    if let Ok(weights) = weights::parse(line, ranks) {
        assert!(weights.len() == ranks && weights.iter().any(|weight| *weight > 0));
        assert_eq!(Weights::parse(line).map(|weights| weights.are_general()), Ok(true));
    }
    if let Ok(distances) = Distances::parse(line) {
        assert!(distances.of(3).is_sorted());
    }
    if let Some(sizes) = parse_sizes(line, ranks) {
        assert!(sizes.len() <= ranks + 1 && sizes.iter().all(|size| *size > 0));
    }
    let (address, pattern) = line.split_once(' ').unwrap_or((line, "switch.node"));
    let known = ReportedAddress::slurm(Some(address), Some(pattern));
    assert_eq!(ReportedAddress::from_words(&known.words()), known);
    network_map(file, known);
    if let Ok(layout) = Machine::written(line, ranks, |_| Ok::<_, io::Error>(file.to_owned())) {
        assert_eq!(layout.ranks(), ranks);
        assert_eq!(layout.node_sizes().iter().sum::<usize>(), ranks);
        assert!(layout.node_sizes().iter().all(|size| *size > 0));
    }
}

/// A file that describes the network, and the address of a node next to two hosts of the file.
fn network_map(file: &str, known: ReportedAddress) {
    let layout = Machine::from_ids(&[1, 1, 2, 3]);
    let groups = |layout: Result<Machine, _>| {
        layout.map_or(0, |layout| layout.without_idle_levels().above().len())
    };
    let other = ReportedAddress::slurm(Some("a.b"), Some("switch.node"));
    let told = [known, known, other, ReportedAddress::Nothing];
    assert_eq!(groups(layout.addressed(told.into_iter())), 0);
    if let Some(Ok(NetworkMapFile { network_map, .. })) = NetworkMapFile::read(file) {
        let hosts = ["a", "a", "b", "c"].map(host_number);
        let at = hosts.into_iter().map(|host| network_map.at(host));
        assert!(groups(layout.addressed(at)) <= MOST_ABOVE);
    }
}

/// Slurm's topology.conf, with four hosts that may occur in it.
pub fn topology(data: &[u8]) {
    network_map(&String::from_utf8_lossy(data), ReportedAddress::Nothing);
}

/// A list of the names of hosts.
pub fn hosts(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(names) = host_names(&text) else { return };
    assert!(names.len() <= 1 << 20);
    // A list may have a million names, which are all alike.
    for name in names.iter().take(1000) {
        let mended = host_name(name);
        assert!(is_host_name(&mended));
        assert_eq!(mended == *name, is_host_name(name));
        assert_eq!(host_names(&mended), Ok(vec![mended]));
    }
}

/// Parts of a recording: readable ones are consistent, and memory is proportional to their size.
pub fn recording(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(recording) = Recording::read([&text[..]]) else { return };
    let Recording { size, hosts, edges, topologies, .. } = &recording;
    assert_eq!(recording.missing() + hosts.len(), *size as usize);
    assert_eq!(recording.first_missing().is_none(), recording.missing() == 0);
    assert!(hosts.keys().all(|rank| rank < size));
    assert!(hosts.values().all(|host| is_host_name(&host.name)));
    assert!(hosts.len() + edges.len() + topologies.len() <= text.lines().count());
    assert!(edges.is_sorted_by(|one, next| (one.from, one.to) < (next.from, next.to)));
    assert!(edges.iter().all(|edge| edge.from < *size && edge.to < *size));
    let scale = Scale::of(edges.iter().map(|edge| edge.count.bytes));
    let mut weights = edges.iter().map(|edge| scale.weight(edge.count.bytes));
    let sum = weights.try_fold(0i64, |sum, weight| sum.checked_add(weight));
    assert!(sum.is_some_and(|sum| sum >= 0));
    for topology in topologies {
        let weights = recording.weights(&topology.dims, 1000);
        assert!(weights.iter().flatten().all(|weight| (0..=1000).contains(weight)));
    }
    if let Some(rule) = Rule::of(&recording) {
        assert!(rule.edges().iter().all(|edge| edge.from < *size && edge.to < *size));
        let larger = rule.at(size.saturating_mul(2), Scaling::Strong);
        assert!(larger.is_none_or(|larger| larger.dims().len() == rule.dims().len()));
    }
    let names = topologies.iter().map(|topology| &topology.function);
    let texts = names.chain(recording.collectives.keys());
    let texts = texts.chain([&recording.program, &recording.mpi]);
    assert!({ texts }.all(|text| !text.contains(char::is_control)));
}

/// A graph in the format of METIS.
pub fn metis(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(graph) = format::read(&text) else { return };
    assert!(graph.vertices() <= text.lines().count());
    let all = (0..graph.vertices()).flat_map(|vertex| graph.edges(vertex));
    assert!({ all }.all(|(to, weight)| to < graph.vertices() && weight > 0));
}

/// An entry of the store: it can be written and read, and any entry lets a job start.
pub fn entry(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(mut entry) = Entry::parse(&text) else { return };
    Entry::parse(&entry.json()).expect("what was read can be written and read");
    let known = entry.kinds.iter().filter_map(|kind| kind.traffic.as_ref());
    for recording in known.filter_map(|traffic| traffic.recording(entry.processes)) {
        assert!(recording.edges.iter().all(|edge| edge.from.max(edge.to) < entry.processes));
        let Recording { mut windows, .. } = recording;
        assert!(windows.is_empty() || windows.len() == entry.processes as usize);
        for window in windows.values_mut() {
            assert!(window.events().is_some());
            let mut peers = window.calls.iter_mut().filter_map(Call::peer_mut);
            assert!(peers.all(|peer| *peer < entry.processes));
        }
    }
    let Some(run) = entry.runs.last().cloned() else { return };
    let kinds = entry.kinds.iter().map(|kind| kind.id).collect();
    let placements = entry.placements().into_iter().map(|placement| (placement, 1.3));
    let placements: Vec<(Placement, f64)> = placements.take(2).collect();
    let conditions = Conditions { shape: run.shape, ..Conditions::default() };
    for guess in [Guess { kinds: vec![run.kind], is_known: true }, Guess { kinds, is_known: false }]
    {
        assert!(entry.choose(&[], &guess, &placements, &conditions).arm <= placements.len());
    }
    for (placement, _) in &placements {
        if let Some(gain) = gain(&entry.runs_in(placement), 1, 0.05) {
            assert!(gain.least <= gain.mean && gain.mean <= gain.most, "{gain:?}");
        }
    }
    assert!(entry.hours().0 >= 0.0);
    let noted = entry
        .note(Seen { digest: Some(1), ..Seen::default() }, &entry.guess(Some(1), Build::default()));
    entry.add(Past { kind: noted.kind, ..run });
}

/// A report in JSON: a readable one can be printed and written again.
pub fn report(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(document) = Document::read(&text) else { return };
    let _ = document.to_string();
    Document::read(&document.json()).expect("what was read can be written and read");
}

/// A program or library.
pub fn elf(data: &[u8]) {
    elf::loader(data);
    Library::parse(data);
    let read = |start: u64, size: u64| {
        let rest = data.get(usize::try_from(start).ok()?..)?;
        Some(rest.get(..usize::try_from(size).ok()?).unwrap_or(rest).to_vec())
    };
    if let Some(tables) = DynamicTables::read(read) {
        tables.needed();
        tables.soname();
        tables.has_function("MPI_Send");
    }
}
