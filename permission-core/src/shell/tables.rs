//! Commands that run other commands, or code that they are given.
//!
//! Place in the flow: `runs` looks a command's name up. Data only; what is missing here is an ordinary
//! command, so that an allow rule for it is a decision about it alone.

/// What a command's arguments are to it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// Runs the command in its arguments and changes nothing about it: it is looked through.
    Wrapper,
    /// Runs the command in its arguments elsewhere, or as somebody else.
    Runner(&'static Runner),
    /// The same, and never allowed by a rule.
    AlwaysAsks,
    /// Runs its arguments, or its input, as shell code.
    Shell,
    /// Runs a file of shell code, or what comes in instead of one.
    Source,
    /// All of its arguments are shell code.
    Evaluator,
    /// Runs code of another language.
    Interpreter,
    Ordinary,
}

/// Where a runner's command begins.
#[derive(Debug)]
pub(super) struct Runner {
    pub(super) name: &'static str,
    /// Runs something only behind one of these words.
    pub(super) subcommands: &'static [&'static str],
    /// So many operands stand before the command.
    pub(super) operands: usize,
    /// Options whose value is the next word.
    pub(super) values: &'static [&'static str],
}

const WRAPPERS: [&str; 9] = [
    "timeout", "time", "nice", "nohup", "stdbuf", "xargs", "command", "builtin", "noglob",
];

const ALWAYS_ASK: &[&str] = &[
    "watch",
    "setsid",
    "ionice",
    "flock",
    "chroot",
    "unshare",
    "nsenter",
    "su",
    "runuser",
    "parallel",
    "entr",
    "script",
    "bwrap",
    "firejail",
    "proot",
    "start-stop-daemon",
    "sg",
    "daemonize",
    "watchexec",
    "hyperfine",
    "concurrently",
    "emulate",
    "gparallel",
    "reflex",
];

/// With or without a version behind the name.
const SHELLS: &[&str] = &[
    "sh",
    "bash",
    "dash",
    "zsh",
    "ksh",
    "mksh",
    "ash",
    "rbash",
    "fish",
    "csh",
    "tcsh",
    "nu",
    "pwsh",
    "powershell",
    "xonsh",
    "elvish",
    "osh",
    "ysh",
    "yash",
    "hush",
    "rksh",
    "lksh",
    "oksh",
    "pdksh",
    "rzsh",
    "murex",
    "ion",
];

/// Take their commands from their input; of a text that is not known, anything is to be expected.
const STRICT_READERS: &[&str] = &[
    "at", "batch", "parallel", "ed", "red", "ex", "m4", "dc", "expect", "wish",
];

/// The same, but what comes in is mostly data.
const READERS: &[&str] = &[
    "sqlite3", "psql", "mysql", "mariadb", "ssh", "sftp", "ftp", "lftp", "gdb", "tmux", "irb", "ghci",
    "jshell", "gnuplot", "octave", "R", "iex",
];

/// The same where an argument says so.
const FILE_READERS: &[&str] = &[
    "crontab", "make", "gmake", "awk", "gawk", "mawk", "sed", "gsed", "vim", "nvim", "vi",
];

/// How a command reads commands from its input.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadsCommands {
    pub(super) strictly: bool,
}

/// Whether a command takes commands from its input; `named` tells whether an option names the input as their file.
pub(super) fn reads_commands(name: &str, named: bool) -> Option<ReadsCommands> {
    let strictly = STRICT_READERS.contains(&name) || (named && FILE_READERS.contains(&name));
    (strictly || READERS.contains(&name)).then_some(ReadsCommands { strictly })
}

const EVALUATORS: [&str; 3] = ["eval", "trap", "alias"];

const INTERPRETERS: &[&str] = &[
    "python",
    "perl",
    "ruby",
    "node",
    "nodejs",
    "php",
    "lua",
    "osascript",
    "Rscript",
    "tclsh",
    "deno",
    "bun",
    "tsx",
    "ts-node",
    "pypy",
    "luajit",
    "guile",
    "groovy",
    "scala",
    "elixir",
    "julia",
    "jruby",
];

const CONTAINER_VALUES: &[&str] = &[
    "-e",
    "--env",
    "-w",
    "--workdir",
    "-u",
    "--user",
    "-v",
    "--volume",
    "-p",
    "--publish",
    "--name",
    "--network",
    "--entrypoint",
    "-n",
    "--namespace",
    "-c",
    "--container",
    "--mount",
    "--env-file",
];

