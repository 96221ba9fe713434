//! What servers ask of clients, through the gateway.

#![cfg(test)]

mod support;

use rmcp::model::CallToolResponse;
use serde_json::{Value, json};
use support::{ANSWER, Folder, Gateway, Listener, PATIENCE, call, sessions, stateless, text};
use tokio::time::timeout;

const TOKEN: &str = "ghp_a1B2c3D4e5F6a1B2c3D4e5F6a1B2c3D4e5F6";

/// A server that speaks the older generation alone, or both.
fn config(is_old: bool, keys: &str) -> String {
    let env = if is_old { "env = { IS_OLD = \"1\" }" } else { "" };
    format!("[[server]]\nname = \"demo\"\ncommand = \"DEMO\"\n{env}\n{keys}\n")
}

fn everything() -> Value {
    json!({"elicitation": {}, "sampling": {}, "roots": {}})
}

async fn asks(gateway: &Gateway, method: &str) -> String {
    text(&gateway.call("ask", json!({"method": method})).await)
}

#[tokio::test]
async fn what_a_server_asks_reaches_the_client_that_calls_and_the_answer_reaches_the_server() {
    let answers = [
        ("elicitation/create", json!({"action": "accept", "content": {"yours": ANSWER}})),
        (
            "sampling/createMessage",
            json!({"model": "model", "role": "assistant", "content": {"type": "text", "text": "a token"}}),
        ),
        ("roots/list", json!({"roots": [{"uri": "file:///here"}]})),
    ];
    for (is_old, generation) in
        [(true, sessions()), (true, stateless()), (false, sessions()), (false, stateless())]
    {
        let folder = Folder::new(&config(is_old, ""));
        let listener = Listener::who_takes(everything());
        let gateway = Gateway::start_for(&folder, listener.clone(), generation).await;
        for (method, expected) in &answers {
            let said = asks(&gateway, method).await;
            let json = said.find('{').and_then(|at| said.get(at..)).unwrap_or_default();
            // The secret that the user wrote is meant for the server, but its echo is a result.
            let expected = expected.to_string().replace(ANSWER, "[REDACTED:github-pat]");
            let expected: Value = serde_json::from_str(&expected).unwrap();
            assert_eq!(serde_json::from_str::<Value>(json).unwrap(), expected, "{method} {said}");
            assert_eq!(said.starts_with("state"), !is_old, "{said}");
        }
        let asked = serde_json::to_string(&*listener.asked.lock().unwrap()).unwrap();
        assert_eq!(asked.matches("[REDACTED:github-pat]").count(), 2, "{asked}");
        assert!(!asked.contains(TOKEN), "{asked}");
    }
}

#[tokio::test]
async fn the_state_of_a_server_comes_back_to_it_as_it_was() {
    let folder = Folder::new(&config(false, "redact = false"));
    let generous = Gateway::start_for(&folder, Listener::who_takes(everything()), stateless());
    assert!(asks(&generous.await, "roots/list").await.starts_with(&format!("state {TOKEN}: ")));

    let folder = Folder::new(&config(
        false,
        "[[tool]]\nmatch = [\"ask\"]\nredact = { set = \"secrets\", mask = \"last4\" }",
    ));
    let strict = Gateway::start_for(&folder, Listener::who_takes(everything()), stateless());
    // What the server says of it is masked, with the end of what it got.
    let said = asks(&strict.await, "roots/list").await;
    assert!(said.starts_with("state ****e5F6: "), "{said}");
}

#[tokio::test]
async fn a_client_is_not_asked_what_it_does_not_take() {
    let table = [
        (true, sessions(), everything(), "pass_on = [\"roots\"]"),
        (true, sessions(), json!({"roots": {}}), ""),
        (true, stateless(), json!({"roots": {}}), ""),
        (true, stateless(), everything(), "pass_on = [\"roots\"]"),
        (false, sessions(), json!({"roots": {}}), ""),
        (false, stateless(), json!({"roots": {}}), ""),
        (false, stateless(), everything(), "pass_on = [\"roots\"]"),
    ];
    for (is_old, generation, takes, keys) in table {
        let folder = Folder::new(&config(is_old, keys));
        let listener = Listener::who_takes(takes.clone());
        let gateway = Gateway::start_for(&folder, listener.clone(), generation).await;
        for method in ["elicitation/create", "sampling/createMessage"] {
            let result = gateway.call("ask", json!({"method": method})).await;
            let said = text(&result);
            let is_refused = said.contains("does not take") || result.is_error == Some(true);
            assert!(is_refused, "{takes} {keys}: {said}");
        }
        assert!(asks(&gateway, "roots/list").await.contains("file:///here"), "{takes} {keys}");
        assert_eq!(*listener.asked.lock().unwrap(), ["roots"], "{takes} {keys}");
    }
}

#[tokio::test]
async fn a_question_is_taken_back_when_its_call_has_taken_too_long() {
    let folder = Folder::new(&config(true, "timeout = \"300ms\""));
    let listener = Listener { is_silent: true, ..Listener::who_takes(everything()) };
    let gateway = Gateway::start_for(&folder, listener.clone(), sessions()).await;
    let result = gateway.call("ask", json!({"method": "elicitation/create"})).await;
    assert!(text(&result).contains("took too long"), "{}", text(&result));
    timeout(PATIENCE, listener.taken_back.notified()).await.unwrap();
    assert_eq!(listener.asked.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_confidential_answer_is_withheld_where_confidential_arguments_are() {
    let keys = "redact = { set = \"secrets\", arguments = \"block\" }";
    for (is_old, generation) in
        [(true, sessions()), (true, stateless()), (false, sessions()), (false, stateless())]
    {
        let folder = Folder::new(&config(is_old, keys));
        let listener = Listener::who_takes(everything());
        let gateway = Gateway::start_for(&folder, listener.clone(), generation).await;
        let said = asks(&gateway, "elicitation/create").await;
        assert_eq!(listener.asked.lock().unwrap().len(), 1);
        assert!(!said.contains("accept") && !said.contains("f6E5"), "{said}");
        assert!(asks(&gateway, "roots/list").await.contains("file:///here"));
    }
}

#[tokio::test]
async fn a_call_that_waits_for_a_newer_client_is_gone_on_with_once_and_as_itself() {
    let folder = Folder::new(&config(true, ""));
    let listener = Listener::who_takes(everything());
    let gateway = Gateway::start_for(&folder, listener, stateless()).await;
    let ask = call("ask", json!({"method": "elicitation/create"}));
    let response = gateway.client.call_tool_once(ask.clone()).await.unwrap();
    let CallToolResponse::InputRequired(asked) = response else { panic!("{response:?}") };
    let state = asked.request_state.unwrap();
    let [name] = &asked.input_requests.unwrap().into_keys().collect::<Vec<_>>()[..] else {
        panic!("one question")
    };
    let with = |tool: &str, state: &str| {
        let mut again = call(tool, ask.arguments.clone().unwrap().into());
        again.request_state = Some(state.to_owned());
        again.input_responses = Some([(name.clone(), json!({"action": "cancel"}))].into());
        again
    };
    let gone = "The call that waited for this answer is over.";
    for (tool, state, expected) in [
        ("echo", state.as_str(), gone),
        ("ask", "mcp-gateway/held/made-up", gone),
        ("ask", state.as_str(), r#"{"action":"cancel"}"#),
        ("ask", state.as_str(), gone),
    ] {
        let said = text(&gateway.client.call_tool(with(tool, state)).await.unwrap());
        assert!(said.contains(expected), "{tool} {state}: {said}");
    }
}
