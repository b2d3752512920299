//! What a policy makes of the words of a command: those that mean what a rule denies do not slip past, and ordinary work
//! is left alone.
//!
//! What must not run is harmless wherever it would run, since a command may take its words for something else than meant.

use e2e_tests::harness::World;
use serde_json::json;

use crate::case::{Case, cases};
use crate::guard_support::{
    assert_all_denied, assert_all_held, assert_none_denied, assert_untold, git_repository, shell,
};
use crate::perm_support::project_file;

pub(crate) fn cases() -> Vec<Case> {
    cases![Claude, Stdio:
        a_denied_command_does_not_run_whatever_shell_is_fed_with_it,
        a_denied_command_does_not_run_by_a_variable_or_a_wrapper,
        a_command_that_names_settings_does_not_write_them,
        a_denied_file_is_not_read_by_a_command_that_names_it,
        ordinary_work_in_a_confined_session_is_not_denied,
        ordinary_work_is_not_denied_by_what_comes_with_every_policy,
    ]
}

const FED: &[&str] = &[
    "echo 'touch MADE' | sh",
    "cat <<'EOF' | sh\ntouch MADE\nEOF",
    "printf 'tou%s MADE' ch | bash",
    "bash <(echo touch MADE)",
    "source <(echo touch MADE)",
    "source /dev/stdin <<< 'touch MADE'",
    "bash /dev/stdin <<< 'touch MADE'",
    "make -f - <<< 'all:; touch MADE'",
    "split --filter='touch MADE' .git/HEAD",
];

const WRAPPED: &[&str] = &[
    "{fd}>x touch MADE",
    "{fd}<&0 touch MADE",
    "time -- touch MADE",
    "GIT_PAGER='touch MADE' git -p log",
    "GIT_EXTERNAL_DIFF='touch MADE' git diff HEAD",
    "GIT_SSH_COMMAND='touch MADE' git fetch ssh://localhost/x",
    "env --split-string='touch MADE'",
    "PS4='$(touch MADE)'; set -x; :",
    "test -v 'a[$(touch MADE)]'",
    "printf -v 'a[$(touch MADE)]' x",
    "declare 'a[$(touch MADE)]=1'",
    "hash -p /usr/bin/touch foo; foo MADE",
    "setarch x86_64 touch MADE",
    "prlimit touch MADE",
    "compgen -W '$(touch MADE)'",
    "x='$(touch MADE)'; echo ${x@P}",
];

fn a_denied_command_does_not_run_whatever_shell_is_fed_with_it(world: &mut World) {
    touch_is_held(world, FED);
}

fn a_denied_command_does_not_run_by_a_variable_or_a_wrapper(world: &mut World) {
    touch_is_held(world, WRAPPED);
}

/// Each command would make a file of its own.
fn touch_is_held(world: &mut World, commands: &[&str]) {
    project_file(world, "a.txt", "hello\n");
    git_repository(world);
    project_file(world, "a.txt", "changed\n");
    let numbered = commands.iter().enumerate();
    let numbered: Vec<String> = numbered
        .map(|(number, command)| command.replace("MADE", &format!("made{number}")))
        .collect();
    let numbered: Vec<&str> = numbered.iter().map(String::as_str).collect();
    let cwd = world.cwd();
    let policy = json!({"permissions": {"deny": ["Bash(touch *)"], "denialThreshold": 0}});
    assert_all_denied(world, &policy, &cwd, &shell(&numbered));
    let made = |number: &usize| world.project().join(format!("made{number}")).exists();
    let ran: Vec<&str> = (0..commands.len())
        .filter(made)
        .map(|number| commands[number])
        .collect();
    assert!(ran.is_empty(), "these ran: {ran:#?}");
}

fn a_command_that_names_settings_does_not_write_them(world: &mut World) {
    project_file(world, ".claude/keep", "{}");
    project_file(world, "settings.json", "{}");
    project_file(world, "a.hex", "00000000: 7b7d 0a  {}.\n");
    git_repository(world);
    let commands = [
        "sed -n 'w .claude/settings.local.json' .claude/keep",
        "git log --output=.claude/settings.json",
        "git config -f .claude/settings.json a.b c",
        "xxd -r a.hex .claude/settings.json",
        "awk '{print > f}' f=.claude/settings.json .claude/keep",
        "cp -vt.claude settings.json",
        "link settings.json .claude/settings.json",
        "git archive -o .claude/settings.json HEAD",
    ];
    let cwd = world.cwd();
    let policy = json!({"permissions": {"denialThreshold": 0}});
    assert_all_denied(world, &policy, &cwd, &shell(&commands));
    // What another language does is the client's to judge.
    let python = "python3 -c 'open(\".claude/settings.json\", \"w\").write(\"{}\")'";
    assert_all_held(world, &policy, &cwd, &shell(&[python]));
    for name in ["settings.json", "settings.local.json"] {
        assert!(!world.project().join(".claude").join(name).exists(), "{name}");
    }
}

