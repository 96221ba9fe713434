//! Words what came of the calls.

use serde_json::{Map, Value};
use tower_agent::{Json, Message, OutputFormat, Part, TextPart, ToolCallPart, ToolResultPart};

use super::plan::Wish;

/// Stands in for what a provider signs its model's reasoning with.
const SIGNED: &str = r#"{"anthropic":{"signature":"c2lnbmVkIGJ5IHRoZSBkZW1v"}}"#;

/// How redaction marks what it took out.
const MASK: &str = "[REDACTED";
/// A longer text is answered with its beginning.
const SHOWN_LINES: usize = 8;

pub(super) fn help() -> String {
    "I am the demo model of this example: a few rules, no language model. I know the folder that the server was \
     started with, and these requests:\n\n\
     - what is in docs?\n\
     - read config.toml\n\
     - read lines 1 to 20 of logs/delivery.log\n\
     - search for timeout in docs\n\
     - delete notes.txt\n\
     - count to 100\n\
     - think aloud, and then: what did you think?\n\
     - simulate a failure\n\n\
     Several in one sentence are made at once. With --base-url the same stack talks to a real model."
        .to_owned()
}

pub(super) fn puzzled() -> String {
    "I am only a demo model and did not find a request in that. Try \"what is in docs?\", \"read config.toml\" or \
     \"search for timeout\"; \"help\" lists all that I know."
        .to_owned()
}

pub(super) fn without_tools(wishes: &[Wish]) -> String {
    let calls: Vec<_> =
        wishes.iter().map(|wish| format!("`{} {}`", wish.tool(), wish.arguments())).collect();
    format!("I was given no tools. With some, I would call {}.", calls.join(" and "))
}

/// What it thinks, which only clients of the bare model see.
pub(super) fn thought() -> Part {
    let text = "I was asked to think. A demo model has but one thought, and this is it.".into();
    let extra = Some(Json::from_text(SIGNED));
    Part::Reasoning(TextPart { text, extra })
}

/// What it thought before, if the client sent that back unchanged.
pub(super) fn recalled(messages: &[Message]) -> String {
    let parts = messages.iter().flat_map(Message::parts);
    let thought = parts.into_iter().find(|part| **part == thought());
    match thought {
        Some(Part::Reasoning(part)) => format!("I thought: {}", part.text),
        _ => "I have not thought in this conversation.".to_owned(),
    }
}

pub(super) fn count(last: u32) -> String {
    let numbers: Vec<_> = (1..=last).map(|number| number.to_string()).collect();
    numbers.join(" ")
}

/// An answer in the form that was asked for: as JSON, it is every text of the object.
pub(super) fn in_form(text: String, form: Option<&OutputFormat>) -> String {
    let fields = match form {
        Some(OutputFormat::JsonObject) => ["text".to_owned()].into(),
        Some(OutputFormat::JsonSchema { schema, .. }) => text_fields(schema),
        _ => return text,
    };
    let object: Map<_, _> = fields.into_iter().map(|field| (field, text.clone().into())).collect();
    Value::from(object).to_string()
}

fn text_fields(schema: &Json) -> Vec<String> {
    let properties = schema.value().ok().and_then(|schema| schema.get("properties")?.as_object());
    let is_text = |(_, schema): &(&String, &Value)| schema.get("type") == Some(&"string".into());
    let texts = properties.into_iter().flatten().filter(is_text);
    texts.map(|(field, _)| field.clone()).collect()
}

/// One paragraph for each result, in the order of the calls.
pub(super) fn from_results(since: &[&Message]) -> String {
    let calls: Vec<_> = since.iter().flat_map(|message| message.tool_calls()).collect();
    let results = since.iter().flat_map(|message| message.parts()).filter_map(|part| match part {
        Part::ToolResult(result) => Some(result),
        _ => None,
    });
    let answers = results.map(|result| {
        let call = calls.iter().find(|call| call.id == result.call_id);
        one(call.copied(), result)
    });
    answers.collect::<Vec<_>>().join("\n\n")
}

fn one(call: Option<&ToolCallPart>, result: &ToolResultPart) -> String {
    let text = result.text();
    let text = text.trim_end();
    let tool = call.map_or("the tool", |call| call.name.as_str());
    let path = call.and_then(|call| argument(call, "path")).unwrap_or_else(|| ".".to_owned());
    if result.is_error {
        return refused(tool, &path, text);
    }
    match tool {
        "read_file" => contents(&path, text),
        "list_files" | "search_files" => entries(text),
        "delete_file" => text.to_owned(),
        _ => format!("**{tool}** answered:\n\n{}", block(text, SHOWN_LINES)),
    }
}

fn refused(tool: &str, path: &str, text: &str) -> String {
    let wish = match tool {
        "read_file" => format!("read **{path}**"),
        "list_files" => format!("list **{path}**"),
        "search_files" => "search".to_owned(),
        "delete_file" => format!("delete **{path}**"),
        tool => format!("call **{tool}**"),
    };
    format!("I could not {wish}. I was told: {text}")
}

/// The lines that a layer masked, if there are any, and otherwise the beginning.
fn contents(path: &str, text: &str) -> String {
    let lines = counted(text.lines().count(), "line", "lines");
    let masked: Vec<_> = text.lines().filter(|line| line.contains(MASK)).map(str::trim).collect();
    if masked.is_empty() {
        return format!("**{path}** ({lines}):\n\n{}", block(text, SHOWN_LINES));
    }
    let values = counted(text.matches(MASK).count(), "value", "values");
    let masked = block(&masked.join("\n"), SHOWN_LINES);
    format!("I read **{path}** ({lines}). I was not shown {values} of it:\n\n{masked}")
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// A first line that says what follows, and what follows.
fn entries(text: &str) -> String {
    match text.split_once('\n') {
        Some((first, rest)) => format!("{first}\n\n{}", block(rest, SHOWN_LINES)),
        None => text.to_owned(),
    }
}

/// The beginning of a text as it is.
fn block(text: &str, most: usize) -> String {
    let shown: Vec<_> = text.lines().take(most).collect();
    let more = text.lines().count().saturating_sub(most);
    let more = if more > 0 { format!("\n\n… and {more} more lines.") } else { String::new() };
    format!("```\n{}\n```{more}", shown.join("\n"))
}

fn argument(call: &ToolCallPart, name: &str) -> Option<String> {
    Some(call.arguments.value().ok()?.get(name)?.as_str()?.to_owned())
}
