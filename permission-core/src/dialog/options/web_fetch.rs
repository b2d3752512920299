//! WebFetch: a rule for the host of the URL at hand.
//!
//! Place in the flow: called by `offered`. Must not use Claude's suggestion: the rule is made from the URL that the
//! user sees.

use url::Url;

use super::common::{Offer, once_and};
use super::{OptionId, PermissionOption};
use crate::dialog::label::Part;
use crate::safe_text;
use crate::tools::WEB_FETCH;
use crate::updates::PermissionRule;

const DOMAIN: &str = "domain:";

pub(super) fn options(offer: &Offer<'_>) -> Vec<PermissionOption> {
    let rule = offer
        .ask
        .call
        .text("url")
        .and_then(host)
        .map(|host| PermissionRule::with_content(WEB_FETCH, format!("{DOMAIN}{host}")));
    once_and(rule.and_then(|rule| offer.generated(OptionId::AllowWithUpdates, rule, &part)))
}

/// The host as browsers write it: lower case, no port, international names in ASCII.
fn host(url: &str) -> Option<String> {
    let url = Url::parse(safe_text::trim(url)).ok()?;
    url.host_str().filter(|host| !host.is_empty()).map(str::to_owned)
}

fn part(rule: &PermissionRule) -> Option<Part> {
    rule.rule_content
        .as_deref()?
        .strip_prefix(DOMAIN)
        .and_then(Part::host)
}
