//! A server on the library, for what only a real one shows.

use std::{io::Write as _, sync::Arc, time::Duration};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
        ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities,
        ServerConfig, Tool,
    },
    service::RequestContext,
};
use serde_json::{Map, Value, json};

#[derive(Clone, Default)]
pub(crate) struct Real {
    /// Hears `waits` when a call of `wait` begins, and `cancelled` when it is cancelled.
    pub(crate) told: Option<tokio::sync::mpsc::UnboundedSender<&'static str>>,
}

impl Real {
    fn text(text: impl Into<String>) -> Result<CallToolResponse, ErrorData> {
        Ok(CallToolResponse::Complete(CallToolResult::success(vec![ContentBlock::text(text)])))
    }

    async fn wait(&self, context: &RequestContext<RoleServer>) {
        self.tell("waits");
        context.ct.cancelled().await;
        self.tell("cancelled");
    }

    fn tell(&self, what: &'static str) {
        if let Some(listener) = &self.told {
            listener.send(what).unwrap();
        }
    }
}

fn tools() -> Vec<Tool> {
    let mut schema = Map::new();
    schema.insert("type".into(), "object".into());
    let schema = Arc::new(schema);
    let names = ["echo", "env", "pid", "wait", "dial", "mutter", "steps", "ask"];
    let tools = names.map(|name| Tool::new(name, format!("Does {name}"), Arc::clone(&schema)));
    let mut tools = tools.to_vec();
    // This argument goes into a header too, and the server compares them.
    let routed =
        json!({"type": "object", "properties": {"to": {"type": "string", "x-mcp-header": "To"}}});
    let routed = serde_json::from_value::<Map<String, Value>>(routed).unwrap();
    tools.push(Tool::new("routed", "Is led by a header", Arc::new(routed)));
    tools
}

impl ServerHandler for Real {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("real", "1.0.0"))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools().into_iter().find(|tool| tool.name == name)
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(call.arguments.unwrap_or_default());
        match &*call.name {
            "echo" => {
                let mut result = CallToolResult::structured(arguments);
                result.meta = Some(serde_json::from_value(json!({"k": 1})).unwrap());
                Ok(CallToolResponse::Complete(result))
            }
            "routed" => Self::text(arguments["to"].as_str().unwrap()),
            "env" => {
                let names: Vec<_> = std::env::vars().map(|(name, _)| name).collect();
                Self::text(names.join(" "))
            }
            "pid" => Self::text(std::process::id().to_string()),
            "wait" => {
                self.wait(&context).await;
                Self::text("cancelled")
            }
            // Holds a connection for as long as the process lives.
            "dial" => {
                let port = u16::try_from(arguments["port"].as_u64().unwrap()).unwrap();
                let mut stream = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
                stream.write_all(b"!").unwrap();
                Box::leak(Box::new(stream));
                Self::text("connected")
            }
            "mutter" => {
                eprintln!("I mutter");
                Self::text("muttered")
            }
            "ask" => {
                let form = json!({"mode": "form", "message": arguments["message"], "requestedSchema": {"type": "object", "properties": {}}});
                let form = serde_json::from_value(form).unwrap();
                let answer = context.peer.create_elicitation(form).await;
                Self::text(match answer {
                    Ok(answer) => json!(answer).to_string(),
                    Err(error) => error.to_string(),
                })
            }
            "steps" => {
                let token = context.meta.get_progress_token().unwrap();
                for step in 1..=3 {
                    let progress = ProgressNotificationParam::new(token.clone(), f64::from(step));
                    context.peer.notify_progress(progress).await.unwrap();
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
                Self::text("done")
            }
            name => Err(ErrorData::invalid_params(format!("Unknown tool: {name}"), None)),
        }
    }
}