const RUNNERS: &[Runner] = &[
    runner(
        "sudo",
        &[],
        0,
        &["-u", "-g", "-h", "-p", "-C", "-T", "-D", "-R", "-r", "-t", "-U"],
    ),
    runner("doas", &[], 0, &["-u", "-C"]),
    runner("pkexec", &[], 0, &["--user"]),
    runner("env", &[], 0, &["-u", "--unset", "-C", "--chdir"]),
    runner("exec", &[], 0, &["-a"]),
    runner("nocorrect", &[], 0, &[]),
    // Words of zsh.
    runner("-", &[], 0, &[]),
    runner("repeat", &[], 1, &[]),
    runner("busybox", &[], 0, &[]),
    runner("toybox", &[], 0, &[]),
    runner("npx", &[], 0, &["-p", "--package"]),
    runner("bunx", &[], 0, &[]),
    runner("strace", &[], 0, &["-e", "-o", "-p", "-s"]),
    runner("ltrace", &[], 0, &["-e", "-o", "-p", "-s"]),
    runner("systemd-run", &[], 0, &["-p", "--unit"]),
    runner(
        "ssh",
        &[],
        1,
        &["-p", "-i", "-l", "-o", "-F", "-J", "-L", "-R", "-D"],
    ),
    runner("docker", &["exec", "run"], 1, CONTAINER_VALUES),
    runner("podman", &["exec", "run"], 1, CONTAINER_VALUES),
    runner("kubectl", &["exec", "run"], 1, CONTAINER_VALUES),
    runner("direnv", &["exec"], 1, &[]),
    runner("devbox", &["run"], 0, &[]),
    runner("mise", &["exec", "x"], 0, &[]),
    runner("npm", &["exec", "x"], 0, &["-p", "--package", "-c", "--call"]),
    runner("pnpm", &["exec", "dlx"], 0, &[]),
    runner("yarn", &["exec", "dlx"], 0, &[]),
    runner("uv", &["run"], 0, &["--with", "--python", "-p"]),
    runner("poetry", &["run"], 0, &[]),
    runner("pipenv", &["run"], 0, &[]),
    runner("bundle", &["exec"], 0, &[]),
    runner("--", &[], 0, &[]),
    runner("setarch", &[], 1, &[]),
    runner("linux32", &[], 0, &[]),
    runner("linux64", &[], 0, &[]),
    runner("arch", &[], 0, &[]),
    runner("prlimit", &[], 0, &["-p", "--pid"]),
    runner("taskset", &[], 1, &[]),
    runner("chrt", &[], 1, &["-T", "-P", "-D"]),
    runner("numactl", &[], 0, &["-N", "-m", "-C"]),
    runner(
        "setpriv",
        &[],
        0,
        &["--reuid", "--regid", "--groups", "--securebits", "--inh-caps"],
    ),
    runner("capsh", &[], 0, &[]),
    runner("fakeroot", &[], 0, &["-l", "-s", "-i", "-b"]),
    runner("fakechroot", &[], 0, &[]),
    runner("faketime", &[], 1, &["-m", "-f"]),
    runner("eatmydata", &[], 0, &[]),
    runner("unbuffer", &[], 0, &[]),
    runner("rlwrap", &[], 0, &["-f", "-H"]),
    runner("chronic", &[], 0, &[]),
    runner("xvfb-run", &[], 0, &["-n", "-s", "-e", "-f", "-w", "-p"]),
    runner("dbus-run-session", &[], 0, &[]),
    runner("dbus-launch", &[], 0, &[]),
    runner("ssh-agent", &[], 0, &["-a", "-t"]),
    runner("systemd-inhibit", &[], 0, &[]),
    runner("caffeinate", &[], 0, &["-t", "-w"]),
    runner("valgrind", &[], 0, &[]),
    runner("perf", &["stat", "record", "trace"], 0, &["-e", "-o", "-F", "-r"]),
    runner("gtime", &[], 0, &["-f", "-o"]),
    runner("gtimeout", &[], 1, &["-k", "-s"]),
    runner("gosu", &[], 1, &[]),
    runner("su-exec", &[], 1, &[]),
    runner("tini", &[], 0, &[]),
    runner("dumb-init", &[], 0, &[]),
    runner("torsocks", &[], 0, &[]),
    runner("proxychains", &[], 0, &["-f"]),
    runner("proxychains4", &[], 0, &["-f"]),
    runner("ld-linux-x86-64.so.2", &[], 0, &["--library-path"]),
    runner("ld-linux-aarch64.so.1", &[], 0, &["--library-path"]),
    runner("ld-musl-x86_64.so.1", &[], 0, &["--library-path"]),
    runner("ld.so", &[], 0, &["--library-path"]),
    runner("coproc", &[], 0, &[]),
    runner("screen", &[], 0, &["-S", "-c", "-t", "-p", "-X"]),
    runner(
        "tmux",
        &[
            "new",
            "new-session",
            "neww",
            "new-window",
            "splitw",
            "split-window",
            "respawn-pane",
            "respawn-window",
            "run",
            "run-shell",
            "send",
            "send-keys",
            "if",
            "if-shell",
            "pipe-pane",
            "popup",
            "display-popup",
        ],
        0,
        &["-s", "-n", "-t", "-c", "-e", "-F"],
    ),
    runner("nodemon", &[], 0, &["-w", "--watch", "-e", "--ext"]),
    runner("docker-compose", &["exec", "run"], 1, CONTAINER_VALUES),
    runner("nerdctl", &["exec", "run"], 1, CONTAINER_VALUES),
    runner("oc", &["exec", "rsh"], 1, CONTAINER_VALUES),
    runner("lxc", &["exec"], 1, &[]),
    runner("adb", &["shell"], 0, &["-s"]),
    runner("vagrant", &["ssh"], 0, &[]),
    runner("uvx", &[], 0, &["--from", "--with"]),
    runner("pnpx", &[], 0, &[]),
    runner("pipx", &["run"], 0, &["--spec"]),
    runner("rustup", &["run"], 1, &[]),
    runner("conda", &["run"], 0, &["-n", "-p"]),
    runner("hatch", &["run"], 0, &[]),
    runner("pdm", &["run"], 0, &[]),
    runner("rye", &["run"], 0, &[]),
    runner("nix", &["run", "shell", "develop"], 0, &["-c", "--command"]),
    runner("nix-shell", &[], 0, &["-p"]),
    runner("cross-env", &[], 0, &[]),
    runner("dotenv", &[], 0, &["-e", "-f"]),
    runner("op", &["run"], 0, &[]),
    runner("doppler", &["run"], 0, &[]),
    runner("rbenv", &["exec"], 0, &[]),
    runner("pyenv", &["exec"], 0, &[]),
    runner("asdf", &["exec"], 0, &[]),
    runner("volta", &["run"], 0, &[]),
];

