//! Tables and a model test of the turn machine.

use std::collections::HashMap;

use proptest::prelude::*;

use super::{
    Attribution, Effect, Event, Generation, MAX_QUEUED_PROMPTS, Outcome, PromptId, TurnEnd, TurnMachine,
};

const G1: Generation = Generation(1);

fn id(n: u128) -> PromptId {
    PromptId(uuid::Uuid::from_u128(n))
}

fn result(generation: Generation, attribution: Attribution) -> Event {
    Event::Result {
        generation,
        attribution,
        end: TurnEnd::Completed,
    }
}

fn named(n: u128) -> Attribution {
    Attribution::Prompts(vec![id(n)])
}

fn answer(n: u128, outcome: Outcome) -> Effect {
    Effect::Answer(id(n), outcome)
}

/// Feeds events to a machine with an adopted process and compares what each brings about.
fn check(steps: &[(Event, &[Effect])]) {
    let mut machine = TurnMachine::new();
    machine.on(Event::Adopted(G1));
    for (at, (event, expected)) in steps.iter().enumerate() {
        assert_eq!(
            machine.on(event.clone()),
            expected.to_vec(),
            "step {at}: {event:?}"
        );
    }
}

fn interrupted() -> Vec<Effect> {
    vec![Effect::Interrupt, Effect::WithdrawAsks, Effect::ArmEscalation]
}

#[test]
fn the_second_prompt_is_sent_only_after_the_result_of_the_first() {
    check(&[
        (Event::Prompt(id(1)), &[Effect::Send(id(1))]),
        (Event::Prompt(id(2)), &[]),
        (Event::Started(G1, Some(id(1))), &[]),
        (
            result(G1, named(1)),
            &[answer(1, Outcome::Finished), Effect::Send(id(2))],
        ),
        (result(G1, named(2)), &[answer(2, Outcome::Finished)]),
    ]);
}

#[test]
fn results_of_other_turns_answer_nobody() {
    check(&[
        (Event::Prompt(id(7)), &[Effect::Send(id(7))]),
        (result(G1, named(7)), &[answer(7, Outcome::Finished)]),
        (Event::Prompt(id(1)), &[Effect::Send(id(1))]),
        (result(G1, Attribution::Unnamed), &[]),
        (Event::Started(G1, None), &[]),
        (result(G1, named(7)), &[]),
        (result(G1, Attribution::Background), &[]),
        (result(Generation(9), Attribution::Unnamed), &[]),
        (result(G1, Attribution::Unnamed), &[answer(1, Outcome::Finished)]),
        (result(G1, Attribution::Unnamed), &[]),
    ]);
}

#[test]
fn a_result_that_names_nobody_we_know_belongs_to_the_turn_that_has_begun() {
    check(&[
        (Event::Prompt(id(1)), &[Effect::Send(id(1))]),
        (result(G1, named(99)), &[]),
        (Event::Started(G1, None), &[]),
        (result(G1, named(99)), &[answer(1, Outcome::Finished)]),
    ]);
}

#[test]
fn a_folded_result_answers_the_prompt_it_names_among_others() {
    check(&[
        (Event::Prompt(id(1)), &[Effect::Send(id(1))]),
        (
            result(G1, Attribution::Prompts(vec![id(8), id(1)])),
            &[answer(1, Outcome::Finished)],
        ),
    ]);
}

#[test]
fn cancel_answers_the_waiting_first_and_the_running_at_its_result() {
    let mut stop = vec![answer(2, Outcome::Cancelled), answer(3, Outcome::Cancelled)];
    stop.extend(interrupted());
    check(&[
        (Event::Prompt(id(1)), &[Effect::Send(id(1))]),
        (Event::Prompt(id(2)), &[]),
        (Event::Prompt(id(3)), &[]),
        (Event::Started(G1, Some(id(1))), &[]),
        (Event::Cancel, &stop),
        (Event::Cancel, &[]),
        (
            result(G1, named(1)),
            &[Effect::DisarmEscalation, answer(1, Outcome::Cancelled)],
        ),
        (Event::EscalationDue, &[]),
        (Event::Cancel, &[]),
    ]);
}

#[test]
fn an_interrupt_that_came_before_the_prompt_is_repeated_when_it_starts() {
    check(&[
        (Event::Prompt(id(1)), &[Effect::Send(id(1))]),
        (Event::Cancel, &interrupted()),
        (Event::Started(G1, Some(id(1))), &[Effect::Interrupt]),
        (Event::Started(G1, None), &[]),
        (
            result(G1, named(1)),
            &[Effect::DisarmEscalation, answer(1, Outcome::Cancelled)],
        ),
    ]);
}

