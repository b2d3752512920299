//! A reference model: the machine against random rules, hooks, modes and calls, step by step, for both authorities.
//!
//! Place in the flow: tests only. The model is written from the specification as one expression; it shares the meaning
//! of rules with nobody: tools are made-up names and rules name them.

use proptest::prelude::*;

use super::*;
use crate::policy::Policy;
use crate::rules::RuleKind;
use crate::testing::properties;

#[derive(Clone, Debug)]
struct World {
    mode: PermissionMode,
    /// Alone, or over Claude by a policy.
    sole: bool,
    headless: bool,
    auto_allow: bool,
    threshold: u32,
    /// Kind, tool and the value of `n` that the rule is for.
    rules: Vec<(RuleKind, usize, Option<u8>)>,
}

#[derive(Clone, Debug)]
struct Given {
    tool: usize,
    n: u8,
    hook: HookSays,
    user: Option<Option<u8>>,
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

/// What becomes of a call, with the input that runs.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Ends {
    Pass(u8),
    Allow(u8),
    Deny(Stage),
}

fn world() -> impl Strategy<Value = World> {
    let kind = prop::sample::select(vec![RuleKind::Allow, RuleKind::Deny, RuleKind::Ask]);
    let rule = (kind, 0..3_usize, prop::option::of(0..4_u8));
    let flags = any::<(bool, bool, bool)>();
    let modes = prop::sample::select(PermissionMode::ALL.to_vec());
    (modes, flags, 0..3_u32, prop::collection::vec(rule, 0..4)).prop_map(|(mode, flags, threshold, rules)| {
        World {
            mode,
            sole: flags.0,
            headless: flags.1,
            auto_allow: flags.2,
            threshold,
            rules,
        }
    })
}

fn given() -> impl Strategy<Value = Given> {
    let hook = prop_oneof![
        4 => Just(HookSays::Approve),
        1 => Just(HookSays::Deny),
        2 => (0..4_u8).prop_map(HookSays::Change),
        1 => Just(HookSays::Ask),
        1 => Just(HookSays::Fail),
        1 => Just(HookSays::TimeOut),
    ];
    let user = prop::option::of(prop::option::of(0..4_u8));
    (0..3_usize, 0..4_u8, hook, user).prop_map(|(tool, n, hook, user)| Given { tool, n, hook, user })
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
fn model(world: &World, given: &Given, denials: u32) -> Ends {
    let mut n = given.n;
    let mut asked = false;
    match given.hook {
        HookSays::Approve | HookSays::TimeOut => {}
        HookSays::Ask => asked = true,
        HookSays::Deny | HookSays::Fail => return Ends::Deny(Stage::Hooks),
        HookSays::Change(to) => n = to,
    }
    if world.mode == PermissionMode::Plan || says(world, RuleKind::Deny, given.tool, n) {
        return Ends::Deny(Stage::Rules);
    }
    let bypass = world.sole && world.mode == PermissionMode::BypassPermissions;
    let tired = world.threshold > 0 && denials >= world.threshold;
    let allowed = says(world, RuleKind::Allow, given.tool, n);
    asked |= says(world, RuleKind::Ask, given.tool, n) || tired && !bypass;
    if !asked && (bypass || allowed && (world.sole || world.auto_allow)) {
        return Ends::Allow(n);
    }
    if !asked && !world.sole {
        return Ends::Pass(n);
    }
    let silent = world.headless || world.sole && world.mode == PermissionMode::DontAsk;
    let Some(answer) = given.user.filter(|_| !silent) else {
        return Ends::Deny(Stage::Prompt);
    };
    n = answer.unwrap_or(n);
    if says(world, RuleKind::Deny, given.tool, n) {
        return Ends::Deny(Stage::Check);
    }
    Ends::Allow(n)
}

fn scene(world: &World) -> Scene {
    let rule = |&(kind, tool, value): &(RuleKind, usize, Option<u8>)| match value {
        None => format!("{kind} T{tool}"),
        Some(value) => format!("{kind} T{tool}(n:{value})"),
    };
    let texts: Vec<String> = world.rules.iter().map(rule).collect();
    let rules = rule_set(&texts.join(" + "));
    let (headless, denial_threshold) = (world.headless, world.threshold);
    let authority = if world.sole {
        Authority::Sole(Sole {
            rules,
            headless,
            denial_threshold,
        })
    } else {
        Authority::OverClaude(Some(Arc::new(Policy {
            rules,
            headless,
            denial_threshold,
            auto_allow: world.auto_allow,
            ..Policy::default()
        })))
    };
    Scene {
        authorizer: Authorizer::new(authority),
        ..Scene::new(world.mode, "")
    }
}

fn play(scene: Scene, given: &Given) -> (Scene, Ends) {
    let ask = r#"{"hookSpecificOutput":{"permissionDecision":"ask"}}"#;
    let run = match given.hook {
        HookSays::Approve => exited(0, ""),
        HookSays::Deny => exited(0, "DENY: no"),
        HookSays::Change(n) => exited(0, &json!({ "updatedInput": { "n": n } }).to_string()),
        HookSays::Ask => exited(0, ask),
        HookSays::Fail => exited(3, ""),
        HookSays::TimeOut => HookRun::TimedOut,
    };
    let mut scene = scene.hook(&run);
    scene.answers.clear();
    let user = given.user.map(|n| n.map(|n| json!({ "n": n })));
    scene.answers.push_back(user);
    let input = json!({ "n": given.n });
    let decision = scene.call_as(None, &format!("T{}", given.tool), &input);
    let left = decision.updated_input.unwrap_or(input);
    let n = u8::try_from(left["n"].as_u64().unwrap()).unwrap();
    let ends = match decision.outcome {
        Outcome::Pass => Ends::Pass(n),
        Outcome::Allow => Ends::Allow(n),
        Outcome::Deny => Ends::Deny(decision.stage),
        Outcome::Ask => panic!("the question was answered"),
    };
    (scene, ends)
}

proptest! {
    #![proptest_config(properties(1500))]

    #[test]
    fn no_call_is_allowed_unless_every_stage_says_so(world in world(), calls in prop::collection::vec(given(), 1..6)) {
        let mut scene = scene(&world);
        let mut denials = 0;
        for given in &calls {
            let expected = model(&world, given, denials);
            let (mut played, ends) = play(scene, given);
            prop_assert_eq!(ends, expected, "{:?} after {} denials", given, denials);
            match expected {
                Ends::Deny(_) => denials += 1,
                Ends::Allow(_) => {
                    denials = 0;
                    // Over Claude, the end of the tool tells that it ran.
                    played.authorizer.note(None, true);
                }
                Ends::Pass(_) => {}
            }
            scene = played;
        }
    }
}
