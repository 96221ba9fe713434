//! Masked results, errors and replies.

use serde_json::{Value, json};
use tower_agent::Message;

use crate::{
    case::Case,
    check,
    layers::text,
    scene::{Scene, visible},
};

pub(crate) async fn result(case: &Case) {
    let played = Scene::of(&case.input).play().await;
    check::played(&case.expected, &played);
    let result = played.result();
    check::texts(&case.expected, &visible(result));
    if let Some(count) = case.expected.get("placeholder_count") {
        assert_eq!(result.text().matches("[REDACTED:").count() as u64, *count);
    }
    if case.expected.get("unchanged").is_some() {
        let before = &case.input["tool"]["replies"][0]["ok"];
        let read: Value = serde_json::from_str(&result.text()).unwrap();
        for value in [&read, result.structured.as_ref().unwrap().value().unwrap()] {
            check::places(&case.expected, before, &json!({"content": [{"json": value}]}));
        }
    }
}

pub(crate) async fn error(case: &Case) {
    result(case).await;

    let mut input = case.input.clone();
    let reporter = input["stack"].as_array_mut().unwrap().remove(0);
    assert_eq!(reporter["layer"], "error_to_result");
    let error = Scene::of(&input).play().await.error.unwrap();
    let shown = format!("{error} {error:?} {}", error.model_text());
    check::texts(&case.expected, &shown);
}

pub(crate) async fn reply(case: &Case) {
    let played = Scene::of(&case.input).play().await;
    let reply = fields(played.reply());
    check::texts(&case.expected, &reply.to_string());
    check::places(&case.expected, &case.input["model"]["replies"][0]["message"], &reply);
    for part in case.expected.texts("message_text_not_contains") {
        assert!(!text(&reply["text"]).contains(part), "{reply}");
    }
    for (wanted, call) in
        case.expected.list("tool_calls").iter().zip(reply["tool_calls"].as_array().unwrap())
    {
        assert_eq!((&wanted["id"], &wanted["name"]), (&call["id"], &call["name"]));
    }
    if let Some(wanted) = case.expected.get("tool_received_args") {
        assert_eq!(played.ran[0].arguments.value().unwrap(), wanted);
    }
}

fn fields(message: &Message) -> Value {
    let calls = message.tool_calls().map(|call| {
        json!({"id": call.id.as_str(), "name": call.name.as_str(), "args": call.arguments.value().unwrap()})
    });
    json!({"text": message.text(), "tool_calls": calls.collect::<Vec<_>>()})
}
