//! What survives the process.

use crate::options::saved::{Relaunch, Saved};
use claude_sdk_bridge::launch::{LaunchOptions, SessionStart};
use claude_sdk_bridge::messages::control::ControlRequest;

use super::*;

/// The choices of model and agent.
fn chosen(model: &str, agent: &str) -> Saved {
    Saved {
        model: Some(model.to_owned()),
        agent: Some(agent.to_owned()),
        ..Saved::default()
    }
}

/// What a relaunch with `saved` gives: the flags, and the settings that follow.
fn relaunch(saved: &Saved) -> Value {
    let relaunch = saved.relaunch();
    let mut launch = LaunchOptions::new("/", SessionStart::Unnamed);
    launch.agent = Some("as before".to_owned());
    relaunch.apply(&mut launch);
    let then: Vec<Value> = relaunch
        .then
        .iter()
        .map(|request| match request.to_control() {
            ControlRequest::ApplyFlagSettings(apply) => serde_json::to_value(apply.settings).unwrap(),
            other => panic!("{other:?}"),
        })
        .collect();
    json!([launch.model, launch.effort, launch.agent, then])
}

#[test]
fn a_new_process_gets_what_was_chosen_and_nothing_else() {
    let cases = [
        (Saved::default(), json!([null, null, "as before", []])),
        (
            Saved {
                effort: Some("max".to_owned()),
                fast: Some(true),
                ..chosen("haiku", "rev")
            },
            json!(["haiku", "max", "rev", [{"fastMode": true}]]),
        ),
        (
            Saved {
                effort: Some("default".to_owned()),
                fast: Some(false),
                ..chosen("default", "default")
            },
            json!(["default", null, "as before", [{"agent": null}, {"effortLevel": null}, {"fastMode": false}]]),
        ),
        (
            Saved {
                agent: None,
                ..chosen("opus", "")
            },
            json!(["opus", null, "as before", []]),
        ),
    ];
    for (saved, expected) in cases {
        assert_eq!(relaunch(&saved), expected, "{saved:?}");
    }
}

#[test]
fn what_nobody_chose_is_left_to_the_settings() {
    let options = options(json!({
        "effective": {"model": "sonnet", "agent": "rev", "modelSettings": {"claude-sonnet-5-5": {"effortLevel": "low"}}},
        "applied": {"model": "claude-sonnet-5-5", "effort": "low"},
    }));
    let values = ["model", "effort", "agent"].map(|id| value(&options, id).unwrap());
    assert_eq!(values, ["sonnet", "low", "rev"]);
    assert_eq!(options.relaunch(), Relaunch::default());
    assert_eq!(options.carry(), Saved::default());
}

#[test]
fn choices_are_the_same_in_the_next_process() {
    let mut before = options(json!({}));
    let chosen = [("model", "sonnet[1m]"), ("effort", "high"), ("agent", "rev")];
    for (id, value) in chosen {
        choose(&mut before, id, value);
    }
    let mut after = options(json!({"applied": {"model": "claude-sonnet-5-5[1m]", "effort": "high"}}));
    after.restore(before.carry());
    assert_eq!(after.list(modes()), before.list(modes()));
    assert_eq!(after.carry(), before.carry());
    // The effort that was started with is the choice, not what is usual.
    let settings = json!({"applied": {"model": "claude-sonnet-5-5[1m]", "effort": "high"}});
    assert!(!after.observed_settings(&settings));
    assert_eq!(value(&after, "effort").as_deref(), Some("high"));
}

#[test]
fn what_is_gone_is_not_restored() {
    let restored = |saved: Saved| {
        let mut options = options(json!({}));
        options.restore(saved);
        (options.model().to_owned(), value(&options, "agent").unwrap())
    };
    let pair = |model: &str, agent: &str| (model.to_owned(), agent.to_owned());
    // A model runs whether it is listed or not; an agent that does not exist was passed over.
    assert_eq!(
        restored(chosen("claude-opus-4-1", "gone")),
        pair("claude-opus-4-1", "default")
    );
    assert_eq!(
        restored(chosen("claude-opus-5-5", "Explore")),
        pair("opus", "Explore")
    );
}

