//! The end-to-end suite: runs the agent's binary as a client sees it, on every backend and transport.
//!
//! Tests are named `backend::transport::test`. What cannot run on this machine (no Claude CLI, no Node) is listed
//! as ignored by name; with `CI=true` that is a failure. `E2E_BACKEND` and `E2E_TRANSPORT` narrow the list;
//! arguments work as for any test binary. `cargo xtask e2e` sets everything up.
#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a failed expectation must end the test with a message"
)]

mod agents;
mod cancel;
mod case;
mod client_choices;
mod content;
mod errors;
mod explain_claude;
mod fake_cli;
mod flood;
mod guard_denials;
mod guard_reach;
mod guard_support;
mod guard_time;
mod guard_words;
mod history;
mod life;
mod listen;
mod modes_kept;
mod modes_options;
mod modes_settings;
mod modes_switch;
mod others;
mod perm_answers;
mod perm_files;
mod perm_questions;
mod perm_rules;
mod perm_shell;
mod perm_support;
mod perm_tools;
mod permissions;
mod plan_cancel;
mod plan_clear;
mod plan_exit;
mod plan_faults;
mod plan_guard;
mod plan_support;
mod policy;
mod policy_cli;
mod policy_flow;
mod policy_rehearsed;
mod policy_support;
mod policy_unseen;
mod queue;
mod rehearsed;
mod rpc;
mod sessions;
mod settings_hooks;
mod smoke;
mod start;
mod steering;
mod strangers;
mod stubborn;
mod support;
mod terminal;
mod tools;
mod turns;

use libtest_mimic::Arguments;

fn main() {
    let arguments = Arguments::from_args();
    let groups = [
        start::cases(),
        rpc::cases(),
        sessions::cases(),
        history::cases(),
        terminal::cases(),
        client_choices::cases(),
        settings_hooks::cases(),
        turns::cases(),
        content::cases(),
        tools::cases(),
        permissions::cases(),
        perm_shell::cases(),
        perm_files::cases(),
        perm_tools::cases(),
        perm_rules::cases(),
        perm_answers::cases(),
        perm_questions::cases(),
        modes_settings::cases(),
        modes_switch::cases(),
        plan_exit::cases(),
        plan_clear::cases(),
        plan_cancel::cases(),
        agents::cases(),
        cancel::cases(),
        queue::cases(),
        errors::cases(),
        life::cases(),
        stubborn::cases(),
        fake_cli::cases(),
        rehearsed::cases(),
        rehearsed::embedded_cases(),
        modes_kept::cases(),
        modes_options::cases(),
        steering::cases(),
        plan_faults::cases(),
        plan_guard::cases(),
        policy::cases(),
        policy_cli::cases(),
        explain_claude::cases(),
        policy_flow::cases(),
        policy_unseen::cases(),
        policy_rehearsed::cases(),
        guard_denials::cases(),
        guard_time::cases(),
        guard_reach::cases(),
        guard_words::cases(),
        listen::cases(),
        strangers::cases(),
        smoke::cases(),
        flood::cases(),
        others::cases(),
    ];
    case::run(&arguments, groups.into_iter().flatten().collect());
}
