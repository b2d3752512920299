//! `_meta.permission`: how a permission request reads.
//!
//! Place in the flow: goes out with `session/request_permission`; what comes back with its response is permission-core's. It
//! must not decide: options and their effects stand in the protocol's own members.

use serde::{Deserialize, Serialize};

use super::MetaRecord;

/// Version 1 of the permission presentation, in the `_meta` of a permission request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionPresentation {
    /// Always 1.
    pub version: u32,
    /// The heading of the request.
    pub title: String,
    /// Why Claude asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// `true` when the rejecting options stand first and should be preselected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_to_no: Option<bool>,
}

impl PermissionPresentation {
    /// A heading and nothing else.
    #[must_use]
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            version: 1,
            title: title.into(),
            description: None,
            default_to_no: None,
        }
    }
}

impl MetaRecord for PermissionPresentation {
    const KEY: &'static str = "permission";
}
