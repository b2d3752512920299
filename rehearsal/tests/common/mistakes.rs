//! Scripts with a mistake each. The parser's tests say what is told about them; the schema must refuse them, too.

/// Whole scripts.
pub(crate) const SCRIPTS: &[&str] = &[
    "",
    "{\n  \"version\": 1,\n  \"turns\": [\n",
    r#"{"version": 2, "turns": []}"#,
    r#"{"turns": []}"#,
    r#"{"version": 1}"#,
    r#"{"version": 1, "turns": [], "scenes": []}"#,
    "{\n  \"version\": 1,\n  \"turns\": [{ \"step\": [] }]\n}",
    r#"{"version": 1, "session": {"modle": "x"}, "turns": []}"#,
    r#"{"version": 1, "session": {"files": {"a": "x"}}, "turns": []}"#,
    r#"{"version": 1, "session": {"settings": []}, "turns": []}"#,
    r#"{"version": 1, "session": {"denial_threshold": -1}, "turns": []}"#,
    r#"{"version": 1, "process": {"grandchild": {"pid": 1}}, "turns": []}"#,
    r#"{"version": 1, "startup": [{"text": "x"}], "turns": []}"#,
    r#"{"version": 1, "turns": [{"prompt": {"regex": "x"}, "steps": []}]}"#,
    r#"{"version": 1, "turns": [{"on_interrupt": "die", "steps": []}]}"#,
    r#"{"version": 1, "turns": [{"usage": {"input": 1}, "steps": []}]}"#,
    r#"{"version": 1, "scenes": [{"turns": []}]}"#,
    r#"{"version": 1, "scenes": [{"name": "a", "turns": [], "abuot": "x"}]}"#,
    r#"{"version": 1, "scenes": [], "$scheme": "x"}"#,
];

/// Steps of a turn.
pub(crate) const STEPS: &[&str] = &[
    r#""hang", "hagn""#,
    r#"{"text": 1}"#,
    r#"{"text": {"text": "x", "repeat": 0}}"#,
    r#"{"text": {"text": "x", "chunk": "letters"}}"#,
    r#"{"tool": {"input": {}}}"#,
    r#"{"tool": {"name": "Bash", "ask": {"sugestions": []}}}"#,
    r#"{"tool": {"name": "Bash", "ask": "yes"}}"#,
    r#"{"tool": {"name": "Bash", "result": {"stdout": "x"}}}"#,
    r#"{"mode": "yolo"}"#,
    r#"{"error": "rate_limits"}"#,
    r#"{"error": {"kind": "rate_limit", "retry": 1}}"#,
    r#"{"wait_for": "godot"}"#,
    r#"{"exit": {"code": 256}}"#,
    r#"{"raw": "x"}"#,
    r#"{"repeat": {"times": 2, "steps": []}}"#,
    r#"{"repeat": {"times": 2, "steps": [{"sleep": 1}]}}"#,
    r#"{"delay_ms": -1}"#,
    r#"{"late_result": {"late": true}}"#,
    r#"{"foreign_result": {}}"#,
    r#"{"hang": 1}"#,
    r#"{"text": "a", "thinking": "b"}"#,
    r#"{"tool": {"name": "Bash", "if_refused": "hang"}}"#,
    r#"{"tool": {"name": "Bash", "if_refused": ["hagn"]}}"#,
    r#"{"tool": {"name": "Bash", "real": true}}"#,
    r#"{"tool": {"name": "Bash", "decide": 1}}"#,
    r#"{"tool": {"name": "Bash", "hook": {"decision": "perhaps"}}}"#,
    r#"{"tool": {"name": "Task", "subagent": [{"name": "Read", "real": true}]}}"#,
];

/// A script with these steps.
pub(crate) fn with_steps(steps: &str) -> String {
    format!("{{\"version\":1,\"turns\":[{{\"steps\":[{steps}]}}]}}")
}
