//! Both stores by one contract, the files on disk, and the decoder on any bytes.

use std::{fs, os::unix::fs::PermissionsExt, path::Path, thread};

use claude_sdk_bridge::messages::ClaudeSessionId;
use permission_core::PermissionMode;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use super::*;

const ID: &str = "0b54a7c2-5a5e-4c8e-9f0a-6f6c1d1f7a11";

fn id(text: &str) -> SessionId {
    SessionId::new(text)
}

fn session(name: &str) -> SavedSession {
    SavedSession {
        session_id: id(name),
        cwd: PathBuf::from("/home/user/project"),
        claude: ClaudeIds::new(ClaudeSessionId::from("c1")),
        mode: Some(PermissionMode::Plan),
        options: Map::from_iter([
            ("model".to_owned(), json!("opus")),
            ("fast".to_owned(), json!(true)),
        ]),
        created_at: "2026-11-30T10:00:00Z".to_owned(),
        updated_at: "2026-11-30T10:05:00.5+01:00".to_owned(),
    }
}

/// A directory for sessions that does not exist yet.
fn files() -> (TempDir, FileStore) {
    let root = tempfile::tempdir().unwrap();
    let store = FileStore::new(root.path().join("state/claude-acp/sessions"));
    (root, store)
}

fn path_in(root: &TempDir, name: &str) -> PathBuf {
    root.path().join("state/claude-acp/sessions").join(name)
}

fn mode_of(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// Puts a file where session [`ID`] is kept.
fn put(root: &TempDir, content: &[u8]) -> PathBuf {
    let path = path_in(root, &format!("{ID}.json"));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, content).unwrap();
    path
}

fn minimal() -> Value {
    json!({"version": 1, "sessionId": ID, "cwd": "/p", "claude": {"current": "c1"},
        "createdAt": "2026-11-30T10:00:00Z", "updatedAt": "2026-11-30T10:00:00Z"})
}

fn decode(value: &Value) -> Result<SavedSession, BadRecord> {
    saved::decode(value.to_string().as_bytes(), &id(ID))
}

#[test]
fn what_is_saved_is_loaded_until_it_is_removed() {
    let (_root, files) = files();
    let stores: [&dyn Store; 2] = [&files, &MemoryStore::default()];
    for store in stores {
        assert_eq!(store.load(&id(ID)).unwrap(), None);
        store.remove(&id(ID)).unwrap();
        let mut saved = session(ID);
        store.save(&id(ID), &saved).unwrap();
        store.save(&id("other_1"), &session("other_1")).unwrap();
        assert_eq!(store.load(&id(ID)).unwrap(), Some(saved.clone()));
        saved.mode = None;
        saved.options.clear();
        saved.claude.move_to(ClaudeSessionId::from("c2"));
        store.save(&id(ID), &saved).unwrap();
        assert_eq!(store.load(&id(ID)).unwrap(), Some(saved));
        store.remove(&id(ID)).unwrap();
        assert_eq!(store.load(&id(ID)).unwrap(), None);
        assert_eq!(store.load(&id("other_1")).unwrap(), Some(session("other_1")));
        let error = store.save(&id(ID), &session("other_1")).unwrap_err();
        assert!(matches!(error, StoreError::OtherSession { .. }), "{error}");
        assert_eq!(store.load(&id(ID)).unwrap(), None);
    }
}

#[test]
fn conversations_are_listed_once_oldest_first() {
    let mut ids = ClaudeIds::new(ClaudeSessionId::from("a"));
    for next in ["a", "b", "c", "a", "a", "d"] {
        ids.move_to(ClaudeSessionId::from(next));
    }
    assert_eq!(
        serde_json::to_value(&ids).unwrap(),
        json!({"current": "d", "earlier": ["b", "c", "a"]})
    );
}

#[test]
fn only_the_user_can_read_what_is_saved() {
    let (root, store) = files();
    store.save(&id(ID), &session(ID)).unwrap();
    for (name, mode) in [
        ("", 0o700),
        ("..", 0o700),
        ("0b54a7c2-5a5e-4c8e-9f0a-6f6c1d1f7a11.json", 0o600),
    ] {
        assert_eq!(mode_of(&path_in(&root, name)), mode, "{name}");
    }
    // Nothing else is left behind.
    assert_eq!(fs::read_dir(path_in(&root, "")).unwrap().count(), 1);
}

