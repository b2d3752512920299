//! The meter on recordings, on what no recording holds, and on random traffic.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn feed(meter: &mut UsageMeter, message: Value) -> Option<Value> {
    wire(meter.message(&serde_json::from_value(message).unwrap()))
}

fn wire(update: Option<SessionUpdate>) -> Option<Value> {
    update.map(|update| serde_json::to_value(update).unwrap())
}

/// An update's tokens, window and cost.
type Brief = (u64, u64, Option<f64>);

fn brief(update: &Value) -> Brief {
    assert_eq!(update["sessionUpdate"], "usage_update");
    let cost = update.get("cost").map(|cost| {
        assert_eq!(cost["currency"], "USD");
        cost["amount"].as_f64().unwrap()
    });
    (
        update["used"].as_u64().unwrap(),
        update["size"].as_u64().unwrap(),
        cost,
    )
}

fn play(meter: &mut UsageMeter, recording: &str) -> Vec<Brief> {
    let lines = recording.lines();
    let messages = lines.map(|line| serde_json::from_str(line).unwrap());
    let updates: Vec<Value> = messages.filter_map(|message| feed(meter, message)).collect();
    updates.iter().map(brief).collect()
}

fn start(id: &str, parent: Value, input: u64, output: u64) -> Value {
    let usage = json!({"input_tokens": input, "cache_read_input_tokens": 30, "cache_creation_input_tokens": 4, "output_tokens": output});
    let message = json!({"id": id, "model": "claude-x-5", "content": [], "usage": usage});
    json!({"type": "stream_event", "event": {"type": "message_start", "message": message}, "parent_tool_use_id": parent})
}

fn end(parent: Value, usage: Value) -> Value {
    json!({"type": "stream_event", "event": {"type": "message_delta", "delta": {}, "usage": usage}, "parent_tool_use_id": parent})
}

fn whole(id: &str, parent: Value, model: &str, input: u64) -> Value {
    let usage = json!({"input_tokens": input, "output_tokens": 1});
    let message = json!({"id": id, "model": model, "content": [], "usage": usage});
    json!({"type": "assistant", "message": message, "parent_tool_use_id": parent})
}

fn result(total: f64, added: Option<f64>) -> Value {
    let mut result = json!({"type": "result", "subtype": "success", "total_cost_usd": total});
    if let Some(added) = added {
        result["model_usage_since_last_result"] = json!({"claude-x-5": {"costUSD": added}});
    }
    result
}

fn compacted(metadata: Value) -> Value {
    json!({"type": "system", "subtype": "compact_boundary", "compact_metadata": metadata})
}

fn check(recording: &str, expected: &[Brief]) {
    assert_eq!(play(&mut UsageMeter::new(), recording), expected);
}

#[test]
fn a_subagent_in_the_background_only_costs() {
    check(
        include_str!("fixtures/subagent_background.jsonl"),
        &[
            (1130, 200_000, None),
            (1130, 1_000_000, Some(0.00342)),
            (1130, 1_000_000, Some(0.0057)),
        ],
    );
}

#[test]
fn the_first_update_waits_for_the_window_and_does_not_jump() {
    let mut meter = UsageMeter::new();
    feed(
        &mut meter,
        json!({"type": "system", "subtype": "init", "model": "claude-x-5"}),
    );
    assert!(meter.wants_window() && !meter.wants_window());
    feed(&mut meter, start("m", Value::Null, 10, 1));
    let delta = json!({"input_tokens": 10, "cache_read_input_tokens": 30, "cache_creation_input_tokens": 4, "output_tokens": 5});
    assert_eq!(feed(&mut meter, end(Value::Null, delta)), None);
    assert_eq!(meter.context_used_percent(), None);
    let answer = json!({"model": "claude-x-5", "rawMaxTokens": 1_000_000});
    let told = wire(meter.window_told(Some(&answer))).unwrap();
    assert_eq!(brief(&told), (49, 1_000_000, None));
    assert_eq!(meter.context_used_percent(), Some(0));
    assert!(!meter.wants_window());

    // Another model within the turn.
    let mut other = start("n", Value::Null, 10, 1);
    other["event"]["message"]["model"] = json!("claude-small-5");
    feed(&mut meter, other);
    assert!(meter.wants_window());
    let told = wire(meter.window_told(None)).unwrap();
    assert_eq!(
        brief(&told),
        (45, 200_000, None),
        "by its name where Claude does not tell"
    );
    assert!(!meter.wants_window());
}