/// What a client asked for at `session/new`; `settings` are Claude's own afterwards.
fn asked(settings: Value, asked: impl FnOnce(&mut LaunchOptions)) -> Result<Options, String> {
    let mut launch = LaunchOptions::new("/", SessionStart::Unnamed);
    asked(&mut launch);
    let mut options = options(settings.clone());
    options.asked(&launch).map_err(|error| error.to_string())?;
    options.observed_settings(&settings);
    Ok(options)
}

#[test]
fn what_a_client_asks_for_at_the_start_is_shown_as_chosen() {
    let running = |effort: &str| json!({"applied": {"model": "claude-opus-5-5", "effort": effort}});
    let low = |launch: &mut LaunchOptions| launch.effort = Some("low".to_owned());
    let shown = asked(running("low"), low).unwrap();
    assert_eq!(value(&shown, "effort").as_deref(), Some("low"));
    assert_eq!(shown.carry().effort.as_deref(), Some("low"));
    // The environment can hold it back, and then that is what is in use.
    let held_back = asked(running("high"), low).unwrap();
    assert_eq!(value(&held_back, "effort").as_deref(), Some("high"));
    let agent = asked(running("medium"), |launch| launch.agent = Some("rev".to_owned())).unwrap();
    assert_eq!(value(&agent, "agent").as_deref(), Some("rev"));
    assert_eq!(value(&agent, "effort").as_deref(), Some("default"));
}

#[test]
fn what_claude_would_pass_over_in_silence_is_refused_with_the_choices() {
    let settings = json!({
        "effective": {"availableModels": ["claude-opus-4-1", "sonnet"]}, "applied": {"model": "claude-opus-5-5"},
    });
    let refused = |settings: &Value, ask: fn(&mut LaunchOptions)| asked(settings.clone(), ask).unwrap_err();
    let opus = |launch: &mut LaunchOptions| launch.model = Some("opus".to_owned());
    let lines = [
        refused(&settings, opus),
        refused(&json!({}), |launch| launch.effort = Some("bogus".to_owned())),
        refused(&json!({}), |launch| launch.agent = Some("nobody".to_owned())),
    ];
    insta::assert_snapshot!(lines.join("\n"), @r"
    `opus` is not a value of the option `model`; choose one of `default`, `sonnet`, `sonnet[1m]`, `claude-opus-4-1`
    `bogus` is not a value of the option `effort`; choose one of `low`, `medium`, `high`, `xhigh`, `max`
    `nobody` is not a value of the option `agent`; choose one of `claude`, `Explore`, `rev`, `statusline-setup`, `kit:doc`
    ");
    assert!(asked(json!({}), opus).is_ok(), "nobody says what there is");
}

#[test]
fn a_model_that_claude_serves_by_another_one_stays_chosen() {
    let settings = json!({
        "effective": {"availableModels": ["claude-opus-4-1", "sonnet"]}, "applied": {"model": "claude-opus-5-5"},
    });
    let mut chosen = options(settings.clone());
    assert_eq!(value(&chosen, "model").as_deref(), Some("default"));
    choose(&mut chosen, "model", "opus");
    assert!(
        chosen.answered_model("claude-opus-5-5"),
        "its description is another now"
    );
    let from_start = asked(settings.clone(), |launch| {
        launch.model = Some("claude-opus-4-1".to_owned())
    })
    .unwrap();
    let mut again = options(settings);
    again.restore(chosen.carry());
    for options in [&mut chosen, &mut again, &mut from_start.clone()] {
        assert!(!options.observed_model("claude-opus-5-5"));
        assert_eq!(value(options, "model").as_deref(), Some("claude-opus-4-1"));
    }
    assert!(chosen.observed_model("claude-sonnet-5-5"));
    assert_eq!(value(&chosen, "model").as_deref(), Some("sonnet"));
}
