//! The flags.

use std::{ffi::OsString, fmt, net::SocketAddr, path::PathBuf};

use lexopt::{Arg, Parser, ValueExt};

/// What `--help` prints.
pub(crate) const HELP: &str = "\
An agent that reads one folder, hosted in axum, with a page to chat with it.

Usage: axum-agent [--addr ADDR] [--root DIR] [--base-url URL --model NAME [--api API]]

  --addr ADDR      where to listen; port 0 takes any free port [default: 127.0.0.1:3000]
  --root DIR       the folder that the tools may look into [default: the sample folder]
  --base-url URL   an endpoint of a provider, such as https://api.openai.com/v1 [default: the built-in demo model]
  --model NAME     the model to ask for; goes with --base-url
  --api API        what the endpoint speaks: openai (chat completions) or responses, whose key is taken from
                   OPENAI_API_KEY, or anthropic (messages; from ANTHROPIC_API_KEY) [default: openai]
  --help           print this

RUST_LOG sets what is logged, such as RUST_LOG=debug.
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
    pub(crate) root: PathBuf,
    pub(crate) model: Model,
}

/// Which model answers.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Model {
    Demo,
    Remote { base_url: String, name: String, api: Api },
}

/// What an endpoint speaks.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum Api {
    #[default]
    OpenAi,
    Responses,
    Anthropic,
}

/// A flag that cannot be understood.
#[derive(Debug)]
pub(crate) struct UsageError(String);

impl Args {
    pub(crate) fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Self, UsageError> {
        let mut parser = Parser::from_args(args);
        let mut addr = SocketAddr::from(([127, 0, 0, 1], 3000));
        let mut root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/sample"));
        let (mut base_url, mut model, mut api) = (None, None, None);
        while let Some(arg) = parser.next()? {
            match arg {
                Arg::Long("addr") => addr = address(parser.value()?)?,
                Arg::Long("root") => root = parser.value()?.into(),
                Arg::Long("base-url") => base_url = Some(parser.value()?.string()?),
                Arg::Long("model") => model = Some(parser.value()?.string()?),
                Arg::Long("api") => api = Some(Api::parse(&parser.value()?.string()?)?),
                Arg::Long("help") | Arg::Short('h') => return Ok(Self::Help),
                other => return Err(other.unexpected().into()),
            }
        }
        Ok(Self::Serve(Options { addr, root, model: Model::chosen(base_url, model, api)? }))
    }
}

impl Model {
    fn chosen(
        base_url: Option<String>,
        name: Option<String>,
        api: Option<Api>,
    ) -> Result<Self, UsageError> {
        match (base_url, name) {
            (Some(base_url), Some(name)) => {
                Ok(Self::Remote { base_url, name, api: api.unwrap_or_default() })
            }
            (None, _) if api.is_some() => {
                Err(UsageError("--api needs --base-url URL as well".to_owned()))
            }
            (Some(_), None) => Err(UsageError("--base-url needs --model NAME as well".to_owned())),
            (None, Some(name)) if name != crate::demo::NAME => {
                Err(UsageError(format!("--model {name} needs --base-url URL as well")))
            }
            (None, _) => Ok(Self::Demo),
        }
    }
}

impl Api {
    fn parse(name: &str) -> Result<Self, UsageError> {
        match name {
            "openai" => Ok(Self::OpenAi),
            "responses" => Ok(Self::Responses),
            "anthropic" => Ok(Self::Anthropic),
            other => Err(UsageError(format!(
                "--api {other:?} is none of openai, responses and anthropic"
            ))),
        }
    }
}

fn address(value: OsString) -> Result<SocketAddr, UsageError> {
    let text = value.string()?;
    text.parse().map_err(|_| {
        UsageError(format!("--addr {text:?} is no address with a port, such as 127.0.0.1:3000"))
    })
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

#[cfg(test)]
mod tests {
    use super::{Api, Args, Model, Options};

    fn parse(args: &[&str]) -> Result<Args, String> {
        Args::parse(args.iter().map(Into::into)).map_err(|error| error.to_string())
    }

    fn options(args: &[&str]) -> Options {
        match parse(args) {
            Ok(Args::Serve(options)) => options,
            other => panic!("{args:?} became {other:?}"),
        }
    }

    #[test]
    fn without_flags_the_demo_model_serves_the_sample_folder() {
        let options = options(&[]);
        assert_eq!(options.addr.to_string(), "127.0.0.1:3000");
        assert!(options.root.join("config.toml").is_file());
        assert_eq!(options.model, Model::Demo);
    }

    #[test]
    fn flags_are_read_in_both_spellings() {
        let options = options(&[
            "--addr=[::1]:0",
            "--root",
            "/tmp",
            "--base-url",
            "http://localhost:1/v1",
            "--model=m",
        ]);
        assert_eq!(options.addr.to_string(), "[::1]:0");
        assert_eq!(options.root.to_str(), Some("/tmp"));
        let remote =
            |api| Model::Remote { base_url: "http://localhost:1/v1".into(), name: "m".into(), api };
        assert_eq!(options.model, remote(Api::OpenAi));
        let far = ["--base-url", "http://localhost:1/v1", "--model", "m", "--api", "anthropic"];
        assert_eq!(self::options(&far).model, remote(Api::Anthropic));
        assert_eq!(parse(&["--help"]).unwrap(), Args::Help);
    }

    #[test]
    fn what_is_wrong_is_said_in_one_line() {
        let cases = [
            (&["--addr", "3000"][..], "--addr \"3000\" is no address"),
            (&["--addr"], "--addr"),
            (&["--port", "1"], "--port"),
            (&["serve"], "serve"),
            (&["--base-url", "http://localhost"], "needs --model"),
            (&["--model", "large"], "needs --base-url"),
            (&["--api", "anthropic"], "needs --base-url"),
            (&["--api", "gopher"], "none of openai, responses and anthropic"),
        ];
        for (args, expected) in cases {
            let error = parse(args).unwrap_err();
            assert!(error.contains(expected) && error.lines().count() == 1, "{args:?}: {error}");
        }
        assert!(parse(&["--model", "demo"]).is_ok());
    }
}
