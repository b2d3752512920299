//! Which models are offered, and which a name means.

use serde_json::{Value, json};

use super::*;
use crate::options::tests::info;

fn models(settings: Value) -> Models {
    let facts = SettingsFacts::read(&json!({"effective": settings}));
    Models::new(&info(), &facts)
}

fn values(models: &Models) -> Vec<&str> {
    models.iter().map(|model| model.value.as_str()).collect()
}

#[test]
fn a_name_means_the_model_it_fits_best() {
    let models = models(json!({}));
    let cases = [
        ("default", Some("default")),
        ("opus", Some("opus")),
        (" Opus ", Some("opus")),
        ("Default (Recommended)", Some("default")),
        ("Opus", Some("opus")),
        // The alias before the default that resolves to the same model.
        ("claude-opus-5-5", Some("opus")),
        ("claude-opus-5-5-20260101", Some("opus")),
        ("us.anthropic.claude-opus-5-5-20260101-v1:0", Some("opus")),
        ("Opus 5.5", Some("opus")),
        ("opus-5-5", Some("opus")),
        // The window is a hint.
        ("opus[1m]", Some("opus")),
        ("sonnet[1m]", Some("sonnet[1m]")),
        ("claude-sonnet-5-5[1m]", Some("sonnet[1m]")),
        ("Sonnet 5.5 (1M context)", Some("sonnet[1m]")),
        ("claude-sonnet-5-5", Some("sonnet")),
        ("sonnet 5.5", Some("sonnet")),
        ("gw-x", Some("gw-x")),
        ("gw x", Some("gw-x")),
        // Another version, another family, nothing.
        ("claude-sonnet-5", None),
        ("claude-opus-4-1", None),
        ("opusplan", None),
        ("nonsense", None),
        ("claude", None),
        ("5.5", None),
        ("", None),
    ];
    for (text, expected) in cases {
        let found = models.resolve(text).map(|model| model.value.as_str());
        assert_eq!(found, expected, "{text:?}");
    }
}

#[test]
fn a_model_that_is_not_on_offer_is_never_the_default_that_runs_it() {
    for (available, expected) in [
        (json!(["sonnet", "haiku"]), None),
        (json!(["claude-opus-4-1", "sonnet"]), Some("claude-opus-4-1")),
    ] {
        let models = models(json!({"availableModels": available}));
        for text in ["opus", "Opus", " OPUS "] {
            assert_eq!(
                models.resolve(text).map(|model| model.value.as_str()),
                expected,
                "{text}"
            );
        }
        for text in ["claude-opus-5-5", "Opus 5.5"] {
            assert_eq!(models.resolve(text), None, "{text}");
        }
    }
}

#[test]
fn names_have_a_version() {
    let models = models(json!({"availableModels": ["opus", "sonnet", "haiku"]}));
    let names: Vec<&str> = models.iter().map(|model| model.name.as_str()).collect();
    let expected = [
        "Default (recommended)",
        "Opus 5.5",
        "Sonnet 5.5",
        "Sonnet 5.5 (1M context)",
        "Haiku 4.5",
    ];
    assert_eq!(names, expected);
}

#[test]
fn what_a_model_of_the_settings_comes_to_is_learned_once() {
    let mut models = models(json!({"availableModels": ["claude-opus-4-1", "sonnet"]}));
    assert!(
        !models.learn("sonnet", "claude-opus-5-5"),
        "Claude has said what it is"
    );
    assert!(!models.learn("nobody", "claude-opus-5-5"));
    assert!(models.learn("claude-opus-4-1", "claude-opus-5-5"));
    assert!(!models.learn("claude-opus-4-1", "claude-sonnet-5-5"));
    assert!(models.run("claude-opus-4-1", "claude-opus-5-5"));
    let model = models.get("claude-opus-4-1").unwrap();
    let told = "Named in your settings; Claude runs claude-opus-5-5 for it";
    assert_eq!(model.description.as_deref(), Some(told));
    assert!(model.abilities.is_some());
}

#[test]
fn what_claude_reports_is_found_among_the_models() {
    let models = models(json!({}));
    let cases = [
        ("claude-opus-5-5", Some("opus")),
        ("claude-sonnet-5-5", Some("sonnet")),
        ("claude-sonnet-5-5[1m]", Some("sonnet[1m]")),
        ("claude-haiku-4-5-20251001", Some("haiku")),
        ("gw-x", Some("gw-x")),
        ("claude-opus-4-1", None),
        ("claude-opus-5-5[1m]", None),
    ];
    for (running, expected) in cases {
        let found = models.running(running).map(|model| model.value.as_str());
        assert_eq!(found, expected, "{running}");
    }
}

#[test]
fn an_allow_list_removes_and_adds_models_but_never_the_default() {
    let all = [
        "default",
        "opus",
        "fable",
        "sonnet",
        "sonnet[1m]",
        "haiku",
        "gw-x",
    ];
    let cases: [(Value, &[&str]); 9] = [
        (json!({}), &all),
        (json!({"availableModels": []}), &["default"]),
        (
            json!({"availableModels": ["sonnet", "haiku"]}),
            &["default", "sonnet", "sonnet[1m]", "haiku"],
        ),
        (
            json!({"availableModels": ["claude-opus-5"]}),
            &["default", "opus"],
        ),
        (
            json!({"availableModels": ["claude-opus-4-1", "claude-sonnet-5-5", "opus[1m]"]}),
            &["default", "sonnet", "sonnet[1m]", "claude-opus-4-1", "opus[1m]"],
        ),
        (
            json!({"availableModels": ["gw-x", "gw-y", "gw-y"]}),
            &["default", "gw-x", "gw-y"],
        ),
        (
            json!({"deniedModels": ["sonnet", "claude-opus-5-5"]}),
            &["default", "fable", "haiku", "gw-x"],
        ),
        (
            json!({"availableModels": ["gw-y", "haiku"], "deniedModels": ["gw-y"]}),
            &["default", "haiku"],
        ),
        (json!({"availableModels": "opus"}), &all),
    ];
    for (settings, expected) in cases {
        assert_eq!(values(&models(settings.clone())), expected, "{settings}");
    }
}

#[test]
fn a_model_of_the_settings_can_do_what_the_same_model_can() {
    let models = models(json!({"availableModels": ["opus[1m]", "claude-opus-4-1"]}));
    let named = models.get("opus[1m]").unwrap();
    assert!(named.abilities.as_ref().unwrap().fast);
    assert_eq!(models.get("claude-opus-4-1").unwrap().abilities, None);
}

#[test]
fn a_value_that_is_repeated_counts_once() {
    let info = serde_json::from_value(json!({"models": [
        {"value": "a", "displayName": "First"}, {"value": "a", "displayName": "Second"}, {"no": "value"},
    ]}))
    .unwrap();
    let models = Models::new(&info, &SettingsFacts::default());
    assert_eq!(values(&models), ["a"]);
    assert_eq!(models.get("a").unwrap().name, "First");
}
