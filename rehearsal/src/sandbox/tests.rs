//! What each tool does in a sandbox, and what its settings files keep. Commands are run for real, within bounds.

use std::time::Duration;

use permission_core::pipeline::hooks::{HookCommand, HookRun};
use permission_core::settings::{Origin, SettingsSource};
use permission_core::{PermissionBehavior, PermissionDestination, PermissionRule, PermissionUpdate};
use serde_json::{Map, Value, json};

use super::*;
use crate::engine::ToolOutput;

const LIMIT: Duration = Duration::from_secs(60);

struct World {
    ground: Arc<dyn Ground>,
    seed: Seed,
    sandboxes: Sandboxes,
}

impl World {
    fn new() -> Self {
        Self::with(json!({}))
    }

    fn with(settings: Value) -> Self {
        let files = [
            ("a.txt", "one\ntwo\nthree\n"),
            ("src/b.rs", "fn two() {}\n"),
            ("~/note.md", "hi"),
        ];
        let files = files.map(|(path, text)| (path.to_owned(), text.to_owned()));
        let Value::Object(settings) = settings else {
            panic!()
        };
        let seed = Seed {
            files: files.into(),
            settings,
        };
        let sandboxes = Sandboxes::private();
        let ground = sandboxes.open(&seed).unwrap();
        ground.lay_out(&seed).unwrap();
        Self {
            ground,
            seed,
            sandboxes,
        }
    }

    async fn run(&self, name: &str, input: Value) -> ToolOutput {
        let Value::Object(mut input) = input else { panic!() };
        self.ground.places().fill_fields(&mut input);
        let job = Job::Tool {
            name: name.to_owned(),
            input,
        };
        match tokio::time::timeout(LIMIT, self.ground.begin(job)).await.unwrap() {
            Done::Tool(output) => output,
            Done::Hook(run) => panic!("{run:?}"),
        }
    }

    /// Runs a tool; gives what the model reads, with the places as scripts write them.
    async fn said(&self, name: &str, input: Value) -> String {
        let output = self.run(name, input).await;
        let mark = if output.is_error { "error: " } else { "" };
        self.hide(&format!("{mark}{}", output.text))
    }

    fn hide(&self, text: &str) -> String {
        let places = self.ground.places();
        text.replace(&places.project, "{project}")
            .replace(&places.home, "{home}")
    }

    fn file(&self, path: &str) -> String {
        let file = Path::new(&self.ground.places().project).join(path);
        std::fs::read_to_string(file).unwrap()
    }
}

#[tokio::test]
async fn read_numbers_the_lines() {
    let world = World::new();
    let rows = [
        (json!({"file_path": "a.txt"}), "1\tone\n2\ttwo\n3\tthree\n4\t"),
        (
            json!({"file_path": "{project}/a.txt", "offset": 2, "limit": 1}),
            "2\ttwo",
        ),
        (json!({"file_path": "~/note.md"}), "1\thi"),
        (json!({"file_path": "{home}/note.md"}), "1\thi"),
        (
            json!({"file_path": "a.txt", "offset": 9}),
            "error: The file has only 4 lines.",
        ),
        (json!({"file_path": "src"}), "error: This is not a file."),
        (
            json!({"file_path": "none"}),
            "error: File does not exist. Note: your current working directory is {project}.",
        ),
    ];
    for (input, expected) in rows {
        assert_eq!(world.said("Read", input.clone()).await, expected, "{input}");
    }
    let structured = world
        .run("Read", json!({"file_path": "a.txt", "limit": 2}))
        .await
        .structured;
    assert_eq!(
        structured["file"],
        json!({"filePath": "a.txt", "content": "one\ntwo", "numLines": 2, "startLine": 1, "totalLines": 4})
    );
}

#[tokio::test]
async fn write_makes_and_replaces_files() {
    let world = World::new();
    let made = world
        .run("Write", json!({"file_path": "new/c.txt", "content": "x\n"}))
        .await;
    assert_eq!(made.text, "File created successfully at: new/c.txt");
    assert_eq!(
        (&made.structured["type"], &made.structured["originalFile"]),
        (&json!("create"), &Value::Null)
    );
    let replaced = world
        .run("Write", json!({"file_path": "new/c.txt", "content": "y\n"}))
        .await;
    assert_eq!(replaced.text, "The file new/c.txt has been updated successfully.");
    assert_eq!(
        (&replaced.structured["type"], &replaced.structured["originalFile"]),
        (&json!("update"), &json!("x\n"))
    );
    assert_eq!(
        replaced.structured["structuredPatch"][0]["lines"],
        json!(["-x", "+y"])
    );
    assert_eq!(world.file("new/c.txt"), "y\n");
}

#[tokio::test]
async fn what_is_no_file_is_neither_read_nor_written() {
    let world = World::new();
    world.run("Bash", json!({"command": "mkfifo pipe"})).await;
    let said = world
        .said("Write", json!({"file_path": "pipe", "content": "x"}))
        .await;
    assert_eq!(said, "error: This is not a file.");
    assert_eq!(
        world.said("Read", json!({"file_path": "pipe"})).await,
        "error: This is not a file."
    );
    let found = world.said("Grep", json!({"pattern": "x", "path": "pipe"})).await;
    assert_eq!(found, "error: Directory does not exist: {project}/pipe");
}

