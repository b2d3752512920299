//! Files that Claude itself asks about before it changes them, whatever is allowed.
//!
//! Place in the flow: `explain` asks before it looks at allow rules. Must not be asked for a policy: what that protects is
//! its own.

use super::files;
use crate::rules::ToolCall;
use crate::tools::ToolGroup;

/// Directories, with all that they hold, wherever they lie.
const DIRECTORIES: [&str; 10] = [
    ".git",
    ".vscode",
    ".idea",
    ".claude",
    ".husky",
    ".cargo",
    ".devcontainer",
    ".yarn",
    ".mvn",
    ".config/git",
];
/// Claude's copies of the project are its own matter.
const FREE: &str = ".claude/worktrees";
/// Files, wherever they lie.
const FILES: [&str; 39] = [
    ".gitconfig",
    ".gitmodules",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_aliases",
    ".bash_logout",
    ".zshrc",
    ".zprofile",
    ".zshenv",
    ".zlogin",
    ".zlogout",
    ".profile",
    ".envrc",
    ".ripgreprc",
    ".mcp.json",
    ".claude.json",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pnp.cjs",
    ".pnp.loader.mjs",
    ".pnp.js",
    ".pnp.data.json",
    ".pnpmfile.cjs",
    "bunfig.toml",
    ".bunfig.toml",
    ".bazelrc",
    ".bazelversion",
    ".bazeliskrc",
    ".pre-commit-config.yaml",
    "lefthook.yml",
    ".lefthook.yml",
    "lefthook.yaml",
    ".lefthook.yaml",
    "gradle-wrapper.properties",
    "maven-wrapper.properties",
    ".devcontainer.json",
    "pyrightconfig.json",
];

impl ToolCall<'_> {
    /// Whether Claude asks about the file that the call changes, whatever rules and the mode allow.
    pub(crate) fn changes_sensitive(&self) -> bool {
        match ToolGroup::of(self.tool) {
            ToolGroup::Edits => self
                .subject()
                .is_some_and(|subject| subject.forms().any(is_sensitive)),
            ToolGroup::Command => {
                let files = files::looked_at(self, false);
                let mut subjects = files.iter().map(|file| self.places().subject(file));
                subjects.any(|subject| subject.forms().any(is_sensitive))
            }
            ToolGroup::Reads | ToolGroup::Fetch | ToolGroup::Skill | ToolGroup::Agent | ToolGroup::Other => {
                false
            }
        }
    }
}

/// Some file systems do not tell `.Git` from `.git`; on some, `a~1` and `a.` are other names of a file.
fn is_sensitive(path: &str) -> bool {
    let path = format!("{}/", path.to_lowercase()).replace(&format!("/{FREE}/"), "/");
    let holds = |step: &&str| path.contains(&format!("/{step}/"));
    let named = |name: &&str| path.ends_with(&format!("/{name}/"));
    DIRECTORIES.iter().any(holds) || FILES.iter().any(named) || path.split('/').any(is_other_name)
}

fn is_other_name(step: &str) -> bool {
    let short = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
    step.ends_with(['.', ' ']) || step.split('~').skip(1).any(short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_claude_protects_is_found_at_any_depth_and_in_any_case() {
        for path in [
            "/p/.git",
            "/p/sub/.Git/x",
            "/p/.vscode/a/b",
            "/p/.config/git/config",
            "/p/.claude/worktrees/x/.claude/y",
            "/p/sub/.NPMRC",
            "/p/pyrightconfig.json",
            "/p/a~1",
            "/p/x.",
        ] {
            assert!(is_sensitive(path), "{path}");
        }
        for path in [
            "/p/git/x",
            "/p/.gitignore",
            "/p/.git2/x",
            "/p/.config/x",
            "/p/.yarnrc.x",
            "/p/.claude/worktrees/x/y",
            "/p/.npmrc/x",
            "/p/x~",
        ] {
            assert!(!is_sensitive(path), "{path}");
        }
    }
}
