//! The options of launchers: how many values they take, needed to find the program after them, and which place ranks,
//! since these conflict with another placement.

/// The values that follow an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Values {
    /// None.
    None,
    /// One: the next argument, or in the same argument.
    One,
    /// Two arguments.
    Two,
    /// `NAME VALUE`, or `NAME=VALUE` in one argument.
    Pair,
    /// One in the same argument, or none.
    Attached,
}

/// The effect of an option on where ranks run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// No effect on placement.
    Other,
    /// The number of processes.
    Processes,
    /// The nodes, by name.
    Hosts,
    /// The number of nodes.
    Nodes,
    /// The number of processes of each node.
    PerNode,
    /// The order in which ranks are distributed over nodes and their cores.
    Order,
    /// A parameter and its value, which may be the order.
    Parameter,
    /// The part of the node that each rank is bound to.
    Binding,
    /// The process management interface, through which processes learn their places.
    Management,
    /// A file with the programs.
    Programs,
    /// Files that get the output of processes.
    Output,
}

/// Options with the same effect and values.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// The effect.
    pub role: Role,
    /// The values.
    pub values: Values,
    /// The names without dashes, separated by spaces.
    pub names: &'static str,
}

impl Options {
    /// The names.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.names.split_ascii_whitespace()
    }
}

const fn options(role: Role, values: Values, names: &'static str) -> Options {
    Options { role, values, names }
}

use Role::{
    Binding, Hosts, Management, Nodes, Order, Other, Output, Parameter, PerNode, Processes,
    Programs,
};
use Values::{Attached, None, One, Pair, Two};

/// Options of Hydra, the launcher of MPICH and Intel MPI.
pub(super) const HYDRA: &[Options] = &[
    options(Processes, One, "n np"),
    options(
        Hosts,
        One,
        "hosts host f hostfile machinefile machine machines machinelist hostlist hosts-group",
    ),
    options(Order, One, "rankmap order-nodes"),
    options(PerNode, One, "ppn perhost grr"),
    options(PerNode, None, "rr"),
    options(Programs, One, "configfile"),
    options(Output, One, "outfile-pattern outfile"),
    options(Other, Pair, "genv env"),
    options(
        Other,
        One,
        "genvlist envlist wdir launcher bootstrap launcher-exec bootstrap-exec rmk topolib bind-to binding map-by membind \
         cpu-bind demux iface prepend-pattern errfile-pattern errfile output-from nameserver localhost usize g \
         gpus-per-proc gpu-subdevs-per-proc memory-alloc-kinds s gtool gtoolfile tune path arch umask \
         bootstrap-exec-args branch-count tmpdir",
    ),
    options(Other, Attached, "trace t check_mpi"),
    options(
        Other,
        None,
        "genvnone genvall envnone envall enable-x disable-x verbose v info print-all-exitcodes profile prepend-rank l \
         prepend-timestamp disable-auto-cleanup cleanup disable-hostname-propagation pmi-port hybrid-hosts \
         skip-launch-node nolocal aps mps gdb gdb-args silent-abort print-rank-map prot ilp64 localroot noconf \
         ordered-output debug report-bindings enable-auto-cleanup enable-hostname-propagation help version V",
    ),
];

/// Options of Open MPI's `orterun`, up to version 4.
pub(super) const ORTERUN: &[Options] = &[
    options(Processes, One, "n np c"),
    options(Hosts, One, "host H hostfile machinefile default-hostfile"),
    options(Order, One, "map-by rank-by rankfile rf cpus-per-proc cpus-per-rank"),
    options(Order, None, "bynode bycore byslot nolocal"),
    options(PerNode, One, "N npernode npersocket ppr"),
    options(PerNode, None, "pernode"),
    options(Programs, One, "app"),
    options(Output, One, "output-filename"),
    options(Parameter, Two, "mca gmca"),
    options(
        Other,
        One,
        "x bind-to am tune cpu-set cpu-list debugger report-events report-pid report-uri timeout xml-file \
         xterm stdin cf cartofile launch-agent path personality prefix preload-files wd wdir hnp max-vm-size ompi-server \
         slot-list tmpdir",
    ),
    options(
        Other,
        None,
        "q quiet v verbose V version h help continuous debug display-allocation display-map get-stack-traces \
         leave-session-attached output-proctable report-state-on-timeout tv merge-stderr-to-stdout \
         report-child-jobs-separately tag-output timestamp-output xml index-argv-by-rank nooversubscribe oversubscribe \
         use-hwthread-cpus report-bindings d debug-devel debug-daemons debug-daemons-file display-devel-allocation \
         display-devel-map display-diffable-map display-topo do-not-launch do-not-resolve bind-to-core bind-to-socket \
         allow-run-as-root enable-instant-on-support enable-recovery disable-recovery fwd-mpirun-port noprefix s \
         preload-binary set-cwd-to-session-dir show-progress use-regexp dvm novm",
    ),
];

