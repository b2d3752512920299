//! Commands that are known for opening files.
//!
//! Place in the flow: `files` looks names up. Data only; what is missing here opens what its options say.

pub(super) const READERS: &[&str] = &[
    "awk",
    "base64",
    "bat",
    "bzcat",
    "cat",
    "cmp",
    "column",
    "comm",
    "cut",
    "diff",
    "egrep",
    "expand",
    "fgrep",
    "file",
    "fmt",
    "fold",
    "gawk",
    "head",
    "hexdump",
    "jq",
    "less",
    "mawk",
    "md5sum",
    "more",
    "nl",
    "od",
    "paste",
    "pr",
    "rev",
    "sed",
    "sha1sum",
    "sha256sum",
    "sha512sum",
    "shuf",
    "sort",
    "source",
    ".",
    "strings",
    "sum",
    "tac",
    "tail",
    "uniq",
    "view",
    "wc",
    "xxd",
    "yq",
    "zcat",
    "zless",
    "iconv",
    "cksum",
    "b2sum",
    "stat",
    "ls",
    "du",
    "readlink",
    "realpath",
    "test",
    "[",
    "cd",
    "pushd",
];

pub(super) const TREE_READERS: &[&str] = &["ag", "fd", "find", "grep", "rg", "tree", "zgrep"];

pub(super) const WRITERS: &[&str] = &[
    "ed", "ex", "mkdir", "mkfifo", "mknod", "patch", "tee", "touch", "truncate", "unzip", "split", "csplit",
    "link", "sponge",
];

/// What they do to a directory happens to all that is in it.
pub(super) const TREE_WRITERS: &[&str] = &[
    "chgrp", "chmod", "chown", "mv", "rm", "rmdir", "setfacl", "shred", "unlink",
];

/// They read some of their files and write others.
pub(super) const CARRIERS: &[&str] = &[
    "bunzip2", "bzip2", "cp", "cpio", "curl", "dd", "emacs", "gunzip", "gzip", "install", "ln", "nano", "nc",
    "nvim", "openssl", "rsync", "scp", "tar", "vi", "vim", "wget", "xz", "zip",
];

/// Those of them that take whole directories, with an option or by their nature.
pub(super) const TREE_CARRIERS: &[&str] = &["cp", "cpio", "gzip", "rsync", "scp", "tar", "zip"];

/// Their first operand is a pattern or a program.
pub(super) const SEARCHERS: &[&str] = &[
    "ag", "awk", "egrep", "fgrep", "gawk", "grep", "gsed", "jq", "mawk", "rg", "sed", "yq", "zgrep",
];
