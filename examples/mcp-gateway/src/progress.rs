//! Passes the progress of a server's tool on to the client that waits for it.

use std::pin::pin;

use tokio::sync::mpsc;
use tower::ServiceExt;
use tower_agent::{Error, RedactLayer, ToolCall, ToolOutput};
use tower_agent_mcp::{
    client::{McpClient, OnProgress, Progress},
    server::Caller,
};

use crate::scrub::scrub;

/// How many reports may wait for a slow client; further ones are left out.
const WAITING: usize = 16;

/// Calls a tool, and reports its progress if somebody wants to hear of it. What it says in words is masked as its result is.
pub(crate) async fn call(
    client: McpClient,
    mut call: ToolCall,
    redact: Option<RedactLayer>,
) -> Result<ToolOutput, Error> {
    let caller = Caller::of(&call.ctx).filter(|caller| caller.progress().is_wanted()).cloned();
    let Some(caller) = caller else { return client.oneshot(call).await };
    let (sender, mut reports) = mpsc::channel(WAITING);
    let hear = move |report: &Progress| drop(sender.try_send(report.clone()));
    call.ctx.extensions.insert(OnProgress::new(hear));
    let mut answer = pin!(client.oneshot(call));
    let result = loop {
        tokio::select! {
            biased;
            Some(report) = reports.recv() => pass_on(&caller, &report, redact.as_ref()).await,
            result = &mut answer => break result,
        }
    };
    // What came together with the answer comes before it.
    while let Ok(report) = reports.try_recv() {
        pass_on(&caller, &report, redact.as_ref()).await;
    }
    result
}

async fn pass_on(caller: &Caller, report: &Progress, redact: Option<&RedactLayer>) {
    let text = report.message.clone().and_then(|message| match redact {
        Some(redact) => Some(scrub(redact, ToolOutput::text(message))?.joined_text()),
        None => Some(message.to_string()),
    });
    caller.progress().send(report.progress, report.total, text.as_deref()).await;
}
