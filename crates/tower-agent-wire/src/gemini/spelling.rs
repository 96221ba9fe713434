//! Names in `snake_case`, which the JSON of protocol buffers allows beside `camelCase`.

use crate::codec::raw::Fields;

/// Gives fields the names that this codec looks for and writes.
pub(super) fn in_camel_case(fields: &mut Fields<'_>, names: &[&'static str]) {
    if !fields.iter().any(|(key, _)| key.contains('_')) {
        return;
    }
    for name in names {
        if fields.get(name).is_none()
            && let Some(raw) = fields.take(&in_snake_case(name))
        {
            fields.set(*name, raw);
        }
    }
}

fn in_snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}
