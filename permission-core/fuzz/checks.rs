//! What must hold for every text that claims to be a suggestion bundle, a permission response, a rule or a command.
//!
//! Place in the flow: the fuzz targets feed it random bytes, an ordinary test feeds it the seeds. Uses nothing but
//! the public interface.

use permission_core::rules::{Allowed, Rule, RuleKind, RuleOrigin, RuleSet};
use permission_core::{
    Answer, AskContext, Effect, FormReply, LexicalPaths, PermissionUpdate, PreparedRequest, QuestionForm,
    Snapshot, ToolCall, Workspace, prepare,
};
use serde_json::{Value, json};

/// A bundle is taken whole or not at all, and every durable option echoes it behind a label that can be shown.
pub(crate) fn suggestions(bytes: &[u8]) {
    let Ok(suggestions) = serde_json::from_slice::<Value>(bytes) else {
        return;
    };
    let snapshot = Snapshot::take(Some(&suggestions));
    if let Some(snapshot) = &snapshot {
        assert_eq!(
            Some(snapshot.original()),
            suggestions.as_array().map(Vec::as_slice)
        );
        for (original, typed) in snapshot.original().iter().zip(snapshot.updates()) {
            let again: PermissionUpdate = serde_json::from_value(original.clone()).expect("valid twice");
            assert_eq!(&again, typed);
        }
    }
    for tool in [
        "Bash",
        "PowerShell",
        "Read",
        "Glob",
        "Edit",
        "mcp__srv__tool",
        "SandboxNetworkAccess",
    ] {
        let request = request(tool, Some(&suggestions));
        for option in request.options() {
            let Effect::AllowWithUpdates { updates, .. } = &option.effect else {
                continue;
            };
            let suggested = snapshot.as_ref().map(Snapshot::original).unwrap_or_default();
            let mut rest = suggested.iter();
            let part = updates
                .original()
                .iter()
                .all(|update| rest.any(|other| other == update));
            assert!(part, "the effect is the bundle, or a part of it: {updates:?}");
            assert!(option.name.encode_utf16().count() <= 200, "{}", option.name);
            assert!(!option.name.contains(char::is_control), "{:?}", option.name);
        }
    }
}

/// Whatever a client answers, only a plain selection of an offered option that allows lets the tool run.
pub(crate) fn response(bytes: &[u8]) {
    let Ok(response) = serde_json::from_slice::<Value>(bytes) else {
        return;
    };
    let suggestions = json!([{
        "type": "addRules",
        "rules": [{ "toolName": "Bash", "ruleContent": "npm test:*" }],
        "behavior": "allow",
        "destination": "localSettings",
    }]);
    for tool in ["Bash", "ExitPlanMode"] {
        let request = request(tool, Some(&suggestions));
        let selected = response
            .pointer("/outcome/outcome")
            .filter(|outcome| outcome.as_str() == Some("selected"))
            .and_then(|_| response.pointer("/outcome/optionId")?.as_str());
        let allows = request.options().iter().any(|option| {
            let allows = matches!(option.effect, Effect::AllowOnce | Effect::AllowWithUpdates { .. });
            allows && Some(option.id.as_str()) == selected
        });
        let settled = request.settle(&Answer::from_response(&response));
        assert_eq!(
            settled.is_ok_and(|settled| settled.result.is_allow()),
            allows,
            "{response}"
        );
    }
    let questions = json!({ "questions": [{ "question": "Q", "options": [{ "label": "A" }] }] });
    let form = QuestionForm::build(&questions).expect("a question");
    let reply = FormReply::from_response(&response);
    let answers = matches!(reply, FormReply::Accepted(_) | FormReply::Declined);
    assert_eq!(form.settle(&reply).is_ok(), answers, "{response}");
}

