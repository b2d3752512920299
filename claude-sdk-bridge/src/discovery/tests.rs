//! Tests of discovery in folders made for them; nothing of the machine they run on is looked at.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

use tempfile::TempDir;

use super::*;

/// A machine with nothing on it.
struct Machine {
    root: TempDir,
}

impl Machine {
    fn new() -> Self {
        Machine {
            root: tempfile::tempdir().unwrap(),
        }
    }

    fn at(&self, place: &str) -> PathBuf {
        self.root.path().join(place)
    }

    fn write(&self, place: &str, content: &[u8], mode: u32) -> PathBuf {
        let file = self.at(place);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, content).unwrap();
        fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
        file
    }

    fn claude(&self, place: &str) -> PathBuf {
        self.write(place, b"any program", 0o755)
    }

    fn surroundings(&self) -> Surroundings {
        Surroundings {
            explicit: None,
            own_executable: Some(self.write("app/claude-acp", b"us", 0o755)),
            path: Some(std::env::join_paths([self.at("path/a"), self.at("path/b")]).unwrap()),
            home: Some(self.at("home")),
            npm_prefix: Some(self.at("npm")),
            system_prefixes: vec![self.at("usr/local"), self.at("usr")],
        }
    }

    fn found(&self) -> PathBuf {
        discover(&self.surroundings()).unwrap()
    }

    /// A message with the machine's root cut out.
    fn shown(&self, error: &DiscoveryError) -> String {
        error
            .to_string()
            .replace(&self.root.path().display().to_string(), "")
    }
}

fn platform_package() -> String {
    let os = if cfg!(target_os = "macos") {
        "darwin"
    } else {
        std::env::consts::OS
    };
    let arch = if cfg!(target_arch = "x86_64") {
        "x64"
    } else {
        "arm64"
    };
    format!("@anthropic-ai/claude-agent-sdk-{os}-{arch}/claude")
}

#[test]
fn every_usual_place_is_found_and_an_earlier_one_wins() {
    let machine = Machine::new();
    let package = platform_package();
    let places = [
        format!("usr/lib/node_modules/{package}"),
        "usr/bin/claude".to_owned(),
        format!("usr/local/lib/node_modules/{package}"),
        "usr/local/bin/claude".to_owned(),
        "npm/bin/claude".to_owned(),
        format!("home/node_modules/{package}"),
        "home/.npm-global/bin/claude".to_owned(),
        "home/.claude/local/claude".to_owned(),
        "home/.local/bin/claude".to_owned(),
        "path/b/claude".to_owned(),
        "path/a/claude".to_owned(),
        format!("app/node_modules/{package}"),
        "app/claude".to_owned(),
    ];
    for place in places {
        let claude = machine.claude(&place);
        assert_eq!(machine.found(), claude, "{place}");
    }
}

#[test]
fn the_one_the_user_names_wins_over_all_others() {
    let machine = Machine::new();
    machine.claude("app/claude");
    let named = machine.claude("elsewhere/my-claude");
    let surroundings = Surroundings {
        explicit: Some(named.clone().into()),
        ..machine.surroundings()
    };
    assert_eq!(discover(&surroundings), Ok(named));
}

#[test]
fn an_unusable_one_the_user_names_is_an_error_although_another_is_there() {
    let machine = Machine::new();
    machine.claude("app/claude");
    machine.write("plain", b"text", 0o644);
    let cases = [
        (machine.at("missing"), "does not exist"),
        (machine.at("plain/below"), "does not exist"),
        (machine.at("app"), "is a directory"),
        (machine.at("plain"), "is not executable"),
        (PathBuf::from("claude"), "is not an absolute path"),
        (PathBuf::from("/dev/null"), "is not a regular file"),
    ];
    for (path, reason) in cases {
        let surroundings = Surroundings {
            explicit: Some(path.clone().into()),
            ..machine.surroundings()
        };
        let message = discover(&surroundings).unwrap_err().to_string();
        let path = path.display();
        let advice = "correct it, or unset it to search for `claude`";
        assert_eq!(
            message,
            format!("CLAUDE_CODE_EXECUTABLE names `{path}`, which {reason}; {advice}")
        );
    }
}

