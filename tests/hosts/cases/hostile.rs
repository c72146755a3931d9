//! Programs over a hostile mini (`c_tests/mini/hostile.c`): each call into it fails once, all messages wait for their
//! receivers, messages come in other orders, and communicators, keys and memory run out.
//!
//! After a failed call, a program continues as if nothing had happened: `monitor.c` repeats the call of the chapter if
//! all processes got an error, and then the program's own checks hold, and nothing is left at the end. The run ends
//! with [`TOLD`] if some process got no communicator, if one is spoilt, or if a resource is still missing. Anything else is a fault.

use crate::host::{Host, Library};
use crate::session::{Session, word};
use crate::testlist::Test;

use super::Outcome;

/// The variable that asks for `ALL` instead of `SOME`.
const VARIABLE: &str = "CARTOGRAPH_TEST_HOSTILE";

/// The extent of a test.
struct Extent {
    /// The most calls that fail, each in a separate run. Programs with more calls repeat the same ones.
    calls: usize,
    /// True if local calls fail on each rank in turn, otherwise on one rank.
    on_each_rank: bool,
    /// The orders of messages. The standard lets each send wait for its receiver, and orders only messages between the
    /// same two processes.
    orders: u32,
    /// The available numbers of communicators, keys and bytes of memory.
    amounts: u32,
}

const SOME: Extent = Extent { calls: 12, on_each_rank: false, orders: 2, amounts: 6 };
const ALL: Extent = Extent { calls: 400, on_each_rank: true, orders: 20, amounts: 20 };

/// The exit code after an error that the program cannot handle.
const TOLD: i32 = 77;

/// The exit codes of programs whose errors are fatal: `MPI_ERR_NO_MEM` and `MPI_ERR_UNSUPPORTED_OPERATION`.
const FATAL: [i32; 2] = [39, 55];

/// A program, and how to run it.
struct Run<'a> {
    session: Session<'a>,
    program: String,
    test: &'a Test,
    processes: u32,
    /// The runs with a call that fails, and those of them that ended with `TOLD`.
    failed: usize,
    told: usize,
}

impl Run<'_> {
    fn ends(&mut self, settings: &[String]) -> i32 {
        let settings: Vec<&str> = self.test.settings.iter().chain(settings).map(|s| &**s).collect();
        let arguments = self.test.arguments.iter().map(|argument| &**argument);
        let program: Vec<&str> = std::iter::once(&*self.program).chain(arguments).collect();
        self.session.run(self.processes, &settings, &program);
        self.session.code
    }

    fn check(&mut self, settings: &[String], right: impl Fn(i32) -> bool) {
        let code = self.ends(settings);
        let what = format!("{} processes: {}", self.processes, settings.join(" "));
        self.session.check(&what, right(code));
    }

    /// The calls of the process that makes most, or its local calls.
    fn calls(&mut self, who: &[String]) -> usize {
        self.check(&[who, &["MINI_FAIL=0".into()]].concat(), |code| code == 0);
        let numbers = self.session.err.lines().filter_map(|line| {
            line.strip_prefix("mini: ")?.strip_suffix(" calls")?.parse::<usize>().ok()
        });
        numbers.max().unwrap_or(0)
    }

    fn orders(&mut self, last: u32) {
        self.check(&["MINI_EAGER=0".into()], |code| code == 0);
        for seed in 1..=last {
            for eager in 0..2 {
                let settings = [format!("MINI_EAGER={eager}"), format!("MINI_ORDER={seed}")];
                self.check(&settings, |code| code == 0);
            }
        }
    }

    /// A call fails: on all processes, or on one of them if it is local.
    fn failures(&mut self, rank: Option<u32>, most: usize) {
        let who: Vec<String> = rank.iter().map(|rank| format!("MINI_RANK_FAILS={rank}")).collect();
        let calls = self.calls(&who);
        self.session.check("the program calls the host", calls > 0 || rank.is_some());
        let step = calls.div_ceil(most).max(1);
        for part in 0..calls.div_ceil(step) {
            // The step is not a multiple of a program's loops.
            let call = 1 + part * step + (part * part + self.processes as usize) % step;
            self.check(&[&who[..], &[format!("MINI_FAIL={call}")]].concat(), |code| {
                [0, TOLD].contains(&code)
            });
            self.failed += 1;
            self.told += usize::from(self.session.code == TOLD);
        }
    }

    /// Resources that run out cause an error, which ends the program, or are not needed.
    fn shortage(&mut self, most: u32) {
        for n in 0..most {
            let amounts = [("CONTEXTS", n + 2), ("KEYVALS", n), ("MEMORY", 100 * (n + 2))];
            for (what, amount) in amounts {
                self.check(&[format!("MINI_{what}={amount}")], |code| {
                    [0, TOLD].contains(&code) || FATAL.contains(&code)
                });
            }
        }
    }
}

/// Runs a line of the list.
pub(crate) fn run<'a>(host: &'a Host, test: &'a Test) -> Outcome {
    let extent = if std::env::var(VARIABLE).is_ok_and(|value| value == "all") { ALL } else { SOME };
    let program = word(&host.build(&test.source, Library::Linked)?).to_owned();
    let mut session = Session::new(host);
    session.seconds = 30;
    let options = ["-shared", "-fPIC"];
    let monitor = session.compile_with("cc", "monitor.so", "c_tests/mini/monitor.c", &options);
    session.preloaded = vec![monitor];
    let mut run = Run { session, program, test, processes: 1, failed: 0, told: 0 };
    for &processes in &test.processes {
        run.processes = processes;
        run.orders(extent.orders);
        run.shortage(extent.amounts);
        run.failures(None, extent.calls);
        let ranks = match processes {
            // All fail or none does.
            1 => 0..0,
            _ if extent.on_each_rank => 0..processes,
            _ => processes / 2..processes / 2 + 1,
        };
        for rank in ranks {
            run.failures(Some(rank), extent.calls);
        }
    }
    if extent.on_each_rank {
        let (failed, told) = (run.failed, run.told);
        println!("{}: a call failed in {failed} runs, of which {told} ended there", test.name());
    }
    run.session.verdict()
}
