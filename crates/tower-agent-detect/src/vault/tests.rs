use proptest::prelude::*;

use super::Vault;
use crate::json::is_json;

#[test]
fn a_value_comes_back_in_the_place_of_its_placeholder() {
    let vault = Vault::default();
    let token = vault.seal("api-key", "hunter2").unwrap();
    let other = vault.seal("password", "a \"b\"\n").unwrap();
    assert!(token.starts_with("[REDACTED:api-key:vault-") && token.len() == 41, "{token}");
    assert_ne!(token, other);
    let opened = vault.open(&format!("-H '{token}' {other}{token}.")).unwrap().into_owned();
    assert_eq!(opened, "-H 'hunter2' a \"b\"\nhunter2.");
    assert_eq!(vault.len(), 2);
}

#[test]
fn the_same_value_has_the_same_placeholder_in_all_clones_and_in_no_other_vault() {
    let vault = Vault::default();
    let first = vault.seal("api-key", "hunter2");
    assert_eq!(vault.clone().seal("password", "hunter2"), first);
    assert_eq!(vault.len(), 1);
    assert_ne!(Vault::default().seal("api-key", "hunter2"), first);
}

#[test]
fn a_placeholder_that_the_vault_did_not_make_opens_nothing() {
    let vault = Vault::default();
    let good = vault.seal("api-key", "hunter2").unwrap();
    let foreign = Vault::default().seal("api-key", "hunter2").unwrap();
    let tag = good.get(24..40).unwrap();
    let guesses = [
        foreign,
        "[REDACTED:api-key:vault-0123456789abcdef]".to_owned(),
        "[REDACTED:api-key:vault-]".to_owned(),
        "[REDACTED:api-key:vault-hunter2]".to_owned(),
        // Not quite what was written.
        format!("[REDACTED:password:vault-{tag}]"),
        format!("[REDACTED:api-key:vault-_{}]", tag.get(1..).unwrap()),
        format!("[REDACTED:api-key:vault-0{tag}]"),
        format!("[REDACTED:api-key:vault-{}]", tag.to_uppercase().replace(char::is_numeric, "A")),
    ];
    for guess in guesses {
        let text = format!("{good} {guess} {good}");
        let error = vault.open(&text).unwrap_err();
        assert_eq!(error.placeholder(), guess);
        assert_eq!(
            error.to_string(),
            format!("the vault has no value for the placeholder `{guess}`")
        );
        let json = format!("[\"{good}\", \"{guess}\"]");
        assert_eq!(vault.open_json(&json).unwrap_err().placeholder(), guess);
    }
}

#[test]
fn other_placeholders_and_texts_stay() {
    let vault = Vault::default();
    for text in [
        "",
        "[REDACTED]",
        "[REDACTED:api-key]",
        "[REDACTED:vault-0123456789abcdef]",
        "[REDACTED:a:1f3a9c0e5b7d2468] vault-0",
    ] {
        assert_eq!(vault.open(text).unwrap(), text);
        assert_eq!(vault.open_json(text).unwrap(), text);
    }
}

#[test]
fn a_value_that_looks_like_a_placeholder_is_not_opened_again() {
    let vault = Vault::default();
    let inner = vault.seal("api-key", "hunter2").unwrap();
    let outer = vault.seal("api-key", &format!("<{inner}>")).unwrap();
    assert_eq!(vault.open(&outer).unwrap(), format!("<{inner}>"));
}

#[test]
fn a_full_vault_takes_nothing_new_and_forgets_nothing() {
    let vault = Vault::new(1);
    let first = vault.seal("api-key", "hunter2").unwrap();
    assert_eq!(vault.seal("api-key", "hunter3"), None);
    assert_eq!(vault.seal("api-key", "hunter2").as_ref(), Some(&first));
    assert_eq!(vault.open(&first).unwrap(), "hunter2");
    assert_eq!(Vault::new(0).seal("api-key", "hunter2"), None);
    let longest = "x".repeat(Vault::LONGEST);
    assert!(Vault::default().seal("api-key", &longest).is_some());
    assert_eq!(Vault::default().seal("api-key", &format!("{longest}x")), None);
}

#[test]
fn a_cleared_vault_opens_nothing() {
    let vault = Vault::default();
    let token = vault.seal("api-key", "hunter2").unwrap();
    vault.clear();
    assert!(vault.is_empty());
    assert!(vault.open(&token).is_err());
    assert_eq!(vault.seal("api-key", "hunter2").unwrap(), token);
    assert_eq!(vault.open(&token).unwrap(), "hunter2");
}

#[test]
fn in_json_values_go_into_strings_and_not_into_keys() {
    let vault = Vault::default();
    let token = vault.seal("password", "a \"b\"\n").unwrap();
    let escaped = token.replacen('[', "\\u005b", 1);
    let text = format!("{{\"{token}\" : [\"x{token}\", 1.50], \"b\": \"{escaped}\"}} ");
    let expected =
        format!("{{\"{token}\" : [\"xa \\\"b\\\"\\n\", 1.50], \"b\": \"a \\\"b\\\"\\n\"}} ");
    assert_eq!(vault.open_json(&text).unwrap(), expected);
    assert_eq!(vault.open_json(&token).unwrap(), token, "it is no JSON");
}

#[test]
fn debug_shows_counts_only() {
    let vault = Vault::new(3);
    vault.seal("api-key", "hunter2");
    assert_eq!(format!("{vault:?}"), "Vault { len: 1, capacity: 3 }");
}

proptest! {
    #[test]
    fn what_is_sealed_is_opened(values in prop::collection::vec(".{1,20}", 1..8), between in "[^\\[\"\\\\\\p{Cc}]{0,10}") {
        let vault = Vault::default();
        let sealed: Vec<_> = values.iter().map(|value| vault.seal("rule", value).unwrap()).collect();
        let text = sealed.join(&between);
        prop_assert_eq!(vault.open(&text).unwrap(), values.join(&between));
        let json = format!("[\"{text}\"]");
        let opened = vault.open_json(&json).unwrap().into_owned();
        prop_assert!(is_json(&opened));
        prop_assert_eq!(serde_json::from_str::<Vec<String>>(&opened).unwrap(), [values.join(&between)]);
    }
}
