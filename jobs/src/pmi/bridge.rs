//! Requests of a program that speaks PMI-1, translated to PMI-2, and the answers to them.

use super::line::{Format, value};

/// Stands for a semicolon in values, which would end them in PMI-2.
const SEMICOLON: &str = "\u{1}";

/// A request as the launcher gets it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Translated {
    /// Its message.
    Message(String),
    /// The program is answered without the launcher.
    Answer(String),
    /// More lines follow, or PMI-2 has no such request.
    Nothing,
}

/// The state of the translation: the commands of a request to spawn, line by line.
#[derive(Debug, Default)]
pub(super) struct Bridge {
    commands: Vec<Vec<(String, String)>>,
    is_in_command: bool,
}

impl Bridge {
    /// Translates a line of the program.
    pub(super) fn request(&mut self, line: &str) -> Translated {
        if self.is_in_command || line.starts_with("mcmd=") {
            return self.spawn(line);
        }
        let get = |key: &str| value(Format::Line, line, key).unwrap_or_default();
        let text = |key: &str| get(key).replace(';', SEMICOLON);
        Translated::Message(match get("cmd") {
            "put" => format!("cmd=kvs-put;key={};value={};", text("key"), text("value")),
            "get" => {
                let (job, key) = (text("kvsname"), text("key"));
                format!("cmd=kvs-get;jobid={job};srcid=-1;key={key};")
            }
            "barrier_in" => "cmd=kvs-fence;".into(),
            "finalize" => "cmd=finalize;".into(),
            "abort" => "cmd=abort;isworld=TRUE;msg=;".into(),
            "publish_name" => {
                let (name, port) = (text("service"), text("port"));
                format!("cmd=name-publish;name={name};port={port};infokeycount=0;")
            }
            "unpublish_name" => {
                format!("cmd=name-unpublish;name={};infokeycount=0;", text("service"))
            }
            "lookup_name" => format!("cmd=name-lookup;name={};infokeycount=0;", text("service")),
            // The versions that are spoken are known to the caller.
            "init" => {
                let answer = "cmd=response_to_init rc=-1 pmi_version=2 pmi_subversion=0";
                return Translated::Answer(answer.into());
            }
            _ => return Translated::Nothing,
        })
    }

    /// True within a request of several lines.
    pub(super) fn is_in_command(&self) -> bool {
        self.is_in_command
    }

    /// Takes a line of a request to spawn, which has several commands of several lines.
    fn spawn(&mut self, line: &str) -> Translated {
        if line != "endcmd" {
            if !self.is_in_command {
                self.commands.push(Vec::new());
                self.is_in_command = true;
            }
            let pair = line.split_once('=').map(|(key, value)| (key.to_owned(), value.to_owned()));
            self.commands.last_mut().expect("one has begun").extend(pair);
            return Translated::Nothing;
        }
        self.is_in_command = false;
        let last = self.commands.last().expect("one has begun");
        if number(last, "spawnssofar") < number(last, "totspawns") {
            return Translated::Nothing;
        }
        let commands = std::mem::take(&mut self.commands);
        match spawned(&commands) {
            Some(message) => Translated::Message(message),
            None => Translated::Answer("cmd=spawn_result rc=-1".into()),
        }
    }
}

/// The value of a key in a command.
fn named<'a>(command: &'a [(String, String)], key: &str) -> Option<&'a str> {
    command.iter().find(|(name, _)| name == key).map(|(_, value)| &**value)
}