#[test]
fn a_prompt_that_claude_threw_out_of_its_queue_is_answered_without_a_result() {
    check(&[
        (Event::Prompt(id(1)), &[Effect::Send(id(1))]),
        (Event::Cancel, &interrupted()),
        (
            Event::Dequeued(G1, vec![id(1)]),
            &[Effect::DisarmEscalation, answer(1, Outcome::Cancelled)],
        ),
    ]);
}

#[test]
fn a_claude_that_ignores_the_interrupt_is_killed_and_the_next_prompt_starts_another() {
    check(&[
        (Event::Prompt(id(1)), &[Effect::Send(id(1))]),
        (Event::Cancel, &interrupted()),
        (Event::EscalationDue, &[Effect::Kill]),
        (Event::EscalationDue, &[]),
        (Event::Prompt(id(2)), &[]),
        (
            Event::Ended(G1),
            &[
                Effect::WithdrawAsks,
                Effect::DisarmEscalation,
                answer(1, Outcome::Cancelled),
                Effect::Launch(Generation(2)),
            ],
        ),
        (result(G1, named(2)), &[]),
        (Event::Launched(Generation(2)), &[Effect::Send(id(2))]),
    ]);
}

#[test]
fn a_death_answers_the_running_prompt_and_the_next_one_starts_another_process() {
    check(&[
        (Event::Prompt(id(1)), &[Effect::Send(id(1))]),
        (Event::Started(G1, Some(id(1))), &[]),
        (
            Event::Ended(G1),
            &[Effect::WithdrawAsks, answer(1, Outcome::Died)],
        ),
        (Event::Prompt(id(2)), &[Effect::Launch(Generation(2))]),
        (
            Event::LaunchFailed(Generation(2)),
            &[answer(2, Outcome::LaunchFailed)],
        ),
        (Event::Prompt(id(3)), &[Effect::Launch(Generation(3))]),
        (Event::Launched(Generation(2)), &[]),
        (Event::Launched(Generation(3)), &[Effect::Send(id(3))]),
    ]);
}

#[test]
fn a_prompt_that_a_dead_process_never_took_up_goes_to_the_next_one_once() {
    check(&[
        (Event::Prompt(id(1)), &[Effect::Send(id(1))]),
        (Event::Prompt(id(2)), &[]),
        (
            Event::Ended(G1),
            &[Effect::WithdrawAsks, Effect::Launch(Generation(2))],
        ),
        (Event::Launched(Generation(2)), &[Effect::Send(id(1))]),
        (
            Event::Ended(Generation(2)),
            &[
                Effect::WithdrawAsks,
                answer(1, Outcome::Died),
                Effect::Launch(Generation(3)),
            ],
        ),
        (Event::Launched(Generation(3)), &[Effect::Send(id(2))]),
    ]);
}

#[test]
fn idle_without_a_result_answers_only_a_prompt_that_has_begun() {
    check(&[
        (Event::Prompt(id(1)), &[Effect::Send(id(1))]),
        (Event::Idle(G1), &[]),
        (Event::Started(G1, None), &[]),
        (Event::Idle(G1), &[answer(1, Outcome::NoResult)]),
    ]);
}

#[test]
fn a_signed_out_claude_is_replaced_before_the_next_prompt() {
    check(&[
        (Event::Prompt(id(1)), &[Effect::Send(id(1))]),
        (
            Event::Result {
                generation: G1,
                attribution: named(1),
                end: TurnEnd::SignedOut,
            },
            &[answer(1, Outcome::Finished)],
        ),
        (Event::Prompt(id(2)), &[Effect::Retire]),
        (
            Event::Ended(G1),
            &[Effect::WithdrawAsks, Effect::Launch(Generation(2))],
        ),
        (Event::Launched(Generation(2)), &[Effect::Send(id(2))]),
    ]);
}

#[test]
fn one_prompt_can_be_withdrawn_alone() {
    check(&[
        (Event::Prompt(id(1)), &[Effect::Send(id(1))]),
        (Event::Prompt(id(2)), &[]),
        (Event::CancelPrompt(id(2)), &[answer(2, Outcome::Cancelled)]),
        (Event::CancelPrompt(id(2)), &[]),
        (Event::CancelPrompt(id(1)), &interrupted()),
    ]);
}

