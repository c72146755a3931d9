//! Programs that their file does not identify.

use super::*;
use crate::program::program_at;

/// A file in a directory, as a word.
fn file(directory: &Path, name: &str, text: &str) -> OsString {
    let file = directory.join(name);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, text).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&file, mode).unwrap();
    file.into_os_string()
}

/// The name and build of a command's program.
fn find(words: &[&OsStr]) -> Result<(String, u64), Unidentified> {
    let words: Vec<OsString> = words.iter().map(|word| word.to_os_string()).collect();
    let found = Identity::find(&words, program_at(&words).unwrap());
    found.map(|Identity { name, build, .. }| (name, build))
}

#[test]
fn texts_modules_and_containers_are_separate_programs() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| file(directory.path(), name, text);
    let words = |text: &str| find(&text.split(' ').map(OsStr::new).collect::<Vec<_>>());
    // Texts, and the programs that they start.
    let app = file("app", "#!/bin/sh\n");
    let text = format!("exec {} input", app.to_str().unwrap());
    let shell = |text: &str| find(&["bash", "-c", text].map(OsStr::new)).unwrap();
    let first = shell(&text);
    assert_eq!((&*first.0, shell(&text)), ("bash", first.clone()));
    assert_ne!(first, shell("exec other input"));
    file("app", "#!/bin/sh\ntrue\n");
    assert_ne!(first, shell(&text));
    assert_ne!(words("bash -lc one").unwrap(), words("bash -lc two").unwrap());
    assert_ne!(words("perl -e 1").unwrap(), words("perl -e 2").unwrap());
    // Scripts after wrappers, whose arguments do not count.
    let [one, two] = ["one", "two"].map(|name| file(name, name).into_string().unwrap());
    let run = |rest: &str| words(&format!("env -u X nice -n 5 {rest}")).unwrap();
    let script = run(&format!("bash {one} 1"));
    assert_eq!((&*script.0, run(&format!("bash {one} 2"))), ("one", script.clone()));
    assert_ne!(script, run(&format!("bash {two} 1")));
    // A script may start the following words.
    let starter = file("starter", "#!/bin/sh\n\"$@\"\n").into_string().unwrap();
    let [first, second] =
        [&one, &two].map(|script| words(&format!("{starter} bash {script}")).unwrap());
    assert_ne!(first, second);
    assert_eq!(first.0, "starter");
    // Containers: the options before the image do not count.
    let path = format!("{}:", directory.path().display());
    let apptainer = file("apptainer", "#!/bin/true\n").into_string().unwrap();
    let image = file("image.sif", "image").into_string().unwrap();
    let container = |rest: &str| words(&format!("{apptainer} exec {rest}"));
    let first = container(&format!("--bind {path} {image} ./app")).unwrap();
    assert_eq!(
        (&first.0, &container(&format!("{image} ./app")).unwrap()),
        (&"image.sif".into(), &first)
    );
    assert_ne!(first, container(&format!("{image} ./other")).unwrap());
    file("image.sif", "imagf");
    assert_ne!(first, container(&format!("{image} ./app")).unwrap());
    assert_ne!(container("docker://one app").unwrap(), container("docker://two app").unwrap());
    // Nothing distinguishes programs.
    assert_eq!(words("bash -s"), Err(Unidentified::Any("bash".into())));
    let error = words("bash").unwrap_err().to_string();
    assert_eq!(error, "bash may run any program; name this one with --as NAME");
}

#[test]
fn builds_of_a_program_have_its_name() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str| file(directory.path(), name, "#!/bin/true\n").into_string().unwrap();
    let [app, script, starter, apptainer, image] =
        ["app", "x.py", "starter", "apptainer", "image.sif"].map(file);
    fs::write(&starter, "#!/bin/sh\n").unwrap();
    let is_named = |text: &str| {
        let words: Vec<OsString> = text.split(' ').map(OsString::from).collect();
        Identity::find(&words, program_at(&words).unwrap()).unwrap().is_named
    };
    for text in [app.clone(), format!("{starter} input"), format!("nice -n 5 bash {script} 1")] {
        assert!(is_named(&text), "{text}");
    }
    let shell = "bash -c ./app".to_owned();
    for text in [shell, format!("{starter} {app}"), format!("{apptainer} exec {image} ./app")] {
        assert!(!is_named(&text), "{text}");
    }
}

#[test]
fn python_modules_are_identified_by_their_files() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| file(directory.path(), name, text);
    let python = file("bin/python3", "#!/bin/true\n").into_string().unwrap();
    file("lib/python3.9/site-packages/solver/__main__.py", "1");
    file("lib/python3.9/site-packages/mpi4py/__main__.py", "");
    let words = |rest: &str| {
        find(&format!("{python} {rest}").split(' ').map(OsStr::new).collect::<Vec<_>>())
    };
    let first = words("-u -m solver input").unwrap();
    assert_eq!((&*first.0, words("-m solver").unwrap()), ("solver", first.clone()));
    file("lib/python3.9/site-packages/solver/__main__.py", "2");
    assert_ne!(first, words("-m solver").unwrap());
    assert!(words("-m no.such.module").is_err() && words("-m").is_err());
    let [one, two] = ["one.py", "two.py"].map(|name| file(name, name).into_string().unwrap());
    let by_mpi4py = words(&format!("-m mpi4py {one} 5")).unwrap();
    assert_eq!(by_mpi4py.0, "one.py");
    assert_ne!(by_mpi4py, words(&format!("-m mpi4py {two} 5")).unwrap());
}

#[test]
fn large_files_are_identified_by_their_size_start_and_end() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("image");
    let file = File::create(&path).unwrap();
    file.set_len(MOST + 2).unwrap();
    let number = |write: &str, at: u64| {
        use std::os::unix::fs::FileExt;
        file.write_all_at(write.as_bytes(), at).unwrap();
        build(&path).unwrap()
    };
    let numbers = [number("", 0), number("a", 16), number("b", MOST)];
    assert!(numbers[0] != numbers[1] && numbers[1] != numbers[2]);
    file.set_len(MOST + 3).unwrap();
    assert_ne!(number("", 0), numbers[2]);
}