#[test]
fn costs_are_rounded() {
    for (total, expected) in [
        (0.1 + 0.2, 0.3),
        (0.010_920_000_000_000_001, 0.01092),
        (0.000_001_4, 0.000_001),
    ] {
        let mut meter = UsageMeter::new();
        feed(&mut meter, whole("m", Value::Null, "claude-x-5", 1));
        let update = feed(&mut meter, result(total, None)).unwrap();
        assert_eq!(brief(&update).2, Some(expected));
    }
}

#[test]
fn clearing_empties_the_context_and_keeps_the_cost() {
    check(
        include_str!("fixtures/slash_clear.jsonl"),
        &[
            (1130, 200_000, None),
            (1130, 1_000_000, Some(0.00114)),
            (0, 1_000_000, None),
            (1130, 1_000_000, None),
            (1130, 1_000_000, Some(0.00228)),
        ],
    );
}

#[test]
fn a_compaction_leaves_what_it_says_and_costs() {
    check(
        include_str!("fixtures/slash_compact_real.jsonl"),
        &[
            (1130, 200_000, None),
            (1130, 1_000_000, Some(0.00114)),
            (1130, 1_000_000, Some(0.00228)),
            (1130, 1_000_000, Some(0.00342)),
            (2556, 1_000_000, None),
            (2556, 1_000_000, Some(0.0057)),
            (1130, 1_000_000, None),
            (1130, 1_000_000, Some(0.00684)),
        ],
    );
}

#[test]
fn a_change_of_model_within_a_turn_is_one_cost() {
    check(
        include_str!("fixtures/set_model_midturn.jsonl"),
        &[
            (1130, 200_000, None),
            (1130, 1_000_000, Some(0.001174)),
            (1130, 1_000_000, Some(0.001207)),
        ],
    );
}

#[test]
fn an_interrupted_message_counts_as_far_as_it_came() {
    check(
        include_str!("fixtures/interrupt_midstream.jsonl"),
        &[
            (1111, 200_000, None),
            (1111, 200_000, Some(0.0)),
            (1130, 200_000, None),
            (1130, 1_000_000, Some(0.00114)),
        ],
    );
}

#[test]
fn the_cost_goes_on_in_a_process_that_resumes() {
    let (base, resumed) = (
        include_str!("fixtures/session_base.jsonl"),
        include_str!("fixtures/session_resume.jsonl"),
    );
    let mut meter = UsageMeter::new();
    play(&mut meter, base);
    assert_eq!(play(&mut meter, resumed), [(1130, 1_000_000, Some(0.00342))]);
    // Loaded by another agent.
    check(
        resumed,
        &[(1130, 200_000, None), (1130, 1_000_000, Some(0.00342))],
    );
}

#[test]
fn a_hand_over_starts_at_nothing_and_adds_its_cost() {
    let base = include_str!("fixtures/session_base.jsonl");
    let mut meter = UsageMeter::new();
    play(&mut meter, base);
    let handed_over = wire(meter.reset_context()).unwrap();
    assert_eq!(brief(&handed_over), (0, 1_000_000, None));
    assert_eq!(meter.context_used_percent(), Some(0));
    assert_eq!(wire(meter.reset_context()), None);
    assert_eq!(
        play(&mut meter, base),
        [
            (1130, 1_000_000, None),
            (1130, 1_000_000, Some(0.00342)),
            (1130, 1_000_000, Some(0.00456)),
        ]
    );
}

