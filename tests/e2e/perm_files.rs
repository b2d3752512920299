//! Files: grants for the session that cover the file at hand, in the project, outside it and among Claude's own.

use e2e_tests::harness::{World, allow_once, no_questions};
use e2e_tests::model::{Reply, text, tool};
use serde_json::json;

use crate::case::{Case, cases};
use crate::perm_support::{assert_once_only, close, label, local_rules, project_file, select};
use crate::support::open;

pub(crate) fn cases() -> Vec<Case> {
    cases![Claude, Stdio:
        writing_in_the_project_turns_on_accepted_edits,
        writing_outside_the_project_names_its_folder_and_the_mode,
        editing_claudes_own_files_can_only_be_allowed_once,
        writing_what_is_asked_about_in_every_mode_can_only_be_allowed_once,
        reading_outside_the_project_allows_its_folder,
    ]
}

fn write(id: &str, file: &std::path::Path) -> Reply {
    tool(id, "Write", json!({"file_path": file, "content": "written\n"}))
}

fn writing_in_the_project_turns_on_accepted_edits(world: &mut World) {
    let (first, second) = (world.project().join("1.txt"), world.project().join("2.txt"));
    world.model().script([
        write("toolu_1", &first),
        write("toolu_2", &second),
        text("written"),
    ]);
    let (_agent, mut client, session) = open(world);
    let mut turn = client.prompt(&session, "write", select("allow-with-updates"));
    let [request] = turn.questions() else {
        panic!("the second call is asked about: {:?}", turn.questions())
    };
    assert_eq!(
        label(request, "allow-with-updates"),
        "Yes, and for this session turn on Accept edits"
    );
    assert_eq!(
        turn.take("current_mode_update")[0]["currentModeId"],
        "acceptEdits"
    );
    turn.ignore("config_option_update");
    for (id, file) in [("toolu_1", first), ("toolu_2", second)] {
        assert_eq!(turn.tool(id).status(), "completed");
        assert!(file.exists());
    }
    assert_eq!(turn.text(), "written");
    close(&mut client, &session);
    assert!(local_rules(world).is_empty(), "it is for the session only");
}

fn writing_outside_the_project_names_its_folder_and_the_mode(world: &mut World) {
    let folder = world.path("outside");
    std::fs::create_dir(&folder).unwrap();
    let (first, second) = (folder.join("1.txt"), folder.join("2.txt"));
    world.model().script([
        write("toolu_1", &first),
        text("written"),
        write("toolu_2", &second),
        text("written again"),
    ]);
    let (_agent, mut client, session) = open(world);
    let mut turn = client.prompt(&session, "write", select("allow-with-updates"));
    let [request] = turn.questions() else {
        panic!("one question: {:?}", turn.questions())
    };
    assert_eq!(
        label(request, "allow-with-updates"),
        format!(
            "Yes, and for this session allow access to {} and turn on Accept edits",
            folder.display()
        )
    );
    assert_eq!(turn.tool("toolu_1").status(), "completed");
    assert_eq!(
        turn.take("current_mode_update")[0]["currentModeId"],
        "acceptEdits"
    );
    turn.ignore("config_option_update");
    assert_eq!(turn.text(), "written");
    let mut turn = client.prompt(&session, "write", no_questions);
    assert_eq!(turn.tool("toolu_2").status(), "completed");
    assert_eq!(turn.text(), "written again");
}

/// All that Claude suggests here is the mode that accepts edits, which does not stop it from asking about these.
fn editing_claudes_own_files_can_only_be_allowed_once(world: &mut World) {
    project_file(world, ".claude/commands/greet.md", "one\n");
    project_file(world, ".claude/settings.json", "{}\n");
    let command = world.project().join(".claude/commands/greet.md");
    let settings = world.project().join(".claude/settings.json");
    let edit = json!({"file_path": command, "old_string": "one", "new_string": "two"});
    let again = json!({"file_path": command, "old_string": "two", "new_string": "three"});
    let write = json!({"file_path": settings, "content": "{\"model\": \"opus\"}\n"});
    world.model().script([
        tool("toolu_0", "Read", json!({"file_path": command})),
        tool("toolu_1", "Edit", edit),
        tool("toolu_2", "Edit", again),
        tool("toolu_3", "Read", json!({"file_path": settings})),
        tool("toolu_4", "Write", write),
        text("edited"),
    ]);
    let (_agent, mut client, session) = open(world);
    let mut turn = client.prompt(&session, "edit", allow_once);
    let asked: Vec<_> = turn
        .questions()
        .iter()
        .map(|q| &q["toolCall"]["toolCallId"])
        .collect();
    assert_eq!(asked, ["toolu_1", "toolu_2", "toolu_4"]);
    for request in turn.questions() {
        assert_once_only(request);
        let description = request["_meta"]["permission"]["description"].as_str();
        assert!(description.unwrap().starts_with("Reason: "), "{request}");
    }
    for id in ["toolu_0", "toolu_1", "toolu_2", "toolu_3", "toolu_4"] {
        assert_eq!(turn.tool(id).status(), "completed");
    }
    // Claude looks at its commands again, sooner or later.
    turn.ignore("available_commands_update");
    assert_eq!(turn.text(), "edited");
    assert_eq!(std::fs::read_to_string(command).unwrap(), "three\n");
    // Claude lists the changed command anew, before or after the turn's end.
    turn.ignore_rest();
}

/// Accept edits does not help here: with it, Claude asks about these just the same.
fn writing_what_is_asked_about_in_every_mode_can_only_be_allowed_once(world: &mut World) {
    let sensitive = [
        ".git/x",
        ".vscode/x",
        ".idea/x",
        ".mcp.json",
        ".gitmodules",
        ".npmrc",
        "sub/.git/x",
    ];
    let project = sensitive.iter().map(|path| world.project().join(path));
    let home = [".bashrc", ".gitconfig"].map(|path| world.home().join(path));
    let files: Vec<_> = project.chain(home).collect();
    let calls = files.iter().enumerate();
    let calls = calls.map(|(n, file)| write(&format!("toolu_{n}"), file));
    world.model().script(calls.chain([text("written")]));
    let (_agent, mut client, session) = open(world);
    let turn = client.prompt(&session, "write", allow_once);
    assert_eq!(turn.questions().len(), files.len());
    turn.questions().iter().for_each(assert_once_only);
    turn.ignore_rest();
}

fn reading_outside_the_project_allows_its_folder(world: &mut World) {
    let folder = world.path("outside");
    std::fs::create_dir(&folder).unwrap();
    let read = |id: &str, name: &str| {
        std::fs::write(folder.join(name), "text\n").unwrap();
        tool(id, "Read", json!({"file_path": folder.join(name)}))
    };
    world
        .model()
        .script([read("toolu_1", "1.txt"), read("toolu_2", "2.txt"), text("read")]);
    let (_agent, mut client, session) = open(world);
    let mut turn = client.prompt(&session, "read", select("allow-with-updates"));
    let [request] = turn.questions() else {
        panic!("the second call is asked about: {:?}", turn.questions())
    };
    assert_eq!(
        label(request, "allow-with-updates"),
        format!("Yes, and for this session allow reading {}/**", folder.display())
    );
    for id in ["toolu_1", "toolu_2"] {
        assert_eq!(turn.tool(id).status(), "completed");
    }
    assert_eq!(turn.text(), "read");
    close(&mut client, &session);
    assert!(local_rules(world).is_empty(), "it is for the session only");
}
