//! The tables of the file, as they are written and as they are understood.

use std::{
    collections::{BTreeMap, HashSet},
    path::{Path, PathBuf},
    time::Duration,
};

use serde::Deserialize;
use toml::Spanned;

use super::{
    Config, ConfigError,
    layers::{LayerKeys, Layers, layer_keys},
    pass_on::PassOn,
    place::Place,
    values::{Choice, Globs, Period, Value},
};

/// The file as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tables {
    #[serde(default)]
    all: AllTable,
    audit: Option<Audit>,
    #[serde(default)]
    http: Http,
    #[serde(default)]
    server: Vec<ServerTable>,
    #[serde(default)]
    tool: Vec<ToolKeys>,
}

layer_keys! {
    /// `[all]`: what holds for every tool.
    #[derive(Default)]
    struct AllTable {
        allow: Option<Globs>,
        deny: Option<Globs>,
        pins: Option<PathBuf>,
        pass_on: Option<PassOn>,
    }
}

layer_keys! {
    /// `[[server]]`
    struct ServerTable {
        name: Spanned<String>,
        command: Option<Spanned<PathBuf>>,
        #[serde(default)]
        args: Vec<Value>,
        #[serde(default)]
        env: BTreeMap<String, Value>,
        #[serde(default)]
        inherit_env: Vec<String>,
        cwd: Option<PathBuf>,
        url: Option<Spanned<String>>,
        #[serde(default)]
        headers: BTreeMap<String, Value>,
        bearer: Option<Value>,
        #[serde(default)]
        prefix: bool,
        connect_timeout: Option<Period>,
        idle_timeout: Option<Period>,
        total_timeout: Option<Period>,
        pins: Option<Choice<PathBuf>>,
        pass_on: Option<PassOn>,
        allow: Option<Globs>,
        deny: Option<Globs>,
    }
}

layer_keys! {
    /// `[[tool]]`
    struct ToolKeys {
        r#match: Spanned<Globs>,
    }
}

/// `[audit]`
#[derive(Clone, Debug, Deserialize, Eq, PartialEq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Audit {
    pub(crate) file: PathBuf,
    /// Whether masked arguments are written.
    #[serde(default)]
    pub(crate) arguments: bool,
}

/// `[http]`
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Http {
    pub(crate) hosts: Vec<String>,
    pub(crate) origins: Vec<String>,
}

/// A server, how it is reached and what stands around its tools.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    pub(crate) connection: Connection,
    pub(crate) prefix: bool,
    pub(crate) allow: Option<Globs>,
    pub(crate) deny: Option<Globs>,
    pub(crate) layers: Layers,
}

/// What a client is made of; an equal one is not made anew.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Connection {
    pub(crate) name: String,
    pub(crate) endpoint: Endpoint,
    pub(crate) connect: Option<Duration>,
    pub(crate) idle: Option<Duration>,
    pub(crate) total: Option<Duration>,
    pub(crate) pins: Option<PathBuf>,
    pub(crate) pass_on: PassOn,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Endpoint {
    Command {
        command: PathBuf,
        args: Vec<Value>,
        env: BTreeMap<String, Value>,
        inherit_env: Vec<String>,
        cwd: Option<PathBuf>,
    },
    Url {
        url: String,
        headers: BTreeMap<String, Value>,
        bearer: Option<Value>,
    },
}

/// What stands around the tools that a glob means.
#[derive(Clone, Debug)]
pub(crate) struct ToolTable {
    pub(crate) names: Globs,
    pub(crate) layers: Layers,
}