pub(super) const fn runner(
    name: &'static str,
    subcommands: &'static [&'static str],
    operands: usize,
    values: &'static [&'static str],
) -> Runner {
    Runner {
        name,
        subcommands,
        operands,
        values,
    }
}

/// The kind of a command by its name, without a directory.
pub(super) fn kind(name: &str) -> Kind {
    if WRAPPERS.contains(&name) {
        Kind::Wrapper
    } else if ALWAYS_ASK.contains(&name) {
        Kind::AlwaysAsks
    } else if SHELLS.contains(&bare(name)) {
        Kind::Shell
    } else if matches!(name, "source" | ".") {
        Kind::Source
    } else if EVALUATORS.contains(&name) {
        Kind::Evaluator
    } else if INTERPRETERS.contains(&bare(name)) {
        Kind::Interpreter
    } else {
        let runner = RUNNERS.iter().find(|runner| runner.name == name);
        runner.map_or(Kind::Ordinary, Kind::Runner)
    }
}

/// Whether the first argument of the interpreter, where it is no option, is the script that it runs.
pub(super) fn runs_scripts(name: &str) -> bool {
    let subcommands = ["bun", "deno", "scala", "osascript"];
    INTERPRETERS.contains(&bare(name)) && !subcommands.contains(&bare(name))
}

/// `python3.12` as `python`.
pub(super) fn unversioned(name: &str) -> &str {
    if INTERPRETERS.contains(&bare(name)) {
        bare(name)
    } else {
        name
    }
}

fn bare(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'))
}
