//! What the options of commands are about: files that are read or written, directories, or no paths at all.
//!
//! Place in the flow: `arguments` looks names up. Data only. A letter whose value may be missing must not stand here: what
//! follows it would be no path then.

/// What the values of a command's options are.
#[derive(Debug)]
pub(super) struct Options {
    names: &'static [&'static str],
    /// Letters whose value is no path.
    pub(super) plain: &'static str,
    pub(super) plain_long: &'static [&'static str],
    pub(super) reads: &'static str,
    pub(super) writes: &'static str,
    /// The command goes to this directory, or unpacks into it.
    pub(super) goes: &'static str,
}

const fn options(
    names: &'static [&'static str],
    plain: &'static str,
    plain_long: &'static [&'static str],
    reads_writes_goes: [&'static str; 3],
) -> Options {
    let [reads, writes, goes] = reads_writes_goes;
    Options {
        names,
        plain,
        plain_long,
        reads,
        writes,
        goes,
    }
}

const GREP_LONG: &[&str] = &[
    "--after-context",
    "--before-context",
    "--binary-files",
    "--color",
    "--colour",
    "--context",
    "--devices",
    "--directories",
    "--exclude",
    "--exclude-dir",
    "--glob",
    "--iglob",
    "--include",
    "--label",
    "--max-count",
    "--max-depth",
    "--regexp",
    "--replace",
    "--sort",
    "--type",
    "--type-not",
];

const OPTIONS: &[Options] = &[
    options(
        &["cut"],
        "dfcb",
        &["--delimiter", "--fields", "--output-delimiter"],
        ["", "", ""],
    ),
    options(
        &["sort"],
        "tkS",
        &["--field-separator", "--key", "--buffer-size", "--sort"],
        ["", "oT", ""],
    ),
    options(
        &["awk", "gawk", "mawk", "nawk"],
        "Fv",
        &["--field-separator"],
        ["f", "", ""],
    ),
    options(
        &["grep", "egrep", "fgrep", "zgrep"],
        "eABCmdD",
        GREP_LONG,
        ["f", "", ""],
    ),
    options(&["rg"], "eABCmgtTrjM", GREP_LONG, ["f", "", ""]),
    options(&["ag"], "ABCmG", GREP_LONG, ["", "", ""]),
    options(
        &["sed", "gsed"],
        "e",
        &["--expression", "--line-length"],
        ["f", "", ""],
    ),
    options(&["jq"], "", &["--indent"], ["fL", "", ""]),
    options(
        &["head", "tail"],
        "nc",
        &["--lines", "--bytes", "--sleep-interval"],
        ["", "", ""],
    ),
    options(&["paste"], "d", &["--delimiters"], ["", "", ""]),
    options(
        &["column"],
        "scNoHTWE",
        &["--separator", "--table-columns", "--output-separator"],
        ["", "", ""],
    ),
    options(
        &["nl"],
        "bdfhilnsvw",
        &["--number-separator", "--body-numbering"],
        ["", "", ""],
    ),
    options(
        &["fold", "base64", "fmt"],
        "w",
        &["--width", "--wrap"],
        ["", "", ""],
    ),
    options(
        &["du"],
        "dBt",
        &["--exclude", "--max-depth", "--threshold", "--block-size"],
        ["X", "", ""],
    ),
    options(
        &["tree"],
        "LPI",
        &["--charset", "--filelimit", "--sort"],
        ["", "o", ""],
    ),
    options(
        &["ls"],
        "ITw",
        &[
            "--ignore",
            "--hide",
            "--color",
            "--sort",
            "--time-style",
            "--format",
        ],
        ["", "", ""],
    ),
    options(
        &["diff"],
        "IUCWFx",
        &["--exclude", "--ignore-matching-lines", "--label", "--color"],
        ["X", "", ""],
    ),
    options(&["stat"], "c", &["--format", "--printf"], ["", "", ""]),
    options(
        &["uniq"],
        "fsw",
        &["--skip-fields", "--skip-chars", "--check-chars"],
        ["", "", ""],
    ),
    options(
        &["od"],
        "AjNt",
        &["--format", "--address-radix", "--skip-bytes"],
        ["", "", ""],
    ),
    options(&["hexdump"], "nse", &[], ["f", "", ""]),
    options(&["xxd"], "clgson", &[], ["", "", ""]),
    options(
        &["split"],
        "abCln",
        &["--lines", "--bytes", "--filter", "--suffix-length"],
        ["", "", ""],
    ),
    options(&["cp", "mv", "ln"], "S", &["--suffix"], ["", "t", ""]),
    options(
        &["install"],
        "Smog",
        &["--suffix", "--mode", "--owner", "--group"],
        ["", "t", ""],
    ),
    options(
        &[
            "gcc", "g++", "cc", "c++", "clang", "clang++", "ld", "as", "tcc", "ghc",
        ],
        "Dl",
        &[],
        ["", "o", ""],
    ),
    options(
        &[
            "tsc",
            "pandoc",
            "iconv",
            "xmllint",
            "rustc",
            "protoc",
            "dot",
            "nasm",
            "yasm",
            "flex",
            "bison",
            "sass",
            "esbuild",
            "rollup",
            "swc",
            "ocamlc",
            "7z",
            "pdftotext",
            "mmdc",
        ],
        "tf",
        &[],
        ["", "o", ""],
    ),
    options(&["javac"], "", &[], ["", "d", ""]),
    options(&["go"], "", &[], ["", "o", "C"]),
    options(
        &["curl"],
        "AHXemuwrxzUQC",
        &[
            "--header",
            "--user-agent",
            "--user",
            "--request",
            "--referer",
            "--max-time",
            "--write-out",
            "--range",
            "--proxy",
            "--connect-timeout",
            "--retry",
            "--url",
            "--resolve",
            "--data-raw",
            "--proxy-user",
        ],
        ["ETK", "oDc", ""],
    ),
    options(
        &["wget"],
        "UtTwQ",
        &[
            "--header",
            "--user-agent",
            "--user",
            "--password",
            "--tries",
            "--timeout",
            "--method",
        ],
        ["i", "OoaP", ""],
    ),
    options(&["xargs"], "IEnLPsd", &[], ["a", "", ""]),
    options(&["env"], "uS", &[], ["", "", "C"]),
    options(&["sudo"], "ughpCTrtU", &[], ["", "", "D"]),
    options(&["make", "gmake"], "", &[], ["f", "", "C"]),
    options(&["ninja"], "jkdt", &[], ["f", "", "C"]),
    options(
        &["tar"],
        "bHLNK",
        &["--exclude", "--transform", "--owner", "--group", "--mode"],
        ["TX", "", "C"],
    ),
    options(&["unzip"], "P", &[], ["", "", "d"]),
    options(&["cargo"], "", &[], ["", "", "C"]),
    options(&["npm", "pnpm", "yarn"], "", &[], ["", "", "C"]),
];

