//! What becomes of confidential values in the arguments of calls.

use std::{borrow::Cow, fmt, ops::Range};

use serde_json::Value;
use tower_agent_detect::{UnknownPlaceholder, Vault};

use super::{findings::Tally, policy::LAYER};
use crate::{
    Context, Denial, Json, Str, ToolCall,
    json_text::{is_json, string_end},
};

/// What becomes of confidential values in the arguments of tool calls.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Arguments {
    /// They stay: the tool gets what the model wrote.
    #[default]
    Keep,
    /// They are masked, on their way to the tool and in replies. The arguments of a streamed call come in one piece, at its end.
    Mask,
    /// A call with one is refused where it would run, that is by the layer around the tools. The refusal names the rules that
    /// found something, and the call in the model's reply stays as it is.
    Block,
    /// What is masked in results and in what goes to a model leaves a placeholder that a [`Vault`] of the run can open. The
    /// layer around the tools opens it for [trusted](crate::RedactLayer::trusted) tools only.
    Vault,
}

/// The values that were put into the arguments of one call, each with its placeholder, the longest first.
#[derive(Clone, Default)]
pub(super) struct Opened(Vec<(String, Str)>);

/// The shortest value that is looked for where a tool repeats it without anything around it, in bytes.
const SHORTEST: usize = 4;

/// The vault of a run. One that was started by a call of another run shares that run's vault.
pub(super) fn vault_of(context: &Context) -> Vault {
    let runs = std::iter::successors(Some(context.run()), |run| run.parent());
    let state = runs.last().unwrap_or(context.run()).state();
    state.update_typed(|vault: &mut Vault| vault.clone())
}

/// Whether a call belongs to a run, so that somebody else can come back to its state.
pub(super) fn is_of_a_run(context: &Context) -> bool {
    !context.run().id().is_empty()
}

/// Puts the values of placeholders into the arguments of a call.
pub(super) fn open(call: &mut ToolCall) -> Result<Opened, Denial> {
    if !call.arguments.as_str().contains(MARK) && !call.arguments.as_str().contains('\\') {
        return Ok(Opened::default());
    }
    let vault = vault_of(&call.ctx);
    let opened = vault.open_json(call.arguments.as_str());
    match opened.map_err(|unknown| made_up(call, &unknown))? {
        Cow::Borrowed(_) => Ok(Opened::default()),
        Cow::Owned(arguments) => {
            let opened = Opened::of(&vault, &call.arguments);
            call.arguments = Json::from_text(arguments);
            Ok(opened)
        }
    }
}

/// Where the last part of a vault's placeholder begins.
const MARK: &str = ":vault-";

fn made_up(call: &ToolCall, unknown: &UnknownPlaceholder) -> Denial {
    let text = format!(
        "The tool `{}` was not run: `{}` stands for no value that was hidden in this run. Use a placeholder exactly as it was shown, or do without it.",
        call.name.escape_debug(),
        unknown.placeholder(),
    );
    Denial::new(text).by(LAYER).code("unknown_placeholder")
}

/// The refusal of a call whose arguments hold what they must not.
pub(super) fn blocked(call: &ToolCall, tally: &Tally) -> Denial {
    let rules = tally.rules().map(|rule| format!("`{rule}`")).collect::<Vec<_>>().join(", ");
    let text = format!(
        "The tool `{}` was not run: its arguments hold confidential values ({rules}). Call it without them.",
        call.name.escape_debug(),
    );
    Denial::new(text).by(LAYER).code("confidential_arguments")
}

impl Opened {
    fn of(vault: &Vault, arguments: &Json) -> Self {
        let mut opened = Self::default();
        if let Ok(value) = arguments.value() {
            opened.collect(vault, value);
        }
        opened.0.sort_by(|one, other| other.0.len().cmp(&one.0.len()).then(one.cmp(other)));
        opened.0.dedup();
        opened
    }

    fn collect(&mut self, vault: &Vault, value: &Value) {
        match value {
            Value::String(text) => self.collect_text(vault, text),
            Value::Array(items) => {
                items.iter().for_each(|item| self.collect(vault, item));
            }
            Value::Object(fields) => {
                fields.values().for_each(|field| self.collect(vault, field));
            }
            _ => {}
        }
    }

    fn collect_text(&mut self, vault: &Vault, text: &str) {
        let pieces = text.split_inclusive(']').filter(|piece| piece.contains(MARK));
        let placeholders = pieces.filter_map(|piece| piece.get(piece.rfind('[')?..));
        for placeholder in placeholders {
            if let Ok(Cow::Owned(value)) = vault.open(placeholder)
                && value.len() >= SHORTEST
            {
                self.0.push((value, placeholder.into()));
            }
        }
    }

    /// The text with the values' placeholders back in their places, and which rules had found them; nothing if none is there.
    pub(super) fn close(&self, text: &str, tally: &mut Tally) -> Option<String> {
        let mut closed = None;
        for (value, placeholder) in &self.0 {
            let before = closed.as_deref().unwrap_or(text);
            let times = before.matches(value.as_str()).count();
            if times > 0 {
                closed = Some(before.replace(value.as_str(), placeholder));
                let rule = placeholder.split(':').nth(1).unwrap_or_default();
                (0..times).for_each(|_| tally.count(rule));
            }
        }
        closed
    }
}

impl Opened {
    /// The same for a text that may be JSON, which it stays: only in its strings are values looked for.
    pub(super) fn close_json(&self, text: &str, tally: &mut Tally) -> Option<String> {
        if self.0.is_empty() {
            return None;
        }
        if !is_json(text) {
            return self.close(text, tally);
        }
        let mut out = String::new();
        let mut done = 0;
        for literal in strings(text) {
            let decoded = text.get(literal.clone()).and_then(|it| serde_json::from_str(it).ok());
            let decoded: String = decoded.unwrap_or_default();
            if let Some(closed) = self.close(&decoded, tally) {
                out.push_str(text.get(done..literal.start).unwrap_or_default());
                out.push_str(&Value::from(closed).to_string());
                done = literal.end;
            }
        }
        out.push_str(text.get(done..).unwrap_or_default());
        (done > 0).then_some(out)
    }
}

/// Where the strings of a JSON text stand, keys too, with their quotes.
fn strings(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let start = from + text.get(from..)?.find('"')?;
        from = start + string_end(text.get(start..)?)?;
        Some(start..from)
    })
}

impl fmt::Debug for Opened {
    /// Shows no value.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let placeholders = self.0.iter().map(|(_, placeholder)| placeholder);
        f.debug_tuple("Opened").field(&placeholders.collect::<Vec<_>>()).finish()
    }
}
