//! The configuration file.

mod layers;
mod pass_on;
mod place;
mod tables;
mod values;

use std::{fmt, fs, path::Path};

pub(crate) use self::{
    layers::Layers,
    pass_on::PassOn,
    tables::{Audit, Connection, Endpoint, Http, Server, ToolTable},
    values::Globs,
};
use self::{place::Place, tables::Tables};

/// A configuration that makes sense.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) allow: Option<Globs>,
    pub(crate) deny: Option<Globs>,
    pub(crate) layers: Layers,
    pub(crate) audit: Option<Audit>,
    pub(crate) http: Http,
    pub(crate) servers: Vec<Server>,
    pub(crate) tools: Vec<ToolTable>,
}

/// What is wrong with a configuration, a line each: `FILE:LINE: KEY: WHAT`.
#[derive(Debug)]
pub(crate) struct ConfigError(pub(crate) Vec<String>);

impl Config {
    /// Reads a file. Relative paths in it start at its directory.
    ///
    /// # Errors
    /// Everything that is wrong with it, as far as that can be told at once.
    pub(crate) fn read(path: &Path) -> Result<Self, ConfigError> {
        let shown = path.display();
        let text = fs::read_to_string(path)
            .map_err(|error| ConfigError(vec![format!("{shown}: cannot be read: {error}")]))?;
        let place = Place::new(path, &text);
        let tables: Tables = toml::from_str(&text).map_err(|error| place.explain(&error))?;
        tables.check(&place)
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

impl std::error::Error for ConfigError {}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::Config;

    #[test]
    fn what_the_readme_and_the_demo_show_can_be_read() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let demo = Config::read(&here.join("demo.toml")).unwrap();
        assert_eq!(demo.servers.len(), 1);
        let readme = std::fs::read_to_string(here.join("README.md")).unwrap();
        let blocks: Vec<_> = readme.split("```toml\n").skip(1).collect();
        assert!(!blocks.is_empty());
        let folder = tempfile::tempdir().unwrap();
        for block in blocks {
            let text = block.split("```").next().unwrap().replace("env:", "");
            let path = folder.path().join("gateway.toml");
            std::fs::write(&path, text).unwrap();
            Config::read(&path).unwrap();
        }
    }
}
