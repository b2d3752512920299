//! A reference model: the pipeline against random rules, hooks, modes and calls, step by step.
//!
//! Place in the flow: tests only. The model is written from the specification as one expression; it shares the meaning
//! of rules with nobody: tools are made-up names and rules name them.

use proptest::prelude::*;

use super::*;
use crate::testing::properties;

#[derive(Clone, Debug)]
struct World {
    mode: PermissionMode,
    bypass_available: bool,
    auto_available: bool,
    avoid_prompts: bool,
    threshold: u32,
    /// Kind, tool and the value of `n` that the rule is for.
    rules: Vec<(RuleKind, usize, Option<u8>)>,
}

#[derive(Clone, Debug)]
struct Given {
    tool: usize,
    n: u8,
    known: bool,
    hooks: Vec<HookSays>,
    user: Option<Option<u8>>,
    check: bool,
}

#[derive(Clone, Copy, Debug)]
enum HookSays {
    Approve,
    Deny,
    Change(u8),
    Ask,
    Fail,
    TimeOut,
}

/// Values of `n` that the tool's validation refuses.
const INVALID: u8 = 4;

fn world() -> impl Strategy<Value = World> {
    let kind = prop::sample::select(vec![RuleKind::Allow, RuleKind::Deny, RuleKind::Ask]);
    let rule = (kind, 0..3_usize, prop::option::of(0..4_u8));
    let flags = any::<(bool, bool, bool)>();
    let modes = prop::sample::select(PermissionMode::ALL.to_vec());
    (modes, flags, 0..3_u32, prop::collection::vec(rule, 0..4)).prop_map(|(mode, flags, threshold, rules)| {
        World {
            mode,
            bypass_available: flags.0,
            auto_available: flags.1,
            avoid_prompts: flags.2,
            threshold,
            rules,
        }
    })
}

fn given() -> impl Strategy<Value = Given> {
    let hook = prop_oneof![
        4 => Just(HookSays::Approve),
        1 => Just(HookSays::Deny),
        2 => (0..6_u8).prop_map(HookSays::Change),
        1 => Just(HookSays::Ask),
        1 => Just(HookSays::Fail),
        1 => Just(HookSays::TimeOut),
    ];
    let user = prop::option::of(prop::option::of(0..6_u8));
    let rest = (user, prop::bool::weighted(0.8));
    (
        0..3_usize,
        0..4_u8,
        prop::bool::weighted(0.9),
        prop::collection::vec(hook, 0..3),
        rest,
    )
        .prop_map(|(tool, n, known, hooks, (user, check))| Given {
            tool,
            n,
            known,
            hooks,
            user,
            check,
        })
}

fn name(tool: usize) -> String {
    format!("T{tool}")
}

/// What a rule says about a call; parameters limit and never allow.
fn says(world: &World, kind: RuleKind, tool: usize, n: u8) -> bool {
    world.rules.iter().any(|&(of, about, value)| {
        let fits = match value {
            None => true,
            Some(value) => kind != RuleKind::Allow && value == n,
        };
        of == kind && about == tool && fits
    })
}

/// No allow unless every stage says so.
fn model(world: &World, given: &Given, denials: u32) -> Result<u8, Stage> {
    let mut n = given.n;
    if !given.known || n >= INVALID {
        return Err(Stage::Validate);
    }
    let mut asked = false;
    for hook in &given.hooks {
        match hook {
            HookSays::Approve | HookSays::TimeOut => {}
            HookSays::Ask => asked = true,
            HookSays::Deny | HookSays::Fail => return Err(Stage::Hooks),
            HookSays::Change(to) => {
                n = *to;
                if n >= INVALID {
                    return Err(Stage::Validate);
                }
            }
        }
    }
    let plan = world.mode == PermissionMode::Plan;
    if plan || says(world, RuleKind::Deny, given.tool, n) {
        return Err(Stage::Rules);
    }
    asked |= says(world, RuleKind::Ask, given.tool, n);
    let bypass = world.mode == PermissionMode::BypassPermissions && world.bypass_available;
    let tired = world.threshold > 0 && denials >= world.threshold;
    let free = !asked && (bypass || !tired && says(world, RuleKind::Allow, given.tool, n));
    if !free {
        let silent = world.avoid_prompts || world.mode == PermissionMode::DontAsk;
        let Some(answer) = given.user.filter(|_| !silent) else {
            return Err(Stage::Prompt);
        };
        n = answer.unwrap_or(n);
        if n >= INVALID {
            return Err(Stage::Validate);
        }
        if says(world, RuleKind::Deny, given.tool, n) {
            return Err(Stage::Rules);
        }
    }
    given.check.then_some(n).ok_or(Stage::Check)
}

fn scene(world: &World) -> Scene {
    let rule = |&(kind, tool, value): &(RuleKind, usize, Option<u8>)| match value {
        None => format!("{kind} T{tool}"),
        Some(value) => format!("{kind} T{tool}(n:{value})"),
    };
    let rules: Vec<String> = world.rules.iter().map(rule).collect();
    Scene::with(world.mode, &rules.join(" + "), |context| {
        context.bypass_available = world.bypass_available;
        context.auto_available = world.auto_available;
        context.avoid_prompts = world.avoid_prompts;
        context.denial_threshold = world.threshold;
    })
}

fn play(mut scene: Scene, given: &Given) -> (Scene, Result<u8, Stage>) {
    let ask = r#"{"hookSpecificOutput":{"permissionDecision":"ask"}}"#;
    let runs = given.hooks.iter().map(|hook| match hook {
        HookSays::Approve => exited(0, ""),
        HookSays::Deny => exited(0, "DENY: no"),
        HookSays::Change(n) => exited(0, &json!({ "updatedInput": { "n": n } }).to_string()),
        HookSays::Ask => exited(0, ask),
        HookSays::Fail => exited(3, ""),
        HookSays::TimeOut => HookRun::TimedOut,
    });
    let check = given.check.then_some(()).ok_or("no".into());
    scene = scene
        .tool(|input| input["n"].as_u64() < Some(u64::from(INVALID)), check)
        .hooks(runs);
    if !given.known {
        scene.tool = None;
    }
    scene.answers.clear();
    scene.answers.extend(given.user.map(|n| UserAnswer::Allow {
        updated_input: n.map(|n| json!({ "n": n })),
    }));
    let decision = scene.call(&name(given.tool), json!({ "n": given.n }));
    let result = match decision.outcome {
        Outcome::Allow { input } => Ok(u8::try_from(input["n"].as_u64().unwrap()).unwrap()),
        Outcome::Deny { .. } => Err(decision.stage),
    };
    (scene, result)
}

proptest! {
    #![proptest_config(properties(1500))]

    #[test]
    fn no_call_is_allowed_unless_every_stage_says_so(world in world(), calls in prop::collection::vec(given(), 1..6)) {
        let mut scene = scene(&world);
        let mut denials = 0;
        for given in &calls {
            let expected = model(&world, given, denials);
            let (played, result) = play(scene, given);
            prop_assert_eq!(result, expected, "{:?} after {} denials", given, denials);
            denials = match expected {
                Ok(_) => 0,
                Err(Stage::Validate) => denials,
                Err(Stage::Hooks | Stage::Rules | Stage::Prompt | Stage::Check) => denials + 1,
            };
            scene = played;
        }
    }
}
