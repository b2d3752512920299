//! What a client is offered and what it can choose.

use super::*;

#[test]
fn the_list_shows_names_and_descriptions() {
    insta::assert_json_snapshot!(options(json!({})).list(modes()));
}

#[test]
fn a_client_that_has_booleans_gets_one_and_has_to_send_one() {
    let options = Options::new(&info(), SettingsFacts::default(), Switches::AsBoolean);
    let list = serde_json::to_value(options.list(modes())).unwrap();
    let fast = list
        .as_array()
        .unwrap()
        .iter()
        .find(|option| option["id"] == "fast");
    assert_eq!(
        fast.unwrap(),
        &json!({
            "id": "fast", "name": "Fast mode", "description": "The same model, answering faster",
            "category": "model_config", "type": "boolean", "currentValue": false,
        })
    );
    let change = |value| options.change("fast", &value, modes());
    let expected = Request::ApplyFlagSettings(FlagSetting::Fast(true));
    assert_eq!(
        change(SessionConfigOptionValue::boolean(true)).unwrap().request,
        expected
    );
    let refusal = OptionError::NeedsBoolean {
        id: "fast",
        value: "on".to_owned(),
    };
    assert_eq!(change("on".into()), Err(refusal));
}

#[test]
fn a_model_decides_which_options_there_are() {
    let cases = [
        ("opus", ["default", "off"].map(Some)),
        ("fable", [Some("default"), None]),
        ("haiku", [None, None]),
        ("gw-x", [Some("default"), None]),
    ];
    for (model, expected) in cases {
        let mut options = options(json!({}));
        choose(&mut options, "model", model);
        let has = ["effort", "fast"].map(|id| value(&options, id));
        assert_eq!(has, expected.map(|value| value.map(str::to_owned)), "{model}");
    }
}

#[test]
fn agents_are_an_option_only_if_there_is_a_choice() {
    let check = |names: &[&str], current: Option<&str>, expected: &[&str]| {
        let agents: Vec<Value> = names.iter().map(|name| json!({"name": name})).collect();
        let facts = SettingsFacts::read(&json!({"effective": {"agent": current}}));
        let options = Options::new(&from(json!({"agents": agents})), facts, Switches::AsSelect);
        let list = options.list(modes());
        let agent = list.iter().find(|option| &*option.id.0 == "agent");
        assert_eq!(agent.map(choices).unwrap_or_default(), expected, "{names:?}");
        let shown = agent.map(|_| current.unwrap_or("default").to_owned());
        assert_eq!(value(&options, "agent"), shown, "{names:?}");
    };
    check(&[], None, &[]);
    check(&["claude", "Plan", "general-purpose"], None, &[]);
    check(&["default"], None, &[]);
    check(&["Plan", "rev"], None, &["default", "rev"]);
    check(&["Plan"], Some("Plan"), &["default", "Plan"]);
    check(&["rev"], Some("gone"), &["default", "rev", "gone"]);
}

#[test]
fn a_mode_that_is_not_offered_is_shown_without_an_entry() {
    let modes = Modes {
        current: PermissionMode::DontAsk,
        ..modes()
    };
    let list = options(json!({})).list(modes);
    assert_eq!(choices(&list[0]), ["default", "acceptEdits", "plan"]);
    let mode = serde_json::to_value(&list[0]).unwrap();
    assert_eq!(mode["currentValue"], "dontAsk");
    let change = options(json!({})).change("mode", &"dontAsk".into(), modes);
    assert_eq!(change.unwrap().request, Request::SetMode(PermissionMode::DontAsk));
}

#[test]
fn a_choice_asks_claude_for_what_it_means() {
    let flag = Request::ApplyFlagSettings;
    let model = |value: &str| Request::SetModel(Some(value.to_owned()));
    let cases = [
        ("mode", "plan", Request::SetMode(PermissionMode::Plan)),
        ("model", "haiku", model("haiku")),
        ("model", "Sonnet 5.5", model("sonnet")),
        ("model", "claude-sonnet-5-5[1m]", model("sonnet[1m]")),
        ("model", "default", Request::SetModel(None)),
        ("effort", "max", flag(FlagSetting::Effort(Some("max".to_owned())))),
        ("effort", "default", flag(FlagSetting::Effort(None))),
        ("fast", "on", flag(FlagSetting::Fast(true))),
        ("fast", "off", flag(FlagSetting::Fast(false))),
        (
            "agent",
            "kit:doc",
            flag(FlagSetting::Agent(Some("kit:doc".to_owned()))),
        ),
        ("agent", "default", flag(FlagSetting::Agent(None))),
    ];
    for (id, value, request) in cases {
        let expected = Change { request, then: None };
        let change = options(json!({})).change(id, &value.into(), modes());
        assert_eq!(change, Ok(expected), "{id} {value}");
    }
}

#[test]
fn what_is_not_offered_is_refused_with_the_choices() {
    let yes = SessionConfigOptionValue::boolean(true);
    let cases: [(&str, SessionConfigOptionValue); 11] = [
        ("nope", "x".into()),
        ("mode", "auto".into()),
        ("mode", "Manual".into()),
        ("model", "nonsense".into()),
        ("model", "claude-sonnet-5".into()),
        ("model", "".into()),
        ("effort", "Max".into()),
        ("fast", "true".into()),
        ("fast", yes.clone()),
        ("model", yes),
        ("agent", "Explore".into()),
    ];
    let refusals = cases.map(|(id, value)| {
        let refusal = options(json!({})).change(id, &value, modes()).unwrap_err();
        refusal.to_string()
    });
    insta::assert_snapshot!(refusals.join("\n"));
}