#[test]
fn a_prompt_used_what_all_its_results_count() {
    let mut turn = TurnUsage::default();
    for line in include_str!("fixtures/session_base.jsonl").lines() {
        if let Message::Result(result) = serde_json::from_str(line).unwrap() {
            turn.add(&result);
        }
    }
    assert_eq!(
        serde_json::to_value(turn.total()).unwrap(),
        json!({"totalTokens": 2260, "inputTokens": 20, "outputTokens": 40, "cachedReadTokens": 2000, "cachedWriteTokens": 200})
    );
}

#[test]
fn the_update_at_the_result_says_the_model_the_origin_and_the_limit() {
    let recording = include_str!("fixtures/rate_limit_headers_oauth.jsonl");
    let mut meter = UsageMeter::new();
    let messages = recording.lines().map(|line| serde_json::from_str(line).unwrap());
    let updates: Vec<Value> = messages.filter_map(|message| feed(&mut meter, message)).collect();
    let limit = json!({"status": "allowed_warning", "resetsAt": 1800000000, "rateLimitType": "five_hour", "utilization": 0.9,
        "isUsingOverage": false, "unifiedWindows": {"five_hour": {"utilization": 0.9, "resetsAt": 1800000000}}});
    assert_eq!(
        updates,
        [
            json!({"sessionUpdate": "usage_update", "used": 1130, "size": 200000, "_meta": {"_claude/model": "claude-sonnet-5-5"}}),
            json!({"sessionUpdate": "usage_update", "used": 1130, "size": 1000000, "cost": {"amount": 0.00057, "currency": "USD"},
                "_meta": {"_claude/model": "claude-sonnet-5-5", "_claude/origin": {"kind": "human"}, "_claude/rateLimit": limit}}),
        ]
    );
    // A limit is passed on once; one that comes alone makes no update.
    assert_eq!(
        feed(
            &mut meter,
            json!({"type": "rate_limit_event", "rate_limit_info": {"status": "rejected"}})
        ),
        None
    );
    let task = json!({"kind": "task-notification", "runId": "r1"});
    let update = feed(
        &mut meter,
        json!({"type": "result", "total_cost_usd": 0.00057, "origin": task}),
    );
    let meta = &update.unwrap()["_meta"];
    assert_eq!(meta["_claude/rateLimit"], json!({"status": "rejected"}));
    assert_eq!(meta["_claude/origin"], task);
}

#[test]
fn a_call_makes_one_update_when_its_counts_are_final() {
    let mut meter = UsageMeter::new();
    assert_eq!(meter.context_used_percent(), None);
    assert_eq!(feed(&mut meter, start("m1", json!(null), 66_000, 1)), None);
    assert_eq!(
        meter.context_used_percent(),
        Some(33),
        "a question within the message knows it already"
    );
    assert_eq!(
        feed(&mut meter, whole("m1", json!(null), "claude-x-5", 66_000)),
        None
    );
    let done = feed(
        &mut meter,
        end(json!(null), json!({"output_tokens": 900, "input_tokens": 0})),
    );
    assert_eq!(brief(&done.unwrap()), (66_934, 200_000, None));
    assert_eq!(
        feed(&mut meter, whole("m1", json!(null), "claude-x-5", 66_000)),
        None
    );
    assert_eq!(
        feed(&mut meter, end(json!(null), json!({"output_tokens": 900}))),
        None
    );
}

#[test]
fn subagents_and_odd_parents_leave_the_context_alone() {
    let mut meter = UsageMeter::new();
    feed(&mut meter, start("m1", json!(null), 100, 1));
    for parent in [json!("toolu_1"), json!(""), json!(7), json!({})] {
        for message in [
            start("s1", parent.clone(), 150_000, 1),
            end(parent.clone(), json!({"output_tokens": 9_000})),
            whole("s2", parent.clone(), "claude-small-5", 150_000),
        ] {
            assert_eq!(feed(&mut meter, message), None, "{parent}");
        }
    }
    let done = feed(&mut meter, end(json!(null), json!({"output_tokens": 6}))).unwrap();
    assert_eq!(brief(&done), (140, 200_000, None));
    assert_eq!(done["_meta"], json!({"_claude/model": "claude-x-5"}));
}

