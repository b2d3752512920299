//! The world of one test: a folder of its own with a home and a project, an environment with nothing of the
//! machine's but `PATH`, the model server, and the marker by which all its processes are found again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};

use tempfile::TempDir;

use super::agent::Agent;
use super::bell::Bell;
use super::procs::{self, Process};
use crate::model::ModelServer;

/// What the agent drives.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Backend {
    /// The real Claude CLI against the scripted model server.
    Claude,
    /// The embedded rehearsal.
    Rehearsal,
}

/// How the client reaches the agent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Transport {
    /// The agent's standard input and output.
    Stdio,
    /// A loopback port.
    Tcp,
    /// A Unix socket.
    Unix,
}

/// The name of the variable that marks every process of a test.
const MARKER: &str = "CLAUDE_ACP_TEST";

/// Everything a test owns outside its own memory.
pub struct World {
    backend: Backend,
    transport: Transport,
    folder: TempDir,
    environment: BTreeMap<String, String>,
    args: Vec<String>,
    by_executable: bool,
    model: ModelServer,
    marker: String,
}

impl World {
    /// A fresh world.
    pub fn new(backend: Backend, transport: Transport) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let folder = tempfile::Builder::new()
            .prefix("acp-")
            .tempdir()
            .expect("a folder");
        let marker = format!("{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let model = ModelServer::start();
        let mut world = Self {
            backend,
            transport,
            folder,
            environment: BTreeMap::new(),
            args: Vec::new(),
            by_executable: false,
            model,
            marker,
        };
        std::fs::create_dir(world.home()).expect("a home");
        std::fs::create_dir(world.project()).expect("a project");
        world.fill_environment();
        world
    }

    /// What the agent drives.
    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// How the client reaches it.
    pub fn transport(&self) -> Transport {
        self.transport
    }

    /// The scripted model.
    pub fn model(&self) -> &ModelServer {
        &self.model
    }

    /// The home folder.
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// The working folder of sessions.
    pub fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    /// The working folder of sessions, as it goes over the wire.
    pub fn cwd(&self) -> String {
        self.project().to_str().expect("a path in UTF-8").to_owned()
    }

    /// A path in the test's folder, beside home and project.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Where the agent's Unix socket is.
    pub fn socket_path(&self) -> String {
        self.path("agent.sock")
            .to_str()
            .expect("a path in UTF-8")
            .to_owned()
    }

    /// A named pipe that scripts ring.
    pub fn bell(&self, name: &str) -> Bell {
        Bell::rung_by_script(&self.path(name))
    }

    /// A named pipe that scripts wait on.
    pub fn latch(&self, name: &str) -> Bell {
        Bell::waited_on_by_script(&self.path(name))
    }

    /// Sets a variable of the agent's environment.
    pub fn set_env(&mut self, name: &str, value: &str) {
        self.environment.insert(name.to_owned(), value.to_owned());
    }

    /// Removes a variable of the agent's environment.
    pub fn remove_env(&mut self, name: &str) {
        self.environment.remove(name);
    }

    /// A variable of the agent's environment.
    pub fn environment_value(&self, name: &str) -> &str {
        self.environment.get(name).map_or("", String::as_str)
    }

    /// Lets the agent drive the rehearsal with this script.
    pub fn rehearse(&mut self, script: &str) {
        let path = self.path("rehearsal.json");
        std::fs::write(&path, script).expect("a script file");
        let path = path.to_str().expect("a path in UTF-8");
        if self.by_executable {
            self.set_env("CLAUDE_ACP_REHEARSAL", path);
        } else {
            self.args = vec!["--backend".into(), format!("rehearsal={path}")];
        }
    }

    /// From now on the rehearsal is not embedded but runs as an executable in the CLI's place.
    pub fn rehearse_by_executable(&mut self) {
        self.by_executable = true;
        self.args = Vec::new();
        let agent = self.agent_program();
        self.set_env("CLAUDE_CODE_EXECUTABLE", agent.to_str().expect("a path in UTF-8"));
        let state = self.home().join(".claude");
        self.set_env("CLAUDE_CONFIG_DIR", state.to_str().expect("a path in UTF-8"));
    }

    /// Lets the agent drive a shell script instead of the real CLI.
    pub fn use_fake_cli(&mut self, script: &str) {
        let path = self.executable("fake-claude", script);
        self.set_env("CLAUDE_CODE_EXECUTABLE", &path);
        self.args = Vec::new();
    }