/// Options of PRRTE, the launcher of Open MPI 5.
pub(super) const PRTERUN: &[Options] = &[
    options(Processes, One, "n np c"),
    options(Hosts, One, "host H hostfile machinefile default-hostfile add-host add-hostfile"),
    options(
        Order,
        One,
        "map-by mapby rank-by rankby rankfile cpus-per-proc cpus-per-rank cpu-set cpu-list",
    ),
    options(Order, None, "bynode bycore byslot nolocal"),
    options(PerNode, One, "N npernode npersocket ppr"),
    options(PerNode, None, "pernode"),
    options(Binding, One, "bind-to bindto"),
    options(Binding, None, "bind-to-core"),
    options(Programs, One, "app appfile"),
    options(Output, One, "output output-directory output-filename"),
    options(Parameter, Two, "mca gmca prtemca pmixmca gpmixmca omca gomca"),
    options(
        Other,
        One,
        "x am amca tune report-pid report-uri personality dvm dvm-uri pid namespace \
         launch-agent max-vm-size tmpdir prefix pmix-prefix app-pmix-prefix forward-signals xterm timeout spawn-timeout \
         stdin preload-files wd wdir path pset runtime-options rtos max-restarts with-ft initial-errhandler memory-alloc-kinds \
         arch file display display-topo stream-buffering keepalive gpu-support exec-agent",
    ),
    options(Other, Attached, "output-proctable fwd-environment h help"),
    options(
        Other,
        None,
        "V version v verbose q quiet p parseable parsable d debug-daemons debug-daemons-file leave-session-attached noprefix \
         allow-run-as-root report-child-jobs-separately stop-on-exec stop-in-init stop-in-app report-state-on-timeout \
         get-stack-traces no-aggregate-help hetero-nodes no-app-prefix display-devel-allocation s \
         preload-binary show-progress set-cwd-to-session-dir do-not-launch do-not-resolve enable-recovery \
         disable-recovery continuous display-comm display-comm-finalize soft xml tag-output \
         timestamp-output merge-stderr-to-stdout display-devel-map report-bindings display-map display-allocation \
         oversubscribe nooversubscribe use-hwthread-cpus debug index-argv-by-rank",
    ),
];

/// Options of Slurm's `srun`.
pub(super) const SRUN: &[Options] = &[
    options(Processes, One, "n ntasks"),
    options(Hosts, One, "w nodelist F nodefile r relative"),
    options(Nodes, One, "N nodes"),
    options(Order, One, "m distribution"),
    options(
        PerNode,
        One,
        "ntasks-per-node tasks-per-node ntasks-per-socket ntasks-per-core ntasks-per-gpu ntasks-per-tres",
    ),
    options(Programs, None, "multi-prog"),
    options(Management, One, "mpi"),
    options(Output, One, "o output"),
    options(
        Other,
        One,
        "A account accel-bind acctg-freq bb bbf bcast-exclude b begin D chdir cluster-constraint M clusters comment C \
         constraint container container-id S core-spec cores-per-socket cpu-bind cpu_bind cpu-freq c cpus-per-task \
         cpus-per-gpu deadline delay-boot d dependency epilog e error x exclude export B extra-node-info extra gid gpu-bind gpu-freq G \
         gpus gpus-per-node gpus-per-socket gpus-per-task gres gres-flags het-group hint i input J job-name jobid L licenses \
         mail-type mail-user mcs-label mem mem-bind mem-per-cpu mem-per-gpu mincpus msg-timeout network open-mode \
         pack-group p partition power prefer priority profile prolog q qos reservation segment signal slurmd-debug \
         sockets-per-node switches task-epilog task-prolog thread-spec T threads threads-per-core t time time-min tmp \
         tres-bind tres-per-task treewidth uid W wait wckey",
    ),
    options(
        Other,
        Attached,
        "bcast compress exclusive external-launcher get-user-env I immediate k no-kill K kill-on-bad-exit nice \
         oom-kill-step propagate pty resv-ports send-libs x11",
    ),
    options(
        Other,
        None,
        "E preserve-env H hold l label O overcommit s oversubscribe overlap Q quiet u unbuffered v verbose X disable-status Z \
         no-allocate contiguous debugger-test exact external interactive quit-on-interrupt reboot spread-job test-only \
         stepmgr use-min-nodes wait-for-children whole V version h help usage",
    ),
];

/// Options of `flux run`.
pub(super) const FLUX: &[Options] = &[
    options(Processes, One, "n ntasks"),
    options(Nodes, One, "N nodes"),
    options(Order, One, "taskmap"),
    options(PerNode, One, "tasks-per-node tasks-per-core"),
    options(Output, One, "output"),
    options(
        Other,
        One,
        "c cores-per-task g gpus-per-task cores gpus-per-node t time-limit urgency job-name o setopt S setattr \
         dependency requires env env-remove env-file rlimit input error cwd flags signal B bank q queue begin-time \
         conf add-file wait-event P resources-shape resources-json",
    ),
    options(
        Other,
        None,
        "u unbuffered l label-io dry-run quiet x exclusive v verbose list-plugins debug debug-emulate h help",
    ),
];

/// Options of HPE's PALS.
pub(super) const PALS: &[Options] = &[
    options(Processes, One, "n np"),
    options(Hosts, One, "hosts hostlist host hostfile f nodefile"),
    options(PerNode, One, "ppn"),
    options(Programs, None, "configfile"),
    options(Output, One, "o stdout"),
    options(Other, Pair, "genv env"),
    options(
        Other,
        One,
        "d depth cpu-bind cc gpu-bind mem-bind envlist genvlist wdir umask rlimits timeout pmi fanout vni-count network stdin \
         e stderr soft arch path file include-tasks exclude-tasks procinfo-file",
    ),
    options(
        Other,
        None,
        "l line-buffer no-line-buffer label no-label prepend-rank envall envnone genvall genvnone exclusive shared transfer \
         no-transfer no-vni single-node-vni sstartup no-sstartup abort-on-failure no-abort-on-failure procinfo v verbose q \
         quiet h help V version",
    ),
];
