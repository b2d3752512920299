//! Hooks of settings files, where they differ from a policy's.

use std::collections::BTreeMap;

use e2e_tests::harness::{Turn, World, allow_once};
use e2e_tests::model::{reply, text};
use serde_json::{Value, json};

use crate::case::{Case, cases};
use crate::plan_support::write_settings;
use crate::support::open;

pub(crate) fn cases() -> Vec<Case> {
    cases![Claude, Stdio: a_settings_hook_means_what_claude_takes_it_for]
}

/// What becomes of the call that a hook looks at.
#[derive(Debug, PartialEq, Eq)]
enum Fate {
    /// It runs as it is; nobody is asked.
    Runs,
    /// It runs, and the model reads this.
    Says(&'static str),
    /// It would have been asked about, and runs without that.
    Unasked,
    /// It is asked about.
    Asked,
    /// It does not run, and the model reads this.
    Denied(&'static str),
}

use Fate::{Asked, Denied, Runs, Says, Unasked};

/// What a hook before the tool does about its call.
const BEFORE: [(&str, Fate); 19] = [
    ("true", Runs),
    ("echo 'DENY: no'", Runs),
    (r#"echo '{"updatedInput": {"command": "echo changed"}}'"#, Runs),
    ("echo said; exit 1", Runs),
    ("/nowhere/at/all", Runs),
    ("kill -9 $$", Runs),
    ("echo '{bad'", Runs),
    ("echo '[1]'", Runs),
    (r#"echo '{"decision": "deny", "reason": "r"}'"#, Runs),
    (r#"echo '{"permissionDecision": "deny"}'"#, Runs),
    (
        r#"echo '{"hookSpecificOutput": {"permissionDecision": "deny"}}'"#,
        Runs,
    ),
    (r#"say '"permissionDecision": "never"'"#, Runs),
    ("echo why >&2; exit 2", Denied("why")),
    (r#"echo '{"decision": "block", "reason": "so"}'"#, Denied("so")),
    (r#"echo '{"decision": "approve"}'"#, Unasked),
    (r#"say '"permissionDecision": "allow"'"#, Unasked),
    (r#"say '"permissionDecision": "ask"'"#, Asked),
    (
        r#"say '"permissionDecision": "deny", "permissionDecisionReason": "so"'"#,
        Denied("so"),
    ),
    (
        r#"say '"updatedInput": {"command": "echo changed"}'"#,
        Says("changed"),
    ),
];

/// Whether a hook with this matcher sees a call of `Bash`.
const MATCHERS: [(&str, bool); 15] = [
    ("", true),
    ("*", true),
    ("Bash", true),
    ("Bash|Edit", true),
    ("Edit | Bash", true),
    ("Edit, Bash", true),
    (" Bash ", true),
    ("B.s", true),
    ("^Bash$", true),
    (" B.s", false),
    ("Edit Bash", false),
    ("bash", false),
    ("BashTool", false),
    ("Bash.?ool", false),
    ("Bash(echo *)", false),
];

/// What a hook after the tool does about its call.
const AFTER: [(&str, Fate); 4] = [
    ("echo 'DENY: tidy up'", Runs),
    ("echo sweep up >&2; exit 1", Runs),
    ("echo wash up >&2; exit 2", Says("wash up")),
    (
        r#"echo '{"decision": "block", "reason": "dust it"}'"#,
        Says("dust it"),
    ),
];

/// A hook that looks at one call.
struct Row {
    event: &'static str,
    matcher: &'static str,
    does: &'static str,
    fate: &'static Fate,
}

fn rows() -> Vec<Row> {
    let row = |event, matcher, does, fate| Row {
        event,
        matcher,
        does,
        fate,
    };
    let before = BEFORE
        .iter()
        .map(|(does, fate)| row("PreToolUse", "Bash", does, fate));
    let matchers = MATCHERS.iter().map(|(matcher, sees)| {
        let fate = if *sees { &Denied("seen") } else { &Runs };
        row("PreToolUse", matcher, "echo seen >&2; exit 2", fate)
    });
    let after = AFTER
        .iter()
        .map(|(does, fate)| row("PostToolUse", "Bash", does, fate));
    before.chain(matchers).chain(after).collect()
}

impl Row {
    fn command(&self, number: usize) -> String {
        let program = if *self.fate == Unasked { "touch" } else { "echo" };
        format!("{program} row-{number}-")
    }

    /// What a shell does about the call with this number.
    fn arm(&self, number: usize) -> String {
        format!("*row-{number}-*) {} ;;", self.does)
    }
}

/// One hook for each matcher of an event.
fn hooks(rows: &[Row], event: &str) -> Vec<Value> {
    let say = r#"say() { echo "{\"hookSpecificOutput\": {\"hookEventName\": \"PreToolUse\", $1}}"; }"#;
    let mut arms: BTreeMap<&str, String> = BTreeMap::new();
    for (number, row) in rows.iter().enumerate().filter(|(_, row)| row.event == event) {
        arms.entry(row.matcher).or_default().push_str(&row.arm(number));
    }
    let hook = |(matcher, arms)| {
        let command = format!(r#"{say}; case "$(cat)" in {arms} esac"#);
        json!({"matcher": matcher, "hooks": [{"type": "command", "command": command, "timeout": 20}]})
    };
    arms.into_iter().map(hook).collect()
}

fn id(number: usize) -> String {
    format!("toolu_{number}")
}

fn settings(rows: &[Row]) -> Value {
    json!({"hooks": {"PreToolUse": hooks(rows, "PreToolUse"), "PostToolUse": hooks(rows, "PostToolUse")}})
}

fn prepare(world: &mut World, rows: &[Row]) {
    let settings = settings(rows);
    let calls = rows
        .iter()
        .enumerate()
        .map(|(number, row)| (id(number), json!({"command": row.command(number)})));
    write_settings(world, "home/.claude/settings.json", &settings.to_string());
    let all = calls.fold(reply(), |reply, (id, input)| reply.tool(&id, "Bash", input));
    world.model().script([all, text("done")]);
}

fn a_settings_hook_means_what_claude_takes_it_for(world: &mut World) {
    let rows = rows();
    prepare(world, &rows);
    let (_agent, mut client, session) = open(world);
    let mut turn = client.prompt(&session, "go", allow_once);
    let judged = rows.iter().enumerate();
    let wrong: Vec<String> = judged
        .filter_map(|(number, row)| judge(world, &mut turn, number, row))
        .collect();
    turn.ignore_rest();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn judge(world: &World, turn: &mut Turn, number: usize, row: &Row) -> Option<String> {
    let id = id(number);
    let questions = turn.questions().iter();
    let asked = questions
        .filter(|question| question["toolCall"]["toolCallId"] == *id)
        .count();
    let tool = turn.tool(&id);
    let (ran, shown) = (tool.status() == "completed", tool.content_text());
    // What a hook says after a tool stands in a message of its own, and is not shown.
    let hears = |text: &str| world.model().wait_request(1).mentions(text);
    let right = match row.fate {
        Runs => ran && asked == 0 && shown.contains(&format!("row-{number}-")),
        Says(text) => ran && hears(text),
        Unasked => ran && asked == 0,
        Asked => ran && asked == 1,
        Denied(text) => !ran && asked == 0 && shown.contains(text),
    };
    let Row {
        event,
        matcher,
        does,
        fate,
    } = row;
    (!right).then(|| {
        format!("{event} {matcher:?} `{does}`: expected {fate:?}, asked {asked}, ran {ran}: {shown}")
    })
}
