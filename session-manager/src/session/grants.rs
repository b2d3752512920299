//! What the user has granted or refused for the session: it holds for every Claude that the session has.
//!
//! Place in the flow: taken from approvals that leave; given to each process that is started later. Claude itself keeps these
//! only as long as a process lives. What belongs into settings files is Claude's business, and so is the mode.

use std::path::PathBuf;

use claude_sdk_bridge::launch::LaunchOptions;
use permission_core::rules::{RuleKind, RuleOrigin, RuleSet};
use permission_core::{PermissionBehavior, PermissionDestination, PermissionResult, PermissionUpdate};

/// The grants of one session.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Grants(permission_core::Grants);

impl Grants {
    /// Takes what an approval changes for the session.
    pub(super) fn take(&mut self, result: &PermissionResult) {
        if let PermissionResult::Allow {
            updated_permissions: Some(updates),
            ..
        } = result
        {
            let updates = updates
                .iter()
                .filter_map(|update| PermissionUpdate::try_from(update).ok());
            updates
                .filter(|update| update.destination() == PermissionDestination::Session)
                .for_each(|update| self.0.apply(&update));
        }
    }

    /// Writes them into the options of a process that is to be started. No option makes a rule that asks; a new process asks
    /// anyway.
    pub(super) fn apply(&self, options: &mut LaunchOptions) {
        // On the command line, a comma outside of parentheses would split a rule.
        let texts = |behavior| {
            let rules = self.0.rules(behavior);
            let plain = rules.filter(|rule| !rule.tool_name.contains(','));
            plain.map(ToString::to_string)
        };
        options.allowed_tools.extend(texts(PermissionBehavior::Allow));
        options.disallowed_tools.extend(texts(PermissionBehavior::Deny));
        let directories = self.0.directories().map(PathBuf::from);
        options.additional_directories.extend(directories);
    }

    /// Adds what is allowed, and where, to what the settings say.
    pub(super) fn add_to(&self, rules: &mut RuleSet, directories: &mut Vec<String>) {
        for rule in self.0.rules(PermissionBehavior::Allow) {
            rules.add(RuleKind::Allow, &rule.to_string(), RuleOrigin::Session);
        }
        directories.extend(self.0.directories().map(str::to_owned));
    }
}

#[cfg(test)]
mod tests {
    use claude_sdk_bridge::launch::SessionStart;
    use serde_json::{Value, json};

    use super::*;

    fn options(updates: Value) -> LaunchOptions {
        let result = json!({"behavior": "allow", "updatedPermissions": updates});
        let mut grants = Grants::default();
        grants.take(&serde_json::from_value(result).unwrap());
        let mut options = LaunchOptions::new("/", SessionStart::Unnamed);
        grants.apply(&mut options);
        options
    }

    #[test]
    fn what_holds_for_the_session_holds_for_its_next_process() {
        let add = |tool: &str, content: &str, behavior: &str, destination: &str| {
            let rule = json!({"toolName": tool, "ruleContent": content});
            json!({"type": "addRules", "rules": [rule], "behavior": behavior, "destination": destination})
        };
        let made = options(json!([
            add("Read", "//home/**", "allow", "session"),
            add("Read", "//home/**", "allow", "session"),
            add("Bash", "echo (a)", "allow", "session"),
            add("Bash", "rm *", "deny", "session"),
            add("Bash", "npm *", "ask", "session"),
            add("Bash", "kept elsewhere", "allow", "localSettings"),
            {"type": "addDirectories", "directories": ["/srv", "/opt"], "destination": "session"},
            {"type": "removeDirectories", "directories": ["/opt"], "destination": "session"},
            {"type": "setMode", "mode": "acceptEdits", "destination": "session"},
        ]));
        assert_eq!(made.allowed_tools, ["Read(//home/**)", r"Bash(echo \(a\))"]);
        assert_eq!(made.disallowed_tools, ["Bash(rm *)"]);
        assert_eq!(made.additional_directories, [PathBuf::from("/srv")]);
        let removed = json!({"type": "removeRules", "rules": [{"toolName": "Bash", "ruleContent": "a"}], "behavior": "allow", "destination": "session"});
        assert_eq!(
            options(json!([add("Bash", "a", "allow", "session"), removed])).allowed_tools,
            [""; 0]
        );
        assert_eq!(options(json!([])), LaunchOptions::new("/", SessionStart::Unnamed));
    }
}