#[test]
fn close_answers_everything_and_later_prompts_too() {
    check(&[
        (Event::Prompt(id(1)), &[Effect::Send(id(1))]),
        (Event::Prompt(id(2)), &[]),
        (
            Event::Close,
            &[
                Effect::Interrupt,
                Effect::WithdrawAsks,
                Effect::DisarmEscalation,
                answer(1, Outcome::Cancelled),
                answer(2, Outcome::Cancelled),
                Effect::Shutdown { turn_running: true },
            ],
        ),
        (Event::Close, &[]),
        (Event::Prompt(id(3)), &[answer(3, Outcome::Closed)]),
        (Event::Ended(G1), &[]),
    ]);
}

#[test]
fn a_flood_of_prompts_is_refused_beyond_the_limit() {
    let mut machine = TurnMachine::new();
    for n in 0..MAX_QUEUED_PROMPTS as u128 {
        machine.on(Event::Prompt(id(n)));
    }
    assert_eq!(
        machine.on(Event::Prompt(id(9999))),
        vec![answer(9999, Outcome::QueueFull)]
    );
}

#[test]
fn a_steered_turn_ends_with_the_last_thing_said_into_it() {
    check(&[
        (Event::Steer(id(9)), &[]),
        (Event::Prompt(id(1)), &[Effect::Send(id(1))]),
        (Event::Started(G1, Some(id(1))), &[]),
        (Event::Steer(id(8)), &[]),
        (result(G1, named(1)), &[]),
        (result(G1, named(8)), &[answer(1, Outcome::Finished)]),
        (Event::Steer(id(7)), &[]),
    ]);
    // Folded into the running turn, there is one result for both.
    check(&[
        (Event::Prompt(id(1)), &[Effect::Send(id(1))]),
        (Event::Steer(id(8)), &[]),
        (
            result(G1, Attribution::Prompts(vec![id(1), id(8)])),
            &[answer(1, Outcome::Finished)],
        ),
    ]);
    // A cancelled turn does not wait for what it was told last.
    check(&[
        (Event::Prompt(id(1)), &[Effect::Send(id(1))]),
        (Event::Steer(id(8)), &[]),
        (Event::Cancel, &interrupted()),
        (
            result(G1, named(1)),
            &[Effect::DisarmEscalation, answer(1, Outcome::Cancelled)],
        ),
    ]);
}

#[test]
fn what_is_said_as_the_turn_ends_keeps_it_going_though_claude_is_idle_for_a_moment() {
    let began = [
        (Event::Prompt(id(1)), &[Effect::Send(id(1))][..]),
        (Event::Started(G1, Some(id(1))), &[]),
        (Event::Steer(id(8)), &[]),
        (result(G1, named(1)), &[]),
        (Event::Idle(G1), &[]),
    ];
    let then = |rest: &[(Event, &[Effect])]| check(&[&began[..], rest].concat());
    then(&[
        (Event::Started(G1, Some(id(8))), &[]),
        (result(G1, named(8)), &[answer(1, Outcome::Finished)]),
        (Event::Idle(G1), &[]),
    ]);
    // Once it has been heard, idle is the end.
    then(&[
        (Event::Started(G1, Some(id(8))), &[]),
        (Event::Idle(G1), &[answer(1, Outcome::NoResult)]),
    ]);
    then(&[
        (Event::Cancel, &interrupted()),
        (
            Event::Dequeued(G1, vec![id(8)]),
            &[Effect::DisarmEscalation, answer(1, Outcome::Cancelled)],
        ),
    ]);
}

#[test]
fn a_cancelled_turn_that_claude_is_at_work_on_waits_for_its_result_though_the_steering_was_thrown_away() {
    let dequeued = |n| Event::Dequeued(G1, vec![id(n)]);
    let cancelled = || [Effect::DisarmEscalation, answer(1, Outcome::Cancelled)];
    check(&[
        (Event::Prompt(id(1)), &[Effect::Send(id(1))]),
        (Event::Started(G1, Some(id(1))), &[]),
        (Event::Steer(id(8)), &[]),
        (Event::Cancel, &interrupted()),
        (dequeued(8), &[]),
        (result(G1, named(1)), &cancelled()),
    ]);
    // Its result came before: what was thrown away was all there was left.
    check(&[
        (Event::Prompt(id(1)), &[Effect::Send(id(1))]),
        (Event::Started(G1, Some(id(1))), &[]),
        (Event::Steer(id(8)), &[]),
        (result(G1, named(1)), &[]),
        (Event::Cancel, &interrupted()),
        (dequeued(8), &cancelled()),
    ]);
}