/// Long options of any command whose value is a file that is written.
pub(super) const WRITE_LONG: &[&str] = &[
    "--output",
    "--output-file",
    "--output-document",
    "--outfile",
    "--out-file",
    "--out",
    "--output-directory",
    "--output-dir",
    "--outdir",
    "--out-dir",
    "--target-directory",
    "--log-file",
    "--directory-prefix",
    "--cookie-jar",
    "--dump-header",
];

/// Long options of any command whose value is a file that is read.
pub(super) const READ_LONG: &[&str] = &[
    "--env-file",
    "--arg-file",
    "--from-file",
    "--files-from",
    "--post-file",
    "--upload-file",
];

/// Long options of any command whose value is the directory that it goes to.
pub(super) const GOES_LONG: &[&str] = &["--chdir", "--directory", "--cwd"];

/// The options of a command.
pub(super) fn options_of(name: &str) -> Option<&'static Options> {
    OPTIONS.iter().find(|options| options.names.contains(&name))
}

/// Their options are whole words: what follows the first letter is its value.
const WHOLE_OPTIONS: &[&str] = &[
    "gcc", "g++", "cc", "c++", "clang", "clang++", "ld", "as", "tcc", "ghc", "go", "javac", "tsc", "7z",
    "esbuild", "rollup",
];

/// So many letters of a word may be options.
pub(super) fn cluster(name: &str) -> usize {
    if WHOLE_OPTIONS.contains(&name) {
        1
    } else {
        usize::MAX
    }
}