/// A limiting rule always counts, and never for less than what it spells out; an allow rule that cannot be read allows
/// nothing.
pub(crate) fn rule(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let (allow, problem) = Rule::read(RuleKind::Allow, text, RuleOrigin::Session);
    assert!(
        allow.is_some() || problem.is_some(),
        "an allow rule that counts for nothing says so"
    );
    for kind in [RuleKind::Deny, RuleKind::Ask] {
        let (rule, _) = Rule::read(kind, text, RuleOrigin::Session);
        assert!(rule.is_some(), "a limit counts: {text:?}");
    }
    let content = text.strip_prefix("Bash(").and_then(|rest| rest.strip_suffix(')'));
    let plain = |content: &&str| {
        let simple = |c: char| c.is_ascii_alphanumeric() || c == ' ';
        content.chars().all(simple) && !content.trim().is_empty()
    };
    if let Some(command) = content.filter(plain) {
        assert!(denied(text, command), "its own command: {text:?}");
        assert!(
            !allowed(text, &format!("{command}; id")),
            "more than its command: {text:?}"
        );
    }
    for tool in ["Bash", "Read", "Write", "WebFetch", "Skill", "Agent", "mcp__s__t"] {
        let input =
            json!({ "command": text, "file_path": text, "url": text, "skill": text, "subagent_type": text });
        let mut rules = RuleSet::default();
        rules.add(RuleKind::Deny, text, RuleOrigin::Session);
        rules.add(RuleKind::Allow, text, RuleOrigin::Session);
        let call = ToolCall::new(tool, &input, workspace());
        let _ = (rules.denies(&call), rules.allows(&call, true));
    }
}

/// No text is allowed with more than its first command, and none hides a command on a line of its own from deny.
pub(crate) fn command(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let rule = "Bash(zap *)";
    if allowed(rule, &text) {
        assert!(
            denied(rule, &text),
            "what is allowed is what the rule is about: {text:?}"
        );
        // In front, because a comment or a continued line may be at the end.
        assert!(!allowed(rule, &format!("id; {text}")), "{text:?}");
        assert!(!allowed(rule, &format!(": $(id); {text}")), "{text:?}");
        assert!(denied("Bash(id *)", &format!("id; {text}")), "{text:?}");
        if !text.ends_with('\\') {
            assert!(!allowed(rule, &format!("{text}\nid")), "{text:?}");
            assert!(denied("Bash(id *)", &format!("{text}\nid")), "{text:?}");
        }
    }
    assert!(denied(rule, &format!("zap; {text}")), "{text:?}");
    assert!(
        denied("Bash", &text),
        "a rule for all commands is for all commands"
    );
    let _ = denied("Read(.env)", &text) || denied("Edit(src/**)", &text);
}

/// Whether the rule allows the command; what only reads needs no rule.
fn allowed(rule: &str, command: &str) -> bool {
    let mut rules = RuleSet::default();
    rules.add(RuleKind::Allow, rule, RuleOrigin::Session);
    let input = json!({ "command": command });
    let allowed = rules.allows(&ToolCall::new("Bash", &input, workspace()), false);
    matches!(allowed, Some(Allowed::ByRules(_)))
}

fn denied(rule: &str, command: &str) -> bool {
    let mut rules = RuleSet::default();
    rules.add(RuleKind::Deny, rule, RuleOrigin::Session);
    let input = json!({ "command": command });
    rules
        .denies(&ToolCall::new("Bash", &input, workspace()))
        .is_some()
}

fn workspace() -> Workspace<'static> {
    Workspace {
        cwd: "/repo",
        current: "/repo",
        project_root: "/repo",
        home: Some("/home/u"),
        additional: &[],
        paths: &LexicalPaths,
    }
}

fn request(tool: &str, suggestions: Option<&Value>) -> PreparedRequest {
    let input = json!({ "file_path": "/repo/src/a", "host": "example.com", "plan": "p" });
    let call = ToolCall::new(tool, &input, workspace());
    let mut ask = AskContext::new(&call, "toolu_1");
    ask.suggestions = suggestions;
    ask.plan.clear_context = true;
    prepare(&ask).expect("not a question")
}
