//! The command `cartograph`, run as by users. Needs no MPI.

mod exec;
mod foreign;
mod inputs;
mod jobs;
mod launchers;
mod places;
mod plan;
mod relays;
mod report;
mod reports;
mod run;
mod signals;
mod starts;
mod switches;
mod traffic;
mod trial;
mod tune;
mod tuning;
mod untrusted;
mod verdicts;
mod wrapped;

use run::cartograph;

#[test]
fn dims_prints_the_result_of_mpi_dims_create() {
    assert_eq!(cartograph("dims 72 2").stdout(), "9x8\n");
    assert_eq!(cartograph("dims 1536 3 --fixed 0x3x0").stdout(), "32x3x16\n");
    assert_eq!(cartograph("dims 1 0").stdout(), "\n");
    cartograph("dims 7 2 --fixed 0x3").fails(2, "7, not a multiple of 3");
    cartograph("dims 7 3 --fixed 0x3").fails(2, "2 sizes for 3 dimensions");
    cartograph("dims 7 2 --fixed 0xa").fails(2, "50x48");
    assert_eq!(cartograph("dims 64 3 --box 1x1x10").stdout(), "2x2x16\n");
    assert_eq!(cartograph("dims 64 3 --box 10x10x1").stdout(), "8x8x1\n");
    cartograph("dims 64 2 --box 1x1x10").fails(2, "--box gives 3 sides for 2 dimensions");
    cartograph("dims 64 2 --box 1x0").fails(2, "invalid value '1x0'");
    cartograph("dims seven 2").fails(2, "cartograph dims --help");
    // Numbers are checked before memory is allocated for them.
    assert_eq!(cartograph("dims 12 1024").stdout(), format!("3x2x2{}\n", "x1".repeat(1021)));
    cartograph("dims 12 1025").fails(2, "1025 is not in 0..=1024");
    cartograph("dims 12 1000000000").fails(2, "1000000000 is not in");
    cartograph("dims 2147483648 2").fails(2, "1..=2147483647");
    cartograph("dims 0 2").fails(2, "1..=2147483647");
}

#[test]
fn help_is_printed_on_request() {
    assert!(cartograph("--help").stdout().contains("plan"));
    let help = cartograph("plan --help").stdout();
    for word in ["--node-sizes", "bricks ", "strips ", "bisection "] {
        assert!(help.contains(word), "{word}");
    }
    assert!(cartograph("--version").stdout().contains(env!("CARGO_PKG_VERSION")));
    cartograph("").fails(2, "");
    cartograph("nonsense").fails(2, "cartograph --help");
}

#[test]
fn every_manual_has_examples_exit_codes_and_references() {
    let directory = run::Directory::new("manuals");
    cartograph(&format!("pages {}", directory.path().display())).stdout();
    let mut count = 0;
    for page in std::fs::read_dir(directory.path().join("share/man/man1")).unwrap() {
        let page = page.unwrap().path();
        let text = std::fs::read_to_string(&page).unwrap();
        for section in [".SH EXAMPLES", ".SH EXIT STATUS", ".SH \"SEE ALSO\""] {
            assert!(text.contains(section), "{}: {section}", page.display());
        }
        count += 1;
    }
    assert_eq!(count, 10);
}

#[test]
fn info_prints_variables_of_the_environment() {
    let text = cartograph("info").env("CARTOGRAPH_LAYOUT", "4x16").stdout();
    assert!(text.contains("CARTOGRAPH_LAYOUT = 4x16\n"), "{text}");
    assert!(text.contains("CARTOGRAPH_REPORT not set\n"), "{text}");
}

#[test]
fn info_prints_faults_in_the_environment() {
    for (name, value, words) in [
        ("CARTOGRAPH_REODER", "off", "  CARTOGRAPH_REODER: unknown setting\n"),
        ("CARTOGRAPH_REORDER", "of", "      invalid value 'of'"),
        ("CARTOGRAPH_PAIRING", "hots", "      invalid value 'hots' (expected standard or host)\n"),
        ("CARTOGRAPH_CHECK", "edges,wigths", "      invalid value 'wigths' (expected edges, "),
        ("CARTOGRAPH_LAYOUT", "no/such", "      cannot be read: No such file"),
        ("CARTOGRAPH_WEIGHTS", "16,x", "      invalid weight 'x'"),
    ] {
        let text = cartograph("info").env(name, value).stdout();
        assert!(text.contains(words), "{text}");
        assert!(!cartograph("info").stdout().contains(words));
    }
}

#[test]
fn info_and_the_page_of_settings_have_the_same_variables() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/settings.md");
    let page = std::fs::read_to_string(page).unwrap();
    let of_page: std::collections::BTreeSet<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `CARTOGRAPH_")?.split('`').next())
        .collect();
    let text = cartograph("info").stdout();
    let of_info: std::collections::BTreeSet<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("  CARTOGRAPH_")?.split_whitespace().next())
        .collect();
    assert!(of_page.len() > 5);
    assert_eq!(of_page, of_info);
}

#[test]
fn output_stops_if_the_reader_stops() {
    let mut child = cartograph("plan --dims 500x400 --nodes 2000 --ppn 100 --json").spawn();
    // More output than a pipe holds is still to come.
    drop(child.stdout.take());
    let done = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&done.stderr), "");
    assert!(done.status.success(), "{}", done.status);
}
