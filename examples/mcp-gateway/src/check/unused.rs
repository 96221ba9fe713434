//! Names in the file that mean no tool, which often are misspelt.

use tower_agent::{Names, Str};

use crate::config::{Config, Globs};

/// A server and what it calls a tool.
pub(super) type Known = (Str, Str);

/// A sentence for each name that means no tool.
pub(super) fn notes(config: &Config, tools: &[Known]) -> Vec<String> {
    let by_both = |names: &Names, (server, own): &Known| {
        names.contains(own) || names.contains(&format!("{server}__{own}"))
    };
    let all = [(&config.allow, "allow of [all]"), (&config.deny, "deny of [all]")];
    let mut notes = Vec::new();
    for (globs, key) in all {
        notes.extend(unused(globs.as_ref(), key, |names| {
            tools.iter().any(|tool| by_both(names, tool))
        }));
    }
    for server in &config.servers {
        let name = &server.connection.name;
        for (globs, key) in [(&server.allow, "allow"), (&server.deny, "deny")] {
            let key = format!("{key} of server {name}");
            notes.extend(unused(globs.as_ref(), &key, |names| {
                tools.iter().any(|(server, own)| *server == **name && names.contains(own))
            }));
        }
    }
    for table in &config.tools {
        notes.extend(unused(Some(&table.names), "match of [[tool]]", |names| {
            tools.iter().any(|tool| by_both(names, tool))
        }));
    }
    notes
}

fn unused(globs: Option<&Globs>, key: &str, is_used: impl Fn(&Names) -> bool) -> Vec<String> {
    let patterns = globs.map(Globs::patterns).unwrap_or_default().iter();
    // Each of them was understood when the file was read.
    let is_unused = |pattern: &&String| Names::new([pattern]).is_ok_and(|names| !is_used(&names));
    patterns
        .filter(is_unused)
        .map(|pattern| format!("`{pattern}` in {key} means no tool"))
        .collect()
}