/// The prompt has its result while an agent works in the background.
const HELD: [(Event, &[Effect]); 4] = [
    (
        Event::Prompt(PromptId(uuid::Uuid::from_u128(1))),
        &[Effect::Send(PromptId(uuid::Uuid::from_u128(1)))],
    ),
    (Event::Agents(G1, true), &[]),
    (Event::Prompt(PromptId(uuid::Uuid::from_u128(2))), &[]),
    (Event::Started(G1, Some(PromptId(uuid::Uuid::from_u128(1)))), &[]),
];

fn check_held(rest: &[(Event, &[Effect])]) {
    let held: &[Effect] = &[Effect::Hold(id(1))];
    check(&[&HELD[..], &[(result(G1, named(1)), held)], rest].concat());
}

#[test]
fn a_prompt_whose_agents_work_in_the_background_is_answered_when_claude_is_idle() {
    check_held(&[
        (Event::Started(G1, None), &[]),
        (result(G1, Attribution::Background), &[]),
        (Event::Agents(G1, false), &[]),
        (result(G1, Attribution::Background), &[]),
        (
            Event::Idle(G1),
            &[answer(1, Outcome::Finished), Effect::Send(id(2))],
        ),
        (Event::Started(G1, Some(id(2))), &[]),
        (result(G1, named(2)), &[answer(2, Outcome::Finished)]),
        // Agents that nothing in a prompt began are the next one's.
        (Event::Agents(G1, true), &[]),
        (Event::Prompt(id(3)), &[Effect::Send(id(3))]),
        (result(G1, named(3)), &[Effect::Hold(id(3))]),
        (Event::Idle(G1), &[answer(3, Outcome::Finished)]),
    ]);
    // Though nothing else told that Claude took it up, it is not sent twice.
    check(&[
        (Event::Prompt(id(1)), &[Effect::Send(id(1))]),
        (Event::Agents(G1, true), &[]),
        (result(G1, named(1)), &[Effect::Hold(id(1))]),
        (
            Event::Ended(G1),
            &[Effect::WithdrawAsks, answer(1, Outcome::Died)],
        ),
    ]);
    // An agent that ended before the result may still be told of in a turn of its own.
    check(&[
        (Event::Prompt(id(1)), &[Effect::Send(id(1))]),
        (Event::Agents(G1, true), &[]),
        (Event::Agents(G1, false), &[]),
        (result(G1, named(1)), &[Effect::Hold(id(1))]),
        (Event::Idle(G1), &[answer(1, Outcome::Finished)]),
    ]);
}

#[test]
fn a_cancel_of_a_prompt_that_waits_for_its_agents_ends_with_the_idle_that_follows() {
    let mut stop = vec![answer(2, Outcome::Cancelled)];
    stop.extend(interrupted());
    check_held(&[
        (Event::Cancel, &stop),
        (Event::Agents(G1, false), &[]),
        (Event::Dequeued(G1, vec![]), &[]),
        (result(G1, Attribution::Background), &[]),
        (
            Event::Idle(G1),
            &[Effect::DisarmEscalation, answer(1, Outcome::Cancelled)],
        ),
    ]);
    check_held(&[(Event::Cancel, &stop), (Event::EscalationDue, &[Effect::Kill])]);
    // Before its result there is nothing to wait for.
    check(
        &[
            &HELD[..],
            &[
                (Event::Cancel, &stop),
                (
                    result(G1, named(1)),
                    &[Effect::DisarmEscalation, answer(1, Outcome::Cancelled)],
                ),
            ],
        ]
        .concat(),
    );
}

#[test]
fn what_is_said_while_agents_work_has_its_result_before_the_prompt_is_over() {
    check_held(&[
        (Event::Steer(id(8)), &[]),
        (Event::Idle(G1), &[]),
        (Event::Started(G1, Some(id(8))), &[]),
        (result(G1, named(8)), &[Effect::Hold(id(1))]),
        (
            Event::Idle(G1),
            &[answer(1, Outcome::Finished), Effect::Send(id(2))],
        ),
    ]);
}

