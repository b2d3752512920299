//! Whether the examples of a policy come true.
//!
//! Place in the flow: the host tries them where it reads a policy, before anything starts. Each is explained like any other
//! call.

use super::{Account, ExplainedSession, Verdict, explain, wording};
use crate::decide::{DecidedBy, Stage};
use crate::policy::{Becomes, PolicyMistake};

/// The examples of the session's policy that do not come true.
pub fn unmet_examples(session: &ExplainedSession<'_>) -> Vec<PolicyMistake> {
    let examples = session.policy.iter().flat_map(|policy| &policy.examples);
    let unmet = examples.filter_map(|example| {
        let account = explain(session, &example.tool, &example.input);
        let found = account.becomes();
        (found != example.becomes).then(|| PolicyMistake {
            file: example.origin.file.clone(),
            line: example.origin.line,
            key: Some(example.key.clone()),
            message: wording::unmet(example.becomes, found, account.why()),
        })
    });
    unmet.collect()
}

impl Account {
    fn becomes(&self) -> Becomes {
        match self.verdict {
            Verdict::Runs => Becomes::Allow,
            Verdict::Asked | Verdict::Classified => Becomes::Ask,
            Verdict::Denied => Becomes::Deny,
        }
    }

    /// What decided.
    fn why(&self) -> &str {
        let part = match self.by {
            DecidedBy::Policy | DecidedBy::Guard => self.sections.first(),
            DecidedBy::Claude => self.sections.last(),
        };
        let mut lines = part.iter().flat_map(|part| &part.lines).rev();
        let decisive = lines.find(|(stage, _)| matches!(stage, Stage::Rules | Stage::Validate));
        decisive.map_or("", |(_, text)| text)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use super::*;
    use crate::LexicalPaths;
    use crate::policy::Policy;
    use crate::settings::HostFacts;

    fn unmet(text: &str) -> Vec<String> {
        let policy = Arc::new(Policy::read(Path::new("/etc/policy.json"), text).unwrap());
        let session = ExplainedSession {
            cwd: "/project",
            home: Some("/home/u"),
            plans: None,
            settings: &[],
            host: HostFacts::default(),
            mode: None,
            policy: Some(&policy),
            paths: &LexicalPaths,
        };
        unmet_examples(&session).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_example_that_does_not_come_true_is_told_with_its_line_and_why() {
        let text = r#"{
            "permissions": {
                "deny": ["Bash(git push *)", "Read(~/.ssh/**)"], "ask": ["WebFetch"], "allow": ["Bash(npm test *)"],
                "autoAllow": true
            },
            "examples": [
                {"command": "git -C . push", "becomes": "deny"},
                {"command": "git push", "becomes": "allow"},
                {"command": "npm test", "becomes": "allow"},
                {"command": "npm test", "becomes": "deny"},
                {"command": "npm run x", "becomes": "ask"},
                {"command": "npm run x", "becomes": "deny"},
                {"tool": "WebFetch", "input": {"url": "https://a.b"}, "becomes": "ask"},
                {"tool": "Read", "input": {"file_path": "/home/u/.ssh/id"}, "becomes": "deny"},
                {"tool": "Read", "input": {"file_path": "src/a"}, "becomes": "ask"},
                {"tool": "Write", "input": {"file_path": ".claude/settings.json"}, "becomes": "allow"},
                {"tool": "Bash", "input": {"command": "ls"}, "becomes": "allow"}
            ]
        }"#;
        insta::assert_snapshot!(unmet(text).join("\n"));
    }

    #[test]
    fn examples_are_tried_in_the_mode_that_sessions_start_in_and_with_the_switches() {
        let under = |permissions: &str, becomes: &str| {
            let example = format!(r#"{{"command": "npm test", "becomes": "{becomes}"}}"#);
            unmet(&format!(
                r#"{{"permissions": {{{permissions}}}, "examples": [{example}]}}"#
            ))
        };
        assert!(under(r#""headless": true"#, "deny").is_empty());
        assert!(under(r#""defaultMode": "plan""#, "deny").is_empty());
        assert!(under(r#""defaultMode": "bypassPermissions""#, "allow").is_empty());
        assert_eq!(under(r#""defaultMode": "bypassPermissions""#, "ask").len(), 1);
    }
}