#[tokio::test]
async fn edit_replaces_what_is_there_once_or_all_of_it() {
    let world = World::new();
    let edit = |old: &str, new: &str, all: bool| json!({"file_path": "a.txt", "old_string": old, "new_string": new, "replace_all": all});
    let edited = world.run("Edit", edit("two", "2", false)).await;
    assert_eq!(edited.text, "The file a.txt has been updated successfully.");
    assert_eq!(edited.structured["originalFile"], "one\ntwo\nthree\n");
    assert_eq!(
        edited.structured["structuredPatch"][0]["lines"],
        json!([" one", "-two", "+2", " three"])
    );
    assert_eq!(world.file("a.txt"), "one\n2\nthree\n");
    assert!(
        world
            .said("Edit", edit("e", "E", false))
            .await
            .starts_with("error: Found 3 matches")
    );
    world.run("Edit", edit("e", "E", true)).await;
    assert_eq!(world.file("a.txt"), "onE\n2\nthrEE\n");
    assert!(
        world
            .said("Edit", edit("zzz", "x", true))
            .await
            .starts_with("error: String to replace not found")
    );
}

#[tokio::test]
async fn glob_finds_files_by_name() {
    let world = World::new();
    let rows = [
        (json!({"pattern": "*.txt"}), "{project}/a.txt"),
        (json!({"pattern": "**/*"}), "{project}/a.txt\n{project}/src/b.rs"),
        (json!({"pattern": "src/*.rs"}), "{project}/src/b.rs"),
        (json!({"pattern": "*.rs", "path": "src"}), "{project}/src/b.rs"),
        (json!({"pattern": "{project}/src/*"}), "{project}/src/b.rs"),
        (json!({"pattern": "a.txt"}), "{project}/a.txt"),
        (json!({"pattern": "*.md"}), "No files found"),
        (json!({"pattern": "*.md", "path": "{home}"}), "{home}/note.md"),
        (
            json!({"pattern": "*", "path": "none"}),
            "error: Directory does not exist: {project}/none",
        ),
    ];
    for (input, expected) in rows {
        assert_eq!(world.said("Glob", input.clone()).await, expected, "{input}");
    }
}

#[tokio::test]
async fn grep_finds_lines_and_files() {
    let world = World::new();
    let rows = [
        (
            json!({"pattern": "two"}),
            "Found 2 files\n{project}/a.txt\n{project}/src/b.rs",
        ),
        (json!({"pattern": "TWO"}), "No files found"),
        (
            json!({"pattern": "TWO", "-i": true, "glob": "*.rs"}),
            "Found 1 file\n{project}/src/b.rs",
        ),
        (
            json!({"pattern": "^t", "output_mode": "content"}),
            "{project}/a.txt:2:two\n{project}/a.txt:3:three",
        ),
        (
            json!({"pattern": "^t", "output_mode": "content", "head_limit": 1}),
            "{project}/a.txt:2:two",
        ),
        (
            json!({"pattern": "e", "output_mode": "count"}),
            "{project}/a.txt:2",
        ),
        (
            json!({"pattern": "two", "path": "src"}),
            "Found 1 file\n{project}/src/b.rs",
        ),
        (
            json!({"pattern": "two", "path": "a.txt", "output_mode": "count"}),
            "{project}/a.txt:1",
        ),
    ];
    for (input, expected) in rows {
        assert_eq!(world.said("Grep", input.clone()).await, expected, "{input}");
    }
}

#[tokio::test]
async fn bash_runs_in_the_project_with_next_to_no_environment() {
    let world = World::new();
    let rows = [
        ("pwd", "{project}"),
        ("echo $HOME", "{home}"),
        ("true", "(Bash completed with no output)"),
        ("echo out; echo err >&2", "out\nerr"),
        ("echo no >&2; exit 3", "error: Exit code 3\nno"),
        ("kill -9 $$", "error: The command was ended by signal 9"),
        (
            "env | cut -d= -f1 | grep -v '^_$\\|^CLAUDE_ACP_' | sort | tr '\\n' ' '",
            "CLAUDE_PROJECT_DIR HOME PATH PWD SHLVL",
        ),
        ("echo x > made; cat made", "x"),
    ];
    for (command, expected) in rows {
        assert_eq!(
            world.said("Bash", json!({ "command": command })).await,
            expected,
            "{command}"
        );
    }
    let slow = json!({"command": "echo begun; sleep 600", "timeout": 1000});
    assert_eq!(
        world.said("Bash", slow).await,
        "error: Command timed out after 1000 ms\nbegun"
    );
    let much = world.run("Bash", json!({"command": "yes"})).await;
    assert!(
        much.is_error && much.text.contains("wrote more than"),
        "{}",
        much.text.len()
    );
    let long = world
        .run(
            "Bash",
            json!({"command": "head -c 100000 /dev/zero | tr '\\0' x"}),
        )
        .await;
    assert!(!long.is_error && long.text.ends_with("… (shortened)"));
}

