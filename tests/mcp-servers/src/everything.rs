//! The server that shows all that the protocol can do.

use std::{fs, process::Command, time::Duration};

use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tower::ServiceExt;
use tower_agent::{Content, Effect, ErrorKind, ToolCall};
use tower_agent_mcp::client::{Child, Http, McpClient, ServerEvent, Status};

use crate::{
    Places,
    support::{
        Result, SECRET, Story, ask, call, connect, ensure, guarded, has, program, refused, same,
        speaks,
    },
};

const SERVER: &str = "mcp-server-everything";

pub(crate) async fn tell(story: &mut Story, places: &Places) {
    story.note("everything: list, call, blocks, errors", blocks(places).await);
    story.note("everything: progress puts off the time-out", progress(places).await);
    story.note("everything: its environment, masked", environment(places).await);
    #[cfg(unix)]
    story.note("everything: killed in the middle of a call", killed(places).await);
    story.note("everything: over HTTP", over_http(places).await);
}

async fn blocks(places: &Places) -> Result {
    let client = connect("everything", program(&places.node, SERVER)).await?;
    speaks(&client, "2025-11-25", 13)?;
    has(&ask(&client, "echo", json!({ "message": "hello" })).await?, "hello")?;
    let picture = call(&client, "get-tiny-image", json!({})).await?;
    let is_picture = |block: &Content| matches!(block, Content::Image(_));
    ensure(picture.content.iter().any(is_picture), || format!("no picture: {picture:?}"))?;
    let links = call(&client, "get-resource-links", json!({ "count": 2 })).await?;
    let is_link = |block: &&Content| matches!(block, Content::ResourceLink(_));
    same(&links.content.iter().filter(is_link).count(), &2)?;
    let value = call(&client, "get-structured-content", json!({ "location": "Chicago" })).await?;
    ensure(value.structured.is_some(), || format!("no value: {value:?}"))?;
    let marked = json!({ "messageType": "error", "includeImage": false });
    let marked = call(&client, "get-annotated-message", marked).await?;
    let has_extra = |block: &Content| matches!(block, Content::Text(part) if part.extra.is_some());
    ensure(marked.content.iter().any(has_extra), || format!("no annotations: {marked:?}"))?;
    refused(&client, "get-sum", json!({ "a": "one", "b": 2 })).await
}

fn long(seconds: u32, steps: u32) -> ToolCall {
    let arguments = json!({ "duration": seconds, "steps": steps });
    ToolCall::new("trigger-long-running-operation", arguments.to_string())
}

async fn progress(places: &Places) -> Result {
    let client = McpClient::builder("everything", program(&places.node, SERVER))
        .timeout(Duration::from_secs(2))
        .connect()
        .await?;
    let mut events = client.events();
    client.clone().oneshot(long(4, 8)).await?;
    let mut reports = 0;
    while let Ok(event) = events.try_recv() {
        reports += usize::from(matches!(event, ServerEvent::Progress(_)));
    }
    same(&reports, &8)?;
    let error = client.oneshot(long(8, 2)).await.err().ok_or("it was waited for")?;
    same(&error.kind(), &ErrorKind::Timeout)
}

async fn environment(places: &Places) -> Result {
    let child = program(&places.node, SERVER).env("AWS_ACCESS_KEY_ID", SECRET);
    let client = connect("everything", child).await?;
    let text = ask(&client, "get-env", json!({})).await?;
    has(&text, SECRET)?;
    // Cargo sets it for what it runs.
    ensure(!text.contains("CARGO_MANIFEST_DIR"), || format!("not ours to tell: {text}"))?;
    let output = guarded(&client)?.oneshot(ToolCall::new("get-env", "{}")).await?;
    ensure(!format!("{output:?}").contains(SECRET), || format!("not masked: {output:?}"))
}

#[cfg(unix)]
async fn killed(places: &Places) -> Result {
    let note = places.work.join("pid");
    let script = r#"echo $$ > "$1"; exec "$2" stdio"#;
    let child =
        Child::new("sh").args(["-c", script, "sh"]).arg(&note).arg(places.node.join(SERVER));
    let client = McpClient::builder("everything", child).connect().await?;
    let kill = async {
        ask(&client, "echo", json!({ "message": "still there" })).await?;
        let pid = fs::read_to_string(&note)?;
        let killed = Command::new("kill").args(["-9", pid.trim()]).status()?;
        ensure(killed.success(), || "it could not be killed".to_owned())
    };
    let (output, kill) = tokio::join!(client.clone().oneshot(long(60, 2)), kill);
    kill?;
    let error = output.err().ok_or("a dead server answered")?;
    same(&(error.kind(), error.effect()), &(ErrorKind::Unavailable, Effect::Unknown))?;
    let mut changes = client.changes();
    changes.wait_for(|state| state.status != Status::Connected).await?;
    changes.wait_for(|state| state.status == Status::Connected).await?;
    has(&ask(&client, "echo", json!({ "message": "back" })).await?, "back")
}

async fn over_http(places: &Places) -> Result {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    drop(listener);
    let mut server = tokio::process::Command::new(places.node.join(SERVER))
        .arg("streamableHttp")
        .env("PORT", address.port().to_string())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .kill_on_drop(true)
        .spawn()?;
    let listens = async {
        while TcpStream::connect(address).await.is_err() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::select! {
        () = listens => {}
        status = server.wait() => return Err(format!("it ended: {}", status?).into()),
    }
    let client = McpClient::builder("everything", Http::new(format!("http://{address}/mcp")))
        .connect()
        .await?;
    has(&ask(&client, "echo", json!({ "message": "hello" })).await?, "hello")?;
    let mut events = client.events();
    client.clone().oneshot(long(1, 4)).await?;
    let is_progress = matches!(events.try_recv(), Ok(ServerEvent::Progress(_)));
    ensure(is_progress, || "no progress over HTTP".to_owned())?;
    server.start_kill()?;
    server.wait().await?;
    let error = call(&client, "echo", json!({})).await.err().ok_or("a dead server answered")?;
    has(&error.to_string(), "cannot be reached")
}
