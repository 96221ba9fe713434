//! The patterns of secrets that turn up everywhere.

use std::sync::LazyLock;

use super::{Pattern, PatternError, RedactLayer, engine::Engine};

/// A value in quotes, plain or escaped as inside other JSON, or the beginning of one.
const QUOTED: &str = r#"(?:"(?<secret_a>(?:[^"\\\n]|\\.)+)|'(?<secret_b>(?:[^'\\\n]|\\.)+)|\\+"(?<secret_c>[^"\\\n]+))"#;
/// A value without quotes, up to a delimiter; closing brackets at its end are not part of it.
const BARE: &str = r#"(?<secret_d>[^\s"'`,;&<>\\\[\](){}=:](?:(?:[^\s"'`,;&<>\\]|\\[^\snrtbfu"'/\\])*[^\s"'`,;&<>\\)\]}])?)"#;
/// What ends a key, and what stands between a key and its value.
const COLON: &str = r#"\\*["']?[ \t]*:[ \t]*"#;
const EQUALS: &str = r#"\\*["']?[ \t]*(?:=>|:=|={1,3})[ \t]*"#;

const PASSWORD: &str = r"(?:pass[_-]?(?:word|wd|phrase|code)|secret|(?-i:pwd|Pwd|_PWD|_PASS))";
const API_KEY: &str = r"(?:(?:api|access|auth|private|bot|deploy)[ _-]?(?:key|token)|(?:refresh|bearer|session|security)[ _-]?token|(?:secret|encryption|signing|account|master)[ _-]?key|(?-i:_TOKEN))";

const PRIVATE_KEY: &str = concat!(
    r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----",
    // No two dashes stand in a body: otherwise each of many openings would read on to the end of the text.
    r#"(?:(?:[A-Za-z0-9+/=\s\\"',:.()]|-[A-Za-z0-9])*?-----END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----"#,
    // A block that was cut off, as far as it looks like one.
    r"|(?:(?:\s|\\[nr])*[A-Za-z0-9+/=]{16,})+(?:(?:\s|\\[nr])+[A-Za-z0-9+/=]*\z)?)",
);
const API_KEYS: &str = concat!(
    r"(?:(?-u:\b)|_)(?<secret>",
    r"(?:sk|pk)-[A-Za-z0-9]{20,}[A-Za-z0-9_-]*",
    r"|sk-(?:proj|ant|svcacct|admin|or|lf)-[A-Za-z0-9_-]{10,}",
    r"|[sprw]k_(?:live|test)_[A-Za-z0-9]{8,}",
    r"|xox[abeoprs]-[A-Za-z0-9-]{10,}",
    r"|AIza[A-Za-z0-9_-]{35}",
    r"|glpat-[A-Za-z0-9_-]{20,}",
    r"|hf_[A-Za-z0-9]{30,}",
    r"|npm_[A-Za-z0-9]{36})",
);

static COMMON: LazyLock<Engine> = LazyLock::new(|| {
    // They are constants and a test compiles each, so none is dropped here.
    let patterns = sources().into_iter().filter_map(Result::ok);
    Engine::new(patterns, RedactLayer::REPLACEMENT.into())
});

impl Engine {
    /// The common patterns, compiled once for all layers.
    pub(super) fn common() -> Self {
        COMMON.clone()
    }
}

impl Pattern {
    /// A curated list for secrets that have a form of their own or a telling key beside them.
    ///
    /// Kinds: `private-key` (PEM blocks, also cut off), `aws-access-key`, `github-token`, `api-key` (of several providers, and
    /// values under keys such as `api_key`), `jwt`, `url-password`, `authorization`, `password` (values under keys such as
    /// `password` or `client_secret`) and `ssn`.
    ///
    /// It is conservative: after a colon, a value without quotes must look like a secret (`password: hunter2`) and not
    /// like a word (`Password: required`).
    #[must_use]
    pub fn common() -> Vec<Self> {
        COMMON.patterns().to_vec()
    }
}

