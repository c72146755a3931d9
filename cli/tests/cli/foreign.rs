//! SECURITY.md: files of other users cause at worst an error.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::run::{Directory, cartograph};

/// Files that the command does not read, or that almost look like those that it reads.
fn files() -> Vec<(&'static str, Vec<u8>)> {
    let mut state = 1u64;
    let mut noise = std::iter::repeat_with(|| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    });
    let mut program = b"\x7fELF\x02\x01\x01".to_vec();
    program.extend(noise.by_ref().take(4000));
    vec![
        ("empty", Vec::new()),
        ("zeros", vec![0; 4096]),
        ("noise", noise.take(4096).collect()),
        ("program", program),
        ("deep", vec![b'['; 200_000]),
        (
            "large",
            b"{\"size\":18446744073709551615,\"rank\":4294967295,\"program\":1e999}\n".to_vec(),
        ),
        ("vertices", b"2000000000 4000000000 011 9\n".to_vec()),
        ("negative", b"-1 -1\n-5\n".to_vec()),
        ("hosts", b"n[0-99999999999]\n".to_vec()),
        ("switches", b"SwitchName=s[0-4294967295] Nodes=n[0-4294967295]\n".to_vec()),
        ("letters", "n\u{e4}\u{202e}\u{0}x ".repeat(500).into_bytes()),
    ]
}

#[test]
fn files_of_other_users_cause_at_worst_an_error() {
    let directory = Directory::new("foreign");
    for (name, bytes) in files() {
        let file = directory.join(name);
        fs::write(&file, bytes).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        for arguments in [
            "show",
            "plan --nodes 2 --ppn 2 --graph",
            "plan --traffic",
            "plan --dims 2x2 --layout",
            "plan --dims 2x2 --ppn 2 --hosts",
        ] {
            let done = cartograph(arguments).arg(&file).output();
            let told = String::from_utf8_lossy(&done.stderr);
            let code = done.status.code().unwrap_or(-1);
            assert!((0..=2).contains(&code), "{arguments} {name}: {}\n{told}", done.status);
            assert!(!told.contains("panicked"), "{arguments} {name}: {told}");
        }
    } // `exec` reads the program; the kernel refuses to start it.
    let done = cartograph("exec").arg(directory.join("program")).output();
    assert!(!String::from_utf8_lossy(&done.stderr).contains("panicked"));
    assert!(matches!(done.status.code(), Some(1..=127)), "{}", done.status);
}