#[test]
fn the_file_says_what_it_is() {
    let (root, store) = files();
    store.save(&id(ID), &session(ID)).unwrap();
    let text = fs::read_to_string(path_in(&root, &format!("{ID}.json"))).unwrap();
    let expected = json!({"version": 1, "sessionId": ID, "cwd": "/home/user/project", "claude": {"current": "c1"}, "mode": "plan",
        "options": {"model": "opus", "fast": true}, "createdAt": "2026-11-30T10:00:00Z", "updatedAt": "2026-11-30T10:05:00.5+01:00"});
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), expected);
}

#[test]
fn no_id_leads_out_of_the_directory() {
    let (root, store) = files();
    fs::create_dir_all(path_in(&root, "")).unwrap();
    let outside = root.path().join("state/claude-acp/outside.json");
    fs::write(&outside, "{}").unwrap();
    let long = "a".repeat(129);
    for name in [
        "",
        ".",
        "..",
        "../outside",
        "/etc/passwd",
        "a/b",
        "a\\b",
        "a.b",
        "a\0b",
        "a b",
        "ä",
        "a\n",
        &long,
    ] {
        let errors = [
            store.load(&id(name)).unwrap_err(),
            store.save(&id(name), &session(name)).unwrap_err(),
            store.remove(&id(name)).unwrap_err(),
        ];
        for error in errors {
            assert!(matches!(error, StoreError::UnusableId(_)), "{name:?}: {error}");
        }
    }
    assert_eq!(fs::read_to_string(outside).unwrap(), "{}");
    assert_eq!(fs::read_dir(path_in(&root, "")).unwrap().count(), 0);
    let longest = "a".repeat(128);
    store.save(&id(&longest), &session(&longest)).unwrap();
}

#[test]
fn broken_files_are_errors_and_are_replaced_by_the_next_save() {
    let newer = minimal().to_string().replace("\"version\":1", "\"version\":2");
    let other = minimal().to_string().replace(ID, "other");
    let long = format!("{}{}", minimal(), " ".repeat(saved::MAX_BYTES));
    for (content, says) in [
        ("", "EOF"),
        ("{\"version\": 1", "EOF"),
        ("{}", "no version"),
        ("[1]", "no version"),
        ("{\"version\": \"1\"}", "no version"),
        ("{\"version\": 0}", "no version"),
        ("{\"version\": 1}", "missing field `sessionId`"),
        (newer.as_str(), "version 2 is of a newer claude-acp"),
        (other.as_str(), "it is session `other`"),
        (long.as_str(), "larger than"),
    ] {
        let (root, store) = files();
        let path = put(&root, content.as_bytes());
        let error = store.load(&id(ID)).unwrap_err();
        assert!(matches!(error, StoreError::Record { .. }), "{error}");
        let text = error.to_string();
        assert!(
            text.contains(says) && text.contains(path.to_str().unwrap()),
            "{text}"
        );
        store.save(&id(ID), &session(ID)).unwrap();
        assert_eq!(store.load(&id(ID)).unwrap(), Some(session(ID)));
    }
}

#[test]
fn what_is_no_file_is_an_error() {
    let (root, store) = files();
    let path = path_in(&root, &format!("{ID}.json"));
    fs::create_dir_all(&path).unwrap();
    let error = store.load(&id(ID)).unwrap_err();
    assert!(matches!(error, StoreError::Read { .. }), "{error}");
    let error = store.save(&id(ID), &session(ID)).unwrap_err();
    assert!(matches!(error, StoreError::Write { .. }), "{error}");
    let error = store.remove(&id(ID)).unwrap_err();
    assert!(matches!(error, StoreError::Remove { .. }), "{error}");
    assert_eq!(
        fs::read_dir(path_in(&root, "")).unwrap().count(),
        1,
        "a failed save leaves nothing behind"
    );
    let blocked = FileStore::new(root.path().join("file/sessions"));
    fs::write(root.path().join("file"), "").unwrap();
    let error = blocked.save(&id(ID), &session(ID)).unwrap_err();
    assert!(matches!(error, StoreError::Write { .. }), "{error}");
}

