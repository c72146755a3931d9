use super::*;

#[test]
fn cells_are_painted_once_and_borders_separate_nodes() {
    let dims = [3, 4];
    let node_of = [0, 0, 1, 1, 0, 2, 2, 1, 2, 2, 1, 1];
    let slice = &slices(&dims)[0];
    let at = |row: usize, column: usize| (column as f64, row as f64);
    let mut areas = vec![String::new(); 3];
    paint(slice, &node_of, at, 1.0, &mut areas);
    assert_eq!(areas[0], "M0 0h2v1h-2zM0 1h1v1h-1z");
    let (mut lines, mut borders) = (String::new(), String::new());
    draw_borders(slice, &node_of, at, &mut lines, &mut borders);
    assert!(borders.starts_with("M0 0L4 0M1 1L3 1M0 2L1 2M2 2L3 2M0 3L4 3M0 0L0 3"), "{borders}");
    let mut named: Vec<u32> = names(slice, &node_of, 20.0).iter().map(|name| name.node).collect();
    named.sort_unstable();
    assert_eq!(named, [0, 1, 2]);
    assert!(names(slice, &node_of, 5.0).is_empty());
}

#[test]
fn pictures_fit_their_panel() {
    for dims in [
        &[][..],
        &[1],
        &[100],
        &[5000],
        &[50, 48],
        &[12, 8, 8],
        &[3, 2, 4, 5],
        &[1000, 2],
        &[2, 500],
        &[100, 100, 10],
        &[1000, 1000],
        &[1 << 18, 1, 1],
    ] {
        let cells: usize = dims.iter().product();
        let node_of: Vec<u32> = (0..cells).map(|cell| (cell / 4) as u32).collect();
        let above = vec![node_of.iter().map(|node| node / 3).collect()];
        let places = VertexPlacement { nodes: node_of, above, below: Vec::new() };
        let drawn = shown(dims);
        let places = corner(dims, &drawn, &places);
        assert_eq!(places.nodes.len(), drawn.iter().product::<usize>(), "{dims:?}");
        let most = places.nodes.iter().max().unwrap();
        let panel = panel(&drawn, &places, &vec![Rgb(0, 0, 0); *most as usize + 1]);
        assert!(Arrangement::of(&slices(&drawn)).cell >= LEAST, "{dims:?}");
        assert!(panel.width <= LEFT + PANEL, "{dims:?}: {}", panel.width);
        assert!(panel.height <= PANEL + BELOW, "{dims:?}: {}", panel.height);
    }
    assert_eq!(shown(&[50, 48]), [50, 48]);
    assert_eq!(shown(&[2, 500]), [2, 500]);
    let corner = shown(&[1000, 1000]);
    assert!(corner.iter().all(|side| (90..=144).contains(side)), "{corner:?}");
}

#[test]
fn a_corner_has_its_cells_in_order() {
    let nodes: Vec<u32> = (0..24).collect();
    let places = VertexPlacement { nodes: nodes.clone(), above: vec![nodes], below: Vec::new() };
    let corner = corner(&[2, 3, 4], &[2, 2, 3], &places);
    assert_eq!(corner.nodes, [0, 1, 2, 4, 5, 6, 12, 13, 14, 16, 17, 18]);
    assert_eq!(corner.above[0], corner.nodes);
}
