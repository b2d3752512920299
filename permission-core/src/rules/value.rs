//! Contents that are compared with a value of the input: hosts, names of skills and agents, parameters.
//!
//! Place in the flow: `grammar` reads them, `decide` compares. Must not accept a value that it cannot read.

use std::net::Ipv6Addr;

use serde_json::Value;
use url::Url;

use crate::wildcard::{Glyph, fits, stars};

/// A host, with `*` for any part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HostPattern(Vec<Glyph>);

/// A name, alone or with any arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NamePattern {
    text: String,
    name: Vec<Glyph>,
    any_arguments: bool,
}

/// `parameter:value` of the input's top level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ParameterPattern {
    name: String,
    value: Vec<Glyph>,
}

/// Fields with a grammar of their own, and the word of the one for hosts.
const PRIMARY: [&str; 6] = ["command", "file_path", "path", "notebook_path", "url", "domain"];

impl HostPattern {
    pub(super) fn read(host: &str) -> Option<Self> {
        let host = host.trim().to_lowercase();
        let bracketed = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let plain = match bracketed {
            Some(address) => address.parse::<Ipv6Addr>().is_ok(),
            None => !host.is_empty() && !host.contains(['/', ':', '@', '?', '#', ' ']),
        };
        // As a browser reads it, so that other spellings of one host are one.
        let canonical = if host.contains('*') {
            None
        } else {
            host_of(&format!("https://{host}/"))
        };
        plain.then(|| Self(stars(canonical.as_deref().unwrap_or(&host))))
    }

    /// `None` where the address cannot be read.
    pub(super) fn fits(&self, url: &str) -> Option<bool> {
        Some(fits(&self.0, &host_of(url)?))
    }
}

impl NamePattern {
    pub(super) fn read(content: &str) -> Self {
        let name = content.strip_suffix(":*").or_else(|| content.strip_suffix(" *"));
        let text = without_slash(name.unwrap_or(content));
        Self {
            text: text.to_owned(),
            name: stars(text),
            any_arguments: name.is_some(),
        }
    }

    /// Whether it allows the name with these arguments.
    pub(super) fn fits(&self, name: &str, arguments: &str) -> bool {
        self.names(name) && (self.any_arguments || arguments.trim().is_empty())
    }

    /// Whether it is the name of a skill to Claude, with whatever arguments: letter by letter, or how the name begins.
    pub(super) fn is_skill(&self, name: &str) -> bool {
        let name = without_slash(name);
        name == self.text || self.any_arguments && name.starts_with(&self.text)
    }

    /// Whether it is a name together with its arguments, as older versions of Claude give them.
    pub(super) fn spells(&self, invocation: &str) -> bool {
        fits(&self.name, without_slash(invocation.trim()))
    }

    /// Whether it names it; a limit does not depend on arguments.
    pub(super) fn names(&self, name: &str) -> bool {
        let name = without_slash(name.trim());
        let first = name.split_whitespace().next().unwrap_or_default();
        fits(&self.name, name) || fits(&self.name, first)
    }
}

impl ParameterPattern {
    pub(super) fn read(content: &str) -> Option<Self> {
        let (name, value) = content.split_once(':')?;
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let is_name = !name.is_empty() && name.chars().all(plain) && !PRIMARY.contains(&name);
        is_name.then(|| Self {
            name: name.to_owned(),
            value: stars(value),
        })
    }

    /// A parameter that is left out, or no scalar, never fits.
    pub(super) fn fits(&self, input: &Value) -> bool {
        match input.get(&self.name) {
            Some(Value::String(text)) => fits(&self.value, text),
            Some(scalar @ (Value::Bool(_) | Value::Number(_))) => fits(&self.value, &scalar.to_string()),
            Some(Value::Null | Value::Array(_) | Value::Object(_)) | None => false,
        }
    }
}

fn without_slash(name: &str) -> &str {
    name.strip_prefix('/').unwrap_or(name)
}

fn host_of(url: &str) -> Option<String> {
    let url = Url::parse(url.trim()).ok()?;
    let host = url.host_str()?.trim_end_matches('.').to_lowercase();
    (!host.is_empty()).then_some(host)
}
