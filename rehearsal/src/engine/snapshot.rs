//! What decides about real calls: the ground they work on, the pipeline, and the snapshot it decides in.
//!
//! Place in the flow: `real` asks for the pipeline of the turn; its first use in a turn reads the settings files, and what a
//! tool writes into them counts from the next turn. What the user decides counts from the next call: `effects` makes a new
//! snapshot of the old one.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use claude_sdk_bridge::launch::SettingSource;
use permission_core::PermissionMode;
use permission_core::pipeline::hooks::{HookCommand, Hooks};
use permission_core::pipeline::{PermissionContext, Pipeline};
use permission_core::rules::{RuleKind, RuleOrigin, RuleSet};
use permission_core::settings::{Origin, SettingsFile, SettingsSource, Sourced, merge};
use serde_json::{Value, json};

use super::core::Core;
use super::ground::{Ground, Seed};

/// Stands for the host's own hooks, which come before those of settings.
const HOST_HOOKS: &str = "(hooks of the host)";

/// What the managed settings are called.
const MANAGED: &str = "managed settings";

/// The model's own notes need nobody's permission; nor does the file of its plan.
const UNASKED: [&str; 2] = ["TodoWrite", "TodoRead"];

const DENIAL_THRESHOLD: u32 = 3;

/// The authority over real calls.
#[derive(Debug)]
pub(crate) struct Authority {
    ground: Option<Arc<dyn Ground>>,
    pub(super) pipeline: Pipeline,
    /// Whether its snapshot is that of the turn.
    fresh: bool,
    /// Whether the files of the seed are to be laid out again.
    lays_out: bool,
}

impl Authority {
    pub(super) fn new(lays_out: bool) -> Self {
        Self {
            ground: None,
            pipeline: Pipeline::new(PermissionContext::new("/", PermissionMode::Default)),
            fresh: false,
            lays_out,
        }
    }

    /// The next call takes a new snapshot.
    pub(super) fn begin_turn(&mut self) {
        self.fresh = false;
    }

    /// Another script is played.
    pub(super) fn leave(&mut self) {
        *self = Self::new(true);
    }

    pub(super) fn ground(&self) -> Option<&Arc<dyn Ground>> {
        self.ground.as_ref()
    }
}

impl Core {
    /// Where the real tools of what is played work.
    pub(super) fn open_ground(&mut self) -> Result<Arc<dyn Ground>, String> {
        if let Some(ground) = &self.authority.ground {
            return Ok(Arc::clone(ground));
        }
        let seed = Seed::of(&self.bill.script.session);
        let ground = self.setup.grounds.open(&seed)?;
        if self.authority.lays_out {
            ground.lay_out(&seed)?;
            self.authority.lays_out = false;
        }
        self.authority.ground = Some(Arc::clone(&ground));
        Ok(ground)
    }

    /// The pipeline, in the snapshot of this turn.
    pub(super) fn pipeline(&mut self, ground: &dyn Ground) -> &mut Pipeline {
        if !self.authority.fresh {
            let context = self.snapshot(ground);
            self.authority.pipeline.begin_turn(context);
            self.authority.fresh = true;
        }
        &mut self.authority.pipeline
    }

    /// Takes the session's mode into the snapshot.
    pub(super) fn mode_counts(&mut self) {
        let mode = self.mode;
        self.amend(|context| context.mode = mode);
    }

    /// Makes a new snapshot of the present one, if there is one.
    pub(super) fn amend(&mut self, change: impl FnOnce(&mut PermissionContext)) {
        if self.authority.fresh {
            let mut context = PermissionContext::clone(self.authority.pipeline.context());
            change(&mut context);
            self.authority.pipeline.begin_turn(context);
        }
    }

    fn snapshot(&self, ground: &dyn Ground) -> PermissionContext {
        let managed = self.setup.managed_settings.as_ref();
        let mut files = ground.settings();
        files.retain(|file| self.counts(file.source));
        let text = managed.map(Value::to_string);
        files
            .extend(text.map(|text| SettingsFile::parse(SettingsSource::Managed, Path::new(MANAGED), &text)));
        let settings = merge(files);
        for problem in &settings.problems {
            tracing::warn!(%problem, "a setting of the rehearsal does not count as written");
        }
        let places = ground.places();
        let mut context = PermissionContext::new(&*places.project, self.mode);
        context.home = Some(places.home.clone());
        context.plan_file = Some(places.plan.clone());
        let launched_for_it = self.setup.allow_bypass || self.setup.mode == PermissionMode::BypassPermissions;
        context.bypass_available = launched_for_it && settings.values.bypass_disabled.is_none();
        context.auto_available = settings.values.auto_disabled.is_none();
        context.avoid_prompts = !self.setup.asks;
        context.denial_threshold = self
            .bill
            .script
            .session
            .denial_threshold
            .unwrap_or(DENIAL_THRESHOLD);
        context.rules = RuleSet::read(&settings.values.rules).0;
        self.add_rules(&mut context.rules, &places.plan);
        for Sourced { value, origin } in settings.values.additional_directories {
            let directory = places.absolute(&value);
            let origin = RuleOrigin::File(origin);
            context.additional_working_directories.insert(directory, origin);
        }
        for directory in &self.state.permissions.directories {
            let directory = directory.clone();
            context
                .additional_working_directories
                .insert(directory, RuleOrigin::Session);
        }
        let mut hooks = settings.values.hooks;
        if managed.is_some_and(|managed| managed.get("allowManagedHooksOnly") == Some(&Value::Bool(true))) {
            hooks.retain(|hook| hook.origin.source == SettingsSource::Managed);
        }
        hooks.insert(0, host_hooks());
        context.hooks = Hooks::of_claude(&hooks).0.commands();
        context
    }

    /// Rules that stand in no file.
    fn add_rules(&self, rules: &mut RuleSet, plan: &str) {
        let with_content = |rule: &&String| rule.contains('(');
        let denied = self.setup.disallowed_tools.iter().filter(with_content);
        for text in denied {
            rules.add(RuleKind::Deny, text, RuleOrigin::Arguments);
        }
        let allowed = self.setup.allowed_tools.iter().map(String::as_str);
        let plan = format!("Edit(/{plan})");
        for text in allowed.chain(UNASKED).chain([plan.as_str()]) {
            rules.add(RuleKind::Allow, text, RuleOrigin::Arguments);
        }
        for rule in &self.state.permissions.rules {
            rules.add(rule.kind(), &rule.text, RuleOrigin::Session);
        }
    }

    fn counts(&self, source: SettingsSource) -> bool {
        let Some(wanted) = &self.setup.setting_sources else {
            return true;
        };
        wanted.iter().any(|wanted| match wanted {
            SettingSource::User => source == SettingsSource::User,
            SettingSource::Project => source == SettingsSource::Project,
            SettingSource::Local => source == SettingsSource::Local,
        })
    }
}

/// Whether a hook stands for those of the host.
pub(super) fn is_of_host(hook: &HookCommand) -> bool {
    hook.origin.source == SettingsSource::Flag && *hook.origin.file == *Path::new(HOST_HOOKS)
}

fn host_hooks() -> Sourced<Value> {
    Sourced {
        value: json!({ "PreToolUse": [{ "hooks": [{ "type": "command", "command": HOST_HOOKS }] }] }),
        origin: Origin {
            source: SettingsSource::Flag,
            file: PathBuf::from(HOST_HOOKS).into(),
            line: 1,
        },
    }
}
