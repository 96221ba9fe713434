use rmcp::model::{CallToolResult, Tool as McpTool};
use serde_json::{Value, json};
use tower_agent::{
    Content, Json, Media, MediaSource, Resource, Tool, ToolOutput, ToolSet, ToolSpec,
};
use tower_agent_mcp::server::{BuildError, McpServer};

use crate::support::{connect, connect_as, fixed, serve, stateless};

async fn sent(output: ToolOutput) -> Value {
    let pair = connect_as(serve(fixed("tool", output)), stateless(), Default::default()).await;
    json_of(&pair.call("tool", json!({})).await)
}

fn json_of(result: &CallToolResult) -> Value {
    serde_json::to_value(result).unwrap()
}

#[tokio::test]
async fn structured_output_and_meta_arrive_as_they_are() {
    let mut output = ToolOutput::structured(json!({ "big": u64::MAX, "list": [null, 1.5] }));
    output.meta = Some(json!({ "trace": "abc" }).into());

    let result = sent(output).await;

    assert_eq!(result["structuredContent"], json!({ "big": u64::MAX, "list": [null, 1.5] }));
    assert_eq!(result["_meta"]["trace"], "abc");
    assert_eq!(result["isError"], false);
}

#[tokio::test]
async fn a_structured_null_is_not_an_absent_one() {
    let result = sent(ToolOutput::structured(Json::from_text("null"))).await;

    assert_eq!(result.get("structuredContent"), Some(&Value::Null));
    assert_eq!(sent(ToolOutput::text("")).await.get("structuredContent"), None);
}

#[tokio::test]
async fn blocks_keep_their_further_fields() {
    let extra =
        json!({ "annotations": { "audience": ["user"], "priority": 0.5 }, "_meta": { "a": 1 } });
    let mut resource = Resource {
        uri: "file:///a".into(),
        name: None,
        description: None,
        mime_type: Some("text/plain".into()),
        text: Some("hello".into()),
        blob: None,
        extra: Some(
            json!({ "resource": { "_meta": { "b": 2 } }, "annotations": { "priority": 1.0 } })
                .into(),
        ),
    };
    let embedded = Content::Resource(resource.clone());
    resource.text = None;
    resource.name = Some("a".into());
    resource.extra = Some(json!({ "size": 5, "title": "A" }).into());
    let image = Media {
        source: MediaSource::Base64("aGk=".into()),
        mime_type: Some("image/png".into()),
        extra: Some(extra.into()),
    };
    let mut output = ToolOutput::default();
    output.content = vec![Content::Image(image), embedded, Content::ResourceLink(resource)];

    let result = sent(output).await;

    assert_eq!(
        result["content"],
        json!([
            {
                "type": "image", "data": "aGk=", "mimeType": "image/png",
                "annotations": { "audience": ["user"], "priority": 0.5 }, "_meta": { "a": 1 },
            },
            {
                "type": "resource",
                "resource": { "uri": "file:///a", "mimeType": "text/plain", "text": "hello", "_meta": { "b": 2 } },
                "annotations": { "priority": 1.0 },
            },
            { "type": "resource_link", "uri": "file:///a", "name": "a", "mimeType": "text/plain", "size": 5, "title": "A" },
        ])
    );
}

#[tokio::test]
async fn what_mcp_has_no_block_for_is_shown_as_text() {
    let at = |source| Media { source, mime_type: Some("image/png".into()), extra: None };
    let mut output = ToolOutput::default();
    output.content = vec![
        Content::Image(at(MediaSource::Url("https://example.com/a.png".into()))),
        Content::Image(at(MediaSource::Id("file-7".into()))),
        Content::Opaque { json: Json::from_text(r#"{"type":"hologram","x":1}"#) },
    ];

    let content = &sent(output).await["content"];

    assert_eq!(content[0]["type"], "resource_link");
    assert_eq!(content[0]["uri"], "https://example.com/a.png");
    assert!(content[1]["text"].as_str().unwrap().contains("file-7"));
    assert_eq!(content[2]["text"], r#"{"type":"hologram","x":1}"#);
}

#[tokio::test]
async fn a_tool_is_listed_with_all_that_it_says_of_itself() {
    let mut spec = ToolSpec::new("add", "Adds two numbers").with_input_schema(
        json!({ "type": "object", "properties": { "a": { "type": "integer" } } }),
    );
    spec.title = Some("Add".into());
    spec.output_schema = Some(json!({ "type": "object", "required": ["sum"] }).into());
    spec.annotations.read_only = Some(true);
    spec.annotations.open_world = Some(false);
    spec.extra =
        Some(json!({ "_meta": { "owner": "math" }, "annotations": { "title": "Plus" } }).into());
    let add = Tool::raw(spec, |_| async { ToolOutput::structured(json!({ "sum": 3 })) });
    let pair = connect(serve(ToolSet::builder().tool(add).build().unwrap())).await;

    let tools = pair.client.list_all_tools().await.unwrap();

    assert_eq!(
        serde_json::to_value(tools.first().unwrap()).unwrap(),
        json!({
            "name": "add",
            "title": "Add",
            "description": "Adds two numbers",
            "inputSchema": { "type": "object", "properties": { "a": { "type": "integer" } } },
            "outputSchema": { "type": "object", "required": ["sum"] },
            "annotations": { "title": "Plus", "readOnlyHint": true, "openWorldHint": false },
            "_meta": { "owner": "math" },
        })
    );
    assert_eq!(pair.call("add", json!({})).await.structured_content, Some(json!({ "sum": 3 })));
}

#[test]
fn a_schema_that_is_no_object_is_found_when_the_server_is_built() {
    for schema in ["true", "[1]", "{\"a\":"] {
        let spec = ToolSpec::new("odd", "").with_input_schema(schema);
        let odd = Tool::raw(spec, |_| async { "" });
        let tools = ToolSet::builder().tool(odd).build().unwrap();

        let error = McpServer::builder(tools).build().unwrap_err();

        assert_eq!(error, BuildError::Schema("odd".into(), "input"));
        assert_eq!(error.to_string(), "the input schema of the tool `odd` is no JSON object");
    }
}

#[tokio::test]
async fn a_schema_without_a_type_is_one_of_an_object() {
    let spec = ToolSpec::new("any", "").with_input_schema("{}");
    let any = Tool::raw(spec, |_| async { "" });
    let pair = connect(serve(ToolSet::builder().tool(any).build().unwrap())).await;

    let tools: Vec<McpTool> = pair.client.list_all_tools().await.unwrap();

    assert_eq!(json!(tools.first().unwrap().input_schema), json!({ "type": "object" }));
}
