//! What the tests of the guard share: sessions under a policy, calls made in bypass, and what became of each of them.
//!
//! In bypass Claude itself asks about nothing, so that whatever does not run was stopped by the policy.

use e2e_tests::harness::{Agent, Answer, Client, World, allow_once, no_questions, reject_once};
use e2e_tests::model::{text, tool};
use serde_json::{Value, json};

use crate::plan_support::{user_settings, write_settings};
use crate::policy_support::{bash, greet_under, id, run_calls, told};

/// A call, as a tool's name and input.
pub(crate) type Call = (&'static str, Value);

/// What became of a call.
#[derive(Debug)]
pub(crate) struct Fate {
    /// The call as it was made.
    call: String,
    /// What the model was told of it.
    pub(crate) told: String,
    /// The client was asked about it.
    asked: bool,
}

impl Fate {
    /// The policy denied it by itself, in the agent's words or in those of Claude, which knows the rules as well.
    pub(crate) fn is_denied(&self) -> bool {
        let words = ["the operator's policy", "has been denied"];
        !self.asked && words.iter().any(|words| self.told.contains(words))
    }

    /// The call and what became of it, in short.
    fn line(&self) -> String {
        let end = if self.asked { "asked" } else { "not asked" };
        format!("{:.200}: {end}, told `{:.300}`", self.call, self.told)
    }

    fn is_held(&self) -> bool {
        self.asked || self.is_denied()
    }
}

/// A session under a policy where the user's own settings allow commands and changes.
pub(crate) fn open_allowed(world: &mut World, policy: &Value) -> (Agent, Client, String) {
    world.set_env("IS_SANDBOX", "1");
    let allow = ["Bash", "Edit", "Write"];
    let settings =
        json!({"permissions": {"defaultMode": "default", "disableAutoMode": "disable", "allow": allow}});
    write_settings(world, "home/.claude/settings.json", &settings.to_string());
    let (agent, mut client) = greet_under(world, policy, &[]);
    ignore_modes(&mut client);
    let session = client.new_session(&world.cwd());
    (agent, client, session)
}

/// A session in this folder that is in bypass; the user's settings are as they are.
pub(crate) fn open_in_bypass(world: &mut World, policy: &Value, cwd: &str) -> (Agent, Client, String) {
    world.set_env("IS_SANDBOX", "1");
    let (agent, mut client) = greet_under(world, policy, &[]);
    ignore_modes(&mut client);
    let session = client.new_session(cwd);
    set_mode(&mut client, &session, "bypassPermissions");
    (agent, client, session)
}

/// What becomes of these calls, made one after the other in bypass, when questions are answered by `ask`.
pub(crate) fn fates(
    world: &mut World,
    policy: &Value,
    cwd: &str,
    calls: &[Call],
    ask: impl FnMut(&Value) -> Answer,
) -> Vec<Fate> {
    user_settings(world, "default");
    let (_agent, mut client, session) = open_in_bypass(world, policy, cwd);
    let turn = run_calls(world, &mut client, &session, calls, ask);
    let asked: Vec<String> = turn
        .questions()
        .iter()
        .filter_map(|question| question["toolCall"]["toolCallId"].as_str().map(ToOwned::to_owned))
        .collect();
    turn.ignore_rest();
    let fate = |(number, (name, input)): (usize, &Call)| Fate {
        call: format!("{name} {input}"),
        told: told(world, number),
        asked: asked.contains(&id(number)),
    };
    calls.iter().enumerate().map(fate).collect()
}

/// A turn of one command that nobody is asked about; what the model is told of it. Claude skips a call whose id it knows.
pub(crate) fn one_call(world: &World, client: &mut Client, session: &str, id: &str, command: &str) -> String {
    let call = tool(id, "Bash", json!({"command": command}));
    world.model().script([call, text("done")]);
    let mut turn = client.prompt(session, "go", no_questions);
    assert_eq!(turn.tool(id).status(), "completed");
    turn.ignore_rest();
    let request = world.model().requests().pop().unwrap();
    request.tool_result(id).unwrap()
}

/// Fails with all calls that the policy did not deny by itself.
#[track_caller]
pub(crate) fn assert_all_denied(world: &mut World, policy: &Value, cwd: &str, calls: &[Call]) -> Vec<Fate> {
    let fates = fates(world, policy, cwd, calls, reject_once);
    let others = lines(&fates, |fate| !fate.is_denied());
    assert!(others.is_empty(), "these were not denied: {others:#?}");
    fates
}

/// Fails with all calls that were neither denied nor asked about.
#[track_caller]
pub(crate) fn assert_all_held(world: &mut World, policy: &Value, cwd: &str, calls: &[Call]) -> Vec<Fate> {
    let fates = fates(world, policy, cwd, calls, reject_once);
    let others = lines(&fates, |fate| !fate.is_held());
    assert!(others.is_empty(), "these ran: {others:#?}");
    fates
}

/// Fails with all calls that the policy denied; what it asks about is allowed.
#[track_caller]
pub(crate) fn assert_none_denied(world: &mut World, policy: &Value, cwd: &str, calls: &[Call]) {
    let fates = fates(world, policy, cwd, calls, allow_once);
    let others = lines(&fates, |fate| fate.is_denied());
    assert!(others.is_empty(), "these were denied: {others:#?}");
}

/// Fails with all calls of which the model was told this text.
#[track_caller]
pub(crate) fn assert_untold(fates: &[Fate], secret: &str) {
    let tell = lines(fates, |fate| fate.told.contains(secret));
    assert!(tell.is_empty(), "these tell `{secret}`: {tell:#?}");
}

fn lines(fates: &[Fate], wanted: impl Fn(&Fate) -> bool) -> Vec<String> {
    let wanted = fates.iter().filter(|fate| wanted(fate));
    wanted.map(Fate::line).collect()
}

/// Shell commands as calls.
pub(crate) fn shell(commands: &[&str]) -> Vec<Call> {
    commands.iter().map(|command| bash(command)).collect()
}

/// Makes the project a repository with everything in it committed.
pub(crate) fn git_repository(world: &World) {
    let script =
        "git init -q . && git add -A && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x";
    let status = std::process::Command::new("sh")
        .args(["-c", script])
        .current_dir(world.project())
        .status();
    assert!(status.unwrap().success());
}

/// Skips what the client is told of a session's mode.
pub(crate) fn ignore_modes(client: &mut Client) {
    client.ignore("current_mode_update");
    client.ignore("config_option_update");
}

/// Switches a session's mode.
pub(crate) fn set_mode(client: &mut Client, session: &str, mode: &str) {
    let params = json!({"sessionId": session, "modeId": mode});
    client.call("session/set_mode", params).unwrap();
}
