//! Tables of forms and of what comes back from them.
//!
//! Place in the flow: tests only.

use proptest::prelude::*;

use super::*;
use crate::testing::properties;

fn colour_and_sizes() -> Value {
    json!({
        "questions": [
            {
                "question": "Which color?",
                "header": "Color",
                "options": [{ "label": "Red", "description": "r", "preview": "#f00" }, { "label": "Blue" }],
                "multiSelect": false,
            },
            {
                "question": "Which sizes?",
                "header": "Size",
                "options": [{ "label": "S" }, { "label": "M" }, { "label": "L" }],
                "multiSelect": true,
            },
        ],
        "metadata": { "kept": true },
    })
}

fn answer(content: Value) -> Value {
    let form = QuestionForm::build(&colour_and_sizes()).unwrap();
    let reply = FormReply::from_response(&json!({ "action": "accept", "content": content }));
    serde_json::to_value(form.settle(&reply).unwrap()).unwrap()
}

#[test]
fn the_form_has_a_choice_and_a_free_text_for_every_question() {
    let form = QuestionForm::build(&colour_and_sizes()).unwrap();
    insta::assert_snapshot!(format!("{}\n{:#}", form.message(), form.schema()));
    assert_eq!(form.schema().get("required"), None, "nothing is required");
}

#[test]
fn a_single_question_is_its_own_message() {
    let mut input = colour_and_sizes();
    input["questions"].as_array_mut().unwrap().truncate(1);
    let form = QuestionForm::build(&input).unwrap();
    assert_eq!(form.message(), "Which color?");
    assert_eq!(form.schema()["properties"]["question_0"].get("description"), None);
}

#[test]
fn answers_keep_choices_and_free_text_of_every_question() {
    let rows = [
        (
            json!({ "question_0": "Red" }),
            json!({ "Which color?": "Red" }),
            None,
        ),
        (
            json!({ "question_0_custom": " green \n" }),
            json!({ "Which color?": "green" }),
            None,
        ),
        (
            json!({ "question_0": "Red", "question_0_custom": "dark" }),
            json!({ "Which color?": "Red" }),
            Some(json!({ "Which color?": { "notes": "dark" } })),
        ),
        (
            json!({ "question_1": ["S", "L"] }),
            json!({ "Which sizes?": "S, L" }),
            None,
        ),
        (
            json!({ "question_1": ["S", "L"], "question_1_custom": "XXL" }),
            json!({ "Which sizes?": "S, L, XXL" }),
            None,
        ),
        (
            json!({ "question_1_custom": "XXL" }),
            json!({ "Which sizes?": "XXL" }),
            None,
        ),
        (
            json!({ "question_0": "", "question_1": [], "question_1_custom": " " }),
            json!({}),
            None,
        ),
        (
            json!({ "question_0": 5, "question_1": { "a": 1 }, "other": "x" }),
            json!({}),
            None,
        ),
        (json!("malformed"), json!({}), None),
        (json!(null), json!({}), None),
    ];
    for (content, answers, annotations) in rows {
        let result = answer(content.clone());
        let mut expected = colour_and_sizes();
        expected["answers"] = answers;
        if let Some(annotations) = annotations {
            expected["annotations"] = annotations;
        }
        assert_eq!(
            result,
            json!({ "behavior": "allow", "updatedInput": expected }),
            "{content}"
        );
    }
}

#[test]
fn declining_answers_nothing_and_cancelling_aborts() {
    let form = QuestionForm::build(&colour_and_sizes()).unwrap();
    let reply = |response: Value| form.settle(&FormReply::from_response(&response));
    let declined = serde_json::to_value(reply(json!({ "action": "decline" })).unwrap()).unwrap();
    assert_eq!(declined["updatedInput"]["answers"], json!({}));
    for gone in [
        json!({ "action": "cancel" }),
        json!({ "action": "later" }),
        json!({}),
        json!(null),
    ] {
        assert_eq!(reply(gone.clone()), Err(SettleError::Aborted), "{gone}");
    }
}

#[test]
fn questions_without_text_or_options_are_left_out() {
    let usable = json!({ "question": "Q", "options": [{ "label": "A" }, { "label": "A" }, { "x": 1 }] });
    let input =
        json!({ "questions": [5, { "question": "no options" }, { "question": "Q", "options": [] }, usable] });
    let form = QuestionForm::build(&input).unwrap();
    assert_eq!(form.message(), "Q");
    let choices = json!([{ "const": "A", "title": "A" }]);
    assert_eq!(form.schema()["properties"]["question_0"]["oneOf"], choices);
    for unusable in [
        json!({}),
        json!({ "questions": [] }),
        json!({ "questions": "Q" }),
        json!(null),
        json!([]),
    ] {
        assert_eq!(
            QuestionForm::build(&unusable),
            Err(QuestionError::NoValidQuestions),
            "{unusable}"
        );
    }
    let message = QuestionError::NoValidQuestions.to_string();
    assert_eq!(message, "AskUserQuestion called with no valid questions.");
}

#[test]
fn a_form_that_could_not_be_shown_is_a_plain_refusal() {
    let refusal = serde_json::to_value(QuestionForm::not_presented()).unwrap();
    assert_eq!(
        refusal,
        json!({ "behavior": "deny", "message": "Could not present the question to the user." })
    );
}

proptest! {
    #![proptest_config(properties(500))]

    /// Whatever a client sends as content, the questions themselves stay as Claude asked them.
    #[test]
    fn no_content_changes_the_questions(content in "[a-z]{0,3}", chosen in prop::collection::vec("[a-zA-Z]{0,3}", 0..4)) {
        let result = answer(json!({ "question_0": content, "question_1": chosen, "questions": "forged" }));
        prop_assert_eq!(&result["updatedInput"]["questions"], &colour_and_sizes()["questions"]);
    }
}
