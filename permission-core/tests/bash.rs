//! Compares the analysis with what bash itself runs: no command that bash runs may slip past its deny rule.
//!
//! Place in the flow: bash gets texts in which every command is a made-up name, finds none of them, and tells which it
//! looked for. Without bash the test says so and is skipped.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may fail")]

use std::collections::BTreeSet;
use std::process::Command;

use permission_core::rules::{RuleKind, RuleOrigin, RuleSet};
use permission_core::{LexicalPaths, ToolCall, Workspace};
use serde_json::json;

/// Names that are no commands; bash reports every one that it would run.
const NAMES: [&str; 4] = ["zqa", "zqb", "zqc", "zqd"];

/// Bits of shell around the names. None of them can do harm or last: no command is found, the folder is temporary.
const SCRAPS: [&str; 64] = [
    "zqa",
    "zqb x",
    "zqc",
    "zqd",
    " ",
    " ",
    " ",
    ";",
    "; ",
    "&&",
    " || ",
    " | ",
    "\n",
    "\n",
    "(",
    ")",
    "{ ",
    "; }",
    "$(",
    "$(",
    ")",
    ")",
    "`",
    "\"",
    "\"",
    "'",
    "'",
    "\\",
    "\\\n",
    "${x:-",
    "}",
    "<<E\n",
    "\nE\n",
    "<<'E'\n",
    "<(",
    "> f ",
    "2>&1 ",
    "if ",
    "; then ",
    "; fi",
    "case x in x) ",
    ";; esac",
    "$'",
    "$'\\x7aqa'",
    "((",
    "))",
    "#",
    " # ",
    "x=",
    "1",
    "for i in 1; do ",
    "; done",
    "<<<",
    "& ",
    "! ",
    "[[ a ]]",
    "f() { ",
    "eval ",
    "builtin eval ",
    "echo ",
    "\t",
    "~",
    "time ",
    "$x",
];

#[test]
fn whatever_bash_runs_meets_its_deny_rule() {
    let Some(bash) = ["/bin/bash", "/usr/bin/bash"]
        .into_iter()
        .find(|path| std::path::Path::new(path).exists())
    else {
        println!("skipped: no bash");
        return;
    };
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = move |below: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        usize::try_from(random % below as u64).unwrap()
    };
    let mut texts: Vec<String> = FIXED.iter().map(|text| (*text).to_owned()).collect();
    for round in 0..400 {
        let mut text = program(&mut next, 3);
        // Some are damaged: bash still runs what it reads before it stumbles.
        if round % 3 == 0 {
            let borders: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
            text.insert_str(borders[next(borders.len())], SCRAPS[next(SCRAPS.len())]);
        }
        texts.push(text);
    }
    let rounds: Vec<BTreeSet<String>> = texts.iter().map(|text| ran(bash, text)).collect();
    let ran = rounds.iter().filter(|names| !names.is_empty()).count();
    assert!(ran >= 300, "bash ran something in {ran} texts only");
    for (text, names) in texts.iter().zip(rounds) {
        for name in names {
            assert!(denied(&name, text), "`{name}` of {text:?}");
        }
    }
}

/// Programs, with `@` for a smaller one.
const SHAPES: [&str; 30] = [
    "@; @",
    "@ && @",
    "@ || @",
    "@ | @",
    "@\n@",
    "@ & @",
    "! @",
    "time @",
    "{ @; }",
    "(@)",
    "( ( @ ) )",
    "((@) )",
    "echo $(@)",
    "echo `@`",
    "echo \"a$(@)b\"",
    "if @; then @; else @; fi",
    "for i in $(@); do @; done",
    "case x in x) @;; esac",
    "f() { @; }; f",
    "cat <<E\n$(@)\nE\n",
    "x=$(@) @",
    "echo ${x:-$(@)}",
    "[[ -n $(@) ]]",
    "@ # @\n@",
    "eval '@'",
    "@ 2>&1",
    "> f @",
    "echo <(@)",
    "trap '@' EXIT",
    "echo $((1 + $(@)))",
];

/// A random program.
fn program(next: &mut impl FnMut(usize) -> usize, depth: usize) -> String {
    if depth == 0 {
        return format!("{} x", NAMES[next(NAMES.len())]);
    }
    let mut text = String::new();
    for (at, part) in SHAPES[next(SHAPES.len())].split('@').enumerate() {
        if at > 0 {
            text.push_str(&program(next, depth - 1));
        }
        text.push_str(part);
    }
    text
}

