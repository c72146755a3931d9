//! Commands that start a program in a container.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::file::find_program;
use super::wrappers::{behind_wrappers, name};

/// A command that starts a program in a container.
pub(crate) struct Container {
    command: &'static str,
    /// The subcommands before its image.
    pub(crate) subcommands: &'static [&'static str],
    /// True if the container has the user's home directory, unless options or the site's settings say otherwise.
    has_home: bool,
}

const fn container(
    command: &'static str,
    subcommands: &'static [&'static str],
    has_home: bool,
) -> Container {
    Container { command, subcommands, has_home }
}

const CONTAINERS: [Container; 11] = [
    container("apptainer", &["exec", "run"], true),
    container("singularity", &["exec", "run"], true),
    container("docker", &["run", "exec"], false),
    container("podman", &["run", "exec"], false),
    container("podman-hpc", &["run", "exec", "shared-run"], false),
    container("charliecloud", &["run"], false),
    container("ch-run", &[], false),
    container("shifter", &[], true),
    container("sarus", &["run"], true),
    container("enroot", &["start"], false),
    container("udocker", &["run"], false),
];

/// Variables with directories that containers mount.
const MOUNTED: [&str; 4] =
    ["APPTAINER_BIND", "APPTAINER_BINDPATH", "SINGULARITY_BIND", "SINGULARITY_BINDPATH"];

/// The container of a command of this name.
pub(crate) fn of_command(command: &str) -> Option<&'static Container> {
    CONTAINERS.iter().find(|container| container.command == command)
}

/// The command that starts the program in a container which may lack a directory: neither the command line nor a variable
/// mounts it. The loader would complain in each process about a library in it.
pub(super) fn without(
    words: &[OsString],
    directory: &Path,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Option<&'static str> {
    let behind = &words[behind_wrappers(words)..];
    let starter = behind.iter().find(|word| find_program(word).is_ok())?;
    let container = of_command(&name(starter))?;
    let in_home = || variable("HOME").is_some_and(|home| directory.starts_with(home));
    let mounted = MOUNTED.iter().filter_map(|name| variable(name));
    let is_mounted = behind.iter().cloned().chain(mounted).any(|text| mounts(&text, directory));
    let has_it = is_mounted || container.has_home && in_home();
    (!has_it).then_some(container.command)
}

/// True if a text has the path of a directory, or of one that contains it, as in `--bind=/opt:/opt,/scratch`.
fn mounts(text: &OsStr, directory: &Path) -> bool {
    let above = directory.ancestors().filter(|path| path.parent().is_some());
    let above: Vec<&[u8]> = above.map(|path| path.as_os_str().as_encoded_bytes()).collect();
    let mut parts = text.as_encoded_bytes().split(|byte| b":,=".contains(byte));
    // An option may be joined to its value: -B/opt.
    parts.any(|part| {
        let path = part.iter().position(|byte| *byte == b'/').map(|at| &part[at..]);
        path.is_some_and(|path| above.contains(&path.strip_suffix(b"/").unwrap_or(path)))
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn containers_lack_unmounted_directories() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["apptainer", "docker", "app"] {
            let file = folder.path().join(name);
            fs::write(&file, "#!/bin/sh\n").unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let lacks = |text: &str, directory: &str, variables: &[(&str, &str)]| {
            let word = |word: &str| match folder.path().join(word) {
                file if !word.contains('/') && file.is_file() => file.into_os_string(),
                _ => word.into(),
            };
            let words: Vec<OsString> = text.split_whitespace().map(word).collect();
            let variable = |name: &str| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| OsString::from(value))
            };
            without(&words, Path::new(directory), variable)
        };
        let opt = "/opt/cartograph/lib";
        assert_eq!(lacks("app --bind x", opt, &[]), None);
        for command in
            ["apptainer exec image.sif app", "env A=1 apptainer exec -B /scratch,/optical i app"]
        {
            assert_eq!(lacks(command, opt, &[]), Some("apptainer"), "{command}");
        }
        for bind in
            ["--bind /opt/cartograph", "-B/opt:/opt", "--bind=/data:/d,/opt/cartograph/lib/:ro"]
        {
            assert_eq!(lacks(&format!("apptainer exec {bind} i app"), opt, &[]), None, "{bind}");
        }
        let image = "apptainer exec /opt/images/i.sif app";
        assert_eq!(lacks(image, opt, &[("APPTAINER_BIND", "/opt/other")]), Some("apptainer"));
        assert_eq!(lacks(image, opt, &[("SINGULARITY_BINDPATH", "/a,/opt")]), None);
        let (home, below) = (&[("HOME", "/home/me")], "/home/me/lib");
        assert_eq!(lacks(image, below, home), None);
        assert_eq!(lacks(image, "/home/merry/lib", home), Some("apptainer"));
        assert_eq!(lacks("docker run i app", below, home), Some("docker"));
    }
}