#[test]
fn a_message_that_was_not_streamed_counts_once() {
    let mut meter = UsageMeter::new();
    let update = feed(&mut meter, whole("m1", json!(null), "claude-x-5", 500));
    assert_eq!(brief(&update.unwrap()), (501, 200_000, None));
    assert_eq!(
        feed(&mut meter, whole("m1", json!(null), "claude-x-5", 500)),
        None
    );
    // What Claude says itself, without a model, is no call.
    assert_eq!(
        feed(&mut meter, whole("m2", json!(null), SYNTHETIC_MODEL, 0)),
        None
    );
    assert_eq!(meter.used, Some(501));
}

#[test]
fn messages_without_counts_change_nothing() {
    let mut meter = UsageMeter::new();
    let uncounted = json!({"type": "stream_event", "event": {"type": "message_start",
        "message": {"id": "m1", "content": [], "usage": null}}});
    assert_eq!(feed(&mut meter, uncounted.clone()), None);
    assert_eq!(
        feed(&mut meter, end(json!(null), json!({"output_tokens": 20}))),
        None
    );
    assert_eq!(feed(&mut meter, end(json!(null), json!(null))), None);
    assert_eq!(
        feed(&mut meter, result(0.5, Some(0.5))),
        None,
        "without a context there is nothing to say"
    );
    feed(&mut meter, start("m2", json!(null), 100, 1));
    feed(&mut meter, uncounted);
    let update = feed(&mut meter, result(0.6, Some(0.1))).unwrap();
    assert_eq!(brief(&update), (135, 200_000, Some(0.6)));
    assert_eq!(
        feed(&mut meter, result(0.6, Some(0.0))),
        None,
        "a local command uses nothing"
    );
}

#[test]
fn a_compaction_that_does_not_say_what_it_left_makes_the_context_unknown() {
    for metadata in [
        json!({"trigger": "auto"}),
        json!({"post_tokens": "few"}),
        json!(null),
    ] {
        let mut meter = UsageMeter::new();
        feed(&mut meter, start("m1", json!(null), 100_000, 1));
        assert_eq!(feed(&mut meter, compacted(metadata)), None);
        assert_eq!(meter.context_used_percent(), None);
        // A late part of the message before does not bring it back.
        assert_eq!(
            feed(&mut meter, end(json!(null), json!({"output_tokens": 5}))),
            None
        );
        assert_eq!(
            feed(&mut meter, whole("m1", json!(null), "claude-x-5", 100_000)),
            None
        );
        assert_eq!(meter.context_used_percent(), None);
    }
}

#[test]
fn percentages_are_rounded_and_never_above_a_hundred() {
    for (used, percent) in [
        (0, 0),
        (999, 0),
        (1_000, 1),
        (2_999, 1),
        (74_000, 37),
        (199_000, 100),
        (500_000, 100),
        (u64::MAX, 100),
    ] {
        let mut meter = UsageMeter::new();
        feed(&mut meter, compacted(json!({"post_tokens": used})));
        assert_eq!(meter.context_used_percent(), Some(percent), "{used}");
    }
}

/// What happens in a session, with what Claude counts of it.
#[derive(Clone, Debug)]
enum Happening {
    Call {
        input: u64,
        output: u64,
        streamed: bool,
    },
    Subagent {
        input: u64,
        output: u64,
    },
    Result {
        spent: f64,
    },
    Compacted {
        left: u64,
    },
    Cleared,
    HandedOver,
    /// The process is replaced; the new one may have lost the total.
    Resumed {
        total_lost: bool,
    },
}

fn happening() -> impl Strategy<Value = Happening> {
    let tokens = || 1..300_000_u64;
    prop_oneof![
        (tokens(), tokens(), any::<bool>()).prop_map(|(input, output, streamed)| Happening::Call {
            input,
            output,
            streamed
        }),
        (tokens(), tokens()).prop_map(|(input, output)| Happening::Subagent { input, output }),
        (0..500_u32).prop_map(|cents| Happening::Result {
            spent: f64::from(cents) / 100.0
        }),
        tokens().prop_map(|left| Happening::Compacted { left }),
        Just(Happening::Cleared),
        Just(Happening::HandedOver),
        any::<bool>().prop_map(|total_lost| Happening::Resumed { total_lost }),
    ]
}