/// A number in a command, or 0.
fn number(command: &[(String, String)], key: &str) -> usize {
    named(command, key).and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// The request to spawn these commands; `None` if a key is missing, or if a value has a semicolon.
fn spawned(commands: &[Vec<(String, String)>]) -> Option<String> {
    let first = commands.first()?;
    let values = |command: &[(String, String)], names: [&str; 2], keys: [&str; 2], count: usize| {
        let pair = |at: usize| {
            let [key, value] = names.map(|name| named(command, &format!("{name}{at}")));
            Some(format!("{}{at}={};{}{at}={};", keys[0], key?, keys[1], value?))
        };
        (0..count).map(pair).collect::<Option<String>>()
    };
    let put = number(first, "preput_num");
    let mut message = format!("cmd=spawn;ncmds={};preputcount={put};", commands.len());
    message += &values(first, ["preput_key_", "preput_val_"], ["ppkey", "ppval"], put)?;
    for command in commands {
        let [arguments, facts] = ["argcnt", "info_num"].map(|key| number(command, key));
        let (name, processes) = (named(command, "execname")?, number(command, "nprocs"));
        message += &format!("subcmd={name};maxprocs={processes};argc={arguments};");
        for at in 0..arguments {
            message += &format!("argv{at}={};", named(command, &format!("arg{}", at + 1))?);
        }
        message += &format!("infokeycount={facts};");
        message += &values(command, ["info_key_", "info_val_"], ["infokey", "infoval"], facts)?;
    }
    let has_semicolon = |(_, value): &(String, String)| value.contains(';');
    (!commands.iter().flatten().any(has_semicolon)).then_some(message)
}

/// The line for a program that gets an answer in PMI-2; `None` if it does not expect one.
pub(super) fn answer(message: &str) -> Option<String> {
    let get = |key: &str| value(Format::Counted, message, key);
    let text = |key: &str| get(key).unwrap_or_default().replace(SEMICOLON, ";");
    let code = get("rc").unwrap_or("-1");
    let info = if code == "0" { "ok" } else { "fail" };
    Some(match get("cmd")? {
        "kvs-put-response" => format!("cmd=put_result rc={code}"),
        "kvs-get-response" if get("found") == Some("TRUE") => {
            format!("cmd=get_result rc=0 value={}", text("value"))
        }
        "kvs-get-response" => "cmd=get_result rc=1".into(),
        "kvs-fence-response" => format!("cmd=barrier_out rc={code}"),
        "finalize-response" => format!("cmd=finalize_ack rc={code}"),
        "name-publish-response" => format!("cmd=publish_result info={info}"),
        "name-unpublish-response" => format!("cmd=unpublish_result info={info}"),
        "name-lookup-response" if code == "0" => {
            format!("cmd=lookup_result info=ok port={}", text("value"))
        }
        "name-lookup-response" => "cmd=lookup_result info=fail".into(),
        "spawn-response" => {
            let codes = get("errcodes").map(|codes| format!(" errcodes={codes}"));
            let job = get("jobid").map(|job| format!(" jobid={job}"));
            let [job, codes] = [job, codes].map(Option::unwrap_or_default);
            format!("cmd=spawn_result rc={code}{job}{codes}")
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(line: &str) -> String {
        match Bridge::default().request(line) {
            Translated::Message(message) => message,
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn requests_are_translated() {
        for (line, message) in [
            ("cmd=put kvsname=5.0 key=a value=b;c", "cmd=kvs-put;key=a;value=b\u{1}c;"),
            ("cmd=get kvsname=5.0 key=a", "cmd=kvs-get;jobid=5.0;srcid=-1;key=a;"),
            ("cmd=barrier_in", "cmd=kvs-fence;"),
            ("cmd=abort exitcode=3", "cmd=abort;isworld=TRUE;msg=;"),
            ("cmd=finalize", "cmd=finalize;"),
            ("cmd=publish_name service=a port=b", "cmd=name-publish;name=a;port=b;infokeycount=0;"),
            ("cmd=unpublish_name service=a", "cmd=name-unpublish;name=a;infokeycount=0;"),
            ("cmd=lookup_name service=a", "cmd=name-lookup;name=a;infokeycount=0;"),
        ] {
            assert_eq!(request(line), message);
        }
        let mut bridge = Bridge::default();
        assert_eq!(bridge.request("cmd=getbyidx"), Translated::Nothing);
        let other = bridge.request("cmd=init pmi_version=1 pmi_subversion=2");
        assert!(matches!(other, Translated::Answer(line) if line.contains(" rc=-1 ")));
    }

    #[test]
    fn answers_are_translated() {
        for (message, line) in [
            ("cmd=kvs-put-response;rc=0;", "cmd=put_result rc=0"),
            (
                "cmd=kvs-get-response;rc=0;found=TRUE;value=b\u{1}c;",
                "cmd=get_result rc=0 value=b;c",
            ),
            ("cmd=kvs-get-response;rc=0;found=FALSE;", "cmd=get_result rc=1"),
            ("cmd=kvs-fence-response;rc=0;", "cmd=barrier_out rc=0"),
            ("cmd=finalize-response;rc=0;", "cmd=finalize_ack rc=0"),
            ("cmd=name-publish-response;rc=0;", "cmd=publish_result info=ok"),
            ("cmd=name-unpublish-response;rc=1;", "cmd=unpublish_result info=fail"),
            ("cmd=name-lookup-response;rc=0;value=b;", "cmd=lookup_result info=ok port=b"),
            ("cmd=name-lookup-response;rc=1;", "cmd=lookup_result info=fail"),
            (
                "cmd=spawn-response;rc=0;jobid=5.1;errcodes=0,0;",
                "cmd=spawn_result rc=0 jobid=5.1 errcodes=0,0",
            ),
        ] {
            assert_eq!(answer(message).as_deref(), Some(line));
        }
        assert_eq!(answer("cmd=ring-response;rc=0;"), None);
    }

    #[test]
    fn commands_to_spawn_become_one_message() {
        let first = "mcmd=spawn\nnprocs=2\nexecname=./a\ntotspawns=2\nspawnssofar=1\narg1=x y\narg2=cmd=z\nargcnt=2\n\
                     preput_num=1\npreput_key_0=port\npreput_val_0=tag#0\ninfo_num=1\ninfo_key_0=host\ninfo_val_0=n1\n\
                     endcmd";
        let second = "mcmd=spawn\nnprocs=1\nexecname=./b\ntotspawns=2\nspawnssofar=2\nargcnt=0\npreput_num=1\n\
                      preput_key_0=port\npreput_val_0=tag#0\ninfo_num=0\nendcmd";
        let mut bridge = Bridge::default();
        let mut last = |text: &str| text.lines().map(|line| bridge.request(line)).last().unwrap();
        assert_eq!(last(first), Translated::Nothing);
        assert_eq!(
            last(second),
            Translated::Message(
                "cmd=spawn;ncmds=2;preputcount=1;ppkey0=port;ppval0=tag#0;subcmd=./a;maxprocs=2;argc=2;argv0=x y;\
                 argv1=cmd=z;infokeycount=1;infokey0=host;infoval0=n1;subcmd=./b;maxprocs=1;argc=0;infokeycount=0;"
                    .into()
            )
        );
        // PMI-2 cannot express it.
        let failure = Translated::Answer("cmd=spawn_result rc=-1".into());
        assert_eq!(last(&second.replace("./b", "a;b").replace("=2", "=1")), failure);
        assert_eq!(last("mcmd=spawn\nendcmd"), failure);
    }
}
