//! Texts that a dialect repeats beside the message, in pieces: `[{"text": "the key is AK"}, {"text": "IA.."}]`.

use serde_json::Value;

use super::walk::Walk;
use crate::Json;

/// What the texts of such pieces are called.
const TEXTS: [&str; 4] = ["text", "summary", "content", "thinking"];

impl Walk<'_> {
    /// Masks what a dialect says beside a message. What lies across several pieces of a list is found as in one text, which is
    /// then the first piece, and the others are empty.
    pub(super) fn extra(&mut self, extra: &Json) -> Option<Json> {
        let masked = self.json(extra);
        let text = masked.as_ref().unwrap_or(extra).as_str();
        if !TEXTS.iter().any(|name| text.matches(&format!("\"{name}\"")).count() > 1) {
            return masked;
        }
        let mut value = match serde_json::from_str(text) {
            Ok(value) => value,
            Err(_) => return masked,
        };
        if self.pieces(&mut value) { Some(value.into()) } else { masked }
    }

    fn pieces(&mut self, value: &mut Value) -> bool {
        match value {
            Value::Array(items) => {
                let mut found = false;
                for name in TEXTS {
                    found |= self.list(items, name);
                }
                items.iter_mut().fold(found, |found, item| self.pieces(item) | found)
            }
            Value::Object(fields) => {
                fields.values_mut().fold(false, |found, field| self.pieces(field) | found)
            }
            _ => false,
        }
    }

    fn list(&mut self, items: &mut [Value], name: &str) -> bool {
        let texts = items.iter().filter_map(|item| item.get(name)?.as_str());
        let joined: String = texts.collect();
        let Some(masked) = self.text(&joined) else { return false };
        let pieces = items.iter_mut().filter_map(|item| item.get_mut(name));
        let mut rest = Some(masked.as_str());
        for piece in pieces.filter(|piece| piece.is_string()) {
            *piece = Value::from(rest.take().unwrap_or_default());
        }
        true
    }
}
