//! The flags.

use std::{ffi::OsString, fmt, path::PathBuf};

use lexopt::{Arg, Parser, ValueExt};
use tower_agent_detect::Set;

/// What `--help` prints.
pub(crate) const HELP: &str = "\
Masks secrets and personal data on their way from standard input to standard output.

Usage: redact [--set SET] [--rules FILE]... [--mask MASK] [--json] [--quiet] < input > output

  --set SET     what to look for: secrets, pii or all [default: all]
  --rules FILE  more rules, in TOML; may be given more than once
  --mask MASK   what stands in the place of a value [default: label]
                  label   the id of the rule: [REDACTED:aws-access-key-id]
                  last4   asterisks and the last four characters
                  remove  nothing
                  hash    the id and a hash that is the same for equal values; keyed with REDACT_KEY
  --json        the input is JSON Lines: mask its strings, numbers and keys, and keep its shape
  --quiet       neither progress nor summary on standard error
  --help        print this

Exit status: 0 if all went well, 1 if reading or writing failed, 2 if a flag or a rule is wrong.
";

/// What was asked for.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Args {
    Help,
    Run(Options),
}

#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Options {
    /// None for all sets.
    pub(crate) set: Option<Set>,
    pub(crate) rules: Vec<PathBuf>,
    pub(crate) mask: MaskName,
    pub(crate) json: bool,
    pub(crate) quiet: bool,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum MaskName {
    #[default]
    Label,
    Last4,
    Remove,
    Hash,
}

/// A flag that cannot be understood, or cannot be done.
#[derive(Debug)]
pub(crate) struct UsageError(pub(crate) String);

impl Args {
    pub(crate) fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Self, UsageError> {
        let mut parser = Parser::from_args(args);
        let mut options = Options::default();
        while let Some(arg) = parser.next()? {
            match arg {
                Arg::Long("set") => options.set = set(&parser.value()?.string()?)?,
                Arg::Long("rules") => options.rules.push(parser.value()?.into()),
                Arg::Long("mask") => options.mask = mask(&parser.value()?.string()?)?,
                Arg::Long("json") => options.json = true,
                Arg::Long("quiet") | Arg::Short('q') => options.quiet = true,
                Arg::Long("help") | Arg::Short('h') => return Ok(Self::Help),
                other => return Err(other.unexpected().into()),
            }
        }
        Ok(Self::Run(options))
    }
}

fn set(name: &str) -> Result<Option<Set>, UsageError> {
    match name {
        "all" => Ok(None),
        "secrets" => Ok(Some(Set::Secrets)),
        "pii" => Ok(Some(Set::Pii)),
        _ => Err(UsageError(format!("--set {name:?} is none of secrets, pii and all"))),
    }
}

fn mask(name: &str) -> Result<MaskName, UsageError> {
    match name {
        "label" => Ok(MaskName::Label),
        "last4" => Ok(MaskName::Last4),
        "remove" => Ok(MaskName::Remove),
        "hash" => Ok(MaskName::Hash),
        _ => Err(UsageError(format!("--mask {name:?} is none of label, last4, remove and hash"))),
    }
}

impl From<lexopt::Error> for UsageError {
    fn from(error: lexopt::Error) -> Self {
        Self(error.to_string())
    }
}

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

#[cfg(test)]
mod tests {
    use super::{Args, MaskName, Options};
    use tower_agent_detect::Set;

    fn parse(args: &[&str]) -> Result<Args, String> {
        Args::parse(args.iter().map(Into::into)).map_err(|error| error.to_string())
    }

    #[test]
    fn without_flags_all_rules_write_labels() {
        assert_eq!(parse(&[]).unwrap(), Args::Run(Options::default()));
    }

    #[test]
    fn flags_are_read_in_both_spellings() {
        let args =
            ["--set=pii", "--rules", "a.toml", "--rules=b.toml", "--mask", "last4", "--json", "-q"];
        let options = Options {
            set: Some(Set::Pii),
            rules: vec!["a.toml".into(), "b.toml".into()],
            mask: MaskName::Last4,
            json: true,
            quiet: true,
        };
        assert_eq!(parse(&args).unwrap(), Args::Run(options));
        assert_eq!(parse(&["--json", "--help"]).unwrap(), Args::Help);
    }

    #[test]
    fn what_is_wrong_is_said_in_one_line() {
        let cases = [
            (&["--set", "keys"][..], "--set \"keys\" is none of"),
            (&["--mask", "stars"], "--mask \"stars\" is none of"),
            (&["--mask"], "--mask"),
            (&["--fast"], "--fast"),
            (&["input.txt"], "input.txt"),
        ];
        for (args, expected) in cases {
            let error = parse(args).unwrap_err();
            assert!(error.contains(expected) && error.lines().count() == 1, "{args:?}: {error}");
        }
    }
}
