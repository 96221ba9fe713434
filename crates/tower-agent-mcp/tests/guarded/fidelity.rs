use proptest::prelude::*;
use rmcp::model::{CallToolResponse, CreateTaskResult, ErrorCode, InputRequiredResult};
use rmcp::{ErrorData, ServiceError};
use serde_json::{Value, json};
use tower::layer::util::Identity;
use tower_agent_mcp::guarded::Guarded;

use crate::support::{Theirs, connect, connect_as, read, sessions, stateless, tools};

fn guarded(theirs: Theirs) -> Guarded<Theirs> {
    Guarded::builder(theirs).layer(Identity::new()).build()
}

/// Results with all that the protocol knows.
fn results() -> Vec<Value> {
    let annotations = json!({ "audience": ["user", "assistant"], "priority": 0.8, "lastModified": "2026-01-01T00:00:00Z" });
    vec![
        json!({ "content": [] }),
        json!({ "content": [], "isError": false }),
        json!({ "content": [{ "type": "text", "text": "no" }], "isError": true, "resultType": "complete" }),
        json!({ "content": [], "structuredContent": { "big": u64::MAX, "null": null }, "_meta": { "a": { "b": [1] } } }),
        json!({ "content": [
            { "type": "text", "text": "", "annotations": annotations, "_meta": { "x": 1 } },
            { "type": "image", "data": "aGk=", "mimeType": "image/png", "annotations": annotations },
            { "type": "audio", "data": "aGk=", "mimeType": "audio/wav", "_meta": {} },
            { "type": "resource_link", "uri": "file:///a", "name": "a", "title": "A", "description": "d",
              "mimeType": "text/plain", "size": 7, "icons": [{ "src": "https://example.com/i" }] },
            { "type": "resource", "resource": { "uri": "file:///b", "mimeType": "text/plain", "text": "t", "_meta": { "y": 2 } },
              "annotations": annotations, "_meta": { "z": 3 } },
            { "type": "resource", "resource": { "uri": "file:///c", "blob": "aGk=" } },
        ] }),
    ]
}

#[tokio::test]
async fn a_result_arrives_as_if_nothing_stood_between() {
    for generation in [sessions(), stateless()] {
        for result in results() {
            let theirs = Theirs::with_result(result);
            let direct = connect_as(theirs.clone(), generation.clone()).await.answer().await;
            let through = connect_as(guarded(theirs), generation.clone()).await.answer().await;
            assert_eq!(through, direct);
        }
    }
}

#[tokio::test]
async fn a_structured_null_stays_one() {
    let theirs = Theirs::with_result(json!({ "content": [], "structuredContent": null }));

    let answer = connect_as(guarded(theirs), stateless()).await.answer().await;

    assert_eq!(answer.get("structuredContent"), Some(&Value::Null));
}

#[tokio::test]
async fn a_question_and_a_task_arrive_as_they_are() {
    let asked: InputRequiredResult = serde_json::from_value(json!({
        "resultType": "input_required",
        "requestState": "sealed",
        "inputRequests": {
            "ok": { "method": "elicitation/create", "params": {
                "mode": "form", "message": "Sure?", "requestedSchema": { "type": "object", "properties": {} },
            } },
        },
        "_meta": { "a": 1 },
    }))
    .unwrap();
    let task: CreateTaskResult = serde_json::from_value(json!({
        "resultType": "task", "taskId": "t1", "status": "working", "createdAt": "2026-01-01T00:00:00Z",
        "lastUpdatedAt": "2026-01-01T00:00:00Z", "ttlMs": 60000,
    }))
    .unwrap();
    for response in [CallToolResponse::from(asked), task.into()] {
        let theirs = Theirs::answering(move || Ok(response.clone()));

        let direct = connect_as(theirs.clone(), stateless()).await.answer().await;
        let through = connect_as(guarded(theirs), stateless()).await.answer().await;

        assert_eq!(through, direct);
    }
}

#[tokio::test]
async fn an_error_of_the_protocol_goes_back_as_it_is() {
    let error = ErrorData::new(ErrorCode(-32042), "their reason", Some(json!({ "their": "data" })));
    let theirs = Theirs::answering({
        let error = error.clone();
        move || Err(error.clone())
    });

    let answer = connect(guarded(theirs)).await.client.call_tool(read()).await.unwrap_err();

    let ServiceError::McpError(answer) = answer else { panic!("{answer}") };
    assert_eq!(answer, error);
}

#[tokio::test]
async fn tools_are_listed_page_by_page_as_they_are() {
    let pair = connect(guarded(Theirs::with_result(json!({ "content": [] })))).await;

    assert_eq!(pair.client.list_all_tools().await.unwrap(), tools());
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z$_]{1,6}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn object() -> impl Strategy<Value = Value> {
    prop::collection::btree_map("[a-z$_/.]{1,8}", json_value(), 0..4)
        .prop_map(|map| Value::Object(map.into_iter().collect()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_value_survives_the_way_through(
        text in ".{0,40}",
        meta in object(),
        block_meta in object(),
        structured in object(),
        is_error in prop::option::of(any::<bool>()),
    ) {
        let mut result = json!({
            "content": [{ "type": "text", "text": text, "_meta": block_meta }],
            "structuredContent": structured,
            "_meta": meta,
        });
        if let Some(is_error) = is_error {
            result["isError"] = is_error.into();
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let answer = runtime.block_on(async {
            connect(guarded(Theirs::with_result(result.clone()))).await.answer().await
        });
        prop_assert_eq!(answer, result);
    }
}
