//! Simulated machines, and programs that run on them.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::top;

/// A machine of equal nodes, all on one switch.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Machine {
    pub(crate) nodes: u32,
    /// Processes per node, each with one core.
    pub(crate) processes: u32,
}

impl Machine {
    pub(crate) fn ranks(self) -> u32 {
        self.nodes * self.processes
    }

    /// SimGrid's description: links of 100 Gbit/s and 1 us, memory of 50 GB/s within a node.
    fn platform(self) -> String {
        let Self { nodes, processes } = self;
        format!(
            r#"<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n" suffix="" radical="0-{}" speed="1Gf" core="{processes}" bw="12.5GBps"
           lat="1us" loopback_bw="50GBps" loopback_lat="200ns"/>
</platform>
"#,
            nodes - 1
        )
    }

    /// The node of each rank, one per line.
    fn hosts(self, placement: Placement) -> String {
        let mut lines = String::new();
        for rank in 0..self.ranks() {
            let node = match placement {
                Placement::Block => rank / self.processes,
                Placement::Cyclic | Placement::Cartograph => rank % self.nodes,
            };
            writeln!(lines, "n{node}").expect("a String takes all");
        }
        lines
    }
}

/// The placement of ranks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Placement {
    /// Rank 0 on node 0, rank 1 on node 1, and so on, by the launcher.
    Cyclic,
    /// Node after node, by the launcher.
    Block,
    /// Cyclic by the launcher, then reordered by Cartograph for `reorder = 1`.
    Cartograph,
}

impl Placement {
    pub(crate) const ALL: [Self; 3] = [Self::Cyclic, Self::Block, Self::Cartograph];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Cyclic => "cyclic",
            Self::Block => "block",
            Self::Cartograph => "Cartograph",
        }
    }
}

/// The directory in which programs are compiled and run.
pub(crate) struct Launch {
    directory: PathBuf,
    library: PathBuf,
}

impl Launch {
    /// Below the directory of the host, where `make lib HOST=smpi` has built the library.
    pub(crate) fn new(host: &Path) -> Result<Self, Box<dyn Error>> {
        let directory = host.join("simulate");
        fs::create_dir_all(&directory)?;
        let library = host.join("lib/libcartograph.so").canonicalize()?;
        Ok(Self { directory: directory.canonicalize()?, library })
    }

    /// Compiles a program of `c_tests/simulate` for SMPI, without Cartograph.
    pub(crate) fn compile(&self, name: &str, flags: &[&str]) -> Result<PathBuf, Box<dyn Error>> {
        let compiled = self.directory.join(name);
        let source = format!("{name}.c");
        let mut command = Command::new("smpicc");
        command.arg("-O2").args(flags).arg("-o").arg(&compiled);
        if !command.arg(top().join("c_tests/simulate").join(&source)).status()?.success() {
            return Err(format!("smpicc cannot compile {source}").into());
        }
        Ok(compiled)
    }

    /// Runs a program; returns its output and its time. A preloaded library is found only where
    /// ranks share the program's global variables; these programs have none.
    pub(crate) fn run(
        &self,
        program: &Path,
        machine: Machine,
        placement: Placement,
        arguments: &[String],
    ) -> Result<(String, Duration), Box<dyn Error>> {
        let mut command =
            self.prepared(machine.ranks(), &machine.platform(), &machine.hosts(placement))?;
        if placement == Placement::Cartograph {
            command.args(["-wrapper", &format!("env LD_PRELOAD={}", self.library.display())]);
        }
        command.arg(program).args(arguments);

        let begin = Instant::now();
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        let mut output = String::new();
        child.stdout.take().expect("it is piped").read_to_string(&mut output)?;
        let status = child.wait()?;
        if !status.success() {
            return Err(format!("smpirun ended with {status}: {output}").into());
        }
        Ok((output, begin.elapsed()))
    }
}

impl Launch {
    /// Runs a program on a platform with the host of each rank, under Cartograph if there is a layout for it; returns
    /// its output.
    pub(crate) fn run_on(
        &self,
        program: &Path,
        ranks: u32,
        (platform, hosts): (&str, &str),
        layout: Option<&str>,
        arguments: &[String],
    ) -> Result<String, Box<dyn Error>> {
        let mut command = self.prepared(ranks, platform, hosts)?;
        if let Some(layout) = layout {
            let file = self.directory.join("layout");
            fs::write(&file, layout)?;
            let (library, file) = (self.library.display(), file.display());
            let wrapper = format!(
                "env LD_PRELOAD={library} CARTOGRAPH_LAYOUT={file} CARTOGRAPH_WEIGHTS=1,1,1 CARTOGRAPH_REORDER=on"
            );
            command.args(["-wrapper", &wrapper]);
        }
        let output = command.arg(program).args(arguments).stderr(Stdio::inherit()).output()?;
        let text = String::from_utf8(output.stdout)?;
        match output.status.success() {
            true => Ok(text),
            false => Err(format!("smpirun ended with {}: {text}", output.status).into()),
        }
    }

    /// smpirun with all its options; the program follows.
    fn prepared(&self, ranks: u32, platform: &str, hosts: &str) -> Result<Command, Box<dyn Error>> {
        let (platform_file, hosts_file) =
            (self.directory.join("platform.xml"), self.directory.join("hosts"));
        fs::write(&platform_file, platform)?;
        fs::write(&hosts_file, hosts)?;
        let mut command = Command::new("smpirun");
        command.current_dir(&self.directory).arg("-no-privatize");
        command.args(["-np", &ranks.to_string()]);
        command.arg("-platform").arg(&platform_file).arg("-hostfile").arg(&hosts_file);
        // Then times are those of the network only, and equal in each run.
        command.args(["--cfg=smpi/simulate-computation:no", "--log=root.thres:warning"]);
        command.args(["--cfg=contexts/stack-size:256", "--cfg=contexts/guard-size:0"]);
        // Larger buffers share memory between all ranks, and their contents are not copied.
        command.arg("--cfg=smpi/auto-shared-malloc-thresh:65536");
        // When a send ends, SMPI searches all detached sends, which took minutes.
        command.arg("--cfg=smpi/send-is-detached-thresh:0");
        Ok(command)
    }
}