    /// Writes an executable script into the test's folder and returns its path.
    pub fn executable(&self, name: &str, script: &str) -> String {
        use std::os::unix::fs::PermissionsExt;
        let path = self.path(name);
        std::fs::write(&path, script).expect("a script file");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("an executable file");
        path.to_str().expect("a path in UTF-8").to_owned()
    }

    /// Starts the agent.
    pub fn agent(&self) -> Agent {
        Agent::start(self, &[])
    }

    /// Starts the agent with more arguments.
    pub fn agent_with(&self, args: &[&str]) -> Agent {
        Agent::start(self, args)
    }

    /// A command line of the agent in this world, for a test that does not connect.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(self.agent_program());
        command
            .args(args)
            .env_clear()
            .envs(self.environment())
            .current_dir(self.home());
        command
    }

    /// Starts a command of this world.
    pub fn spawn(&self, mut command: Command) -> Agent {
        command.stdin(std::process::Stdio::piped());
        Agent::spawn(&mut command)
    }

    /// All living processes of this test.
    pub fn processes(&self) -> Vec<Process> {
        procs::with_marker(&self.mark())
    }

    /// Waits until only the agent is left of all processes of this test, with no unreaped child.
    pub fn wait_only(&self, agent: &Agent) {
        procs::wait_only(&self.mark(), &[agent.pid()]);
        procs::wait_reaped(agent.pid());
    }

    /// Waits until no process of this test has the text in its command line.
    pub fn wait_gone(&self, text: &str) {
        procs::wait_gone(&self.mark(), text);
    }

    /// Kills the agent's child whose command line holds the text, and waits for its end.
    pub fn kill_command(&self, text: &str, agent: &Agent) {
        let children = procs::children_of(agent.pid());
        let victim = self
            .processes()
            .into_iter()
            .find(|process| children.contains(&process.pid) && process.command.contains(text));
        let victim = victim.unwrap_or_else(|| panic!("no child runs `{text}`: {:#?}", self.processes()));
        procs::kill(victim.pid);
    }

    /// Waits until no process of this test is left.
    pub fn wait_none(&self) {
        procs::wait_only(&self.mark(), &[]);
    }

    /// The last checks of a test that has not failed.
    pub fn finish(self) {
        self.model.finish();
        self.wait_none();
    }

    pub(crate) fn agent_program(&self) -> PathBuf {
        crate::setup::agent_binary()
    }

    pub(crate) fn agent_args(&self) -> &[String] {
        &self.args
    }

    /// The environment of the agent.
    pub fn environment(&self) -> &BTreeMap<String, String> {
        &self.environment
    }

    fn mark(&self) -> String {
        format!("{MARKER}={}", self.marker)
    }

    fn fill_environment(&mut self) {
        let home = self.home();
        self.set_env("PATH", &std::env::var("PATH").unwrap_or_default());
        self.set_env("HOME", home.to_str().expect("a path in UTF-8"));
        let folder = self.folder.path().to_owned();
        self.set_env("TMPDIR", folder.to_str().expect("a path in UTF-8"));
        self.set_env(MARKER, &self.marker.clone());
        let url = self.model.url();
        self.set_env("ANTHROPIC_BASE_URL", &url);
        self.set_env("ANTHROPIC_API_KEY", "test-key");
        self.set_env("CLAUDE_CODE_MAX_RETRIES", "0");
        self.set_env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
        if let Some(cli) = crate::setup::claude_cli() {
            self.set_env("CLAUDE_CODE_EXECUTABLE", cli.to_str().expect("a path in UTF-8"));
        }
        if self.backend == Backend::Rehearsal {
            self.args = vec!["--backend".into(), "rehearsal".into()];
        }
        write_settings(&home);
    }
}

impl Drop for World {
    fn drop(&mut self) {
        procs::kill_all(&self.mark());
    }
}

/// Sessions start by asking, whatever the CLI's own default is.
fn write_settings(home: &Path) {
    let folder = home.join(".claude");
    std::fs::create_dir(&folder).expect("a settings folder");
    std::fs::write(
        folder.join("settings.json"),
        r#"{"permissions":{"defaultMode":"default"}}"#,
    )
    .expect("a settings file");
}
