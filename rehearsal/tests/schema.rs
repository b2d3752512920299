//! The JSON schema of the script format says the same as the parser, about the scripts that there are and about those with
//! a mistake.
//!
//! The validator here knows just the keywords that the schema uses, and panics at any other.

#![expect(clippy::unwrap_used, clippy::panic, reason = "test code")]

#[path = "common/mistakes.rs"]
mod mistakes;

use std::path::Path;

use rehearsal::Script;
use rehearsal::script::{SCHEMA, VERSION};
use serde_json::{Map, Value, json};

fn schema() -> Value {
    serde_json::from_str(SCHEMA).unwrap()
}

/// Whether a value is what a schema, or a part of it, allows.
fn allows(root: &Value, schema: &Value, value: &Value) -> bool {
    let Some(keywords) = schema.as_object() else {
        return schema.as_bool().unwrap();
    };
    keywords.iter().all(|(keyword, wanted)| match keyword.as_str() {
        "$schema" | "$id" | "$defs" | "title" | "description" | "default" | "format" => true,
        "$ref" => allows(
            root,
            root.pointer(wanted.as_str().unwrap().trim_start_matches('#'))
                .unwrap(),
            value,
        ),
        "const" => value == wanted,
        "enum" => items(wanted).contains(value),
        "anyOf" => items(wanted).iter().any(|one| allows(root, one, value)),
        "oneOf" => {
            items(wanted)
                .iter()
                .filter(|one| allows(root, one, value))
                .count()
                == 1
        }
        "type" => match wanted {
            Value::Array(types) => types.iter().any(|one| is_of(one, value)),
            one => is_of(one, value),
        },
        "minimum" => integer(value).is_none_or(|number| number >= integer(wanted).unwrap()),
        "maximum" => integer(value).is_none_or(|number| number <= integer(wanted).unwrap()),
        "items" => value
            .as_array()
            .is_none_or(|items| items.iter().all(|item| allows(root, wanted, item))),
        "minItems" => value.as_array().is_none_or(|items| items.len() >= size(wanted)),
        "minProperties" => value
            .as_object()
            .is_none_or(|fields| fields.len() >= size(wanted)),
        "maxProperties" => value
            .as_object()
            .is_none_or(|fields| fields.len() <= size(wanted)),
        "required" => value.as_object().is_none_or(|fields| {
            items(wanted)
                .iter()
                .all(|key| fields.contains_key(key.as_str().unwrap()))
        }),
        "properties" => value.as_object().is_none_or(|fields| {
            let known = wanted.as_object().unwrap();
            fields
                .iter()
                .all(|(key, field)| known.get(key).is_none_or(|schema| allows(root, schema, field)))
        }),
        "additionalProperties" => {
            let known = keywords.get("properties").and_then(Value::as_object);
            let is_known = |key: &String| known.is_some_and(|known| known.contains_key(key));
            value.as_object().is_none_or(|fields| {
                let mut others = fields.iter().filter(|(key, _)| !is_known(key));
                others.all(|(_, field)| allows(root, wanted, field))
            })
        }
        other => panic!("the schema uses `{other}`, which this test does not know"),
    })
}

fn items(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn size(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

fn integer(value: &Value) -> Option<i128> {
    value
        .as_u64()
        .map(i128::from)
        .or_else(|| value.as_i64().map(i128::from))
}

fn is_of(kind: &Value, value: &Value) -> bool {
    match kind.as_str().unwrap() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => integer(value).is_some(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("the schema uses the type `{other}`, which this test does not know"),
    }
}

/// Every script of this crate: the built-in ones, the fixtures, and the example of the README.
fn scripts() -> Vec<(String, Value)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut scripts = Vec::new();
    for folder in ["scripts", "tests/fixtures/scripts"] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let script = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            scripts.push((path.display().to_string(), script));
        }
    }
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    let example = readme
        .split("```json")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .unwrap();
    scripts.push(("README.md".to_owned(), serde_json::from_str(example).unwrap()));
    assert!(scripts.len() > 35);
    scripts
}

fn parses(script: &Value) -> bool {
    Script::parse("test", &script.to_string()).is_ok()
}

