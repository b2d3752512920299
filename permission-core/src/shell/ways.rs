//! What can run or write something else although the command's name says otherwise.
//!
//! Place in the flow: `escapes` looks a command's name up. Data only; an option that is missing here is harmless.

use super::tables::unversioned;

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
    /// Beginnings of words, behind a subcommand or, where that is empty, anywhere.
    pub(super) begins: &'static [(&'static str, &'static str)],
}

/// Settings of git that name commands, and other words that do.
const GIT_BEGINS: &[(&str, &str)] = &[
    ("", "!"),
    ("", "ext::"),
    ("rebase", "-x"),
    ("difftool", "-x"),
    ("grep", "-o"),
    ("clone", "-c"),
    ("clone", "-u"),
    ("clone", "--config"),
    ("config", "alias."),
    ("config", "core.askpass"),
    ("config", "core.editor"),
    ("config", "core.fsmonitor"),
    ("config", "core.hookspath"),
    ("config", "core.pager"),
    ("config", "core.ssh"),
    ("config", "core.worktree"),
    ("config", "credential."),
    ("config", "diff."),
    ("config", "difftool."),
    ("config", "filter."),
    ("config", "gpg."),
    ("config", "include"),
    ("config", "interactive."),
    ("config", "merge."),
    ("config", "mergetool."),
    ("config", "pager."),
    ("config", "remote."),
    ("config", "sequence."),
    ("config", "uploadpack."),
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
    Escape {
        name: "git",
        short: "",
        long: &[
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
        words: &["foreach", "run", "filter-branch"],
        begins: GIT_BEGINS,
    },
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
    escape("scp", "SoF", &[], &[]),
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
    escape("gdb", "ex", &["--eval-command", "--command", "--args"], &[]),
    begins("make", "E", &["--eval"], &[("", "SHELL="), ("", ".SHELLFLAGS=")]),
    begins("vim", "cS", &["--cmd"], &[("", "+")]),
    begins("nvim", "cSl", &["--cmd"], &[("", "+")]),
    begins("vi", "cS", &["--cmd"], &[("", "+")]),
    begins("ex", "cS", &["--cmd"], &[("", "+")]),
    begins("view", "cS", &["--cmd"], &[("", "+")]),
    begins("vimdiff", "cS", &["--cmd"], &[("", "+")]),
    escape(
        "emacs",
        "elf",
        &["--eval", "--execute", "--load", "--funcall", "--script"],
        &[],
    ),
    begins("ed", "", &[], &[("", "!")]),
    begins("less", "", &[], &[("", "+")]),
    begins("more", "", &[], &[("", "+")]),
    escape("split", "", &["--filter"], &[]),
    escape("fzf", "", &["--bind", "--preview", "--listen"], &[]),
    escape("dc", "e", &["--expression"], &[]),
    escape("expect", "c", &[], &[]),
    begins(
        "socat",
        "",
        &[],
        &[
            ("", "EXEC:"),
            ("", "SYSTEM:"),
            ("", "SHELL:"),
            ("", "exec:"),
            ("", "system:"),
            ("", "shell:"),
        ],
    ),
    escape("nc", "ec", &[], &[]),
    escape("ncat", "ec", &["--exec", "--sh-exec", "--lua-exec"], &[]),
    begins(
        "sqlite3",
        "",
        &["-cmd"],
        &[("", ".s"), ("", ".o"), ("", ".l"), ("", ".i"), ("", ".e")],
    ),
    begins("psql", "", &[], &[("", "\\"), ("", "--command=\\")]),
    begins(
        "mysql",
        "",
        &[],
        &[("", "\\"), ("", "system "), ("", "--execute=")],
    ),
    escape("apt", "o", &["--option"], &[]),
    escape("apt-get", "o", &["--option"], &[]),
    escape("cargo", "", &["--config"], &[]),
    begins(
        "go",
        "",
        &[],
        &[("", "-exec"), ("", "-toolexec"), ("", "-vettool")],
    ),
    escape("rpm", "E", &["--eval", "--pipe"], &[]),
    escape("chokidar", "c", &["--command"], &[]),
];

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
        begins: &[],
    }
}

const fn begins(
    name: &'static str,
    short: &'static str,
    long: &'static [&'static str],
    begins: &'static [(&'static str, &'static str)],
) -> Escape {
    Escape {
        name,
        short,
        long,
        words: &[],
        begins,
    }
}

/// The ways out of a command.
pub(super) fn escapes(name: &str) -> Option<&'static Escape> {
    let name = unversioned(name);
    ESCAPES.iter().find(|escape| escape.name == name)
}
