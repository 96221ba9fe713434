//! Each feature alone: a flag that silently leans on another one breaks the user who sets only that.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Result, step::step, workspace::Workspace};

pub(crate) fn run(workspace: &Workspace) -> Result {
    step("features", || {
        for package in workspace.crates() {
            check(workspace, package.name, None)?;
            for feature in worth_a_check(&package.features) {
                check(workspace, package.name, Some(feature))?;
            }
        }
        Ok(())
    })
}

fn check(workspace: &Workspace, package: &str, feature: Option<&str>) -> Result {
    println!("{package} with {}", feature.unwrap_or("no feature"));
    let mut cargo =
        workspace.cargo(&["check", "--quiet", "--package", package, "--no-default-features"]);
    if let Some(feature) = feature {
        cargo.args(["--features", feature]);
    }
    crate::command::run(&mut cargo)
}

/// The features that compile something which no other check does: neither nothing, as an empty `default`, nor
/// everything, which the tests build.
fn worth_a_check<'a>(features: &BTreeMap<&'a str, Vec<&'a str>>) -> Vec<&'a str> {
    let alone = |name: &str| {
        let on = turned_on(name, features);
        let nothing = name == "default" && on.len() == 1;
        let everything =
            on.len() > 1 && features.keys().all(|other| *other == "default" || on.contains(other));
        !nothing && !everything
    };
    features.keys().copied().filter(|name| alone(name)).collect()
}

/// A feature with all that it turns on, directly or not.
fn turned_on<'a>(name: &'a str, features: &BTreeMap<&'a str, Vec<&'a str>>) -> BTreeSet<&'a str> {
    let mut on = BTreeSet::new();
    let mut left = vec![name];
    while let Some(name) = left.pop() {
        if on.insert(name) {
            left.extend(features.get(name).into_iter().flatten());
        }
    }
    on
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked<'a>(features: &[(&'a str, &[&'a str])]) -> Vec<&'a str> {
        worth_a_check(&features.iter().map(|(name, on)| (*name, on.to_vec())).collect())
    }

    #[test]
    fn each_flag_is_checked_also_when_another_turns_it_on() {
        assert_eq!(checked(&[("a", &["b"]), ("b", &[]), ("c", &["dep:c"])]), ["a", "b", "c"]);
    }

    #[test]
    fn an_empty_default_is_what_no_feature_is() {
        assert_eq!(checked(&[("default", &[]), ("a", &[]), ("b", &[])]), ["a", "b"]);
    }

    #[test]
    fn what_turns_on_every_other_flag_is_built_by_the_tests() {
        let features: &[(&str, &[&str])] = &[
            ("default", &["most"]),
            ("full", &["most", "c"]),
            ("most", &["a", "b"]),
            ("a", &[]),
            ("b", &[]),
            ("c", &[]),
        ];
        assert_eq!(checked(features), ["a", "b", "c", "default", "most"]);
    }

    #[test]
    fn the_only_flag_of_a_crate_is_checked() {
        assert_eq!(checked(&[("default", &["a"]), ("a", &[])]), ["a"]);
    }

    #[test]
    fn flags_that_turn_each_other_on_come_to_an_end() {
        assert_eq!(checked(&[("a", &["b"]), ("b", &["a"]), ("c", &[])]), ["a", "b", "c"]);
    }
}
