//! Every fixed sentence and every error, as one snapshot each.
//!
//! Place in the flow: tests only. Labels have theirs beside the label grammar, modes beside the modes.

use serde_json::json;

use crate::testing::{Scene, listing};
use crate::{
    Answer, FormReply, InvalidUpdate, PermissionMode, PrepareError, QuestionError, QuestionForm, SettleError,
    UnknownMode,
};

fn message(scene: &Scene, feedback: Option<&str>) -> String {
    let answer = Answer::Selected {
        option_id: "reject".to_owned(),
        feedback: feedback.map(str::to_owned),
    };
    let settled = scene.prepare().settle(&answer).unwrap();
    serde_json::to_value(settled.result).unwrap()["message"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn every_option_name_that_is_no_label() {
    let plan = Scene::new("ExitPlanMode", json!({ "plan": "p" }));
    let lists = [
        Scene::bash().prepare(),
        Scene::new("EnterPlanMode", json!({})).prepare(),
        plan.prepare_with(|ask| ask.plan.offered_modes = &[PermissionMode::Auto]),
        plan.prepare_with(|ask| ask.plan.offered_modes = &[PermissionMode::BypassPermissions]),
        plan.prepare_with(|ask| ask.plan.context_used_percent = Some(37)),
        plan.prepare_with(|ask| ask.plan.context_used_percent = Some(200)),
    ];
    insta::assert_snapshot!(lists.map(|request| listing(&request).join("\n")).join("\n\n"));
}

#[test]
fn every_message_for_claude() {
    let plan = Scene::new("ExitPlanMode", json!({ "plan": "p" }));
    let cleared = plan
        .prepare()
        .settle(&Answer::selected("exit-plan-clear-accept-edits"))
        .unwrap();
    let messages = [
        message(&Scene::bash(), None),
        message(&Scene::bash(), Some("use cargo")),
        message(&plan, None),
        message(&plan, Some("smaller steps")),
        serde_json::to_string(&cleared.result).unwrap(),
        serde_json::to_string(&QuestionForm::not_presented()).unwrap(),
    ];
    insta::assert_snapshot!(messages.join("\n--\n"));
}

#[test]
fn every_error() {
    let no_answer =
        QuestionForm::build(&json!({ "questions": [{ "question": "Q", "options": [{ "label": "A" }] }] }))
            .unwrap()
            .settle(&FormReply::Cancelled)
            .unwrap_err();
    let errors = [
        SettleError::Aborted.to_string(),
        SettleError::NotOffered("exit-plan-auto".to_owned()).to_string(),
        no_answer.to_string(),
        PrepareError::MustBeElicited.to_string(),
        QuestionError::NoValidQuestions.to_string(),
        UnknownMode("manual".to_owned()).to_string(),
        InvalidUpdate::NotAnObject("rule").to_string(),
        InvalidUpdate::Field("mode").to_string(),
        InvalidUpdate::List("rules").to_string(),
        InvalidUpdate::Text("ruleContent").to_string(),
    ];
    insta::assert_snapshot!(errors.join("\n"));
}
