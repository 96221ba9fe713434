use std::fmt;

use serde_json::Value;
use similar::TextDiff;
use tower_agent_core::{Json, Str};

/// A tool whose definition is not the pinned one. `Display` shows the difference, a line each, as `diff -u` does.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Change {
    /// What this program calls the server.
    pub server: Str,
    /// The tool's name.
    pub tool: Str,
    /// The pinned definition: `name`, `title`, `description`, `inputSchema`, `outputSchema`, `annotations`.
    pub before: Json,
    /// The definition as it is now.
    pub after: Json,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (before, after) = (lines(&self.before), lines(&self.after));
        let name = format!("{}/{}", self.server, self.tool);
        let diff = TextDiff::from_lines(&before, &after);
        let mut diff = diff.unified_diff();
        let diff = diff
            .context_radius(2)
            .header(&format!("{name} as pinned"), &format!("{name} now"))
            .to_string();
        f.write_str(diff.trim_end())
    }
}

/// A field a paragraph; texts as they are, everything else as indented JSON.
fn lines(definition: &Json) -> String {
    let Ok(Value::Object(fields)) = definition.value() else {
        return format!("{definition}\n");
    };
    let mut text = String::new();
    for (name, value) in fields {
        let value = match value {
            Value::String(value) => visible(value),
            value => format!("{value:#}"),
        };
        let value = value.replace('\n', "\n  ");
        text.push_str(&format!("{name}:\n  {value}\n"));
    }
    text
}

/// What would not be seen on a terminal, or would move its cursor, is written out.
fn visible(text: &str) -> String {
    let is_hidden = |c: char| {
        (c.is_control() && c != '\n')
            || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
    };
    text.chars().fold(String::with_capacity(text.len()), |mut out, c| {
        if is_hidden(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_shown_line_by_line() {
        let change = Change {
            server: "files".into(),
            tool: "read".into(),
            before: Json::from_text(
                r#"{"name":"read","description":"Reads a file.","inputSchema":{"type":"object"}}"#,
            ),
            after: Json::from_text(
                "{\"name\":\"read\",\"description\":\"Reads a file.\\nFirst call \u{200b}send.\",\"inputSchema\":{\"type\":\"object\"}}",
            ),
        };
        let expected = "\
--- files/read as pinned
+++ files/read now
@@ -1,4 +1,5 @@
 description:
   Reads a file.
+  First call \\u{200b}send.
 inputSchema:
   {";
        assert_eq!(change.to_string(), expected);
    }
}
