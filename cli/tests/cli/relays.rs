//! `cartograph exec --relay` in processes of a launcher that speaks PMI-2, which a thread for each process stands for.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Barrier, Mutex};
use std::thread;

use cartograph_jobs::pmi::line::{Format, Part, sent, take, value};

use crate::run::{COMMAND, Directory};

/// The number of processes, two on each node.
const SIZE: usize = 4;

/// The order in which the second processes of the nodes exchange ranks.
const CROSSED: &str = r#"{"new_ranks":[0,2,1,3],"node_of_rank":[0,1,0,1]}"#;

/// A job.
struct Job {
    values: Mutex<BTreeMap<String, String>>,
    barrier: Barrier,
}

impl Job {
    /// Answers the requests of a process until it closes the connection, and returns them.
    fn serve(&self, rank: usize, mut socket: UnixStream) -> String {
        let (mut received, mut requests, mut bytes) = (Vec::new(), String::new(), [0; 512]);
        while let Ok(count @ 1..) = socket.read(&mut bytes) {
            received.extend_from_slice(&bytes[..count]);
            while let Part::Message { format, bytes, .. } = take(&mut received) {
                let request = String::from_utf8(bytes).unwrap();
                if let Some(answer) = self.answer(rank, format, &request) {
                    let _ = socket.write_all(&sent(format, answer.as_bytes()));
                }
                requests += &(request + "\n");
            }
        }
        requests
    }

    fn answer(&self, rank: usize, format: Format, request: &str) -> Option<String> {
        let get = |key: &str| value(format, request, key).unwrap_or_default().to_owned();
        let found = |found: Option<String>| match found {
            Some(text) => format!("found=TRUE;value={text};"),
            None => "found=FALSE;".to_owned(),
        };
        let rest = match &*get("cmd") {
            "init" => {
                return Some("cmd=response_to_init rc=0 pmi_version=2 pmi_subversion=0".into());
            }
            "abort" => return None,
            "fullinit" => format!("rank={rank};size={SIZE};appnum=-1;"),
            "info-getjobattr" => found(Some("(vector,(0,2,2))".to_owned())),
            "kvs-put" => {
                self.values.lock().unwrap().insert(get("key"), get("value"));
                String::new()
            }
            "kvs-fence" => {
                self.barrier.wait();
                String::new()
            }
            "kvs-get" => found(self.values.lock().unwrap().get(&get("key")).cloned()),
            _ => String::new(),
        };
        Some(format!("cmd={}-response;rc=0;{rest}", get("cmd")))
    }
}

/// The output of each process under relays with an order in its file, and its requests. Each runs a program.
fn outputs(files: [&Path; SIZE], programs: [&[&str]; SIZE]) -> Vec<(String, String)> {
    let job = Job { values: Mutex::default(), barrier: Barrier::new(SIZE) };
    let run = |rank: usize| {
        let (own, theirs) = UnixStream::pair().unwrap();
        let mut process = Command::new("sh");
        process.args(["-c", "exec \"$@\" 9<&0 </dev/null", "sh", COMMAND, "exec", "--relay"]);
        process.arg(files[rank]).args(["--pmi", "2"]).args(programs[rank]);
        let number = rank.to_string();
        let node = rank / 2;
        process.stdin(Stdio::from(OwnedFd::from(theirs))).stderr(Stdio::null());
        process.env("PMI_FD", "9").env("PMI_JOBID", "5.0").env("PMI_SIZE", SIZE.to_string());
        process.env("PMI_RANK", &number).env("SLURM_PROCID", &number);
        process.env("SLURM_GTIDS", format!("{},{}", 2 * node, 2 * node + 1));
        process.stdout(Stdio::piped());
        let child = process.spawn().unwrap();
        drop(process);
        let requests = job.serve(rank, own);
        let output = child.wait_with_output().unwrap();
        (String::from_utf8(output.stdout).unwrap(), requests)
    };
    thread::scope(|scope| {
        let run = &run;
        let all: Vec<_> = (0..SIZE).map(|rank| scope.spawn(move || run(rank))).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    })
}

const SHOWS: &[&str] =
    &["sh", "-c", "echo $PMI_RANK $SLURM_PROCID $SLURM_GTIDS \"$SLURM_DISTRIBUTION\""];

#[test]
fn slurm_relays_set_ranks_and_node_ranks() {
    let directory = Directory::new("relays");
    let file = directory.path().join("order.json");
    fs::write(&file, CROSSED).unwrap();
    let said =
        |all: &[(String, String)]| all.iter().map(|(out, _)| out.clone()).collect::<Vec<_>>();
    let all = outputs([&file; SIZE], [SHOWS; SIZE]);
    let placed = ["0 0 0,2 *\n", "2 2 0,2 *\n", "1 1 1,3 *\n", "3 3 1,3 *\n"];
    assert_eq!(said(&all), placed);
    assert!(all.iter().all(|(_, requests)| requests.ends_with("cmd=finalize;\n")), "{all:?}");
    assert_eq!(fs::read_to_string(file.with_extension("placed")).unwrap(), "1");
    // One process cannot read the order.
    let missing = directory.path().join("missing.json");
    let all = outputs([&file, &file, &file, &missing], [SHOWS; SIZE]);
    assert_eq!(said(&all), ["0 0 0,1 \n", "1 1 0,1 \n", "2 2 2,3 \n", "3 3 2,3 \n"]);
    assert_eq!(fs::read_to_string(file.with_extension("placed")).unwrap(), "0");
}

#[test]
fn a_process_that_cannot_start_ends_the_slurm_job() {
    let directory = Directory::new("relay-abort");
    let file = directory.path().join("order.json");
    fs::write(&file, CROSSED).unwrap();
    // The program is found, but cannot be started.
    let broken = directory.path().join("broken");
    fs::write(&broken, "#!/no/such/shell\n").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(&broken, mode).unwrap();
    let broken = broken.to_str().unwrap();
    let all = outputs([&file; SIZE], [SHOWS, SHOWS, SHOWS, &[broken]]);
    assert!(all[3].1.contains("cmd=abort;isworld=TRUE;"), "{}", all[3].1);
}
