//! The options behind a task's name.

use std::path::{self, PathBuf};

use crate::Result;

/// What may follow the name of a task.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    /// A server that runs already; without it the task starts its own.
    pub(crate) url: Option<String>,
    /// Where the picture for the README goes.
    pub(crate) screenshot: Option<PathBuf>,
    /// How long each fuzz target runs.
    pub(crate) seconds: Option<u32>,
    /// The one fuzz target that is meant.
    pub(crate) target: Option<String>,
}

impl Options {
    pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self> {
        let mut options = Self::default();
        while let Some(name) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("`{name}` needs a value"));
            match name.as_str() {
                "--url" => options.url = Some(value()?),
                // The browser's script runs elsewhere, so a path is fixed to where the user stands.
                "--screenshot" => options.screenshot = Some(path::absolute(value()?)?),
                "--seconds" => options.seconds = Some(seconds(&value()?)?),
                word if !word.starts_with('-') && options.target.is_none() => {
                    options.target = Some(name);
                }
                _ => {
                    return Err(
                        format!("`{name}` is no option; `cargo xtask help` lists them").into()
                    );
                }
            }
        }
        Ok(options)
    }
}

fn seconds(text: &str) -> Result<u32> {
    // Zero would be no limit at all.
    let seconds = text.parse().ok().filter(|seconds| *seconds > 0);
    seconds.ok_or_else(|| format!("`{text}` is no number of seconds").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Options> {
        Options::parse(arguments.iter().map(|&argument| argument.to_owned()))
    }

    #[test]
    fn nothing_given_is_nothing_set() {
        assert_eq!(parse(&[]).unwrap(), Options::default());
    }

    #[test]
    fn a_screenshot_goes_where_the_user_stands() {
        let options = parse(&["--url", "http://127.0.0.1:1", "--screenshot", "page.png"]).unwrap();
        assert_eq!(options.url.as_deref(), Some("http://127.0.0.1:1"));
        assert_eq!(options.screenshot, Some(std::env::current_dir().unwrap().join("page.png")));
    }

    #[test]
    fn a_target_and_a_time_may_be_given() {
        let options = parse(&["stream", "--seconds", "5"]).unwrap();
        assert_eq!((options.target.as_deref(), options.seconds), (Some("stream"), Some(5)));
        for wrong in ["0", "-1", "soon"] {
            let error = parse(&["--seconds", wrong]).unwrap_err().to_string();
            assert_eq!(error, format!("`{wrong}` is no number of seconds"));
        }
        assert!(
            parse(&["stream", "json"]).unwrap_err().to_string().contains("`json` is no option")
        );
    }

    #[test]
    fn an_unknown_option_and_a_missing_value_are_named() {
        assert!(parse(&["--fast"]).unwrap_err().to_string().contains("`--fast` is no option"));
        assert!(parse(&["--url"]).unwrap_err().to_string().contains("`--url` needs a value"));
    }
}