#[test]
fn an_error_says_where_it_was_looked_for_why_each_would_not_do_and_how_to_install_it() {
    let machine = Machine::new();
    fs::create_dir_all(machine.at("path/a/claude")).unwrap();
    machine.write("path/b/claude", b"text", 0o644);
    machine.write("home/.local/bin/claude", b"#!/no/such/node\n", 0o755);
    let error = discover(&machine.surroundings()).unwrap_err();
    insta::assert_snapshot!(machine.shown(&error), @"
    no Claude CLI found; install it with `npm install -g @anthropic-ai/claude-code`, or set CLAUDE_CODE_EXECUTABLE to its path; tried:
      `/app/claude` does not exist
      `/path/a/claude` is a directory
      `/path/b/claude` is not executable
      `/home/.local/bin/claude` needs `/no/such/node`, which this system does not have
      `/home/.claude/local/claude` does not exist
      `/home/.npm-global/bin/claude` does not exist
      `/home/node_modules/.bin/claude` does not exist
      `/home/.yarn/bin/claude` does not exist
      `/npm/bin/claude` does not exist
      `/usr/local/bin/claude` does not exist
      `/usr/bin/claude` does not exist
    ");
}

#[test]
fn nothing_to_look_through_is_an_error_too() {
    let error = discover(&Surroundings::default()).unwrap_err();
    assert_eq!(
        error,
        DiscoveryError::NotFound {
            tried: TriedList::default()
        }
    );
}

#[test]
fn a_link_to_this_program_is_not_taken_for_the_cli() {
    let machine = Machine::new();
    let surroundings = machine.surroundings();
    symlink(machine.at("app/claude-acp"), machine.at("app/claude")).unwrap();
    let error = discover(&surroundings).unwrap_err();
    assert!(
        machine
            .shown(&error)
            .contains("`/app/claude` is this program itself"),
        "{error}"
    );
    let real = machine.claude("usr/bin/claude");
    assert_eq!(discover(&surroundings), Ok(real));
}

#[test]
fn a_relative_entry_of_the_path_is_no_place_to_look() {
    let machine = Machine::new();
    let surroundings = Surroundings {
        path: Some(":bin:.".into()),
        ..machine.surroundings()
    };
    let DiscoveryError::NotFound { tried } = discover(&surroundings).unwrap_err() else {
        panic!("found")
    };
    assert!(tried.0.iter().all(|tried| tried.path.is_absolute()));
}

/// The first bytes of a 64-bit program that asks for `loader`.
fn elf(loader: &str) -> Vec<u8> {
    let mut head = b"\x7fELF\x02\x01\x01".to_vec();
    head.resize(64, 0);
    head[0x20..0x28].copy_from_slice(&64_u64.to_le_bytes());
    head[0x36..0x38].copy_from_slice(&56_u16.to_le_bytes());
    head[0x38..0x3a].copy_from_slice(&2_u16.to_le_bytes());
    for (kind, start, length) in [(6_u32, 0, 0), (3, 64 + 2 * 56, loader.len() as u64 + 1)] {
        let mut entry = vec![0; 56];
        entry[..4].copy_from_slice(&kind.to_le_bytes());
        entry[8..16].copy_from_slice(&u64::to_le_bytes(start));
        entry[0x20..0x28].copy_from_slice(&u64::to_le_bytes(length));
        head.extend(entry);
    }
    head.extend(loader.as_bytes());
    head.push(0);
    head
}

#[test]
fn a_cli_built_for_another_system_is_passed_over() {
    let machine = Machine::new();
    let loader = machine.write("lib/ld.so", b"", 0o755);
    let node = machine.write("path/b/node", b"", 0o755);
    let env = machine.write("bin/env", b"", 0o755);
    let (loader, env, node) = (loader.display().to_string(), env.display(), node.display());
    let script = |line: String| format!("{line}\nrest").into_bytes();
    let cases = [
        (elf(&loader), true),
        (elf("/no/such/loader.so"), false),
        (elf(&loader)[..40].to_vec(), true),
        (script(format!("#!{node}")), true),
        (script(format!("#! {node} --flag")), true),
        (script("#!/no/such/node".to_owned()), false),
        (script(format!("#!{env} node")), true),
        (script(format!("#!{env} -S node --flag")), true),
        (script(format!("#!{env} bun")), false),
        (b"#!".to_vec(), true),
        (b"".to_vec(), true),
    ];
    let fallback = machine.claude("usr/bin/claude");
    for (content, usable) in cases {
        let first = machine.write("app/claude", &content, 0o755);
        let expected = if usable { &first } else { &fallback };
        assert_eq!(
            machine.found(),
            *expected,
            "{}",
            String::from_utf8_lossy(&content)
        );
    }
}
