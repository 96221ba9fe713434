//! A secret is never printed.
#![cfg(test)]

use serde::Deserialize;
use tower_agent_core::{BoxError, Error, ErrorKind, Extensions, Run, Secret, ToolOutput};

const VALUE: &str = "sk-hunter2";

#[derive(Clone, Debug, Deserialize)]
#[expect(dead_code, reason = "only its Debug is read")]
struct Config {
    key: Secret,
    url: String,
}

fn assert_hidden(shown: &str) {
    assert!(!shown.contains("hunter2"), "{shown}");
}

#[test]
fn a_secret_shows_in_no_debug_and_no_display() {
    let secret = Secret::from(VALUE);
    assert_hidden(&format!("{secret} {secret:?} {secret:#?} {:>40}", secret));
    let config: Config =
        serde_json::from_str(&format!(r#"{{"key": "{VALUE}", "url": "u"}}"#)).unwrap();
    assert_hidden(&format!("{config:?} {config:#?} {:?}", Some(&config)));
    assert_eq!(config.key.expose(), VALUE);
}

#[test]
fn a_secret_shows_in_no_error_about_it() {
    let errors = [
        serde_json::from_str::<Config>(&format!(r#"{{"key": "{VALUE}"}}"#)).unwrap_err(),
        serde_json::from_str::<Config>(&format!(r#"{{"key": "{VALUE}", "url": 1}}"#)).unwrap_err(),
        serde_json::from_str::<Config>(&format!(r#"{{"key": ["{VALUE}"], "url": ""}}"#))
            .unwrap_err(),
        serde_json::from_str::<Config>(&format!(r#"{{"key": {{"{VALUE}": 1}}, "url": ""}}"#))
            .unwrap_err(),
    ];
    for error in errors {
        assert_hidden(&format!("{error} {error:?}"));
        let error = Error::new(ErrorKind::Unauthorized, "bad configuration")
            .with_source(error)
            .with_extension(Secret::from(VALUE));
        assert_hidden(&format!("{error} {error:?} {}", error.model_text()));
        assert_hidden(&format!("{:?}", BoxError::from(error)));
    }
}

#[test]
fn a_secret_that_is_no_text_is_refused_without_being_quoted() {
    for wrong in ["482915", "-482915", "4829.15", "true", "null", "[482915]", r#"{"482915": 1}"#] {
        let error = serde_json::from_str::<Secret>(wrong).unwrap_err().to_string();
        assert!(!error.contains("4829") && !error.contains("true"), "{error}");
    }
}

#[test]
fn a_secret_among_extensions_shows_in_nothing_that_holds_them() {
    let mut ctx = Run::builder("r1").build();
    ctx.extensions.insert(Secret::from(VALUE));
    ctx.state().insert(Secret::from(VALUE));
    let mut output = ToolOutput::text("done");
    output.extensions.insert(Secret::from(VALUE));
    assert_hidden(&format!("{ctx:?} {output:?}"));
    assert_hidden(&serde_json::to_string(&output).unwrap());
    let held: &Extensions = &ctx.extensions;
    assert_eq!(held.get::<Secret>().unwrap().expose(), VALUE);
}
