//! The tools that the official conformance suite of MCP asks a server for, as a stack: `cargo xtask conformance` runs
//! the suite against it.

#![expect(deprecated, reason = "the suite asks for what later versions of the protocol dropped")]

use std::{error::Error, io::Write, time::Duration};

use axum::Router;
use rmcp::model::{LoggingLevel, ProtocolVersion};
use serde_json::{Value, json};
use tokio::{net::TcpListener, time::sleep};
use tower::ServiceBuilder;
use tower_agent::{
    BoxError, BoxToolService, Content, Json, Media, MediaSource, RawToolFn, ReportErrorsLayer,
    Resource, Suspension, Tool, ToolCall, ToolOutput, ToolSet, ToolSetBuilder, ToolSpec,
    TruncateLayer,
};
use tower_agent_mcp::server::{Caller, McpServer, Progress, http_config, http_service};

const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const SILENCE: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";
/// The name of the answer to the one question that is asked at a time.
const ANSWER: &str = "answer";
const PAUSE: Duration = Duration::from_millis(50);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let layers =
        ServiceBuilder::new().layer(TruncateLayer::default()).layer(ReportErrorsLayer::new());
    let tools = asking(telling(content(ToolSet::builder()))).layer(layers).build()?;
    let server = McpServer::builder(tools).name("conformance", "1").logging().build()?;
    let app = Router::new().nest_service("/mcp", http_service(server, http_config()));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    writeln!(std::io::stdout(), "listening on http://{}", listener.local_addr()?)?;
    axum::serve(listener, app).await?;
    Ok(())
}

/// Tools that answer the same each time.
fn content(tools: ToolSetBuilder) -> ToolSetBuilder {
    let text = Content::text("This is a simple text response for testing.");
    let several = [
        Content::text("Multiple content types test:"),
        Content::Image(media(PIXEL, "image/png")),
        resource("test://mixed", "application/json", r#"{"test":"data","value":123}"#),
    ];
    let embedded =
        resource("test://embedded", "text/plain", "This is an embedded resource content.");
    let image = Content::Image(media(PIXEL, "image/png"));
    let audio = Content::Audio(media(SILENCE, "audio/wav"));
    tools
        .tool(fixed("test_simple_text", [text]))
        .tool(fixed("test_image_content", [image]))
        .tool(fixed("test_audio_content", [audio]))
        .tool(fixed("test_embedded_resource", [embedded]))
        .tool(fixed("test_multiple_content_types", several))
}

/// Tools that fail, tell what they do, or say much of their arguments.
fn telling(tools: ToolSetBuilder) -> ToolSetBuilder {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "type": "object",
                "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
            },
        },
        "properties": { "name": { "type": "string" }, "address": { "$ref": "#/$defs/address" } },
        "additionalProperties": false,
    });
    let strict = spec("json_schema_2020_12_tool").with_input_schema(schema);
    tools
        .tool(Tool::raw(strict, |_| async { "ok" }))
        .tool(Tool::raw(spec("test_error_handling"), |_| async {
            Err::<&str, BoxError>("This tool intentionally returns an error for testing".into())
        }))
        .tool(Tool::raw(spec("test_tool_with_logging"), log))
        .tool(Tool::raw(spec("test_tool_with_progress"), progress))
}

/// Tools that ask the client for something.
fn asking(tools: ToolSetBuilder) -> ToolSetBuilder {
    let takes = |name, argument: &str| {
        let schema = json!({
            "type": "object",
            "properties": { argument: { "type": "string" } },
            "required": [argument],
        });
        spec(name).with_input_schema(schema)
    };
    tools
        .tool(Tool::raw(takes("test_sampling", "prompt"), sample))
        .tool(Tool::raw(takes("test_elicitation", "message"), |call: ToolCall| async move {
            let message = argument(&call, "message")?;
            let schema = json!({
                "type": "object",
                "properties": {
                    "username": { "type": "string", "description": "User's response" },
                    "email": { "type": "string", "description": "User's email address" },
                },
                "required": ["username", "email"],
            });
            elicit(&call, &message, schema).await
        }))
        .tool(Tool::raw(spec("test_elicitation_sep1034_defaults"), |call: ToolCall| async move {
            elicit(&call, "Check these", defaults()).await
        }))
        .tool(Tool::raw(spec("test_elicitation_sep1330_enums"), |call: ToolCall| async move {
            elicit(&call, "Choose", enums()).await
        }))
}

