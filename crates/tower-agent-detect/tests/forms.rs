//! Forms that hide a value: the value goes, and what stands around it stays.
#![cfg(test)]

#[allow(dead_code, reason = "others use the rest of it")]
mod support;
#[allow(dead_code, reason = "others use the rest of it")]
#[path = "support/texts.rs"]
mod texts;

use serde::Deserialize;
use tower_agent_detect::{Detector, Mask};

use crate::{
    support::{expand, streamed},
    texts::{base64, percent, wide},
};

#[derive(Deserialize)]
struct Forms {
    form: Vec<Form>,
}

#[derive(Deserialize)]
struct Form {
    text: String,
    mask: Option<String>,
    /// How the text, or the block in it, is written.
    #[serde(rename = "as", default)]
    written: String,
}

const BLOCK: &str = "-----BEGIN RSA PRIVATE KEY-----\n<base64:64>\n<base64:64>\n<base64:40>==\n-----END RSA PRIVATE KEY-----";

impl Form {
    fn input(&self) -> String {
        let block = BLOCK
            .replace("<base64:64>", &expand("<base64:64>"))
            .replace("<base64:40>", &expand("<base64:40>"));
        let block = match &*self.written {
            "indented" => {
                block.lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
            }
            "json" => block.replace('\n', "\\n"),
            "json-json" => block.replace('\n', "\\\\n"),
            _ => block,
        };
        let text = expand(&self.text.replace("<pem>", &block));
        match &*self.written {
            "crlf" => text.replace('\n', "\r\n"),
            "percent" => percent(&text, 0),
            "percent-percent" => percent(&percent(&text, 0), 0),
            "base64" => base64(text.as_bytes()),
            "base64-base64" => base64(base64(text.as_bytes()).as_bytes()),
            "wide" => wide(&text),
            _ => text,
        }
    }
}

#[test]
fn a_value_goes_from_each_form_and_nothing_else_does() {
    let forms: Forms = toml::from_str(include_str!("data/forms.toml")).unwrap();
    let detector = Detector::builtin();
    let mask = Mask::text("#");
    let mut wrong = Vec::new();
    for form in &forms.form {
        let input = form.input();
        let expected = form.mask.as_ref().map_or_else(|| input.clone(), |mask| expand(mask));
        let masked = detector.mask_with(&input, &mask);
        if masked != expected {
            let found: Vec<_> =
                detector.find(&input).iter().map(|it| it.rule().id().to_owned()).collect();
            wrong.push(format!("{input}\n  gives {masked}\n  by {found:?}"));
        }
        for size in [1, 7] {
            assert_eq!(streamed(&detector, &mask, &input, size), masked, "{input}");
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), forms.form.len(), wrong.join("\n"));
}
