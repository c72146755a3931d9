//! Simulated nodes on this machine: network namespaces, each with a link of a limited rate to a switch, and Open MPI on
//! them.

use std::fmt::Write;
use std::fs;

use cartograph_lab::host::{Host, does};

use super::Outcome;

/// A full bucket passes at once, so it is small compared with the bytes that a node sends in an exchange. Nothing is
/// dropped, as on cluster networks.
const BUCKET: &str = "burst 16kb limit 16mb";

/// mpiexec starts its daemons with this script like with ssh: options, the node, a command.
const AGENT: &str = r#"#!/usr/bin/env bash
while [[ $1 == -* ]]; do shift; done
node=$1
shift
exec ip netns exec "$node" unshare --uts bash -c "hostname $node; $*"
"#;

/// Nodes with names n0, n1 and so on.
pub(crate) struct Nodes {
    count: u32,
    /// Seconds after which a run is ended.
    patience: u32,
    /// The MPI of the processes.
    pub(crate) host: Host,
}

impl Nodes {
    /// Creates the nodes in namespaces of this process alone. `rate` is the rate of their links.
    pub(crate) fn new(host: Host, count: u32, rate: &str, patience: u32) -> Outcome<Self> {
        // Separate directories for temporary files, including the MPI's, for the names of network namespaces, and for
        // this network's interfaces.
        does_all(&[
            "mount -t tmpfs none /dev/shm",
            "mount -t tmpfs none /run",
            "mount -t sysfs none /sys",
            "ip link set lo up",
            "ip link add switch type bridge",
            "ip address add 10.77.0.254/24 dev switch",
            "ip link set switch up",
        ])?;
        let mut hosts = fs::read_to_string("/etc/hosts")? + "\n10.77.0.254 machine";
        for i in 0..count {
            let address = format!("10.77.0.{}", i + 1);
            does_all(&[
                &format!("ip netns add n{i}"),
                &format!("ip link add link{i} type veth peer name eth0 netns n{i}"),
                &format!("ip link set link{i} master switch up"),
                &format!("ip -n n{i} address add {address}/24 dev eth0"),
                &format!("ip -n n{i} link set eth0 up"),
                &format!("ip -n n{i} link set lo up"),
            ])?;
            let _ = write!(hosts, "\n{address} n{i}");
        }
        fs::write("/dev/shm/hosts", hosts + "\n")?;
        does("mount --bind /dev/shm/hosts /etc/hosts")?;
        program("/dev/shm/agent", AGENT)?;
        let nodes = Self { count, patience, host };
        nodes.limit(rate)?;
        Ok(nodes)
    }

    /// Limits the traffic that leaves each node. Incoming traffic equals outgoing traffic in all exchanges here, and a
    /// second queue for it would make some links wait for others, although real networks serve connections in rotation.
    pub(crate) fn limit(&self, rate: &str) -> Outcome {
        let limit = format!("root tbf rate {rate} {BUCKET}");
        self.each(&|i| format!("tc -n n{i} qdisc replace dev eth0 {limit}"))
    }

    /// Makes the links as fast as the machine.
    pub(crate) fn unlimit(&self) -> Outcome {
        self.each(&|i| format!("tc -n n{i} qdisc del dev eth0 root"))
    }

    fn each(&self, line: &dyn Fn(u32) -> String) -> Outcome {
        (0..self.count).try_for_each(|i| does_all(&[&line(i)]))
    }

    /// Puts n1 and n2 on a separate switch, connected to the other one by a link of this rate.
    pub(crate) fn split(&self, rate: &str) -> Outcome {
        does_all(&[
            "ip link add switch2 type bridge",
            "ip link set switch2 up",
            "ip link add thin1 type veth peer name thin2",
            "ip link set thin1 master switch up",
            "ip link set thin2 master switch2 up",
            &format!("tc qdisc add dev thin1 root tbf rate {rate} {BUCKET}"),
            &format!("tc qdisc add dev thin2 root tbf rate {rate} {BUCKET}"),
            "ip link set link1 master switch2",
            "ip link set link2 master switch2",
        ])
    }