#[test]
fn a_death_while_agents_work_answers_the_prompt() {
    check_held(&[(
        Event::Ended(G1),
        &[
            Effect::WithdrawAsks,
            answer(1, Outcome::Died),
            Effect::Launch(Generation(2)),
        ],
    )]);
}

fn handing_off(step: usize) -> (TurnMachine, Vec<Effect>) {
    let mut machine = TurnMachine::new();
    machine.on(Event::Adopted(G1));
    machine.on(Event::Prompt(id(1)));
    machine.on(Event::Prompt(id(2)));
    machine.on(Event::Started(G1, Some(id(1))));
    let interrupted = Event::Result {
        generation: G1,
        attribution: named(1),
        end: TurnEnd::Interrupted,
    };
    let events = [
        Event::HandOff,
        interrupted,
        Event::Ended(G1),
        Event::Launched(Generation(2)),
        Event::Started(Generation(2), None),
    ];
    let last = events
        .into_iter()
        .take(step)
        .map(|event| machine.on(event))
        .last();
    (machine, last.unwrap_or_default())
}

#[test]
fn a_hand_off_goes_step_by_step_and_the_same_prompt_is_answered_at_its_end() {
    let steps: [&[Effect]; 5] = [
        &[Effect::ArmEscalation],
        &[Effect::DisarmEscalation, Effect::Retire],
        &[Effect::WithdrawAsks, Effect::LaunchFresh(Generation(2))],
        &[Effect::Send(id(1))],
        &[],
    ];
    for (at, expected) in steps.into_iter().enumerate() {
        assert_eq!(handing_off(at + 1).1, expected, "step {at}");
    }
    let (mut machine, _) = handing_off(5);
    let effects = machine.on(result(Generation(2), named(1)));
    assert_eq!(
        effects,
        [answer(1, Outcome::Finished), Effect::Send(id(2))],
        "the waiting prompt follows"
    );
}

#[test]
fn what_was_said_into_the_planning_does_not_keep_a_hand_off_from_its_end() {
    let interrupted = |ids| Event::Result {
        generation: G1,
        attribution: Attribution::Prompts(ids),
        end: TurnEnd::Interrupted,
    };
    let fresh = Generation(2);
    let carried_out = |machine: &mut TurnMachine| {
        assert_eq!(
            machine.on(Event::Ended(G1)),
            [Effect::WithdrawAsks, Effect::LaunchFresh(fresh)]
        );
        assert_eq!(machine.on(Event::Launched(fresh)), [Effect::Send(id(1))]);
        machine.on(Event::Started(fresh, None));
        assert_eq!(
            machine.on(result(fresh, named(1))),
            [answer(1, Outcome::Finished)]
        );
    };
    // Claude had dealt with it before the plan, or has it queued still.
    for dealt_with in [true, false] {
        let mut machine = TurnMachine::new();
        machine.on(Event::Adopted(G1));
        machine.on(Event::Prompt(id(1)));
        machine.on(Event::Started(G1, Some(id(1))));
        machine.on(Event::Steer(id(8)));
        if dealt_with {
            assert_eq!(machine.on(interrupted(vec![id(1)])), []);
        }
        assert_eq!(
            machine.on(Event::HandOff),
            [Effect::Interrupt, Effect::ArmEscalation]
        );
        assert_eq!(machine.on(Event::Dequeued(G1, vec![id(8)])), []);
        let end = if dealt_with { id(8) } else { id(1) };
        assert_eq!(
            machine.on(interrupted(vec![end])),
            [Effect::DisarmEscalation, Effect::Retire],
            "{dealt_with}"
        );
        carried_out(&mut machine);
    }
}

#[test]
fn a_cancel_ends_the_hand_off_at_every_step() {
    let both = |effects: &[Effect]| {
        let mut all = vec![answer(2, Outcome::Cancelled)];
        all.extend_from_slice(effects);
        all
    };
    let cases: [&[Effect]; 5] = [
        &[
            Effect::DisarmEscalation,
            Effect::Interrupt,
            Effect::WithdrawAsks,
            Effect::ArmEscalation,
        ],
        &[answer(1, Outcome::Cancelled)],
        &[Effect::AbortLaunch, answer(1, Outcome::Cancelled)],
        &[Effect::Interrupt, Effect::WithdrawAsks, Effect::ArmEscalation],
        &[Effect::Interrupt, Effect::WithdrawAsks, Effect::ArmEscalation],
    ];
    for (at, expected) in cases.into_iter().enumerate() {
        let (mut machine, _) = handing_off(at + 1);
        assert_eq!(machine.on(Event::Cancel), both(expected), "step {at}");
        assert_eq!(
            machine.on(Event::HandOff),
            [],
            "nothing is handed over twice, step {at}"
        );
    }
}

