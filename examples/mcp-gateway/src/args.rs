//! The flags.

use std::{ffi::OsString, fmt, net::SocketAddr, path::PathBuf};

use lexopt::{Arg, Parser, ValueExt};
use tower_agent::{Names, Secret};

/// What `--help` prints.
pub(crate) const HELP: &str = "\
Layers around MCP servers: allow, deny, redact, truncate, time out, limit, log, count and audit their tools.

Usage: mcp-gateway --config FILE [--http ADDR [--token-env NAME]] [--check] [--accept TOOL]

  --config FILE      the servers and the layers, in TOML
  --http ADDR        serve streamable HTTP at http://ADDR/mcp, and metrics at /metrics; port 0 takes any free port
                     [default: standard input and output]
  --token-env NAME   with --http: ask for the bearer token that this environment variable holds
  --check            print the stack of each tool and what is wrong, and serve nothing
  --accept TOOL      pin the changed definition of a tool as it is now, and serve nothing; a glob such as files__* is
                     several; may be given more than once
  --help             print this

RUST_LOG sets what is logged to standard error, such as RUST_LOG=debug.
";

/// What was asked for.
#[derive(Clone, Debug)]
pub(crate) enum Args {
    Help,
    Run(Options),
}

#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub(crate) config: PathBuf,
    pub(crate) task: Task,
}

#[derive(Clone, Debug)]
pub(crate) enum Task {
    Stdio,
    Http { addr: SocketAddr, token: Option<Secret> },
    Check,
    Accept(Names),
}

/// A flag that cannot be understood.
#[derive(Debug)]
pub(crate) struct UsageError(String);

impl Args {
    pub(crate) fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Self, UsageError> {
        let mut parser = Parser::from_args(args);
        let (mut config, mut addr, mut token, mut is_check) = (None, None, None, false);
        let mut accepted: Vec<String> = Vec::new();
        while let Some(arg) = parser.next()? {
            match arg {
                Arg::Long("config") => config = Some(PathBuf::from(parser.value()?)),
                Arg::Long("http") => addr = Some(address(parser.value()?)?),
                Arg::Long("token-env") => token = Some(secret(&parser.value()?.string()?)?),
                Arg::Long("check") => is_check = true,
                Arg::Long("accept") => accepted.push(parser.value()?.string()?),
                Arg::Long("help") | Arg::Short('h') => return Ok(Self::Help),
                other => return Err(other.unexpected().into()),
            }
        }
        let config = config.ok_or_else(|| usage("--config FILE is missing"))?;
        Ok(Self::Run(Options { config, task: task(addr, token, is_check, &accepted)? }))
    }
}

fn task(
    addr: Option<SocketAddr>,
    token: Option<Secret>,
    is_check: bool,
    accepted: &[String],
) -> Result<Task, UsageError> {
    match (addr, token) {
        _ if !accepted.is_empty() => Names::new(accepted)
            .map(Task::Accept)
            .map_err(|error| usage(format!("--accept: {error}"))),
        _ if is_check => Ok(Task::Check),
        (None, None) => Ok(Task::Stdio),
        (None, Some(_)) => Err(usage("--token-env needs --http ADDR as well")),
        (Some(addr), None) if !addr.ip().is_loopback() => {
            Err(usage(format!("others can reach {addr}, so --token-env NAME must name a token")))
        }
        (Some(addr), token) => Ok(Task::Http { addr, token }),
    }
}

fn address(value: OsString) -> Result<SocketAddr, UsageError> {
    let text = value.string()?;
    text.parse().map_err(|_| {
        usage(format!("--http {text:?} is no address with a port, such as 127.0.0.1:8080"))
    })
}

fn secret(name: &str) -> Result<Secret, UsageError> {
    match std::env::var(name) {
        Ok(token) if !token.trim().is_empty() => Ok(Secret::from(token)),
        _ => Err(usage(format!("--token-env {name}: this environment variable holds no token"))),
    }
}

fn usage(text: impl Into<String>) -> UsageError {
    UsageError(text.into())
}

impl From<lexopt::Error> for UsageError {
    fn from(error: lexopt::Error) -> Self {
        Self(error.to_string())
    }
}

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; --help lists the flags", self.0)
    }
}

impl std::error::Error for UsageError {}