fn a_denied_file_is_not_read_by_a_command_that_names_it(world: &mut World) {
    project_file(world, ".env", "SECRET=xyzzy-plugh\n");
    project_file(world, "a.txt", "hello\n");
    project_file(world, "vault/key", "xyzzy-plugh\n");
    std::fs::create_dir(world.project().join("inner")).unwrap();
    std::os::unix::fs::symlink("..", world.project().join("inner/up")).unwrap();
    let commands = [
        "sed -n 'r .env' a.txt",
        "sed '1r.env' a.txt",
        "git grep --no-index xyzzy",
        "node --env-file=.env -p process.env",
        "grep -r xyzzy inner/up",
    ];
    let cwd = world.cwd();
    let deny = ["Read(.env)", "Read(/vault/**)"];
    let policy = json!({"permissions": {"deny": deny, "denialThreshold": 0}});
    let fates = assert_all_denied(world, &policy, &cwd, &shell(&commands));
    assert_untold(&fates, "xyzzy-plugh");
}

/// Commands as a model writes them all day, under an ordinary policy.
const CONFINED_WORK: &[&str] = &[
    "ls -la",
    "git status",
    "grep -rn main src",
    "grep -rn --exclude-dir=.git \"/api/users\" . || true",
    "cat a.txt | head",
    "cp a.txt b.txt",
    "cp -r src src2",
    "tar czf x.tgz src",
    "ln -s a.txt l",
    "diff -r src src2",
    "find . -name '*.rs' | xargs grep -n main",
    "find src -name '*.rs' -exec grep -l main {} \\;",
    "for f in src/*.rs; do wc -l \"$f\"; done",
    "wc -l *",
    "echo a/b | tr '/' '_'",
    "echo a/b | cut -d/ -f1",
    "awk -F/ '{print $1}' a.txt",
    "awk -F ',' '/foo/ {print $1}' a.txt",
    "sed -n -e '/hello/p' a.txt",
    "sort -t/ -k2 a.txt",
    "curl -s http://127.0.0.1:1/api || true",
    "basename /usr/local/x",
    "cat /dev/null > c.txt",
    "echo x > /dev/stderr",
    "git diff --no-index /dev/null a.txt || true",
    "cat > f.py <<'EOF'\nprint('/etc/x')\nEOF",
    "git commit --allow-empty -qm \"$(cat <<'EOF'\nFix it\nEOF\n)\"",
    "OUT=log.txt; echo x > \"$OUT\"",
    "echo x > $(mktemp -p .)",
];

fn ordinary_work_in_a_confined_session_is_not_denied(world: &mut World) {
    project_file(world, "a.txt", "hello/world\n");
    project_file(world, "src/x.rs", "fn main() {}\n");
    git_repository(world);
    let permissions = json!({"deny": ["Bash(touch *)", "Read(.env)"], "confine": true, "denialThreshold": 0});
    let cwd = world.cwd();
    let policy = json!({ "permissions": permissions });
    assert_none_denied(world, &policy, &cwd, &shell(CONFINED_WORK));
}

fn ordinary_work_is_not_denied_by_what_comes_with_every_policy(world: &mut World) {
    for file in ["a.txt", "build/o", "target/t", "src/x.rs"] {
        project_file(world, file, "x");
    }
    git_repository(world);
    let commands = [
        "OUT=log.txt; echo x > \"$OUT\"",
        "rm -rf target/*",
        "cp src/* build/",
        "rm build/*",
        "find . -name '*.orig' -delete",
        "git checkout .",
        "for f in src/*.rs; do cp \"$f\" \"$f.bak\"; done",
        "ls build | xargs rm -f",
        "T=$(mktemp -d); touch \"$T/x\"; rm -r \"$T\"",
    ];
    let cwd = world.cwd();
    let policy = json!({"permissions": {"denialThreshold": 0}});
    assert_none_denied(world, &policy, &cwd, &shell(&commands));
}