#[test]
fn every_failure_of_a_hand_off_answers_the_prompt_and_frees_the_next() {
    // The old process dies before its turn has ended.
    let (mut machine, _) = handing_off(1);
    let effects = machine.on(Event::Ended(G1));
    let expected = [
        Effect::WithdrawAsks,
        Effect::DisarmEscalation,
        answer(1, Outcome::Died),
        Effect::Launch(Generation(2)),
    ];
    assert_eq!(effects, expected);

    // The old process does not end its turn: it is killed, and the plan is still carried out.
    let (mut machine, _) = handing_off(1);
    assert_eq!(machine.on(Event::EscalationDue), [Effect::Kill]);
    assert_eq!(
        machine.on(Event::Ended(G1)),
        [Effect::WithdrawAsks, Effect::LaunchFresh(Generation(2))]
    );

    // The old turn ends by itself before it is interrupted.
    let (mut machine, _) = handing_off(1);
    let effects = machine.on(result(G1, named(1)));
    assert_eq!(
        effects,
        [
            Effect::DisarmEscalation,
            answer(1, Outcome::Finished),
            Effect::Send(id(2))
        ]
    );

    // Something was said into the old turn before.
    let (mut machine, _) = handing_off(0);
    machine.on(Event::Steer(id(8)));
    machine.on(Event::HandOff);
    let interrupted = Event::Result {
        generation: G1,
        attribution: named(1),
        end: TurnEnd::Interrupted,
    };
    assert_eq!(
        machine.on(interrupted),
        [Effect::DisarmEscalation, Effect::Retire]
    );

    // The new process does not come up.
    let (mut machine, _) = handing_off(3);
    let effects = machine.on(Event::LaunchFailed(Generation(2)));
    assert_eq!(
        effects,
        [answer(1, Outcome::LaunchFailed), Effect::Launch(Generation(3))]
    );

    // The session is closed while the new process starts.
    let (mut machine, _) = handing_off(3);
    let effects = machine.on(Event::Close);
    assert_eq!(effects.last(), Some(&Effect::Shutdown { turn_running: true }));
    assert!(
        effects.contains(&answer(1, Outcome::Cancelled)) && effects.contains(&answer(2, Outcome::Cancelled))
    );
}

#[test]
fn a_process_that_does_not_suit_is_replaced_before_the_next_prompt_and_not_for_nothing() {
    check(&[
        // Chosen and left.
        (Event::Suits(false), &[]),
        (Event::Suits(true), &[]),
        (Event::Prompt(id(1)), &[Effect::Send(id(1))]),
        // In a turn: the turn goes on where it is.
        (Event::Suits(false), &[]),
        (Event::Prompt(id(2)), &[]),
        (Event::Started(G1, Some(id(1))), &[]),
        (
            result(G1, named(1)),
            &[answer(1, Outcome::Finished), Effect::Retire],
        ),
        (
            Event::Ended(G1),
            &[Effect::WithdrawAsks, Effect::Launch(Generation(2))],
        ),
        // Chosen while the next one starts.
        (Event::Suits(false), &[]),
        (Event::Launched(Generation(2)), &[Effect::Retire]),
        (
            Event::Ended(Generation(2)),
            &[Effect::WithdrawAsks, Effect::Launch(Generation(3))],
        ),
        (Event::Launched(Generation(3)), &[Effect::Send(id(2))]),
    ]);
}

