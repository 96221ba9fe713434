//! What the checks have in common.

use std::{error::Error, path::Path};

use tower::ServiceExt;
use tower_agent::{
    Outcome, ToolCall, ToolOutput, ToolSet, redact::RedactLayer, report_errors::ReportErrorsLayer,
};
use tower_agent_mcp::{
    client::{Child, McpClient},
    pins::Pins,
};

pub(crate) type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

/// What was checked, and how much of it went wrong.
#[derive(Default)]
pub(crate) struct Story {
    failures: usize,
    checks: usize,
}

impl Story {
    pub(crate) fn note(&mut self, name: &str, result: Result) {
        self.checks += 1;
        match result {
            Ok(()) => println!("ok      {name}"),
            Err(error) => {
                self.failures += 1;
                println!("FAILED  {name}: {error}");
            }
        }
    }

    pub(crate) fn end(self) -> Result {
        println!("{} checks, {} failed", self.checks, self.failures);
        ensure(self.failures == 0, || "not all servers behaved as they should".to_owned())
    }
}

pub(crate) fn ensure(holds: bool, text: impl FnOnce() -> String) -> Result {
    if holds { Ok(()) } else { Err(text().into()) }
}

/// A file that was planted must not be readable, nor a key that was.
pub(crate) const SECRET: &str = "AKIAIOSFODNN7EXAMPL3";

/// Connects twice, so that what a server says of its tools is seen to stay the same.
pub(crate) async fn connect(name: &str, child: Child) -> Result<McpClient> {
    let pins = Pins::in_memory();
    McpClient::builder(name, child.clone()).pins(pins.clone()).connect().await?.close().await;
    let client = McpClient::builder(name, child).pins(pins).connect().await?;
    let refused = client.snapshot().refused;
    ensure(refused.is_empty(), || format!("kept out: {refused:?}"))?;
    Ok(client)
}

pub(crate) fn program(folder: &Path, name: &str) -> Child {
    Child::new(folder.join(name))
}

/// The stack that a careful host would put around a server.
pub(crate) fn guarded(client: &McpClient) -> Result<ToolSet> {
    let server = ToolSet::from_service(client.tools(), client.clone())?;
    let tools = ToolSet::builder().tools(&server);
    Ok(tools.layer(ReportErrorsLayer::new()).layer(RedactLayer::default()).build()?)
}

pub(crate) async fn call(
    client: &McpClient,
    tool: &str,
    arguments: serde_json::Value,
) -> Result<ToolOutput> {
    Ok(client.clone().oneshot(ToolCall::new(tool, arguments.to_string())).await?)
}

/// The text of a call that must succeed.
pub(crate) async fn ask(
    client: &McpClient,
    tool: &str,
    arguments: serde_json::Value,
) -> Result<String> {
    let output = call(client, tool, arguments).await?;
    let text = output.joined_text();
    ensure(output.outcome == Outcome::Success, || format!("`{tool}` failed: {text}"))?;
    Ok(text)
}

/// A call that the server must refuse, without a word of the secret.
pub(crate) async fn refused(
    client: &McpClient,
    tool: &str,
    arguments: serde_json::Value,
) -> Result {
    let output = call(client, tool, arguments).await?;
    let text = output.joined_text();
    ensure(output.outcome.is_failed(), || format!("`{tool}` was not refused: {text}"))?;
    ensure(!text.contains(SECRET), || format!("`{tool}` told the secret"))
}

pub(crate) fn same<T: PartialEq + std::fmt::Debug>(is: &T, should: &T) -> Result {
    ensure(is == should, || format!("{is:?} is not {should:?}"))
}

pub(crate) fn has(text: &str, part: &str) -> Result {
    ensure(text.contains(part), || format!("`{part}` is not in `{text}`"))
}

/// The generation that was agreed upon, and how many tools there are.
pub(crate) fn speaks(client: &McpClient, protocol: &str, tools: usize) -> Result {
    let state = client.snapshot();
    let server = state.server.ok_or("the server said nothing of itself")?;
    same(&&*server.protocol, &protocol)?;
    same(&state.tools.len(), &tools)?;
    let nameless = state.tools.iter().find(|spec| spec.description.is_empty());
    ensure(nameless.is_none(), || format!("without a description: {nameless:?}"))
}