/// A session, and what is true about it.
#[derive(Default)]
struct World {
    meter: UsageMeter,
    messages: usize,
    used: Option<u64>,
    claudes_total: f64,
    spent: f64,
    tells_added: bool,
}

impl World {
    /// The updates of one happening, of which there may be one.
    fn step(&mut self, happening: &Happening) -> Vec<Value> {
        self.messages += 1;
        let id = format!("m{}", self.messages);
        match *happening {
            Happening::Call {
                input,
                output,
                streamed,
            } => {
                if streamed {
                    self.used = Some(input + 34 + output);
                    let first = self.feed(start(&id, json!(null), input, 1));
                    let last = self.feed(end(json!(null), json!({"output_tokens": output})));
                    return first.into_iter().chain(last).collect();
                }
                self.used = Some(input + 1);
                self.feed(whole(&id, json!(null), "claude-x-5", input))
            }
            Happening::Subagent { input, output } => {
                let parent = json!("toolu_1");
                let updates = [
                    self.feed(start(&id, parent.clone(), input, 1)),
                    self.feed(whole(&id, parent.clone(), "claude-small-5", input)),
                    self.feed(end(parent, json!({"output_tokens": output}))),
                ];
                return updates.into_iter().flatten().collect();
            }
            Happening::Result { spent } => {
                self.claudes_total += spent;
                self.spent += spent;
                self.feed(result(self.claudes_total, self.tells_added.then_some(spent)))
            }
            Happening::Compacted { left } => {
                self.used = Some(left);
                self.feed(compacted(json!({"post_tokens": left})))
            }
            Happening::Cleared => {
                (self.used, self.claudes_total) = (Some(0), 0.0);
                self.feed(json!({"type": "conversation_reset", "trigger": "clear"}))
            }
            Happening::HandedOver => {
                (self.used, self.claudes_total) = (Some(0), 0.0);
                wire(self.meter.reset_context())
            }
            Happening::Resumed { total_lost } => {
                if total_lost {
                    self.claudes_total = 0.0;
                }
                None
            }
        }
        .into_iter()
        .collect()
    }

    fn feed(&mut self, message: Value) -> Option<Value> {
        feed(&mut self.meter, message)
    }
}

proptest! {
    #[test]
    fn the_meter_shows_what_is_true(happenings in prop::collection::vec(happening(), 0..40), tells_added: bool) {
        let mut world = World { tells_added, ..World::default() };
        let mut cost = 0.0;
        for happening in &happenings {
            let updates = world.step(happening);
            prop_assert!(updates.len() <= 1, "{:?} made {:?}", happening, updates);
            let by_subagent = matches!(happening, Happening::Subagent { .. });
            prop_assert!(updates.is_empty() || !by_subagent);
            prop_assert_eq!(world.meter.used, world.used);
            for update in &updates {
                let (used, size, amount) = brief(update);
                prop_assert_eq!((Some(used), size), (world.used, 200_000));
                let at_result = matches!(happening, Happening::Result { .. });
                prop_assert_eq!(amount.is_some(), at_result);
                let amount = amount.unwrap_or(cost);
                prop_assert!(amount >= cost, "the cost went back from {} to {}", cost, amount);
                prop_assert!(!tells_added || (amount - world.spent).abs() < 1e-6 || update.get("cost").is_none());
                cost = amount;
            }
        }
    }

    #[test]
    fn no_numbers_make_the_cost_go_back(totals in prop::collection::vec((any::<f64>(), any::<Option<f64>>()), 0..20)) {
        let mut world = World::default();
        world.feed(start("m1", json!(null), 10, 1));
        let mut cost = 0.0;
        for (total, added) in totals {
            let update = world.feed(result(total, added));
            let amount = update.and_then(|update| brief(&update).2).unwrap_or(cost);
            prop_assert!(amount >= cost && amount.is_finite());
            cost = amount;
        }
    }
}