/// What the outside may do next; the process named is the current one unless `old`.
#[derive(Debug, Clone)]
enum Step {
    Prompt,
    Cancel,
    CancelPrompt(usize),
    LaunchEnds { ok: bool },
    Started { named: bool },
    ResultNamed { late: bool, signed_out: bool },
    ResultUnnamed,
    ResultBackground,
    Agents(bool),
    Dequeued,
    Idle,
    Dies,
    Clock,
    OldGeneration(u8),
    HandOff,
    Interrupted,
    Suits(bool),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => Just(Step::Prompt),
        2 => Just(Step::Cancel),
        1 => (0usize..8).prop_map(Step::CancelPrompt),
        3 => any::<bool>().prop_map(|ok| Step::LaunchEnds { ok }),
        3 => any::<bool>().prop_map(|named| Step::Started { named }),
        4 => (any::<bool>(), prop::bool::weighted(0.2)).prop_map(|(late, signed_out)| Step::ResultNamed { late, signed_out }),
        1 => Just(Step::ResultUnnamed),
        1 => Just(Step::ResultBackground),
        1 => Just(Step::Dequeued),
        2 => Just(Step::Idle),
        2 => any::<bool>().prop_map(Step::Agents),
        1 => Just(Step::Dies),
        2 => Just(Step::Clock),
        1 => (0u8..4).prop_map(Step::OldGeneration),
        2 => Just(Step::HandOff),
        3 => Just(Step::Interrupted),
        1 => any::<bool>().prop_map(Step::Suits),
    ]
}

/// The outside world as the model sees it: what was asked for and what was answered.
#[derive(Default)]
struct World {
    next: u128,
    asked: Vec<PromptId>,
    answers: HashMap<PromptId, Vec<Outcome>>,
    /// Sent and not yet answered.
    with_claude: Option<PromptId>,
    sent: Vec<PromptId>,
    launching: Option<Generation>,
    alive: Option<Generation>,
    newest: u64,
    clock: bool,
    closing: bool,
    closed: bool,
    cancelled: Vec<PromptId>,
    agents_at_work: bool,
    /// Whether there were any since the prompt was sent.
    agents_seen: bool,
    /// Has its result, and waits for agents.
    held: Option<PromptId>,
    /// Claude has just said that it is idle, or that nothing comes of it without a login.
    over: bool,
}

