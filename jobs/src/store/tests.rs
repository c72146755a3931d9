//! Tests of the store when jobs and disks fail.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;
use std::time::SystemTime;

use super::files::TEMPORARY;
use super::remains::{STALE, STARTED};
use super::*;
use crate::launch::{Launch, Programs};

fn key() -> Key {
    Key { program: "my app".into(), build: 7, mpi: 1 << 40, is_named: true, place: 3 }
}

/// The launch of one program, with its wrappers and arguments.
pub(super) fn launch(words: &[OsString]) -> Launch {
    let programs = Programs { first: words.to_vec(), ..Programs::default() };
    Launch { launcher: vec!["sh".into()], programs, mpi: None }
}

fn store() -> (tempfile::TempDir, Store) {
    let directory = tempfile::tempdir().unwrap();
    let store = Store::at(directory.path().join("store")).unwrap();
    (directory, store)
}

#[test]
fn entries_belong_to_the_owner_and_are_written_whole() {
    let (_directory, store) = store();
    store.update(&key(), 16, |entry| entry.mpi = "some MPI".into()).unwrap();
    store.update(&key(), 8, |_| {}).unwrap();
    store.update(&Key { mpi: 2 << 40, ..key() }, 16, |_| {}).unwrap();
    // Another build is in the same file.
    store.update(&Key { build: 8, ..key() }, 16, |_| {}).unwrap();
    let all = store.all();
    assert_eq!(all.len(), 3, "{all:?}");
    let sizes = |store: &Store| [16, 8, 4].map(|size| store.entry(&key(), size).is_some());
    assert_eq!(sizes(&store), [true, true, false]);
    for name in all.iter().map(|(name, _)| name) {
        let mode = store.directory.join(name).metadata().unwrap().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    assert_eq!(store.directory.metadata().unwrap().mode() & 0o777, 0o700);
    let text = "{".repeat(5);
    fs::write(store.directory.join(&all[0].0), text).unwrap();
    assert_eq!(sizes(&store).into_iter().filter(|is_there| *is_there).count(), 1);
    store.forget(&all[0].0).unwrap();
    assert_eq!(store.all().len(), 2);
    let open = |mode: u32| {
        let mode = fs::Permissions::from_mode(mode);
        fs::set_permissions(&store.directory, mode).unwrap();
        Store::at(store.directory.clone()).map(|_| ())
    };
    assert!(open(0o777).unwrap_err().contains("others can write"));
    assert_eq!(open(0o755), Ok(()));
}

#[test]
fn files_of_later_versions_are_left_alone() {
    let (_directory, store) = store();
    store.update(&key(), 16, |_| {}).unwrap();
    let file = store.directory.join(file(&key(), 16));
    let later = fs::read_to_string(&file).unwrap().replace("\"schema\":4", "\"schema\":9");
    fs::write(&file, &later).unwrap();
    let why = store.update(&key(), 16, |_| panic!("not asked")).unwrap_err();
    assert!(why.contains("version 9"), "{why}");
    assert_eq!(fs::read_to_string(&file).unwrap(), later);
}

#[test]
fn simultaneous_jobs_lose_no_run() {
    let (_directory, store) = store();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..10 {
                    store.update(&key(), 16, |entry| entry.totals.runs += 1).unwrap();
                }
            });
        }
    });
    assert_eq!(store.entry(&key(), 16).unwrap().totals.runs, 40);
}

/// A run that ends.
fn count(store: &Store) -> Result<Entry, String> {
    store.update(&key(), 16, |entry| entry.totals.runs += 1)
}

fn runs(store: &Store) -> u64 {
    store.entry(&key(), 16).unwrap().totals.runs
}

#[test]
fn a_held_lock_blocks_no_process_and_one_run_is_forgotten() {
    let (_directory, store) = store();
    let start = Instant::now();
    // Another job ends while this one has the lock.
    let both = store.update(&key(), 16, |entry| {
        count(&store).unwrap();
        entry.totals.runs += 1;
    });
    assert!(start.elapsed() < PATIENCE + Duration::from_secs(2));
    assert_eq!((both.unwrap().totals.runs, runs(&store)), (1, 1));
    count(&store).unwrap();
    assert_eq!(runs(&store), 2);
}

#[test]
fn an_entry_that_cannot_be_read_is_left_alone() {
    let (directory, store) = store();
    count(&store).unwrap();
    let place = store.directory.join(file(&key(), 16));
    let elsewhere = directory.path().join("elsewhere");
    fs::rename(&place, &elsewhere).unwrap();
    symlink(&elsewhere, &place).unwrap();
    assert!(count(&store).unwrap_err().contains("cannot be read"));
    assert!(place.symlink_metadata().unwrap().is_symlink());
    assert!(store.all()[0].1.is_err());
}

#[test]
#[ignore = "writes to a full disk, in a separate process"]
fn full() {
    let store = Store::at(env::var_os("STORE").unwrap().into()).unwrap();
    println!("{}", count(&store).unwrap_err());
    println!("{}", store.judge(&key(), true).is_err());
}

#[test]
fn a_full_disk_leaves_the_old_entry() {
    let (_directory, store) = store();
    count(&store).unwrap();
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$@\"", "sh"]);
    command.arg(env::current_exe().unwrap()).args(["--ignored", "--exact", "--nocapture"]);
    command.arg("store::tests::full").env("STORE", &store.directory);
    let done = command.output().unwrap();
    let text = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success() && text.contains("File too large"), "{text}");
    assert!(text.contains("\ntrue\n"), "{text}");
    assert_eq!(runs(&store), 1);
    assert_eq!(fs::read_dir(store.directory.join(verdicts::FOLDER)).unwrap().count(), 0);
    let left = fs::read_dir(&store.directory).unwrap().flatten();
    let left = left.filter(|entry| entry.file_name().to_string_lossy().starts_with(TEMPORARY));
    assert_eq!(left.count(), 0);
}