#[test]
fn an_option_that_the_model_lacks_is_unknown() {
    let mut options = options(json!({}));
    choose(&mut options, "model", "haiku");
    for id in ["fast", "effort"] {
        let refusal = options.change(id, &"on".into(), modes()).unwrap_err();
        assert!(matches!(refusal, OptionError::UnknownOption { .. }), "{refusal}");
    }
}

#[test]
fn a_model_in_use_outside_the_list_is_kept_and_can_be_chosen() {
    let mut options = options(json!({}));
    assert!(options.observed_model("claude-opus-5-5[1m]"));
    assert_eq!(value(&options, "model").as_deref(), Some("claude-opus-5-5[1m]"));
    let list = options.list(modes());
    assert_eq!(choices(&list[1]).last().unwrap(), "claude-opus-5-5[1m]");
    // Not the model without the window, although the name could mean it.
    let change = options
        .change("model", &"claude-opus-5-5[1m]".into(), modes())
        .unwrap();
    assert_eq!(
        change.request,
        Request::SetModel(Some("claude-opus-5-5[1m]".to_owned()))
    );
    choose(&mut options, "model", "haiku");
    assert!(!choices(&options.list(modes())[1]).contains(&"claude-opus-5-5[1m]".to_owned()));
}

#[test]
fn an_effort_follows_the_model_while_the_model_has_it() {
    let back = Request::ApplyFlagSettings(FlagSetting::Effort(None));
    let cases = [
        ("high", "sonnet", None, Some("high")),
        ("max", "fable", None, Some("max")),
        ("max", "sonnet", Some(back.clone()), Some("default")),
        ("max", "haiku", Some(back), None),
        ("default", "sonnet", None, Some("default")),
    ];
    for (effort, model, then, expected) in cases {
        let mut options = options(json!({}));
        choose(&mut options, "effort", effort);
        let change = options.change("model", &model.into(), modes()).unwrap();
        assert_eq!(change.then, then, "{effort} {model}");
        choose(&mut options, "model", model);
        assert_eq!(value(&options, "effort").as_deref(), expected, "{effort} {model}");
        assert_eq!(options.repair(), None);
    }
}

#[test]
fn fast_mode_comes_back_with_a_model_that_has_it() {
    let mut options = options(json!({}));
    choose(&mut options, "fast", "on");
    choose(&mut options, "model", "haiku");
    assert_eq!(value(&options, "fast"), None);
    choose(&mut options, "model", "opus");
    assert_eq!(value(&options, "fast").as_deref(), Some("on"));
}

#[test]
fn a_session_starts_with_the_model_of_the_settings_if_that_runs() {
    let cases = [
        (json!({}), "default"),
        (json!({"applied": {"model": "claude-opus-5-5"}}), "default"),
        (json!({"applied": {"model": "claude-fable-5-1"}}), "fable"),
        (json!({"applied": {"model": "gw-z"}}), "gw-z"),
        (json!({"effective": {"model": "sonnet"}}), "sonnet"),
        (
            json!({"effective": {"model": "opus"}, "applied": {"model": "claude-opus-5-5"}}),
            "opus",
        ),
        (
            json!({"effective": {"model": "sonnet"}, "applied": {"model": "claude-opus-5-5"}}),
            "default",
        ),
        (
            json!({"effective": {"model": "old"}, "applied": {"model": "old"}}),
            "old",
        ),
    ];
    for (settings, expected) in cases {
        assert_eq!(options(settings.clone()).model(), expected, "{settings}");
    }
}

#[test]
fn a_default_that_claude_does_not_explain_stays() {
    let info = from(
        json!({"models": [{"value": "default"}, {"value": "opus", "resolvedModel": "claude-opus-5-5"}]}),
    );
    let settings = SettingsFacts::read(&json!({"applied": {"model": "claude-opus-5-5"}}));
    let mut options = Options::new(&info, settings, Switches::AsSelect);
    assert!(!options.observed_model("claude-opus-5-5"));
    assert_eq!(options.model(), "default");
}

#[test]
fn the_effort_of_the_settings_is_shown_for_its_model() {
    let mut options = options(json!({
        "effective": {"modelSettings": {
            "claude-opus-5-5": {"effortLevel": "low"}, "claude-sonnet-5-5": {"effortLevel": "max"},
        }},
        "applied": {"model": "claude-opus-5-5", "effort": "low"},
    }));
    assert_eq!(value(&options, "effort").as_deref(), Some("low"));
    choose(&mut options, "model", "fable");
    assert_eq!(value(&options, "effort").as_deref(), Some("default"));
    // A level that the model does not have.
    choose(&mut options, "model", "sonnet");
    assert_eq!(value(&options, "effort").as_deref(), Some("default"));
    choose(&mut options, "model", "opus");
    assert_eq!(value(&options, "effort").as_deref(), Some("low"));
    choose(&mut options, "effort", "default");
    assert_eq!(value(&options, "effort").as_deref(), Some("default"));
}