#[tokio::test]
async fn a_job_that_is_dropped_takes_its_processes_along() {
    let world = World::new();
    let input = Map::from_iter([(
        "command".to_owned(),
        json!("sleep 600 & echo $! > pid; sync; wait"),
    )]);
    let mut job = world.ground.begin(Job::Tool {
        name: "Bash".to_owned(),
        input,
    });
    let pid = Path::new(&world.ground.places().project).join("pid");
    let written = || std::fs::read_to_string(&pid).is_ok_and(|text| text.ends_with('\n'));
    let until_written = async {
        while !written() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::select! {
        done = &mut job => panic!("{done:?}"),
        () = until_written => {}
        () = tokio::time::sleep(LIMIT) => panic!("it has not begun"),
    }
    let pid = std::fs::read_to_string(&pid).unwrap().trim().to_owned();
    drop(job);
    let gone = async {
        let running = Path::new("/proc").join(&pid).join("stat");
        let alive = || std::fs::read_to_string(&running).is_ok_and(|stat| !stat.contains(") Z"));
        while alive() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(LIMIT, gone)
        .await
        .expect("the process is still there");
}

#[tokio::test]
async fn a_hook_reads_the_call_in_the_sandbox() {
    let world = World::new();
    let hook = |command: &str| HookCommand {
        command: Some(command.to_owned()),
        timeout: LIMIT,
        origin: Origin {
            source: SettingsSource::Project,
            file: Path::new("settings.json").into(),
            line: 1,
        },
    };
    let run = |command: &str| {
        world.ground.begin(Job::Hook {
            hook: Arc::new(hook(command)),
            payload: json!({"tool_name": "Bash"}),
        })
    };
    let Done::Hook(HookRun::Exited { code, stdout, .. }) = run("cat; pwd; echo $HOME; exit 2").await else {
        panic!("it has not exited");
    };
    let said = world.hide(&String::from_utf8(stdout).unwrap());
    assert_eq!(
        (code, said.as_str()),
        (2, "{\"tool_name\":\"Bash\"}{project}\n{home}\n")
    );
}

fn rule(text: &str) -> Vec<PermissionRule> {
    vec![PermissionRule::with_content("Bash", text)]
}

#[test]
fn a_settings_file_keeps_what_else_stands_in_it() {
    let world =
        World::with(json!({"model": "opus", "permissions": {"allow": ["Read"], "odd": 1}, "hooks": {}}));
    let (behavior, destination) = (PermissionBehavior::Allow, PermissionDestination::ProjectSettings);
    let change = |update: PermissionUpdate| world.ground.change(SettingsSource::Project, &update).unwrap();
    for _ in 0..2 {
        change(PermissionUpdate::AddRules {
            rules: rule("echo (a)"),
            behavior,
            destination,
        });
    }
    change(PermissionUpdate::AddDirectories {
        directories: vec!["../x".to_owned()],
        destination,
    });
    let settings =
        |world: &World| -> Value { serde_json::from_str(&world.file(".claude/settings.json")).unwrap() };
    assert_eq!(
        settings(&world),
        json!({"model": "opus", "hooks": {}, "permissions": {
            "allow": ["Read", r"Bash(echo \(a\))"], "odd": 1, "additionalDirectories": ["../x"],
        }})
    );
    change(PermissionUpdate::RemoveRules {
        rules: rule("echo (a)"),
        behavior,
        destination,
    });
    change(PermissionUpdate::RemoveDirectories {
        directories: vec!["../x".to_owned()],
        destination,
    });
    change(PermissionUpdate::SetMode {
        mode: permission_core::PermissionMode::Plan,
        destination,
    });
    change(PermissionUpdate::ReplaceRules {
        rules: rule("ls"),
        behavior: PermissionBehavior::Deny,
        destination,
    });
    assert_eq!(
        settings(&world)["permissions"],
        json!({"allow": ["Read"], "odd": 1, "additionalDirectories": [], "defaultMode": "plan", "deny": ["Bash(ls)"]})
    );
}

#[test]
fn a_broken_settings_file_is_left_alone() {
    let world = World::new();
    let file = Path::new(&world.ground.places().project).join(".claude/settings.local.json");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, "{oops").unwrap();
    let update = PermissionUpdate::AddRules {
        rules: rule("ls"),
        behavior: PermissionBehavior::Allow,
        destination: PermissionDestination::LocalSettings,
    };
    let refused = world.ground.change(SettingsSource::Local, &update).unwrap_err();
    assert!(refused.contains("was not changed: it is not valid"), "{refused}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "{oops");
}

#[test]
fn a_sandbox_is_private_and_goes_with_its_users() {
    let world = World::new();
    let root = PathBuf::from(&world.ground.places().root);
    let mode = std::fs::metadata(&root).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    let again = world.sandboxes.open(&world.seed).unwrap();
    assert_eq!(again.places(), world.ground.places());
    let other = world.sandboxes.open(&Seed::default()).unwrap();
    assert_ne!(other.places(), world.ground.places());
    drop(again);
    drop(world);
    assert!(!root.exists());
}
