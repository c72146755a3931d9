//! A launcher's PMI for tests, with a thread for each process.

use std::collections::HashMap;
use std::io;
use std::sync::{Barrier, Mutex};
use std::thread;

use super::agreement::Server;
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
}

impl Job {
    pub(super) fn new(mapping: &str) -> Self {
        Self { mapping: mapping.to_owned(), takes_values: true, values: Mutex::default() }
    }

    /// Does something in a process for each order.
    pub(super) fn run<T: Send>(
        &self,
        orders: Vec<Option<Order>>,
        body: impl Fn(&mut Connection<'_>, usize, Option<Order>) -> T + Sync,
    ) -> Vec<T> {
        let size = orders.len();
        let barrier = Barrier::new(size);
        self.values.lock().unwrap().clear();
        thread::scope(|scope| {
            let (barrier, body) = (&barrier, &body);
            let start = |order| {
                let run = move || body(&mut Connection { job: self, barrier }, size, order);
                thread::Builder::new().stack_size(1 << 16).spawn_scoped(scope, run).unwrap()
            };
            let all: Vec<_> = orders.into_iter().map(start).collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        })
    }
}

impl Server for Connection<'_> {
    fn ask(&mut self, line: &str) -> io::Result<String> {
        let key = value(Format::Line, line, "key");
        Ok(match value(Format::Line, line, "cmd") {
            Some("init") => "cmd=response_to_init rc=0".to_owned(),
            Some("get_maxes") => format!("cmd=maxes rc=0 vallen_max={LONGEST}"),
            Some("get_my_kvsname") => "cmd=my_kvsname rc=0 kvsname=kvs".to_owned(),
            Some("put") => {
                let [key, text] = ["key", "value"].map(|name| value(Format::Line, line, name));
                let (key, text) = (key.unwrap().to_owned(), text.unwrap().to_owned());
                if self.job.takes_values {
                    self.job.values.lock().unwrap().insert(key, text);
                }
                "cmd=put_result rc=0".to_owned()
            }
            Some("barrier_in") => {
                self.barrier.wait();
                "cmd=barrier_out rc=0".to_owned()
            }
            Some("get") if key == Some("PMI_process_mapping") => {
                format!("cmd=get_result rc=0 msg=success value={}", self.job.mapping)
            }
            Some("get") => match self.job.values.lock().unwrap().get(key.unwrap()) {
                Some(text) => format!("cmd=get_result rc=0 msg=success value={text}"),
                None => "cmd=get_result rc=-1 msg=key_not_found value=unknown".to_owned(),
            },
            other => panic!("{other:?}"),
        })
    }
}
