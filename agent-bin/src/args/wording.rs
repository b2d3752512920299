//! What the command line says beside its options: where help ends, and refusals that name the way out.

pub(super) const ABOUT: &str =
    "An ACP agent for Claude: editors start it, or connect to it, and get Claude Code.";

pub(super) const AFTER_HELP: &str = "\
Without arguments it serves one client on standard input and output, which is how editors start it.

Examples:
  claude-acp                                         serve the editor that started it
  claude-acp --listen unix:/run/user/1000/claude.sock
  claude-acp --listen tcp://localhost:0              serve many clients, on a free port
  claude-acp --cli auth login                        log in to Claude
  claude-acp chat \"what is in this directory?\"       one prompt, here in the terminal
  claude-acp chat --rehearse \"hello\"                 the same with a scripted Claude, without a login
  claude-acp sessions list                           the conversations of this directory
  claude-acp rehearsal list                          what the scripted Claude can play
  claude-acp policy check policy.json                whether a policy says what it should
  claude-acp --policy policy.json --audit audit.log  serve under an operator's policy, on the record

Exit codes:
  0    everything that was asked for is done; also after SIGTERM, SIGINT or SIGHUP ended the serving
  1    it failed: an address or a policy cannot be used, a turn failed, the connection was lost
  2    the command line is not understood
  128+ a signal ended it before it was done: the second signal while serving, Ctrl-C in a chat
  With --cli, the exit code of the Claude CLI.";

pub(super) const EXPLAIN_HELP: &str = "\
Examples:
  claude-acp policy explain --command 'git push'
  claude-acp policy explain --tool Read --input '{\"file_path\":\".env\"}' \\
      --policy policy.json --mode bypassPermissions

Nothing runs: hooks are named and taken as having no objection.

Exit codes:
  0    the call is allowed
  3    it is asked about, or Claude's classifier decides
  4    it is denied
  1    a policy or a directory cannot be used
  2    the command line, the tool's name or its input is not understood";

pub(super) const LISTEN_WITH_CHAT: &str =
    "`--listen` serves clients and `chat` is one: leave one of them out, or use `chat --connect URL`";
pub(super) const BACKEND_WITH_CHAT: &str =
    "`--backend` is for serving: use `chat --rehearse` for a scripted Claude, or neither for the Claude CLI";
pub(super) const CLI_WITH_CHAT: &str =
    "`--cli` runs the Claude CLI and cannot be combined with `chat`: use one of them";
pub(super) const SERVING_WITH_REHEARSAL: &str = "`rehearsal` tells about scripts and serves nobody: leave `--listen`, `--backend` and `--cli` out, or play a script with `--backend rehearsal=SCRIPT`";
pub(super) const OVERSIGHT_WITH_REHEARSAL: &str =
    "`rehearsal` tells about scripts and runs no tools: leave `--policy` and `--audit` out";
pub(super) const SERVING_WITH_POLICY: &str = "`policy` tells about policies and serves nobody: leave `--listen`, `--backend` and `--cli` out, or serve under a policy with `--policy FILE`";
pub(super) const SERVING_WITH_SESSIONS: &str = "`sessions` tells about conversations and serves nobody: leave `--listen`, `--backend`, `--cli`, `--policy` and `--audit` out";
pub(super) const AUDIT_WITH_POLICY: &str =
    "`policy` decides about nothing that could be recorded: leave `--audit` out";
pub(super) const POLICY_WITH_CHECK: &str =
    "`policy check` takes its files as arguments: write `policy check FILE` without `--policy`";
pub(super) const CLI_WITH_SERVING: &str =
    "`--cli` runs the Claude CLI instead of serving: leave `--listen` and `--backend` out";
pub(super) const LISTEN_TWICE: &str = "the same `--listen` address is given twice: leave one of them out";
pub(super) const CONNECT_STDIO: &str =
    "`chat --connect` needs an address to connect to: tcp://127.0.0.1:PORT or unix:PATH";
pub(super) const OVERSIGHT_WITH_CONNECT: &str = "the agent that `chat --connect` talks to has a policy and a record of its own: leave `--policy` and `--audit` out, and give them to that agent";
pub(super) const HIDE_CLAUDE_AUTH_WITH_COMMAND: &str =
    "`--hide-claude-auth` is for editors that start the agent: leave it out";
pub(super) const POLICY_TWICE: &str =
    "`--policy` is given twice, and a session has one policy: leave one of them out";
pub(super) const AUDIT_TWICE: &str =
    "`--audit` is given twice, and there is one record: leave one of them out";

pub(super) const NO_OBJECT: &str = "expected a JSON object, such as {\"command\":\"ls\"}";
pub(super) const NO_BACKEND: &str = "expected `process`, `rehearsal` or `rehearsal=SCRIPT`";

/// `--rehearse plan`, with a blank.
pub(crate) fn script_is_prompt(script: &str) -> String {
    format!(
        "`{script}` is taken for the prompt; to play the script of that name, write `--rehearse={script}`"
    )
}