/// Texts whose reading is not obvious.
const FIXED: &[&str] = &[
    "( ( zqa x ) )",
    "((zqa x) )",
    "echo $(echo \\); zqa x)",
    "echo $(# )\nzqa)",
    "echo \"$(echo a) $(zqa) $(zqb)\"",
    "a\\\n=1 zqa",
    "zq\\\na",
    "echo `echo \\`zqa\\``",
    "echo \"`echo \\\"$(zqa)\\\"`\"",
    "echo '<<A\n'\nzqa\n'\nA\n'",
    "echo <<A\n'\nA\nzqa\necho '",
    "$'\\x7aqa' x",
    "{zqa,x}",
    "cat <<-E\n\t$(zqa)\n\tE\nzqb",
    "case x in (x) zqa;; esac",
    "for i in $(zqa); do zqb; done",
    "zqa&>f",
    ">f zqa",
    "x=1 zqa",
    "x=(1 2); zqa",
    "f() { zqa; }; f",
    "function f { zqa; }; f",
    "function f() ( zqa ); f",
    "if zqa; then zqb; elif zqc; then zqd; fi",
    "until zqa; do break; done; zqb",
    "! ! zqa",
    "time -p zqa",
    "[[ $(zqa) ]] && zqb",
    "echo ${x:-$(zqa)} ${x:=`zqb`}",
    "echo \"${x:-\"$(zqa)\"}\"",
    "echo $((1+$(zqa)))",
    "echo $[1+$(zqa)]",
    "zqa;#\nzqb",
    "zqa # ; zqb\nzqc",
    "coproc zqa; wait",
    "coproc n { zqa; }; wait",
    "echo <(zqa)",
    "z\"q\"a",
    "z'q'a",
    "z\\qa",
    "select x in a; do zqa; break; done <<<1",
    "trap zqa EXIT",
    "trap 'zqa; zqb' EXIT",
    "exec zqa",
    "command zqa",
    "a=$(zqa) b=`zqb`",
    "echo $(cat <<'E'\n)\nE\nzqa)",
    "echo 'a'\\''b'; zqa",
    "{ zqa;}",
    "zqa|zqb|&zqc",
    "zqa & zqb",
    "while zqa; do :; done",
    "echo $(case x in x) zqa;; esac)",
    "echo \"\\$(zqb)\" '$(zqc)'",
    "cat <<E\n\\$(zqb) $(zqa)\nE",
    "cat <<A <<B\n$(zqa)\nA\n$(zqb)\nB\n",
    "echo <<\\E\n$(zqb)\nE\nzqa",
    "x='zqa y'; $x",
    "x=zqa; \"$x\"",
    "echo ~$(zqa)",
    "echo a$(zqa)b`zqb`c",
    "if\nzqa\nthen\nzqb\nfi",
    "echo $(\nzqa\n)",
    "echo $(zqa",
    "zqa )",
];

/// The names that bash looked for while it ran the text.
fn ran(bash: &str, text: &str) -> BTreeSet<String> {
    let folder = std::env::temp_dir().join(format!("claude-acp-bash-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let script =
        format!("command_not_found_handle() {{ printf 'RAN<%s>\\n' \"$1\" >&9; return 0; }}\n{text}\n");
    let log = folder.join("log");
    let file = std::fs::File::create(&log).unwrap();
    let mut command = Command::new(bash);
    command.args([
        "--norc",
        "--noprofile",
        "-c",
        "exec 9>&2; ulimit -t 1; FUNCNEST=20; eval \"$0\"",
        &script,
    ]);
    command
        .current_dir(&folder)
        .env_clear()
        .env("PATH", "/nonexistent");
    command
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(file);
    command.status().unwrap();
    let log = String::from_utf8_lossy(&std::fs::read(&log).unwrap()).into_owned();
    let of = |name: &&str| log.contains(&format!("RAN<{name}>"));
    let found = NAMES.into_iter().filter(of).map(str::to_owned).collect();
    // What was started in the background may still write there.
    std::fs::remove_dir_all(&folder).ok();
    found
}

fn denied(name: &str, text: &str) -> bool {
    let mut rules = RuleSet::default();
    rules.add(RuleKind::Deny, &format!("Bash({name} *)"), RuleOrigin::Session);
    let input = json!({ "command": text });
    let workspace = Workspace {
        cwd: "/repo",
        current: "/repo",
        project_root: "/repo",
        home: None,
        additional: &[],
        paths: &LexicalPaths,
    };
    rules.denies(&ToolCall::new("Bash", &input, workspace)).is_some()
}