fn sources() -> Vec<Result<Pattern, PatternError>> {
    let accepted = |kind: &str, regex: &str, accept: fn(&str) -> bool| {
        Pattern::new(kind, regex).map(|pattern| pattern.accept(accept))
    };
    let keyed = |words: &str| format!("(?i){words}(?:(?:{COLON}|{EQUALS}){QUOTED}|{EQUALS}{BARE})");
    let colon = |words: &str| format!("(?i){words}{COLON}{BARE}");
    let token = format!(r"(?i)(?-u:\b)token(?:{COLON}|{EQUALS})(?:{QUOTED}|{BARE})");
    vec![
        Pattern::new("private-key", PRIVATE_KEY),
        Pattern::new(
            "aws-access-key",
            r"(?:(?-u:\b)|_)(?<secret>A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16})(?-u:\b)",
        ),
        Pattern::new(
            "github-token",
            r"(?:(?-u:\b)|_)(?<secret>gh[opsur]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})",
        ),
        Pattern::new("api-key", API_KEYS),
        accepted("api-key", &keyed(API_KEY), is_value),
        accepted("api-key", &colon(API_KEY), looks_random),
        accepted("api-key", &token, |value| value.len() >= 16 && looks_random(value)),
        Pattern::new(
            "jwt",
            r"(?-u:\b)eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?",
        ),
        Pattern::new("url-password", r#"://[^\s/?#:@"'<>\\]*:(?<secret>[^\s/?#"'<>\\]+)@"#),
        Pattern::new(
            "authorization",
            r#"(?i)authorization["'\\]*[ \t]*[:=][ \t]*["'\\]*(?:bearer|basic|token|digest|apikey|negotiate)[ \t]+(?<secret>[^\s"'\\,;]+)"#,
        ),
        accepted(
            "authorization",
            r#"(?i)authorization["'\\]*[ \t]*[:=][ \t]*["'\\]*(?<secret>[^\s"'\\,;]{16,})"#,
            looks_random,
        ),
        accepted(
            "authorization",
            r"(?i)(?-u:\b)bearer[ \t]+(?<secret>[A-Za-z0-9._~+/=-]{16,})",
            looks_random,
        ),
        accepted("password", &keyed(PASSWORD), is_value),
        accepted("password", &colon(PASSWORD), looks_secret),
        accepted("ssn", r"(?-u:\b)[0-9]{3}-[0-9]{2}-[0-9]{4}(?-u:\b)", is_ssn),
    ]
}

/// Whether a value is more than a word for none.
fn is_value(value: &str) -> bool {
    let words = ["none", "null", "nil", "true", "false", "undefined"];
    !words.iter().any(|word| value.eq_ignore_ascii_case(word))
}

/// Whether a value without quotes is no ordinary word.
fn looks_secret(value: &str) -> bool {
    let value = value.trim_end_matches(['.', '!', '?']);
    let inner_capital =
        value.chars().skip(1).any(char::is_uppercase) && value.chars().any(char::is_lowercase);
    let odd = |character: char| {
        character.is_numeric() || (character.is_ascii_punctuation() && !"-'’/".contains(character))
    };
    value.len() >= 4
        && (value.contains(odd) || inner_capital || value.len() >= 16)
        && !value.chars().all(|character| character == '*')
}

/// Whether a value has the digits that generated keys have.
fn looks_random(value: &str) -> bool {
    value.len() >= 8 && value.contains(|character: char| character.is_ascii_digit())
}

/// Whether nine digits are a number that was ever given out.
fn is_ssn(number: &str) -> bool {
    let mut parts = number.split('-');
    let (area, group, serial) = (parts.next(), parts.next(), parts.next());
    let area_is_used = !matches!(area, Some("000" | "666")) && !number.starts_with('9');
    area_is_used && group != Some("00") && serial != Some("0000")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_of_the_common_list_compiles() {
        for pattern in sources() {
            pattern.unwrap();
        }
        assert_eq!(Pattern::common().len(), sources().len());
    }
}
