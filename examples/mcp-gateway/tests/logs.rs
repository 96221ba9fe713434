//! What servers log, through the gateway.

#![cfg(test)]
#![expect(deprecated, reason = "log messages are gone from later versions of the protocol")]

mod support;

use rmcp::model::{LoggingLevel, SetLevelRequestParams};
use serde_json::{Value, json};
use support::{Folder, Gateway, Listener, sessions, stateless, text};

fn config(is_old: bool, keys: &str) -> String {
    let env = if is_old { "env = { IS_OLD = \"1\" }" } else { "" };
    format!("[[server]]\nname = \"demo\"\ncommand = \"DEMO\"\n{env}\n{keys}\n")
}

fn line(level: &str, text: &str) -> (String, String, Value) {
    let data = json!({"text": text, "token": "[REDACTED:github-pat]"});
    (level.to_owned(), "demo/demo".to_owned(), data)
}

async fn log(gateway: &Gateway, level: &str, what: &str) -> String {
    text(&gateway.call("log", json!({"level": level, "text": what})).await)
}

#[tokio::test]
async fn what_a_server_logs_in_a_call_reaches_its_client_masked_and_by_name() {
    for is_old in [true, false] {
        let folder = Folder::new(&config(is_old, ""));
        let listener = Listener::default();
        let gateway = Gateway::start_for(&folder, listener.clone(), sessions()).await;
        assert_eq!(log(&gateway, "notice", "one").await, "logged");
        assert_eq!(log(&gateway, "debug", "two").await, "not logged");
        assert_eq!(listener.hears(1).await, [line("notice", "one")]);

        let set = |level| gateway.client.set_level(SetLevelRequestParams::new(level));
        set(LoggingLevel::Debug).await.unwrap();
        assert_eq!(log(&gateway, "debug", "three").await, "logged");
        assert_eq!(listener.hears(2).await[1], line("debug", "three"));

        set(LoggingLevel::Error).await.unwrap();
        assert_eq!(log(&gateway, "warning", "four").await, "not logged");
        assert_eq!(log(&gateway, "error", "five").await, "logged");
        assert_eq!(listener.hears(3).await[2], line("error", "five"));
    }
}

#[tokio::test]
async fn a_client_of_the_newer_protocol_says_with_each_call_what_it_wants_to_hear() {
    let folder = Folder::new(&config(false, ""));
    let listener = Listener::default();
    let gateway = Gateway::start_for(&folder, listener.clone(), stateless()).await;
    assert_eq!(log(&gateway, "error", "unasked").await, "not logged");
    let mut call = support::call("log", json!({"level": "warning", "text": "asked"}));
    let mut meta = rmcp::model::RequestMetaObject::new();
    meta.set_log_level(LoggingLevel::Warning);
    call.meta = Some(meta);
    assert_eq!(text(&gateway.client.call_tool(call).await.unwrap()), "logged");
    assert_eq!(listener.hears(1).await, [line("warning", "asked")]);
}

#[tokio::test]
async fn what_a_server_logs_outside_a_call_reaches_clients_as_well() {
    let folder = Folder::new(&config(true, ""));
    let listener = Listener::default();
    let gateway = Gateway::start_for(&folder, listener.clone(), sessions()).await;
    let name = folder.path("now");
    gateway.call("later", json!({"name": name})).await;
    assert_eq!(listener.logged(), []);
    std::fs::write(name, "").unwrap();
    assert_eq!(listener.hears(1).await, [line("warning", "later")]);
}

#[tokio::test]
async fn what_masks_the_results_of_one_tool_masks_the_log_of_its_server() {
    let tables = "redact = false\n[[tool]]\nmatch = [\"echo\"]\nredact = \"secrets\"";
    for (keys, is_masked) in [(tables, true), ("redact = false", false)] {
        let folder = Folder::new(&config(true, keys));
        let listener = Listener::default();
        let gateway = Gateway::start_for(&folder, listener.clone(), sessions()).await;
        log(&gateway, "error", "one").await;
        let heard = listener.hears(1).await;
        assert_eq!(heard[0] == line("error", "one"), is_masked, "{heard:?}");
    }
}

#[tokio::test]
async fn logs_are_not_passed_on_where_the_file_says_so() {
    let folder = Folder::new(&config(true, "pass_on = [\"roots\"]"));
    let listener = Listener::default();
    let gateway = Gateway::start_for(&folder, listener.clone(), sessions()).await;
    let name = folder.path("now");
    gateway.call("later", json!({"name": name})).await;
    std::fs::write(&name, "").unwrap();
    assert_eq!(log(&gateway, "error", "one").await, "logged");
    gateway.call("wait", json!({"name": name})).await;
    gateway.end().await;
    assert_eq!(listener.logged(), []);
}