    /// The bytes that each node has sent.
    pub(crate) fn sent(&self) -> Outcome<Vec<f64>> {
        (0..self.count).map(|i| counter(&format!("link{i}"), "rx")).collect()
    }

    /// The bytes sent on all wires since then, and those of the node that sent most.
    pub(crate) fn sent_since(&self, before: &[f64]) -> Outcome<[f64; 2]> {
        let now = self.sent()?;
        let bytes = || now.iter().zip(before).map(|(now, before)| now - before);
        Ok([bytes().sum(), bytes().fold(0.0, f64::max)])
    }

    /// The command line that starts processes, equally many on each node; a program follows.
    pub(crate) fn launcher(&self, options: &str, processes: u32) -> String {
        let each = processes / self.count;
        let slots: Vec<String> = (0..self.count).map(|i| format!("n{i}:{each}")).collect();
        let options = format!("{options} --host {}", slots.join(","));
        match &*self.host.name {
            "openmpi5" => self.launcher_5(&options, processes),
            "mpich5" => self.launcher_of_mpich(&options, processes),
            _ => self.launcher_on(&options, processes),
        }
    }

    /// The same with options that name the nodes.
    pub(crate) fn launcher_on(&self, options: &str, processes: u32) -> String {
        format!(
            "timeout -k 5 {} mpiexec.openmpi --allow-run-as-root --oversubscribe --mca mpi_yield_when_idle 1 \
             --mca plm_rsh_agent /dev/shm/agent --mca plm_rsh_no_tree_spawn 1 --mca oob_tcp_if_include 10.77.0.0/24 \
             --mca btl_tcp_if_include 10.77.0.0/24 --mca btl self,vader,tcp --mca pml ob1 {options} -n {processes}",
            self.patience
        )
    }

    /// The command line that starts processes of MPICH 5, whose options name the nodes; a program follows.
    fn launcher_of_mpich(&self, options: &str, processes: u32) -> String {
        let settings = self.host.settings.iter().filter(|setting| setting.starts_with("MPIR"));
        let settings: String =
            settings.map(|setting| format!(" -genv {}", setting.replace('=', " "))).collect();
        format!(
            "timeout -k 5 {} {} {processes} -launcher ssh -launcher-exec /dev/shm/agent -iface switch{settings} \
             -genv MPIR_CVAR_CH4_NETMOD ofi -genv FI_PROVIDER tcp -genv FI_TCP_IFACE eth0 {}",
            self.patience,
            self.host.launcher.join(" "),
            options.replace("--host", "-hosts")
        )
    }

    /// The command line that starts processes of Open MPI 5, whose options name the nodes; a program follows.
    pub(crate) fn launcher_5(&self, options: &str, processes: u32) -> String {
        format!(
            "timeout -k 5 {} {} {processes} --bind-to none --prtemca plm_ssh_agent /dev/shm/agent --prtemca plm_ssh_no_tree_spawn 1 \
             --prtemca prte_if_include 10.77.0.0/24 --mca btl_tcp_if_include 10.77.0.0/24 --mca btl self,sm,tcp --mca pml ob1 {options}",
            self.patience,
            self.host.launcher.join(" ")
        )
    }
}

/// Bytes that have crossed the link between the switches, in both directions.
pub(crate) fn crossed() -> Outcome<f64> {
    Ok(counter("thin1", "rx")? + counter("thin1", "tx")?)
}

fn counter(interface: &str, direction: &str) -> Outcome<f64> {
    let path = format!("/sys/class/net/{interface}/statistics/{direction}_bytes");
    Ok(fs::read_to_string(path)?.trim().parse()?)
}

/// Writes a script.
pub(crate) fn program(path: &str, text: &str) -> Outcome {
    fs::write(path, text)?;
    does_all(&[&format!("chmod 755 {path}")])
}

/// Runs command lines until one fails.
pub(crate) fn does_all(lines: &[&str]) -> Outcome {
    lines.iter().try_for_each(|line| does(line).map(drop))?;
    Ok(())
}
