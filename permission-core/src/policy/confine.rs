//! Whether a call stays inside the working directories, as far as its input tells.
//!
//! Place in the flow: the machine asks before a tool and before an allow leaves. It looks at file tools, redirections and
//! the file arguments of known commands, through symbolic links. It is no sandbox: what a program does is out of sight.

use crate::call::ToolCall;
use crate::shell::{Analysis, FileUse};
use crate::tools::ToolGroup;

/// Where the files of a call are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Confined {
    Inside,
    /// This one is not.
    Outside(String),
    /// That cannot be told.
    Unknown,
}

impl Confined {
    /// Where the files of the call are.
    pub(crate) fn of(call: &ToolCall<'_>) -> Self {
        match ToolGroup::of(call.tool) {
            ToolGroup::Reads | ToolGroup::Edits => match call.subject() {
                Some(subject) if call.is_inside(&subject) => Confined::Inside,
                Some(subject) => Confined::Outside(subject.given().to_owned()),
                None => Confined::Unknown,
            },
            ToolGroup::Command => command(call),
            ToolGroup::Fetch | ToolGroup::Skill | ToolGroup::Agent | ToolGroup::Other => Confined::Inside,
        }
    }
}

fn command(call: &ToolCall<'_>) -> Confined {
    let Some(analysis) = call.analysis() else {
        return Confined::Unknown;
    };
    let seen = analysis.seen();
    let files = || seen.redirections.iter().chain(&seen.files);
    let literal_outside = |file: &&FileUse| file.path.literal().is_some() && !call.is_word_inside(&file.path);
    if let Some(file) = files().find(literal_outside) {
        return Confined::Outside(file.path.text().to_owned());
    }
    let told =
        matches!(analysis, Analysis::Commands(_)) && files().all(|file| call.is_word_inside(&file.path));
    if told { Confined::Inside } else { Confined::Unknown }
}
