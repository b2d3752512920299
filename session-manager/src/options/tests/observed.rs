//! What Claude's own changes come to.

use claude_sdk_bridge::messages::{ResultMessage, SystemInit};

use super::*;

fn init(fields: Value) -> SystemInit {
    serde_json::from_value(fields).unwrap()
}

fn settings(model: &str, effort: Option<&str>) -> Value {
    json!({"effective": {}, "applied": {"model": model, "effort": effort}})
}

#[test]
fn a_model_that_is_another_becomes_the_choice() {
    let cases = [
        ("default", "claude-opus-5-5", "default"),
        ("opus", "claude-opus-5-5", "opus"),
        ("haiku", "claude-haiku-4-5-20251001", "haiku"),
        ("default", "claude-sonnet-5-5", "sonnet"),
        ("sonnet", "claude-sonnet-5-5[1m]", "sonnet[1m]"),
        ("sonnet", "claude-opus-5-5", "opus"),
        ("sonnet", "claude-opus-4-1", "claude-opus-4-1"),
        ("sonnet", "", "sonnet"),
    ];
    for (chosen, running, expected) in cases {
        let mut options = options(json!({}));
        choose(&mut options, "model", chosen);
        assert_eq!(
            options.observed_model(running),
            chosen != expected,
            "{chosen} {running}"
        );
        assert_eq!(options.model(), expected, "{chosen} {running}");
    }
}

#[test]
fn the_answer_to_set_model_corrects_the_choice() {
    let listed = json!({"effective": {"availableModels": ["opus[1m]", "claude-opus-4-1"]}});
    let cases = [
        ("opus[1m]", "claude-opus-5-5", "opus[1m]"),
        ("claude-opus-4-1", "claude-opus-5-5", "default"),
    ];
    for (chosen, answer, expected) in cases {
        let mut options = options(listed.clone());
        choose(&mut options, "model", chosen);
        options.observed_model(answer);
        assert_eq!(options.model(), expected, "{chosen}");
    }
}

#[test]
fn an_effort_that_another_model_lacks_is_taken_back() {
    let mut options = options(json!({}));
    choose(&mut options, "effort", "max");
    assert!(options.observed_settings(&settings("claude-sonnet-5-5", Some("high"))));
    assert_eq!(value(&options, "effort").as_deref(), Some("default"));
    let repair = options.repair().unwrap();
    assert_eq!(repair, Request::ApplyFlagSettings(FlagSetting::Effort(None)));
    options.applied(&repair);
    assert_eq!(options.repair(), None);
}

#[test]
fn the_start_of_a_turn_tells_model_fast_mode_and_agents_at_once() {
    let mut options = options(json!({}));
    let seen = options.observed_init(&init(json!({
        "model": "claude-opus-5-5", "fast_mode_state": "off", "fast_mode_disabled_reason": "sdk_opt_in_required",
        "agents": ["claude", "Explore", "rev", "statusline-setup", "kit:doc"],
    })));
    assert_eq!(seen, Seen::default());
    for fields in [
        json!({"model": "claude-haiku-4-5"}),
        json!({"fast_mode_state": "on"}),
        json!({"agents": ["rev"]}),
    ] {
        let mut options = options.clone();
        let seen = options.observed_init(&init(fields.clone()));
        assert_eq!((seen.changed, seen.warning), (true, None), "{fields}");
        assert_eq!(
            options.observed_init(&init(fields.clone())),
            Seen::default(),
            "{fields}"
        );
    }
}

#[test]
fn what_is_known_of_an_agent_stays_known() {
    let mut options = options(json!({}));
    assert!(!options.observed_agents(["kit:doc", "rev"].into_iter().rev()));
    assert!(options.observed_agents(["new", "rev"].into_iter()));
    let list = serde_json::to_value(options.list(modes())).unwrap();
    let agents = &list.as_array().unwrap().last().unwrap()["options"];
    assert_eq!(agents[1], json!({"value": "new", "name": "new"}));
    assert_eq!(agents[2]["description"], "Reviews");
}

#[test]
fn fast_mode_is_what_claude_makes_of_it() {
    let cases = [
        ("off", "on", None, "on", None),
        ("on", "cooldown", None, "on", None),
        ("on", "off", Some("pending"), "on", None),
        ("on", "off", Some("sdk_opt_in_required"), "off", None),
        ("on", "off", None, "off", None),
        (
            "on",
            "off",
            Some("model_not_allowed"),
            "off",
            Some("Fast mode is off: no model that has it is allowed by your settings."),
        ),
        ("off", "off", Some("free"), "off", None),
        ("on", "odd", Some("free"), "on", None),
    ];
    for (chosen, state, reason, expected, warning) in cases {
        let mut options = options(json!({}));
        choose(&mut options, "fast", chosen);
        let result: ResultMessage =
            serde_json::from_value(json!({"fast_mode_state": state, "fast_mode_disabled_reason": reason}))
                .unwrap();
        let seen = options.observed_result(&result);
        assert_eq!(seen.changed, chosen != expected, "{chosen} {state} {reason:?}");
        assert_eq!(seen.warning.as_deref(), warning, "{chosen} {state} {reason:?}");
        assert_eq!(
            value(&options, "fast").as_deref(),
            Some(expected),
            "{chosen} {state} {reason:?}"
        );
    }
}

#[test]
fn fast_mode_of_a_model_without_it_says_nothing() {
    let mut options = options(json!({}));
    choose(&mut options, "fast", "on");
    choose(&mut options, "model", "haiku");
    assert_eq!(options.observed_fast(Some("off"), None), Seen::default());
    choose(&mut options, "model", "opus");
    assert_eq!(value(&options, "fast").as_deref(), Some("on"));
}

#[test]
fn an_effort_that_a_command_set_is_shown() {
    let opus = |effort| settings("claude-opus-5-5", Some(effort));
    let mut options = options(opus("medium"));
    let steps = [
        // What Claude uses when nobody chose is no choice.
        ("medium", false, "default"),
        ("high", true, "high"),
        ("high", false, "high"),
        ("max", true, "max"),
        ("medium", true, "default"),
    ];
    for (in_use, changed, expected) in steps {
        assert_eq!(options.observed_settings(&opus(in_use)), changed, "{in_use}");
        assert_eq!(value(&options, "effort").as_deref(), Some(expected), "{in_use}");
    }
}

#[test]
fn an_effort_that_something_holds_back_is_shown_as_it_is() {
    let opus = |effort| settings("claude-opus-5-5", Some(effort));
    let mut options = options(opus("medium"));
    choose(&mut options, "effort", "max");
    assert!(options.observed_settings(&opus("high")));
    assert_eq!(value(&options, "effort").as_deref(), Some("high"));
    choose(&mut options, "effort", "default");
    // The default need not be what the settings gave before.
    assert!(!options.observed_settings(&opus("low")));
    assert_eq!(value(&options, "effort").as_deref(), Some("default"));
}

#[test]
fn a_model_that_an_agent_brings_is_no_choice() {
    let mut options = options(settings("claude-opus-5-5", None));
    choose(&mut options, "agent", "rev");
    assert!(options.observed_settings(&settings("claude-haiku-4-5", None)));
    assert_eq!(options.model(), "haiku");
    assert_eq!(options.carry().model, None);
    choose(&mut options, "agent", "default");
    assert!(options.observed_settings(&settings("claude-opus-5-5", None)));
    assert_eq!(options.model(), "default");
    // Later it is a command.
    assert!(options.observed_settings(&settings("claude-haiku-4-5", None)));
    assert_eq!(options.carry().model.as_deref(), Some("haiku"));
}