impl Tables {
    /// Makes sense of it, or says all that makes none.
    pub(super) fn check(self, place: &Place<'_>) -> Result<Config, ConfigError> {
        let mut flaws = Vec::new();
        if self.server.is_empty() {
            flaws.push(place.flaw_of_all("there is no [[server]]"));
        }
        let mut names = HashSet::new();
        for server in &self.server {
            let name = server.name.get_ref();
            if !is_name(name) {
                let what = "a name has ASCII letters, digits, `-` and single `_`, and does not end with `_`";
                flaws.push(place.flaw(&server.name.span(), what));
            } else if !names.insert(name.clone()) {
                let what = format!("two servers are named `{name}`");
                flaws.push(place.flaw(&server.name.span(), &what));
            }
        }
        let Self { all, mut audit, http, server, tool } = self;
        if let Some(audit) = &mut audit {
            audit.file = place.resolve(&audit.file);
        }
        let layers = all.keys().build(place, &mut flaws);
        let wide = Wide {
            pins: all.pins.map(|path| place.resolve(&path)),
            pass_on: all.pass_on.unwrap_or_default(),
        };
        let understand = |server: ServerTable| server.understand(place, &wide, &mut flaws);
        let servers = server.into_iter().filter_map(understand).collect();
        let tools = tool.into_iter().map(|tool| tool.understand(place, &mut flaws)).collect();
        if flaws.is_empty() {
            Ok(Config { allow: all.allow, deny: all.deny, layers, audit, http, servers, tools })
        } else {
            Err(ConfigError(flaws))
        }
    }
}

/// What holds for connections that say nothing else.
struct Wide {
    pins: Option<PathBuf>,
    pass_on: PassOn,
}

impl ServerTable {
    fn understand(self, place: &Place<'_>, wide: &Wide, flaws: &mut Vec<String>) -> Option<Server> {
        let layers = self.keys().build(place, flaws);
        let span = self.name.span();
        let endpoint = self.endpoint(place);
        let endpoint = endpoint.map_err(|what| flaws.push(place.flaw(&span, what))).ok()?;
        let pins = match self.pins {
            None => wide.pins.clone(),
            Some(Choice::Off) => None,
            Some(Choice::On(path)) => Some(place.resolve(&path)),
        };
        let connection = Connection {
            name: self.name.into_inner(),
            endpoint,
            connect: self.connect_timeout.map(|limit| limit.0),
            idle: self.idle_timeout.map(|limit| limit.0),
            total: self.total_timeout.map(|limit| limit.0),
            pins,
            pass_on: self.pass_on.unwrap_or_else(|| wide.pass_on.clone()),
        };
        let Self { prefix, allow, deny, .. } = self;
        Some(Server { connection, prefix, allow, deny, layers })
    }

    fn endpoint(&self, place: &Place<'_>) -> Result<Endpoint, &'static str> {
        let is_url = !self.headers.is_empty() || self.bearer.is_some();
        let is_command = !self.args.is_empty()
            || !self.env.is_empty()
            || !self.inherit_env.is_empty()
            || self.cwd.is_some();
        match (&self.command, &self.url) {
            (Some(_), Some(_)) => Err("a server has a `command` or a `url`, not both"),
            (None, None) => Err("this server has neither a `command` nor a `url`"),
            (Some(_), None) if is_url => Err("`headers` and `bearer` go with `url`"),
            (None, Some(_)) if is_command => {
                Err("`args`, `env`, `inherit_env` and `cwd` go with `command`")
            }
            (Some(command), None) => Ok(Endpoint::Command {
                command: program(command.get_ref(), place),
                args: self.args.clone(),
                env: self.env.clone(),
                inherit_env: self.inherit_env.clone(),
                cwd: self.cwd.as_ref().map(|cwd| place.resolve(cwd)),
            }),
            (None, Some(url)) => Ok(Endpoint::Url {
                url: url.get_ref().clone(),
                headers: self.headers.clone(),
                bearer: self.bearer.clone(),
            }),
        }
    }
}

/// A bare name is looked for in `PATH`.
fn program(command: &Path, place: &Place<'_>) -> PathBuf {
    if command.components().count() > 1 { place.resolve(command) } else { command.to_owned() }
}

impl ToolKeys {
    fn understand(self, place: &Place<'_>, flaws: &mut Vec<String>) -> ToolTable {
        if self.r#match.get_ref().patterns().is_empty() {
            flaws.push(place.flaw(&self.r#match.span(), "without a name it means no tool"));
        }
        let layers = self.keys().build(place, flaws);
        ToolTable { names: self.r#match.into_inner(), layers }
    }
}

/// The names that a client takes.
fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    !name.is_empty() && name.chars().all(fits) && !name.contains("__") && !name.ends_with('_')
}
