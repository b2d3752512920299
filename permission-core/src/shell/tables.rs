//! Commands that run other commands, or code that they are given.
//!
//! Place in the flow: `runs` and `escapes` look a command's name up. Data only; what is missing here is an ordinary
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
    /// All of its arguments are shell code.
    Evaluator,
    /// Runs code of another language.
    Interpreter,
    Ordinary,
}

/// Where a runner's command begins.
#[derive(Debug)]
pub(super) struct Runner {
    name: &'static str,
    /// Runs something only behind one of these words.
    pub(super) subcommands: &'static [&'static str],
    /// So many operands stand before the command.
    pub(super) operands: usize,
    /// Options whose value is the next word.
    pub(super) values: &'static [&'static str],
}

/// What can run or write something although the command's name says otherwise.
#[derive(Debug)]
pub(super) struct Escape {
    name: &'static str,
    /// Single letters, also in a cluster.
    pub(super) short: &'static str,
    /// Long options, also shortened.
    pub(super) long: &'static [&'static str],
    /// Words as they are.
    pub(super) words: &'static [&'static str],
}

const WRAPPERS: [&str; 9] = [
    "timeout", "time", "nice", "nohup", "stdbuf", "xargs", "command", "builtin", "noglob",
];

const ALWAYS_ASK: [&str; 12] = [
    "watch", "setsid", "ionice", "flock", "chroot", "unshare", "nsenter", "su", "runuser", "parallel",
    "entr", "script",
];

const SHELLS: [&str; 9] = ["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "rbash", "fish"];

const EVALUATORS: [&str; 3] = ["eval", "trap", "alias"];

const INTERPRETERS: [&str; 12] = [
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
];

const ESCAPES: &[Escape] = &[
    escape(
        "find",
        "",
        &[],
        &[
            "-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprint0", "-fprintf", "-fls",
        ],
    ),
    escape("fd", "xX", &["--exec", "--exec-batch"], &[]),
    escape("rg", "", &["--pre", "--hostname-bin"], &[]),
    escape(
        "git",
        "",
        &[
            "--output",
            "--ext-diff",
            "--upload-pack",
            "--receive-pack",
            "--exec",
            "--open-files-in-pager",
            "--extcmd",
            "--template",
            "--exec-path",
            "--config-env",
            "--git-dir",
            "--work-tree",
            "--textconv",
        ],
        &["foreach", "run", "filter-branch"],
    ),
    escape(
        "tar",
        "IF",
        &[
            "--to-command",
            "--use-compress-program",
            "--checkpoint-action",
            "--rsh-command",
            "--info-script",
            "--new-volume-script",
            "--rmt-command",
        ],
        &[],
    ),
    escape(
        "sort",
        "oT",
        &["--output", "--compress-program", "--temporary-directory"],
        &[],
    ),
    escape("rsync", "e", &["--rsh", "--rsync-path"], &[]),
    escape("scp", "S", &[], &[]),
    escape("zip", "T", &["--unzip-command"], &[]),
    escape("man", "PH", &["--pager", "--html"], &[]),
    escape("date", "s", &["--set"], &[]),
    escape("file", "C", &["--compile"], &[]),
    escape("tree", "oR", &["--output"], &[]),
    escape("perl", "eEiMm", &[], &[]),
    escape("python", "cm", &[], &[]),
    escape("ruby", "ei", &[], &[]),
    escape(
        "node",
        "epr",
        &["--eval", "--print", "--require", "--import"],
        &[],
    ),
    escape(
        "nodejs",
        "epr",
        &["--eval", "--print", "--require", "--import"],
        &[],
    ),
    escape("php", "rBRE", &[], &[]),
    escape("lua", "e", &[], &[]),
    escape("osascript", "e", &[], &[]),
    escape("Rscript", "e", &[], &[]),
    escape("deno", "", &[], &["eval", "repl"]),
    escape("bun", "e", &["--eval"], &[]),
    escape("vim", "cS", &["--cmd"], &[]),
    escape("gdb", "ex", &["--eval-command", "--command", "--args"], &[]),
    escape("make", "", &["--eval"], &[]),
    escape("ssh", "oF", &[], &[]),
];

const fn runner(
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

const fn escape(
    name: &'static str,
    short: &'static str,
    long: &'static [&'static str],
    words: &'static [&'static str],
) -> Escape {
    Escape {
        name,
        short,
        long,
        words,
    }
}

/// The kind of a command by its name, without a directory.
pub(super) fn kind(name: &str) -> Kind {
    if WRAPPERS.contains(&name) {
        Kind::Wrapper
    } else if ALWAYS_ASK.contains(&name) {
        Kind::AlwaysAsks
    } else if SHELLS.contains(&name) {
        Kind::Shell
    } else if EVALUATORS.contains(&name) {
        Kind::Evaluator
    } else if INTERPRETERS.contains(&unversioned(name)) {
        Kind::Interpreter
    } else {
        let runner = RUNNERS.iter().find(|runner| runner.name == name);
        runner.map_or(Kind::Ordinary, Kind::Runner)
    }
}

/// The ways out of a command.
pub(super) fn escapes(name: &str) -> Option<&'static Escape> {
    let name = unversioned(name);
    ESCAPES.iter().find(|escape| escape.name == name)
}

/// `python3.12` as `python`.
fn unversioned(name: &str) -> &str {
    let bare = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if INTERPRETERS.contains(&bare) { bare } else { name }
}
