//! Which lines of a transcript are the conversation as it stands. Pure.
//!
//! Lines hang on one another as a tree: parallel calls, going back and a second process branch it. The leaf is chosen as
//! the CLI chooses it when it resumes; the order is that of the file.

use super::scan::{Id, Index, Kind};

/// The nodes of the live branch, in the order of the file.
pub(super) fn live(index: &Index) -> Vec<usize> {
    let mut members = vec![false; index.nodes.len()];
    walk(index, leaf(index), &mut members);
    add_beside(index, &mut members);
    let live = members.iter().enumerate();
    live.filter_map(|(node, member)| member.then_some(node)).collect()
}

/// Where the conversation stands.
fn leaf(index: &Index) -> Option<usize> {
    match pin(index) {
        None => {
            let main = |node: &usize| index.nodes.get(*node).is_some_and(|node| !node.sidechain);
            // A subagent's transcript is nothing but sidechain.
            let last = index.nodes.len().checked_sub(1);
            (0..index.nodes.len()).rev().find(main).or(last)
        }
        Some(Pin {
            leaf: Some(leaf),
            explicit_after,
        }) => {
            let from = explicit_after.unwrap_or_default();
            last_below(index, from, |node| node == leaf).or(Some(leaf))
        }
        // Everything was taken back: only what began anew after that counts.
        Some(Pin {
            leaf: None,
            explicit_after,
        }) => {
            let from = explicit_after.unwrap_or_default();
            last_below(index, from, |node| node >= from && index.parent(node).is_none())
        }
    }
}

struct Pin {
    leaf: Option<usize>,
    /// Where lines begin to count, if someone went back to the leaf.
    explicit_after: Option<usize>,
}

/// What the markers come to. One that names a line which nobody knows says nothing, and one that repeats the line which
/// someone went back to leaves it at that.
fn pin(index: &Index) -> Option<Pin> {
    let mut pin: Option<Pin> = None;
    for marker in &index.markers {
        let explicit_after = marker.explicit.then_some(marker.after);
        let leaf = match marker.leaf {
            Some(leaf) => match index.node(leaf) {
                Some(node) => Some(node),
                None => continue,
            },
            None if marker.explicit => None,
            None => continue,
        };
        let repeats = pin
            .as_ref()
            .is_some_and(|pin| pin.explicit_after.is_some() && pin.leaf == leaf);
        if marker.explicit || !repeats {
            pin = Some(Pin { leaf, explicit_after });
        }
    }
    pin
}

/// The last line from `from` on that hangs below a line which `is_root`.
fn last_below(index: &Index, from: usize, is_root: impl Fn(usize) -> bool) -> Option<usize> {
    let mut known: Vec<Option<bool>> = vec![None; index.nodes.len()];
    (from..index.nodes.len())
        .rev()
        .find(|node| is_below(index, *node, &is_root, &mut known))
}

/// Walks up until the answer is known, and notes it for every line on the way.
fn is_below(
    index: &Index,
    node: usize,
    is_root: &impl Fn(usize) -> bool,
    known: &mut [Option<bool>],
) -> bool {
    let mut path = Vec::new();
    let mut at = Some(node);
    let answer = loop {
        let Some(node) = at else { break false };
        match known.get(node).copied().flatten() {
            Some(answer) => break answer,
            None if is_root(node) => break true,
            None => {}
        }
        if let Some(known) = known.get_mut(node) {
            // Who comes here again walks in a circle.
            *known = Some(false);
        }
        path.push(node);
        at = index.parent(node);
    };
    for node in path {
        if let Some(known) = known.get_mut(node) {
            *known = Some(answer);
        }
    }
    answer
}

/// From the leaf to the root; a missing parent or a circle ends it.
fn walk(index: &Index, leaf: Option<usize>, members: &mut [bool]) {
    let mut at = leaf;
    while let Some(node) = at {
        match members.get_mut(node) {
            Some(member @ false) => *member = true,
            Some(true) | None => return,
        }
        at = index.parent(node);
    }
}

/// The next line hangs on one of several parallel calls only: the other blocks of their message belong to it as well, the
/// results of all of them, and what hangs on those.
fn add_beside(index: &Index, members: &mut [bool]) {
    let is = |members: &[bool], node: Option<usize>| {
        node.is_some_and(|node| members.get(node).copied().unwrap_or_default())
    };
    let messages: std::collections::HashSet<Id> = index
        .nodes
        .iter()
        .zip(members.iter())
        .filter_map(|(node, member)| match node.kind {
            Kind::Assistant { message } if *member => message,
            _ => None,
        })
        .collect();
    let mut added = vec![false; members.len()];
    for (at, node) in index.nodes.iter().enumerate() {
        let belongs = match node.kind {
            Kind::Assistant { message } => message.is_some_and(|message| messages.contains(&message)),
            Kind::ToolResult { of } => is(members, of.and_then(|of| index.node(of))),
            Kind::Attachment => is(&added, index.parent(at)),
            Kind::Other => false,
        };
        let Some(member) = members.get_mut(at) else { return };
        if belongs && !*member {
            *member = true;
            if let Some(added) = added.get_mut(at) {
                *added = true;
            }
        }
    }
}
