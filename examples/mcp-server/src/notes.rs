//! The tools, and the stack around them.

use std::{error::Error, time::Duration};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tower::ServiceBuilder;
use tower_agent::{
    AllowListLayer, BoxError, RedactLayer, ReportErrorsLayer, TimeoutLayer, Tool, ToolSet,
    ToolSpec, TruncateLayer, tool_fn,
};
use tower_agent_mcp::server::McpServer;

/// The notes. Their secrets are made up.
const NOTES: [(&str, &str); 3] = [
    ("shopping", "Bread, olives, coffee."),
    ("router", "The router is at 192.168.1.1.\nadmin password = hunter22\n"),
    ("release", "1. Update the changelog.\n2. Tag.\n3. Publish."),
];

#[derive(Deserialize, JsonSchema)]
struct Named {
    /// The name of the note.
    name: String,
}

/// The server: three tools, of which clients see and may call two.
pub(crate) fn server() -> Result<McpServer, Box<dyn Error>> {
    let layers = ServiceBuilder::new()
        .layer(TruncateLayer::default())
        .layer(RedactLayer::default())
        .layer(ReportErrorsLayer::new())
        .layer(TimeoutLayer::new(Duration::from_secs(10)));
    let list =
        Tool::raw(list_spec(), |_| async { json!({ "notes": NOTES.map(|(name, _)| name) }) });
    let read = tool_fn("read_note", "Reads a note", |named: Named, _| async move { read(&named) });
    let delete = tool_fn("delete_note", "Deletes a note", |_: Named, _| async {
        Err::<&str, BoxError>("these notes cannot be deleted".into())
    });
    let tools = ToolSet::builder().tool(list).tool(read.read_only()).tool(delete).layer(layers);
    let tools = tools.build()?;
    let server = McpServer::builder(tools)
        .name("notes", env!("CARGO_PKG_VERSION"))
        .instructions("Reads the user's notes.")
        // What it denies it also hides.
        .policy(AllowListLayer::new(["list_notes", "read_note"])?)
        .build()?;
    Ok(server)
}

fn list_spec() -> ToolSpec {
    let mut spec = ToolSpec::new("list_notes", "Lists the names of all notes");
    spec.annotations.read_only = Some(true);
    let names = json!({ "type": "array", "items": { "type": "string" } });
    let output =
        json!({ "type": "object", "properties": { "notes": names }, "required": ["notes"] });
    spec.output_schema = Some(output.into());
    spec
}

fn read(named: &Named) -> Result<&'static str, BoxError> {
    let note = NOTES.iter().find(|(name, _)| *name == named.name);
    match note {
        Some((_, text)) => Ok(text),
        None => Err(format!("there is no note \"{}\"", named.name).into()),
    }
}
