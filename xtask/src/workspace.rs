//! What cargo knows about this workspace.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use crate::{
    Result,
    command::{self, cargo},
};

/// The workspace that this task belongs to.
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    target: PathBuf,
    metadata: Value,
}

impl Workspace {
    pub(crate) fn load() -> Result<Self> {
        let output =
            command::read(cargo().args(["metadata", "--no-deps", "--format-version", "1"]))?;
        let metadata: Value = serde_json::from_slice(&output)?;
        let directory = |key: &str| {
            metadata.get(key).and_then(Value::as_str).map(PathBuf::from).ok_or_else(|| {
                format!("`cargo metadata` names no {key}, which this task cannot do without")
            })
        };
        Ok(Self {
            root: directory("workspace_root")?,
            target: directory("target_directory")?,
            metadata,
        })
    }

    /// A cargo that stands in the root.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = cargo();
        command.current_dir(&self.root).args(arguments);
        command
    }

    /// Runs cargo in the root.
    pub(crate) fn run_cargo(&self, arguments: &[&str]) -> Result {
        command::run(&mut self.cargo(arguments))
    }

    /// A folder of the build directory, made when it is not there.
    pub(crate) fn output(&self, name: &str) -> Result<PathBuf> {
        let folder = self.target.join(name);
        fs::create_dir_all(&folder)
            .map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        Ok(folder)
    }

    /// The published crates.
    pub(crate) fn crates(&self) -> Vec<Package<'_>> {
        let folder = self.root.join("crates");
        let packages = self.metadata.get("packages").and_then(Value::as_array);
        packages
            .into_iter()
            .flatten()
            .filter_map(Package::read)
            .filter(|package| package.manifest.starts_with(&folder))
            .collect()
    }
}

/// A member of the workspace.
pub(crate) struct Package<'a> {
    pub(crate) name: &'a str,
    /// Each feature with the features that it turns on.
    pub(crate) features: BTreeMap<&'a str, Vec<&'a str>>,
    manifest: &'a Path,
}

impl<'a> Package<'a> {
    fn read(package: &'a Value) -> Option<Self> {
        let features = package.get("features")?.as_object()?;
        Some(Self {
            name: package.get("name")?.as_str()?,
            features: features.iter().map(|(name, list)| (name.as_str(), strings(list))).collect(),
            manifest: Path::new(package.get("manifest_path")?.as_str()?),
        })
    }
}

fn strings(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_crates_are_those_in_their_folder() {
        let workspace = Workspace::load().unwrap();
        let crates = workspace.crates();
        let names: Vec<_> = crates.iter().map(|package| package.name).collect();
        assert!(names.contains(&"tower-agent-core"), "{names:?}");
        assert!(!names.contains(&"xtask") && !names.contains(&"axum-agent"), "{names:?}");
    }
}
