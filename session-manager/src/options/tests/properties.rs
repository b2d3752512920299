//! Whatever is chosen and whatever Claude tells, in any order: the list is consistent, and a choice is what it says.

use std::collections::HashSet;

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Step {
    Choose(String, SessionConfigOptionValue, bool),
    Model(String),
    Settings(String, String),
    Fast(String, String),
    Agents(Vec<String>),
    Repair,
    NextProcess,
}

fn word() -> impl Strategy<Value = String> {
    let known = [
        "default",
        "opus",
        "opus[1m]",
        "Opus 5.5",
        "sonnet[1m]",
        "claude-sonnet-5-5",
        "claude-opus-4-1[1m]",
        "haiku",
        "low",
        "high",
        "max",
        "on",
        "off",
        "cooldown",
        "pending",
        "free",
        "rev",
        "Explore",
        "kit:doc",
        "plan",
        "",
    ];
    prop_oneof![
        8 => prop::sample::select(known.map(str::to_owned).to_vec()),
        1 => ".{0,12}",
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let id = prop::sample::select(vec!["mode", "model", "effort", "fast", "agent", "nope"]);
    let value = prop_oneof![
        9 => word().prop_map(|text| SessionConfigOptionValue::from(text.as_str())),
        1 => any::<bool>().prop_map(SessionConfigOptionValue::boolean),
    ];
    prop_oneof![
        6 => (id, value, any::<bool>()).prop_map(|(id, value, then)| Step::Choose(id.to_owned(), value, then)),
        1 => word().prop_map(Step::Model),
        1 => (word(), word()).prop_map(|(model, effort)| Step::Settings(model, effort)),
        1 => (word(), word()).prop_map(|(state, reason)| Step::Fast(state, reason)),
        1 => prop::collection::vec(word(), 0..4).prop_map(Step::Agents),
        1 => Just(Step::Repair),
        1 => Just(Step::NextProcess),
    ]
}

/// Does a step; says whether the step claims that the list is another.
fn perform(options: &mut Options, step: &Step, switches: Switches) -> Option<bool> {
    match step {
        Step::Choose(id, value, then) => {
            perform_choice(options, id, value, *then);
            None
        }
        Step::Model(running) => Some(options.observed_model(running)),
        Step::Settings(model, effort) => {
            let settings = json!({"applied": {"model": model, "effort": effort}});
            Some(options.observed_settings(&settings))
        }
        Step::Fast(state, reason) => Some(options.observed_fast(Some(state), Some(reason)).changed),
        Step::Agents(names) => Some(options.observed_agents(names.iter().map(String::as_str))),
        Step::Repair => {
            let before = options.list(modes());
            if let Some(request) = options.repair() {
                options.applied(&request);
                assert_eq!(options.list(modes()), before, "a repair shows what was shown");
            }
            assert_eq!(options.repair(), None);
            None
        }
        Step::NextProcess => {
            let saved = options.carry();
            let mut next = Options::new(&info(), SettingsFacts::default(), switches);
            next.restore(saved);
            *options = next;
            None
        }
    }
}

fn perform_choice(options: &mut Options, id: &str, value: &SessionConfigOptionValue, then: bool) {
    let Ok(change) = options.change(id, value, modes()) else {
        return;
    };
    options.applied(&change.request);
    if let Some(request) = change.then.filter(|_| then) {
        options.applied(&request);
    }
    let shown = super::value(options, id);
    let exact = value.as_value_id().map(|value| value.0.to_string());
    let exact = exact.or_else(|| value.as_bool().map(|on| on.to_string()));
    // Without an agent to choose, back at the default there is nothing left to show.
    let gone = id == "agent" && shown.is_none() && exact.as_deref() == Some("default");
    if id != "mode" && id != "model" && !gone {
        assert_eq!(shown, exact, "{id}");
    }
}

fn consistent(options: &Options) {
    let list = options.list(modes());
    let ids: HashSet<_> = list.iter().map(|option| option.id.clone()).collect();
    assert_eq!(ids.len(), list.len(), "each option once");
    for option in &list {
        let choices = choices(option);
        let distinct: HashSet<_> = choices.iter().collect();
        assert_eq!(distinct.len(), choices.len(), "each value of {option:?} once");
        if let SessionConfigKind::Select(select) = &option.kind {
            let current = select.current_value.0.to_string();
            assert!(choices.contains(&current), "{current} in {choices:?}");
        }
        for choice in choices {
            let change = options.change(&option.id.0, &choice.as_str().into(), modes());
            assert!(change.is_ok(), "{choice} is on offer, but {change:?}");
        }
    }
    let _ = options.supports_auto(options.model());
}

proptest! {
    #[test]
    fn any_history_leaves_the_list_consistent(
        steps in prop::collection::vec(step(), 0..24),
        allowed in prop::option::of(prop::collection::vec(word(), 0..3)),
        configured in (word(), word(), word()),
        boolean in any::<bool>(),
    ) {
        let (model, effort, agent) = configured;
        let settings = json!({
            "effective": {"availableModels": allowed, "model": model, "agent": agent},
            "applied": {"model": model, "effort": effort},
        });
        let switches = if boolean { Switches::AsBoolean } else { Switches::AsSelect };
        let mut options = Options::new(&info(), SettingsFacts::read(&settings), switches);
        consistent(&options);
        for step in &steps {
            let before = options.list(modes());
            let claims = perform(&mut options, step, switches);
            consistent(&options);
            if let Some(changed) = claims {
                prop_assert!(changed || options.list(modes()) == before, "a silent change by {step:?}");
            }
        }
    }
}
