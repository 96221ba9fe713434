//! The flags.

use std::{error::Error, ffi::OsString, fmt, net::SocketAddr};

use lexopt::{Arg, Parser, ValueExt};

/// What `--help` prints.
pub(crate) const HELP: &str = "\
Layers around the models that your clients use already: redaction, an allow-list of tools, metrics and limits.

Usage: model-proxy [--addr ADDR] [--demo] [--allow TOOL]... [--forward]

  --addr ADDR      where to listen; port 0 takes any free port [default: 127.0.0.1:3100]
  --demo           a provider that is built in answers, without keys or network
  --allow TOOL     a tool that models may be offered, by name or glob; may be repeated [default: all]
  --forward        send all other paths of OpenAI's API (embeddings, files) on as they are, past all layers
  --openai URL     where OpenAI's API is [default: https://api.openai.com]
  --anthropic URL  where Anthropic's API is [default: https://api.anthropic.com]
  --gemini URL     where Gemini's API is [default: https://generativelanguage.googleapis.com]
  --help           print this

The caller's own key is passed on. RUST_LOG sets what is logged, such as RUST_LOG=debug.
";

/// What was asked for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Args {
    Help,
    Serve(Options),
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Options {
    pub(crate) addr: SocketAddr,
    pub(crate) demo: bool,
    pub(crate) allow: Vec<String>,
    pub(crate) forward: bool,
    pub(crate) upstreams: Upstreams,
}

/// Where the providers are, without the versions of their APIs.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Upstreams {
    pub(crate) openai: String,
    pub(crate) anthropic: String,
    pub(crate) gemini: String,
}

impl Upstreams {
    pub(crate) fn all(&mut self, url: &str) {
        for upstream in [&mut self.openai, &mut self.anthropic, &mut self.gemini] {
            url.clone_into(upstream);
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            addr: SocketAddr::from(([127, 0, 0, 1], 3100)),
            demo: false,
            allow: Vec::new(),
            forward: false,
            upstreams: Upstreams {
                openai: "https://api.openai.com".into(),
                anthropic: "https://api.anthropic.com".into(),
                gemini: "https://generativelanguage.googleapis.com".into(),
            },
        }
    }
}

/// A flag that cannot be understood.
#[derive(Debug)]
pub(crate) struct UsageError(String);

impl Args {
    pub(crate) fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Self, UsageError> {
        let mut parser = Parser::from_args(args);
        let mut options = Options::default();
        while let Some(arg) = parser.next()? {
            match arg {
                Arg::Long("addr") => {
                    let text = parser.value()?.string()?;
                    let addr = text.parse();
                    options.addr = addr.map_err(|_| {
                        UsageError(format!("--addr: `{text}` is no address with a port"))
                    })?;
                }
                Arg::Long("demo") => options.demo = true,
                Arg::Long("forward") => options.forward = true,
                Arg::Long("allow") => options.allow.push(parser.value()?.string()?),
                Arg::Long("openai") => options.upstreams.openai = parser.value()?.string()?,
                Arg::Long("anthropic") => options.upstreams.anthropic = parser.value()?.string()?,
                Arg::Long("gemini") => options.upstreams.gemini = parser.value()?.string()?,
                Arg::Long("help") | Arg::Short('h') => return Ok(Self::Help),
                other => return Err(other.unexpected().into()),
            }
        }
        Ok(Self::Serve(options))
    }
}

impl From<lexopt::Error> for UsageError {
    fn from(error: lexopt::Error) -> Self {
        Self(format!("{error}; --help lists the flags"))
    }
}

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for UsageError {}
