//! A test of the suite, what it needs, and how it becomes a trial of the runner.

use e2e_tests::harness::{Backend, Transport, World};
use e2e_tests::setup;
use libtest_mimic::{Arguments, Trial};

/// One test of the suite.
pub(crate) struct Case {
    pub(crate) backend: Backend,
    pub(crate) transport: Transport,
    pub(crate) name: &'static str,
    pub(crate) needs: Need,
    pub(crate) run: fn(&mut World),
}

/// What a test needs besides the agent's binary and its backend.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Need {
    Nothing,
    OfficialClient,
    Acpx,
}

/// Lists functions as cases of one backend and one transport, each named after its function.
macro_rules! cases {
    ($backend:ident, $transport:ident: $($test:ident),+ $(,)?) => {
        cases!($backend, $transport, Nothing: $($test),+)
    };
    ($backend:ident, $transport:ident, $needs:ident: $($test:ident),+ $(,)?) => {
        vec![$($crate::case::Case {
            backend: e2e_tests::harness::Backend::$backend,
            transport: e2e_tests::harness::Transport::$transport,
            name: stringify!($test),
            needs: $crate::case::Need::$needs,
            run: $test,
        }),+]
    };
}
pub(crate) use cases;

impl Case {
    fn full_name(&self) -> String {
        format!("{:?}::{:?}::{}", self.backend, self.transport, self.name).to_lowercase()
    }

    fn is_selected(&self) -> bool {
        selects("E2E_BACKEND", &format!("{:?}", self.backend))
            && selects("E2E_TRANSPORT", &format!("{:?}", self.transport))
    }

    /// What this machine lacks for the case.
    fn missing(&self) -> Option<&'static str> {
        if self.backend == Backend::Claude && setup::claude_cli().is_none() {
            return Some("the Claude CLI (`cargo xtask claude-cli`)");
        }
        match self.needs {
            Need::OfficialClient if setup::official_client().is_none() => {
                Some("the official client's driver")
            }
            Need::Acpx if setup::acpx().is_none() => Some("acpx and Node (`cargo xtask node-tools`)"),
            Need::Nothing | Need::OfficialClient | Need::Acpx => None,
        }
    }

    fn into_trial(self) -> Trial {
        let missing = self.missing();
        let may_skip = std::env::var_os("CI").is_none();
        let name = self.full_name();
        let trial = Trial::test(name, move || {
            if let Some(missing) = missing {
                return Err(format!("needs {missing}").into());
            }
            let mut world = World::new(self.backend, self.transport);
            (self.run)(&mut world);
            world.finish();
            Ok(())
        });
        trial.with_ignored_flag(missing.is_some() && may_skip)
    }
}

/// Runs the selected cases and ends the process.
pub(crate) fn run(arguments: &Arguments, cases: Vec<Case>) -> ! {
    let mut names = std::collections::HashSet::new();
    for case in &cases {
        assert!(
            names.insert(case.full_name()),
            "two tests are called `{}`",
            case.full_name()
        );
    }
    let selected: Vec<Case> = cases.into_iter().filter(Case::is_selected).collect();
    let missing: std::collections::BTreeSet<&str> = selected.iter().filter_map(Case::missing).collect();
    for missing in missing {
        println!("not on this machine: {missing}");
    }
    libtest_mimic::run(arguments, selected.into_iter().map(Case::into_trial).collect()).exit()
}

fn selects(variable: &str, value: &str) -> bool {
    match std::env::var(variable) {
        Ok(wanted) => wanted == "all" || wanted.eq_ignore_ascii_case(value),
        Err(_) => true,
    }
}
