//! What a decision tells about the stages, and the driver for hosts.
//!
//! Place in the flow: tests only.

use std::{
    future::Future,
    pin::pin,
    task::{Context, Poll, Waker},
};

use super::*;
use crate::pipeline::hooks::HookCommand;

fn told(trail: &[Note]) -> String {
    let lines: Vec<String> = trail
        .iter()
        .map(|note| format!("{}: {}", note.stage, note.text))
        .collect();
    lines.join("\n")
}

#[test]
fn a_decision_tells_what_each_stage_found() {
    let mut scene =
        Scene::default("allow Bash(npm test *) + deny Bash(rm *) + ask Bash(curl *)").answers([ALLOW]);
    let texts: Vec<String> = ["npm test", "rm a", "curl x", "echo $(x)", "ls", "npm ci"]
        .map(|command| format!("# {command}\n{}", told(&scene.bash(command).trail)))
        .into();
    insta::assert_snapshot!(texts.join("\n"));
}

#[test]
fn every_reason_has_its_words() {
    let rule = crate::rules::Rule::read(RuleKind::Ask, "Bash(x)", RuleOrigin::Session)
        .0
        .unwrap();
    let text = || "text".to_owned();
    let reasons = [
        Reason::UnknownTool,
        Reason::InvalidInput(text()),
        Reason::Hook(text()),
        Reason::Plan,
        Reason::Rule,
        Reason::ReadOnly,
        Reason::AcceptedEdit,
        Reason::Bypass,
        Reason::Classifier(text()),
        Reason::User(text()),
        Reason::Check(text()),
        Reason::NoPrompt(AskReason::Rule(Arc::new(rule))),
        Reason::NoPrompt(AskReason::Hook(text())),
        Reason::NoPrompt(AskReason::Denials(3)),
        Reason::NoPrompt(AskReason::NothingMatched),
        Reason::NoPrompt(AskReason::Unanalysable("it is nested too deeply")),
    ];
    insta::assert_snapshot!(reasons.map(|reason| reason.to_string()).join("\n"));
}

struct Fixed(HookRun, UserAnswer);

impl HookRunner for Fixed {
    async fn run(&self, _: &HookCommand, _: &Evaluation) -> HookRun {
        self.0.clone()
    }
}

impl Prompter for Fixed {
    async fn ask(&self, _: &Question, _: &Evaluation) -> UserAnswer {
        self.1.clone()
    }
}

/// Nothing here ever waits.
fn ready<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("it waits"),
    }
}

#[test]
fn a_host_can_let_the_pipeline_drive_itself() {
    let decide = |run: HookRun, answer: UserAnswer| {
        let mut scene = Scene::default("").hooks([exited(0, "")]);
        let call = ToolCall {
            name: "Bash".into(),
            input: json!({ "command": "npm ci" }),
            tool_use_id: "t".into(),
            agent: None,
        };
        let fixed = Fixed(run, answer);
        let host = Host {
            hooks: &fixed,
            prompter: &fixed,
            paths: &LexicalPaths,
        };
        ready(scene.pipeline.decide(call, scene.tool.clone(), host)).is_allow()
    };
    assert!(decide(exited(0, ""), ALLOW));
    assert!(!decide(exited(0, ""), DENY));
    assert!(!decide(exited(2, ""), ALLOW));
}