async fn log(call: ToolCall) -> Result<&'static str, BoxError> {
    let client = client(&call)?;
    client.log(LoggingLevel::Info, "Tool execution started").await;
    sleep(PAUSE).await;
    client.log(LoggingLevel::Info, "Tool processing data").await;
    sleep(PAUSE).await;
    client.log(LoggingLevel::Info, "Tool execution completed").await;
    Ok("logged")
}

async fn progress(call: ToolCall) -> &'static str {
    for done in [0.0, 50.0, 100.0] {
        Progress::report(&call.ctx, done, Some(100.0), None).await;
        sleep(PAUSE).await;
    }
    "done"
}

async fn sample(call: ToolCall) -> Result<ToolOutput, BoxError> {
    let prompt = argument(&call, "prompt")?;
    let request = json!({
        "messages": [{ "role": "user", "content": { "type": "text", "text": prompt } }],
        "maxTokens": 100,
    });
    ask(&call, "sampling/createMessage", request, |reply| {
        format!("LLM response: {}", json!(reply.get("content")))
    })
    .await
}

async fn elicit(call: &ToolCall, message: &str, schema: Value) -> Result<ToolOutput, BoxError> {
    let request = json!({ "mode": "form", "message": message, "requestedSchema": schema });
    ask(call, "elicitation/create", request, |answer| {
        let (action, content) = (json!(answer.get("action")), json!(answer.get("content")));
        format!("Elicitation completed: action={action}, content={content}")
    })
    .await
}

/// Asks the client and tells what it answers. One of the newer protocol answers with the same call once more, until which this
/// one waits.
async fn ask(
    call: &ToolCall,
    method: &str,
    params: Value,
    tell: impl FnOnce(&Value) -> String,
) -> Result<ToolOutput, BoxError> {
    let client = client(call)?;
    if let Some(answer) = client.input_responses().and_then(|answers| answers.get(ANSWER)) {
        return Ok(ToolOutput::text(tell(answer)));
    }
    if client.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28) {
        let request = json!({ ANSWER: { "method": method, "params": params } });
        let waits = Suspension::new("conformance", "asked", "The tool asks for input.");
        return Ok(ToolOutput::default().with_outcome(waits.request(request)));
    }
    let answer = client.ask(method, &Json::from_value(params)).await?;
    Ok(ToolOutput::text(tell(answer.value()?)))
}

fn defaults() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "default": "John Doe" },
            "age": { "type": "integer", "default": 30 },
            "score": { "type": "number", "default": 95.5 },
            "status": { "type": "string", "enum": ["active", "inactive", "pending"], "default": "active" },
            "verified": { "type": "boolean", "default": true },
        },
    })
}

fn enums() -> Value {
    let titled = |kind| {
        json!([
            { "const": "value1", "title": format!("First {kind}") },
            { "const": "value2", "title": format!("Second {kind}") },
            { "const": "value3", "title": format!("Third {kind}") },
        ])
    };
    let options = ["option1", "option2", "option3"];
    json!({
        "type": "object",
        "properties": {
            "untitledSingle": { "type": "string", "enum": options },
            "titledSingle": { "type": "string", "oneOf": titled("Option") },
            "legacyEnum": {
                "type": "string",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": { "type": "array", "items": { "type": "string", "enum": options } },
            "titledMulti": { "type": "array", "items": { "anyOf": titled("Choice") } },
        },
    })
}

fn client(call: &ToolCall) -> Result<&Caller, BoxError> {
    Caller::of(&call.ctx).ok_or_else(|| "no client calls".into())
}

fn argument(call: &ToolCall, name: &str) -> Result<String, BoxError> {
    let value = call.arguments.value()?.get(name).and_then(Value::as_str);
    Ok(value.ok_or_else(|| format!("`{name}` is missing"))?.to_owned())
}

fn spec(name: &str) -> ToolSpec {
    ToolSpec::new(name, "A tool of the conformance suite")
}

fn fixed<const N: usize>(name: &str, blocks: [Content; N]) -> Tool<BoxToolService> {
    let blocks = Vec::from(blocks);
    let answer = RawToolFn::new(move |_| {
        let blocks = blocks.clone();
        async move { blocks }
    });
    Tool::new(spec(name), BoxToolService::new(answer))
}

fn media(data: &str, mime_type: &str) -> Media {
    let source = MediaSource::Base64(data.into());
    Media { source, mime_type: Some(mime_type.into()), extra: None }
}

fn resource(uri: &str, mime_type: &str, text: &str) -> Content {
    Content::Resource(Resource {
        uri: uri.into(),
        name: None,
        description: None,
        mime_type: Some(mime_type.into()),
        text: Some(text.into()),
        blob: None,
        extra: None,
    })
}