#[test]
fn a_session_too_large_to_load_is_not_saved() {
    let (_root, store) = files();
    store.save(&id(ID), &session(ID)).unwrap();
    let mut large = session(ID);
    large
        .options
        .insert("x".to_owned(), json!("x".repeat(saved::MAX_BYTES)));
    let error = store.save(&id(ID), &large).unwrap_err();
    assert!(matches!(error, StoreError::Unsaveable { .. }), "{error}");
    assert_eq!(store.load(&id(ID)).unwrap(), Some(session(ID)));
}

#[test]
fn fields_of_later_releases_and_unknown_choices_cost_only_themselves() {
    let expected = decode(&minimal()).unwrap();
    assert_eq!((expected.mode, expected.options.len()), (None, 0));
    for (key, value) in [
        ("later", json!({"a": [1]})),
        ("mode", json!("someday")),
        ("mode", json!(7)),
        ("mode", json!(null)),
        ("options", json!(null)),
        ("options", json!([1])),
    ] {
        let mut record = minimal();
        record[key] = value.clone();
        assert_eq!(decode(&record).unwrap(), expected, "{key}: {value}");
    }
    let mut record = minimal();
    record["claude"]["later"] = json!(1);
    assert_eq!(decode(&record).unwrap(), expected);
}

#[test]
fn of_two_agents_the_last_save_wins_and_no_reader_sees_a_part() {
    let (_root, store) = files();
    let versions: Vec<SavedSession> = (0..2)
        .map(|writer| {
            let mut session = session(ID);
            session.claude = ClaudeIds::new(ClaudeSessionId::from(
                format!("{writer}").repeat(5_000 + 5_000 * writer),
            ));
            session
        })
        .collect();
    store.save(&id(ID), &versions[0]).unwrap();
    thread::scope(|scope| {
        for version in &versions {
            let store = &store;
            scope.spawn(move || (0..100).for_each(|_| store.save(&id(ID), version).unwrap()));
        }
        for _ in 0..200 {
            let loaded = store.load(&id(ID)).unwrap().unwrap();
            assert!(versions.contains(&loaded));
        }
    });
    store.save(&id(ID), &versions[1]).unwrap();
    assert_eq!(store.load(&id(ID)).unwrap().as_ref(), Some(&versions[1]));
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map(".{0,6}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn no_bytes_make_the_decoder_panic(bytes in prop::collection::vec(any::<u8>(), 0..512)) {
        prop_assert!(saved::decode(&bytes, &id(ID)).is_err());
    }

    #[test]
    fn a_field_of_any_shape_is_read_or_refused(
        key in prop::sample::select(vec!["version", "sessionId", "cwd", "claude", "mode", "options", "createdAt", "updatedAt", "later"]),
        value in any_json(),
    ) {
        let mut record = minimal();
        record[key] = value;
        if let Ok(session) = decode(&record) {
            prop_assert_eq!(session.session_id, id(ID));
        }
    }

    #[test]
    fn a_torn_file_is_refused(cut in any::<prop::sample::Index>()) {
        let bytes = saved::encode(&session(ID)).unwrap();
        // The last two bytes are the closing brace and the line end.
        let part = &bytes[..cut.index(bytes.len() - 2)];
        prop_assert!(saved::decode(part, &id(ID)).is_err());
    }

    #[test]
    fn what_is_encoded_decodes_to_itself(
        current in ".{0,20}", earlier in prop::collection::vec(".{0,20}", 0..4),
        mode in prop::option::of(prop::sample::select(PermissionMode::ALL.to_vec())),
        options in prop::collection::hash_map(".{0,6}", any_json(), 0..4), created in ".{0,20}",
    ) {
        let mut saved = session(ID);
        saved.claude = ClaudeIds::new(ClaudeSessionId::from(current));
        earlier.into_iter().for_each(|id| saved.claude.move_to(ClaudeSessionId::from(id)));
        (saved.mode, saved.options, saved.created_at) = (mode, options.into_iter().collect(), created);
        let bytes = saved::encode(&saved).unwrap();
        prop_assert_eq!(saved::decode(&bytes, &id(ID)).unwrap(), saved);
    }
}
