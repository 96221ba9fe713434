//! Many calls, their arguments and their results, by the agent's loop.

use serde_json::{Value, json};

use crate::{
    case::Case,
    check,
    layers::text,
    scene::{Scene, visible},
};

pub(crate) async fn calls(case: &Case) {
    let played = Scene::of(&case.input).play().await;
    check::played(&case.expected, &played);
    let all: Vec<_> = played.results().into_iter().map(visible).collect();
    check::texts(&case.expected, &all.join("\n"));
}

/// An error that no layer answers ends the run by design, so here a layer of the set answers it.
pub(crate) async fn one_fails(case: &Case) {
    let mut input = case.input.clone();
    input["stack"] = json!([{"layer": "error_to_result"}]);
    check::played(&case.expected, &Scene::of(&input).play().await);
}

pub(crate) async fn interrupted(case: &Case) {
    let played = Scene::of(&case.input).play().await;
    check::played(&case.expected, &played);
    assert!(played.error.is_some_and(|error| error.is_cancelled()));
}

pub(crate) async fn arguments(case: &Case) {
    let checks = case.input["checks"].as_array().unwrap();
    let schema = &case.input["tool_schema"];
    let received = case.expected.list("tool_received_args");
    let is_error = case.expected.list("is_error");
    assert_eq!((received.len(), is_error.len()), (checks.len(), checks.len()));
    for ((check, received), is_error) in checks.iter().zip(received).zip(is_error) {
        let call = json!({"id": "c1", "name": schema["name"], "args_raw": check["args_raw"]});
        let played = Scene::of_call(&json!([]), text(&schema["name"]), &call).play().await;
        let ran = played.ran.first().map(|call| call.arguments.value().unwrap());
        assert_eq!(ran.unwrap_or(&Value::Null), received, "{check}");
        assert_eq!(played.result().is_error, *is_error, "{check}");
        assert!(played.error.is_none());
    }
}

pub(crate) async fn cut_off(case: &Case) {
    let played = Scene::of(&case.input).play().await;
    check::played(&case.expected, &played);
    check::texts(&case.expected, &played.result().text());
}

pub(crate) async fn large_numbers(case: &Case) {
    let mut input = case.input.clone();
    // The redactor does not look at arguments unless asked to; here it should.
    input["stack"][1]["apply_to"] = json!(["model_output.tool_call_args"]);
    let played = Scene::of(&input).play().await;
    let [call] = &played.ran[..] else { panic!("the tool runs once") };

    let numbers = case.expected.field("tool_received_args_raw_numbers").as_object().unwrap();
    for (field, number) in numbers {
        let written = format!("\"{field}\":{}", text(number));
        assert!(call.arguments.as_str().contains(&written), "{written} in {}", call.arguments);
    }
    let mut before: Value = serde_json::from_str(text(&input["call"]["args_raw"])).unwrap();
    let mut after = call.arguments.value().unwrap().clone();
    assert_eq!(after["note"], "checked");
    for place in case.expected.texts("unchanged_except") {
        for value in [&mut before, &mut after] {
            *value.pointer_mut(place).unwrap() = Value::Null;
        }
    }
    assert_eq!(before, after);
}
