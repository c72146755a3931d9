//! A launcher's PMI for tests, with a thread for each process.

use std::collections::HashMap;
use std::io;
use std::sync::{Barrier, Mutex};
use std::thread;

use super::agreement::{Process, Server, Version};
use super::line::{Format, value};
use super::order::Order;

/// The length of values that it names.
pub(super) const LONGEST: usize = 1024;

/// A job.
pub(super) struct Job {
    pub(super) mapping: String,
    /// False if values get lost.
    pub(super) takes_values: bool,
    pub(super) values: Mutex<HashMap<String, String>>,
}

/// The connection of a process.
pub(super) struct Connection<'a> {
    job: &'a Job,
    barrier: &'a Barrier,
    size: usize,
}

impl Job {
    pub(super) fn new(mapping: &str) -> Self {
        Self { mapping: mapping.to_owned(), takes_values: true, values: Mutex::default() }
    }

    /// Does something in a process for each order.
    pub(super) fn run<T: Send>(
        &self,
        orders: Vec<Option<Order>>,
        body: impl Fn(&mut Connection<'_>, &Process, Option<Order>) -> T + Sync,
    ) -> Vec<T> {
        let size = orders.len();
        let barrier = Barrier::new(size);
        self.values.lock().unwrap().clear();
        thread::scope(|scope| {
            let (barrier, body) = (&barrier, &body);
            let start = |(rank, order)| {
                let process = Process { rank, size, job: "kvs".to_owned() };
                let run =
                    move || body(&mut Connection { job: self, barrier, size }, &process, order);
                thread::Builder::new().stack_size(1 << 16).spawn_scoped(scope, run).unwrap()
            };
            let all: Vec<_> = orders.into_iter().enumerate().map(start).collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        })
    }
}

impl Server for Connection<'_> {
    fn ask(&mut self, format: Format, message: &str) -> io::Result<String> {
        let begins = message == Version::Two.init();
        Ok(match format {
            Format::Line if begins => {
                "cmd=response_to_init rc=0 pmi_version=2 pmi_subversion=0".into()
            }
            Format::Line => self.answer_line(message),
            Format::Counted => self.answer_message(message),
        })
    }
}

impl Connection<'_> {
    fn put(&self, format: Format, message: &str) {
        let [key, text] = ["key", "value"].map(|name| value(format, message, name));
        let (key, text) = (key.unwrap().to_owned(), text.unwrap().to_owned());
        if self.job.takes_values {
            self.job.values.lock().unwrap().insert(key, text);
        }
    }

    fn get(&self, format: Format, message: &str) -> Option<String> {
        match value(format, message, "key").unwrap() {
            "PMI_process_mapping" => Some(self.job.mapping.clone()),
            key => self.job.values.lock().unwrap().get(key).cloned(),
        }
    }

    fn answer_line(&self, line: &str) -> String {
        match value(Format::Line, line, "cmd") {
            Some("init") => "cmd=response_to_init rc=0".to_owned(),
            Some("get_maxes") => format!("cmd=maxes rc=0 vallen_max={LONGEST}"),
            Some("get_my_kvsname") => "cmd=my_kvsname rc=0 kvsname=kvs".to_owned(),
            Some("put") => {
                self.put(Format::Line, line);
                "cmd=put_result rc=0".to_owned()
            }
            Some("barrier_in") => {
                self.barrier.wait();
                "cmd=barrier_out rc=0".to_owned()
            }
            Some("get") => match self.get(Format::Line, line) {
                Some(text) => format!("cmd=get_result rc=0 msg=success value={text}"),
                None => "cmd=get_result rc=-1 msg=key_not_found value=unknown".to_owned(),
            },
            other => panic!("{other:?}"),
        }
    }

    fn answer_message(&self, message: &str) -> String {
        let get = |key: &str| value(Format::Counted, message, key);
        match get("cmd") {
            Some("fullinit") => {
                assert_eq!((get("pmijobid"), get("threaded")), (Some("kvs"), Some("FALSE")));
                let (rank, size) = (get("pmirank").unwrap(), self.size);
                format!("cmd=fullinit-response;rc=0;rank={rank};size={size};appnum=-1;")
            }
            Some("kvs-put") => {
                self.put(Format::Counted, message);
                "cmd=kvs-put-response;rc=0;".to_owned()
            }
            Some("kvs-fence") => {
                self.barrier.wait();
                "cmd=kvs-fence-response;rc=0;".to_owned()
            }
            Some(command @ ("kvs-get" | "info-getjobattr")) => {
                match self.get(Format::Counted, message) {
                    Some(text) => format!("cmd={command}-response;rc=0;found=TRUE;value={text};"),
                    None => format!("cmd={command}-response;rc=0;found=FALSE;"),
                }
            }
            other => panic!("{other:?}"),
        }
    }
}