#[test]
fn remains_of_a_killed_job_do_no_harm() {
    let (_directory, store) = store();
    store.update(&key(), 16, |entry| entry.totals.runs = 5).unwrap();
    // Killed while writing: half of a temporary file, which is removed once it is old.
    let half = store.directory.join(format!("{TEMPORARY}abc"));
    fs::write(&half, "{\"schema\":1,\"prog").unwrap();
    store.update(&key(), 16, |entry| entry.totals.runs += 1).unwrap();
    assert!(half.exists());
    let old = SystemTime::now() - STALE - Duration::from_secs(60);
    File::options().write(true).open(&half).unwrap().set_modified(old).unwrap();
    store.update(&key(), 16, |entry| entry.totals.runs += 1).unwrap();
    assert!(!half.exists());
    assert_eq!(store.entry(&key(), 16).unwrap().totals.runs, 7);
}

#[test]
fn folders_of_jobs_are_removed_once_no_process_uses_them() {
    let (_directory, store) = store();
    let [runs, killed, starts] = [(); 3].map(|()| store.job_folder().unwrap());
    let old = SystemTime::now() - 2 * STARTED;
    let of_other_node = store.directory.join("jobs/.other-1");
    fs::create_dir(&of_other_node).unwrap();
    for folder in [runs.path(), killed.path(), &of_other_node] {
        File::open(folder).unwrap().set_modified(old).unwrap();
    }
    // The locks go with the process.
    let left = [killed, starts].map(|JobFolder { folder, .. }| folder.keep());
    store.update(&key(), 16, |_| {}).unwrap();
    assert!(runs.path().exists() && of_other_node.exists());
    assert_eq!(left.map(|folder| folder.exists()), [false, true]);
    File::open(&of_other_node).unwrap().set_modified(old - STALE).unwrap();
    store.update(&key(), 16, |_| {}).unwrap();
    assert!(!of_other_node.exists());
}

#[test]
fn a_build_follows_its_ranks_if_all_verdicts_on_it_agree() {
    let (directory, store) = store();
    let app = directory.path().join("my app");
    let write = |text: &str| {
        fs::write(&app, text).unwrap();
        fs::set_permissions(&app, fs::Permissions::from_mode(0o755)).unwrap();
    };
    write("#!/bin/sh\necho 1\n");
    let words = [app.clone().into_os_string(), "input".into()];
    let build = Key::of(&launch(&words), None).unwrap().build;
    let allows = |words: &[OsString]| verdicts::allow(&store.directory, words);
    let judge = |mpi: u64, follows| {
        store.judge(&Key { build, mpi: mpi << 32, ..key() }, follows).unwrap();
    };
    assert!(!allows(&words));
    judge(1, true);
    assert!(allows(&words));
    assert!(!allows(&["sh".into()]));
    judge(2, false);
    assert!(!allows(&words));
    judge(2, true);
    assert!(allows(&words));
    fs::write(
        store.directory.join(verdicts::FOLDER).join(key::start_of_name("my app") + "-x.json"),
        "",
    )
    .unwrap();
    assert!(allows(&words));
    write("#!/bin/sh\necho 2\n");
    assert!(!allows(&words));
}

#[test]
fn users_without_an_entry_start_with_the_sites_entry() {
    let (directory, own) = store();
    let place = directory.path().join("known");
    fs::create_dir(&place).unwrap();
    let run = |seconds| crate::learn::Past { seconds, nodes: 2, ..Default::default() };
    let note = |entry: &mut Entry| {
        entry.note(Default::default(), &Default::default());
        entry.add(crate::learn::Past { units: 1.0, predicted: 1.0, ..run(10.0) });
    };
    own.update(&key(), 16, note).unwrap();
    for (name, entry) in own.all() {
        Store::export(&place, &name, &entry.unwrap()).unwrap();
        assert_eq!(place.join(name).metadata().unwrap().mode() & 0o777, 0o644);
    }
    let user = |mode: u32| {
        fs::set_permissions(&place, fs::Permissions::from_mode(mode)).unwrap();
        let store = Store::at(directory.path().join("user")).unwrap();
        Store { site: Site::at(place.clone(), 0).ok(), ..store }
    };
    // Anyone could write there.
    assert_eq!(user(0o777).entry(&key(), 16), None);
    assert!(
        Site::at(place.clone(), 0).unwrap_err().ends_with("is not used: others can write to it")
    );
    let user = user(0o755);
    let known = user.entry(&key(), 16).unwrap();
    assert_eq!((known.totals.runs, known.runs.len(), known.runs[0].nodes), (0, 1, 0));
    assert_eq!(user.entry(&key(), 8), None);
    assert_eq!(user.entry(&Key { program: "other".into(), ..key() }, 16), None);
    assert!(user.all().is_empty());
    // The user's own entry continues from there.
    let own = user.update(&key(), 16, |entry| entry.add(entry.runs[0].clone())).unwrap();
    assert_eq!((own.totals.runs, own.runs.len()), (1, 2));
    assert_eq!(user.entry(&key(), 16), Some(own));
}
