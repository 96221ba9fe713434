//! The servers that keep files.

use std::fs;

use serde_json::json;
use tower::ServiceExt;
use tower_agent::ToolCall;
use tower_agent_mcp::client::McpClient;

use crate::{
    Places,
    support::{
        Result, SECRET, Story, ask, connect, ensure, guarded, has, program, refused, speaks,
    },
};

pub(crate) async fn tell(story: &mut Story, places: &Places) {
    story.note("filesystem: list, call, refuse, mask", filesystem(places).await);
    story.note("memory: remember and forget", memory(places).await);
}

async fn filesystem(places: &Places) -> Result {
    let (inside, outside) = (places.work.join("inside"), places.work.join("outside"));
    fs::create_dir_all(&inside)?;
    fs::create_dir_all(&outside)?;
    fs::write(inside.join("notes.txt"), "buy milk")?;
    fs::write(inside.join("config.txt"), format!("aws_access_key_id = {SECRET}\n"))?;
    fs::write(outside.join("secret.txt"), SECRET)?;
    #[cfg(unix)]
    std::os::unix::fs::symlink(outside.join("secret.txt"), inside.join("link.txt"))?;

    let child = program(&places.node, "mcp-server-filesystem").arg(&inside);
    let client = connect("files", child).await?;
    speaks(&client, "2025-11-25", 14)?;
    all_are_described(&client)?;
    let path = |name: &str| json!({ "path": inside.join(name) });
    has(&ask(&client, "read_text_file", path("notes.txt")).await?, "buy milk")?;
    refused(&client, "read_text_file", path("nothing.txt")).await?;
    refused(&client, "read_text_file", path("../outside/secret.txt")).await?;
    refused(&client, "read_text_file", json!({ "path": outside.join("secret.txt") })).await?;
    #[cfg(unix)]
    refused(&client, "read_text_file", path("link.txt")).await?;
    refused(&client, "read_text_file", json!({ "path": 7 })).await?;

    has(&ask(&client, "read_text_file", path("config.txt")).await?, SECRET)?;
    let call = ToolCall::new("read_text_file", path("config.txt").to_string());
    let output = guarded(&client)?.oneshot(call).await?;
    ensure(!format!("{output:?}").contains(SECRET), || format!("not masked: {output:?}"))?;
    has(&output.joined_text(), "aws_access_key_id = ")
}

fn all_are_described(client: &McpClient) -> Result {
    let bare = client
        .tools()
        .iter()
        .find(|spec| spec.output_schema.is_none() || spec.annotations.read_only.is_none())
        .cloned();
    ensure(bare.is_none(), || format!("without annotations or output schema: {bare:?}"))
}

async fn memory(places: &Places) -> Result {
    let file = places.work.join("memory.jsonl");
    let child = program(&places.node, "mcp-server-memory").env("MEMORY_FILE_PATH", &file);
    let client = connect("memory", child).await?;
    speaks(&client, "2025-11-25", 9)?;
    let entity = json!({ "name": "Ada", "entityType": "person", "observations": ["counts"] });
    ask(&client, "create_entities", json!({ "entities": [entity] })).await?;
    has(&ask(&client, "read_graph", json!({})).await?, "Ada")?;
    let tools = client.tools();
    let delete = tools.find("delete_entities").ok_or("nothing can be deleted")?;
    ensure(delete.annotations.destructive == Some(true), || format!("harmless: {delete:?}"))?;
    ask(&client, "delete_entities", json!({ "entityNames": ["Ada"] })).await?;
    let left = ask(&client, "read_graph", json!({})).await?;
    ensure(!left.contains("Ada"), || format!("still there: {left}"))
}
