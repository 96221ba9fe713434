//! Masks JSON.

use std::borrow::Cow;

use super::Detector;
use crate::{
    Mask, Rule,
    engine::Hit,
    json::{self, Leaf, LeafKind},
    judge,
    mask::Standing,
};

/// The longest key that a value is read together with, in bytes.
const KEY: usize = 128;

/// The rules that name what stands under a key that says "secret", where none says more.
const NAMED: [&str; 2] = ["generic-secret", "generic-password"];

impl Detector {
    /// A JSON text with its strings, numbers and keys masked, each on its own; none if the text is no JSON.
    ///
    /// A string is read with the name that it belongs to, and one whose name says "secret" is masked as a whole. The name is
    /// - the key that it stands under: `{"password": ".."}`, `{"password": {"value": ".."}}`;
    /// - the text beside it, in either order: `{"name": "DB_PASSWORD", "value": ".."}`;
    /// - the plural around it: `{"api_keys": ["..", ".."]}`, `{"passwords": {"prod": ".."}}`. Of the objects in a list under it,
    ///   only what is called `key` or `value` is masked for that, and `tokens` or `keys` alone say nothing.
    ///
    /// A number that is masked becomes a string. Everything else stays as it is written, byte for byte. `found` is called with
    /// the rule of each thing that is masked.
    pub fn mask_json<'t>(
        &self,
        text: &'t str,
        mask: &Mask,
        found: &mut dyn FnMut(&Rule),
    ) -> Option<Cow<'t, str>> {
        if !json::is_document(text) {
            return None;
        }
        let mut room = String::new();
        let masked = json::edit(text, &mut |leaf, value| {
            let hits = self.hits_of_leaf(leaf, value, mask, &mut room);
            (!hits.is_empty()).then(|| self.replaced(value, &hits, mask, found))
        });
        Some(masked.map_or(Cow::Borrowed(text), Cow::Owned))
    }

    fn hits_of_leaf(
        &self,
        leaf: &Leaf<'_>,
        value: &str,
        mask: &Mask,
        room: &mut String,
    ) -> Vec<Hit> {
        let quoted = match leaf.kind {
            LeafKind::Other => return Vec::new(),
            LeafKind::Key => return self.hits(value, mask),
            LeafKind::String => true,
            LeafKind::Number => false,
        };
        let Some(key) = leaf.key else { return self.hits(value, mask) };
        let start = write_member(key, value, quoted, room);
        let mut hits = self.hits(room, mask);
        for hit in &mut hits {
            hit.start = hit.start.saturating_sub(start);
            hit.end = hit.end.saturating_sub(start).min(value.len());
        }
        hits.retain(|hit| hit.start < hit.end);
        let masked = mask.standing_at(value.as_bytes(), 0, true) == Standing::Ends(value.len())
            && self.engine().wrote(mask, Some(value.as_bytes()));
        let sensitive = judge::is_sensitive_key(key);
        if !masked && sensitive && judge::is_secret_value(value, quoted) {
            let rule = hits.first().map(|hit| hit.rule).or_else(|| self.named());
            hits = rule.map(|rule| Hit { rule, start: 0, end: value.len() }).into_iter().collect();
        }
        hits
    }

    fn named(&self) -> Option<u32> {
        let place = |id: &&str| self.rules().iter().position(|rule| rule.id() == *id);
        NAMED.iter().find_map(place).and_then(|place| u32::try_from(place).ok())
    }
}

/// Writes a key and its value as they would stand in a plain text. Gives where the value begins.
fn write_member(key: &str, value: &str, quoted: bool, room: &mut String) -> usize {
    let from = key.ceil_char_boundary(key.len().saturating_sub(KEY));
    let quote = if quoted { "\"" } else { "" };
    room.clear();
    for part in ["\"", key.get(from..).unwrap_or_default(), "\": ", quote] {
        room.push_str(part);
    }
    let start = room.len();
    room.push_str(value);
    room.push_str(quote);
    start
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(text: &str) -> (String, Vec<String>) {
        let mut rules = Vec::new();
        let masked = Detector::builtin().mask_json(text, &Mask::label(), &mut |rule| {
            rules.push(rule.id().to_owned());
        });
        (masked.unwrap().into_owned(), rules)
    }

    fn token() -> String {
        format!("ghp_{}", "a1B2c3D4e5F6".repeat(3))
    }

    #[test]
    fn strings_and_keys_are_masked_and_the_rest_stays() {
        let token = token();
        let text = format!(
            "{{ \"a\":[1.50, \"see \\\"{token}\\\"\\n\"],\"{token}\" : null, \"a\":\"\\u00e9\" }}\n"
        );
        let expected = text.replace(&token, "[REDACTED:github-pat]");
        assert_eq!(masked(&text), (expected, vec!["github-pat".to_owned(); 2]));
    }

    #[test]
    fn what_stands_under_a_key_that_says_secret_is_masked_as_a_whole() {
        let cases = [
            (r#"{"password":"hunter2!x9"}"#, r#"{"password":"[REDACTED:generic-password]"}"#),
            (
                r#"{"a":{"token":["tr0ub4dor&3x",""]}}"#,
                r#"{"a":{"token":["[REDACTED:generic-secret]",""]}}"#,
            ),
            (r#"{"note":"password","token":null}"#, r#"{"note":"password","token":null}"#),
            (r#"{"card":4111111111111111}"#, r#"{"card":"[REDACTED:credit-card]"}"#),
        ];
        for (text, expected) in cases {
            assert_eq!(masked(text).0, expected);
            assert_eq!(masked(expected).0, expected);
        }
    }

    #[test]
    fn masking_twice_is_masking_once() {
        let once = masked(&format!("[\"{0}\", {{\"x\": \"{0}, {0}\"}}]", token())).0;
        assert_eq!(masked(&once), (once.clone(), vec![]));
    }

    #[test]
    fn what_is_no_json_is_none() {
        for text in ["", "{", "a", "[] []"] {
            let none = Detector::builtin().mask_json(text, &Mask::label(), &mut |_| {});
            assert_eq!(none, None, "{text}");
        }
    }
}
