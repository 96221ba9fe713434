//! The flags.

use std::{ffi::OsString, net::SocketAddr};

use lexopt::{Arg, Parser, ValueExt};

/// What `--help` prints.
pub(crate) const HELP: &str = "\
Two tools that read notes, behind a stack of layers, served over MCP.

Usage: mcp-server [--http ADDR]

  --http ADDR  serve over HTTP on this address instead of standard input and output, at the path /mcp;
               port 0 takes any free port, and the host must be a name of this machine
  --help       print this

RUST_LOG sets what is logged to the standard error, such as RUST_LOG=debug.
";

/// What was asked for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Args {
    Help,
    Stdio,
    Http(SocketAddr),
}

impl Args {
    pub(crate) fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Self, String> {
        let mut parser = Parser::from_args(args);
        let mut found = Self::Stdio;
        while let Some(arg) = parser.next().map_err(|error| usage(&error))? {
            match arg {
                Arg::Long("http") => found = Self::Http(address(&mut parser)?),
                Arg::Long("help") | Arg::Short('h') => return Ok(Self::Help),
                other => return Err(usage(&other.unexpected())),
            }
        }
        Ok(found)
    }
}

fn address(parser: &mut Parser) -> Result<SocketAddr, String> {
    let text = parser.value().and_then(|value| value.string());
    let text = text.map_err(|error| usage(&error))?;
    text.parse().map_err(|_| {
        format!("--http {text:?} is no address with a port, such as 127.0.0.1:8080; --help lists the flags")
    })
}

fn usage(error: &lexopt::Error) -> String {
    format!("{error}; --help lists the flags")
}

#[cfg(test)]
mod tests {
    use super::Args;

    fn parse(args: &[&str]) -> Result<Args, String> {
        Args::parse(args.iter().map(Into::into))
    }

    #[test]
    fn without_flags_it_serves_standard_input_and_output() {
        assert_eq!(parse(&[]), Ok(Args::Stdio));
        assert_eq!(parse(&["--help"]), Ok(Args::Help));
        assert_eq!(parse(&["--http", "[::1]:0"]), Ok(Args::Http("[::1]:0".parse().unwrap())));
    }

    #[test]
    fn what_is_wrong_is_said_in_one_line() {
        for (args, expected) in [
            (&["--http"][..], "--http"),
            (&["--http", "8080"], "--http \"8080\" is no address"),
            (&["--port", "1"], "--port"),
            (&["serve"], "serve"),
        ] {
            let error = parse(args).unwrap_err();
            assert!(error.contains(expected) && error.lines().count() == 1, "{args:?}: {error}");
        }
    }
}