#[test]
fn it_names_the_version_that_the_parser_reads() {
    let schema = schema();
    assert_eq!(schema["properties"]["version"]["const"], VERSION);
    assert!(schema["$id"].as_str().unwrap().ends_with(&format!(":{VERSION}")));
}

#[test]
fn every_script_is_allowed() {
    let schema = schema();
    for (name, script) in scripts() {
        assert!(allows(&schema, &schema, &script), "{name}");
        assert!(parses(&script), "{name}");
    }
}

#[test]
fn every_mistake_is_refused() {
    let schema = schema();
    let steps = mistakes::STEPS.iter().map(|steps| mistakes::with_steps(steps));
    let all = mistakes::SCRIPTS
        .iter()
        .map(|text| (*text).to_owned())
        .chain(steps);
    for text in all {
        assert!(Script::parse("test", &text).is_err(), "{text}");
        // What is no JSON needs no schema.
        if let Ok(script) = serde_json::from_str(&text) {
            assert!(!allows(&schema, &schema, &script), "{text}");
        }
    }
}

#[test]
fn a_script_may_name_its_schema() {
    let schema = schema();
    let script = json!({"$schema": "rehearsal.schema.json", "version": 1, "turns": []});
    assert!(allows(&schema, &schema, &script) && parses(&script));
}

/// What the parser refuses, the schema must not promise; and both must agree about every key.
#[test]
fn both_agree_about_every_small_change_of_every_script() {
    let schema = schema();
    let odd = [
        json!(null),
        json!(true),
        json!(-1),
        json!(1.5),
        json!(300),
        json!("odd"),
        json!([]),
        json!({}),
    ];
    let mut changes = 0;
    // The long ones say nothing here that the short ones do not.
    let short = scripts()
        .into_iter()
        .filter(|(_, script)| script.to_string().len() < 3000);
    for (name, script) in short {
        // Of Claude's own settings the schema says nothing; the parser checks them.
        let ours = |pointer: &String| !pointer.starts_with("/session/settings/");
        for pointer in places(&script).into_iter().filter(ours) {
            for value in &odd {
                let mut changed = script.clone();
                *changed.pointer_mut(&pointer).unwrap() = value.clone();
                let promised = allows(&schema, &schema, &changed);
                assert!(!promised || parses(&changed), "{name}: {pointer} = {value}");
                changes += 1;
            }
            for changed in without_or_renamed(&script, &pointer) {
                assert_eq!(
                    allows(&schema, &schema, &changed),
                    parses(&changed),
                    "{name}: the key at {pointer}"
                );
                changes += 1;
            }
        }
    }
    assert!(changes > 5000, "{changes}");
}

/// A pointer to every value within.
fn places(value: &Value) -> Vec<String> {
    let children: Vec<(String, &Value)> = match value {
        Value::Object(fields) => {
            let escaped = |key: &String| key.replace('~', "~0").replace('/', "~1");
            fields.iter().map(|(key, value)| (escaped(key), value)).collect()
        }
        Value::Array(items) => items
            .iter()
            .enumerate()
            .map(|(place, item)| (place.to_string(), item))
            .collect(),
        _ => Vec::new(),
    };
    let deeper = children.into_iter().flat_map(|(key, child)| {
        let within = places(child).into_iter().map(move |rest| rest.to_owned());
        let prefix = format!("/{key}");
        std::iter::once(prefix.clone()).chain(within.map(move |rest| format!("{prefix}{rest}")))
    });
    deeper.collect()
}

/// The script without the key that a pointer ends in, and with the key misspelt.
fn without_or_renamed(script: &Value, pointer: &str) -> Vec<Value> {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let change = |change: &dyn Fn(&mut Map<String, Value>)| {
        let mut changed = script.clone();
        change(changed.pointer_mut(parent).unwrap().as_object_mut()?);
        Some(changed)
    };
    let removed = change(&|fields| drop(fields.shift_remove(key)));
    let renamed = change(&|fields| {
        if let Some(value) = fields.shift_remove(key) {
            fields.insert(format!("{key}x"), value);
        }
    });
    removed.into_iter().chain(renamed).collect()
}