impl World {
    fn perform(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Launch(generation) | Effect::LaunchFresh(generation) => {
                    assert!(self.alive.is_none() && self.launching.is_none(), "two processes");
                    assert!(generation.0 > self.newest, "a generation is never used again");
                    self.newest = generation.0;
                    self.launching = Some(generation);
                }
                Effect::Send(prompt) => {
                    assert_eq!(self.with_claude, None, "a second prompt with Claude");
                    assert!(self.alive.is_some(), "sent to nobody");
                    let before = self.sent.iter().filter(|id| **id == prompt).count();
                    assert!(
                        before == 0 || self.sent.last() == Some(&prompt),
                        "sent after a later one"
                    );
                    self.with_claude = Some(prompt);
                    self.sent.push(prompt);
                    self.agents_seen = self.agents_at_work;
                }
                Effect::Hold(prompt) => {
                    assert_eq!(self.with_claude, Some(prompt), "held without being with Claude");
                    assert!(self.agents_seen, "held for nothing");
                    assert!(!self.cancelled.contains(&prompt), "held though cancelled");
                    self.held = Some(prompt);
                }
                Effect::Answer(prompt, outcome) => {
                    if self.held == Some(prompt) {
                        assert!(
                            outcome != Outcome::Finished || self.over,
                            "answered before its agents ended"
                        );
                        self.held = None;
                    }
                    self.answers.entry(prompt).or_default().push(outcome);
                    if self.with_claude == Some(prompt) {
                        self.with_claude = None;
                    }
                    if self.cancelled.contains(&prompt) {
                        assert_eq!(outcome, Outcome::Cancelled);
                    }
                }
                Effect::AbortLaunch => assert!(self.launching.take().is_some(), "nothing to abort"),
                Effect::Kill | Effect::Retire => assert!(self.alive.is_some()),
                Effect::Interrupt => {
                    let cancelled = self.with_claude.is_some_and(|id| self.cancelled.contains(&id));
                    assert!(cancelled || self.closing, "nobody asked for that");
                }
                Effect::ArmEscalation => self.clock = true,
                Effect::DisarmEscalation => self.clock = false,
                Effect::Shutdown { .. } => self.closed = true,
                Effect::WithdrawAsks => {}
            }
        }
    }

    fn event(&mut self, step: &Step) -> Option<Event> {
        let generation = self.alive?;
        self.over = matches!(step, Step::Idle | Step::ResultNamed { signed_out: true, .. });
        if let Step::Agents(at_work) = step {
            self.agents_at_work = *at_work;
            self.agents_seen |= *at_work;
        }
        Some(match step {
            Step::Started { named } => Event::Started(generation, self.with_claude.filter(|_| *named)),
            Step::ResultNamed { late, signed_out } => {
                let prompt = if *late {
                    self.sent.first().copied()
                } else {
                    self.with_claude
                };
                let attribution = Attribution::Prompts(prompt.into_iter().collect());
                Event::Result {
                    generation,
                    attribution,
                    end: if *signed_out {
                        TurnEnd::SignedOut
                    } else {
                        TurnEnd::Completed
                    },
                }
            }
            Step::Interrupted => Event::Result {
                generation,
                attribution: Attribution::Prompts(self.with_claude.into_iter().collect()),
                end: TurnEnd::Interrupted,
            },
            Step::ResultUnnamed => result(generation, Attribution::Unnamed),
            Step::ResultBackground => result(generation, Attribution::Background),
            Step::Dequeued => Event::Dequeued(
                generation,
                self.with_claude
                    .filter(|id| self.cancelled.contains(id))
                    .into_iter()
                    .collect(),
            ),
            Step::Idle => Event::Idle(generation),
            Step::Agents(at_work) => Event::Agents(generation, *at_work),
            Step::Dies => {
                self.alive = None;
                self.with_claude = None;
                self.agents_at_work = false;
                Event::Ended(generation)
            }
            Step::Prompt
            | Step::Cancel
            | Step::CancelPrompt(_)
            | Step::LaunchEnds { .. }
            | Step::Clock
            | Step::HandOff
            | Step::Suits(_)
            | Step::OldGeneration(_) => return None,
        })
    }

    fn client_event(&mut self, step: &Step) -> Option<Event> {
        Some(match step {
            Step::Prompt => {
                self.next += 1;
                self.asked.push(id(self.next));
                Event::Prompt(id(self.next))
            }
            Step::Cancel => {
                let open = self.asked.iter().filter(|id| !self.answers.contains_key(id));
                self.cancelled.extend(open.copied().collect::<Vec<_>>());
                Event::Cancel
            }
            Step::CancelPrompt(back) => {
                let prompt = *self.asked.iter().rev().nth(*back)?;
                if !self.answers.contains_key(&prompt) {
                    self.cancelled.push(prompt);
                }
                Event::CancelPrompt(prompt)
            }
            Step::LaunchEnds { ok } => {
                let generation = self.launching.take()?;
                if *ok {
                    self.alive = Some(generation);
                    Event::Launched(generation)
                } else {
                    Event::LaunchFailed(generation)
                }
            }
            Step::HandOff => {
                self.held = None;
                Event::HandOff
            }
            Step::Suits(suits) => Event::Suits(*suits),
            Step::Clock => {
                if !self.clock {
                    return None;
                }
                Event::EscalationDue
            }
            Step::OldGeneration(kind) => {
                let old = Generation(self.newest.checked_sub(1)?);
                match kind {
                    0 => Event::Ended(old),
                    1 => Event::Idle(old),
                    2 => result(old, Attribution::Unnamed),
                    _ => Event::Launched(old),
                }
            }
            _ => return None,
        })
    }
}

proptest! {
    // `PROPTEST_CASES` asks for more.
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.max(1000), ..ProptestConfig::default() })]

    #[test]
    fn every_prompt_is_answered_exactly_once_whatever_happens(
        steps in prop::collection::vec(step(), 0..60),
        close in any::<bool>(),
    ) {
        let mut machine = TurnMachine::new();
        let mut world = World::default();
        for step in &steps {
            let Some(event) = world.client_event(step).or_else(|| world.event(step)) else { continue };
            let effects = machine.on(event);
            world.perform(effects);
        }
        if close {
            world.closing = true;
            let effects = machine.on(Event::Close);
            world.perform(effects);
            prop_assert!(world.closed);
        } else {
            // The world winds down: launches fail, processes die. Nothing may be left waiting.
            for _ in 0..(2 * world.asked.len() + 4) {
                if let Some(event) = world.client_event(&Step::LaunchEnds { ok: false }).or_else(|| world.event(&Step::Dies)) {
                    let effects = machine.on(event);
                    world.perform(effects);
                }
            }
        }
        for prompt in &world.asked {
            prop_assert_eq!(world.answers.get(prompt).map(Vec::len), Some(1), "{:?}", prompt);
        }
        let order: Vec<_> = world.sent.clone();
        let mut sorted = order.clone();
        sorted.sort_by_key(|id| id.0);
        prop_assert_eq!(order, sorted, "prompts reach Claude in the order they came");
    }
}
