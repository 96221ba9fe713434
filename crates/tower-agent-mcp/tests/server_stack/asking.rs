use std::sync::{Arc, Mutex};

use rmcp::{
    ClientHandler, ErrorData, RoleClient,
    model::{
        ClientCapabilities, ClientConfig, CustomRequest, CustomResult, ElicitRequestParams,
        ElicitResult, ElicitationAction, ElicitationCapability, ErrorCode, Implementation,
    },
    service::{ClientServiceExt, RequestContext, RunningService},
};
use serde_json::json;
use tokio::{sync::mpsc, task::JoinSet};
use tower::ServiceBuilder;
use tower_agent::{Json, TimeoutLayer, Tool, ToolCall, ToolSet, ToolSpec};
use tower_agent_mcp::server::{Caller, McpServer, serve as serve_connection};

use crate::support::{call, sessions, stateless, text};

/// What a client says to a form.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Says {
    Row(u8),
    Rejected,
    Nothing,
}

struct User {
    says: Says,
    /// Hears of each question, and of its end.
    told: mpsc::UnboundedSender<&'static str>,
}

impl ClientHandler for User {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = Some(ElicitationCapability::default());
        ClientConfig::new(capabilities, Implementation::new("user", "1"))
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        self.told.send("asked").unwrap();
        match self.says {
            Says::Row(row) => {
                let accepted = ElicitResult::new(ElicitationAction::Accept);
                Ok(accepted.with_content(json!({ "row": row })))
            }
            Says::Rejected => Err(ErrorData::new(ErrorCode(-1), "rejected", None)),
            Says::Nothing => {
                context.ct.cancelled().await;
                self.told.send("taken back").unwrap();
                std::future::pending().await
            }
        }
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleClient>,
    ) -> Result<CustomResult, ErrorData> {
        panic!("{request:?}")
    }
}

struct Pair {
    client: RunningService<RoleClient, User>,
    told: mpsc::UnboundedReceiver<&'static str>,
    _server: JoinSet<()>,
}

async fn connect(tools: ToolSet, says: Says, is_stateless: bool) -> Pair {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let mut server = JoinSet::new();
    let stack = McpServer::builder(tools).build().unwrap();
    server.spawn(async move { serve_connection(stack, ours).await.unwrap() });
    let (sender, told) = mpsc::unbounded_channel();
    let generation = if is_stateless { stateless() } else { sessions() };
    let user = User { says, told: sender };
    let client = user.serve_with_lifecycle(theirs, generation).await.unwrap();
    Pair { client, told, _server: server }
}

fn form() -> Json {
    Json::from_text(
        r#"{"mode":"form","message":"Which seat?","requestedSchema":{"type":"object","properties":{"row":{"type":"integer"}}}}"#,
    )
}

/// A tool that asks the client, and says what came of it.
fn asking(
    method: &'static str,
    params: Json,
) -> Tool<
    impl tower::Service<
        ToolCall,
        Response = tower_agent::ToolOutput,
        Error = tower_agent::Error,
        Future: Send + 'static,
    > + Clone
    + Send
    + Sync
    + 'static,
> {
    Tool::raw(ToolSpec::new("book", "Books a seat"), move |call: ToolCall| {
        let params = params.clone();
        async move {
            match Caller::of(&call.ctx).unwrap().ask(method, &params).await {
                Ok(answer) => answer.as_str().to_owned(),
                Err(error) => format!("{:?}: {error}", error.kind()),
            }
        }
    })
}

fn tools(method: &'static str, params: Json) -> ToolSet {
    ToolSet::builder().tool(asking(method, params)).build().unwrap()
}

#[tokio::test]
async fn a_tool_asks_the_client_of_its_call_and_goes_on_with_the_answer() {
    let mut pair = connect(tools("elicitation/create", form()), Says::Row(3), false).await;
    let result = pair.client.call_tool(call("book", json!({}))).await.unwrap();
    assert_eq!(text(&result), r#"{"action":"accept","content":{"row":3}}"#);
    assert_eq!(pair.told.recv().await, Some("asked"));
}

#[tokio::test]
async fn an_error_of_the_client_is_the_source_of_ours() {
    let sources = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&sources);
    let tool = Tool::raw(ToolSpec::new("book", ""), move |call: ToolCall| {
        let notes = Arc::clone(&notes);
        async move {
            let asked = Caller::of(&call.ctx).unwrap().ask("elicitation/create", &form()).await;
            let error = asked.unwrap_err();
            notes.lock().unwrap().push(error.find::<ErrorData>().unwrap().message.to_string());
            "no"
        }
    });
    let tools = ToolSet::builder().tool(tool).build().unwrap();
    let pair = connect(tools, Says::Rejected, false).await;
    pair.client.call_tool(call("book", json!({}))).await.unwrap();
    assert_eq!(*sources.lock().unwrap(), ["rejected"]);
}

#[tokio::test]
async fn a_client_that_does_not_take_a_question_is_not_asked() {
    let url = Json::from_text(r#"{"mode":"url","message":"Look","url":"https://a.example"}"#);
    let table = [
        ("roots/list", Json::object(), false),
        ("sampling/createMessage", Json::object(), false),
        ("elicitation/create", url, false),
        ("elicitation/create", form(), true),
        ("example/other", Json::object(), false),
    ];
    for (method, params, is_stateless) in table {
        let mut pair = connect(tools(method, params), Says::Row(3), is_stateless).await;
        let result = pair.client.call_tool(call("book", json!({}))).await.unwrap();
        let expected = format!("NotFound: mcp: the client of this call does not take {method}");
        assert_eq!(text(&result), expected);
        assert!(pair.told.try_recv().is_err());
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_that_nobody_waits_for_any_more_is_taken_back() {
    let layers = ServiceBuilder::new().layer(TimeoutLayer::new(std::time::Duration::from_secs(20)));
    let tool = asking("elicitation/create", form());
    let tools = ToolSet::builder().tool(tool).layer(layers).build().unwrap();
    let mut pair = connect(tools, Says::Nothing, false).await;
    let result = pair.client.call_tool(call("book", json!({}))).await.unwrap();
    assert_eq!(result.is_error, Some(true));
    assert_eq!(pair.told.recv().await, Some("asked"));
    assert_eq!(pair.told.recv().await, Some("taken back"));
}

#[tokio::test]
async fn a_call_that_the_client_gives_up_takes_its_question_back() {
    let mut pair = connect(tools("elicitation/create", form()), Says::Nothing, false).await;
    let request = rmcp::model::CallToolRequest::new(call("book", json!({})));
    let options = rmcp::service::PeerRequestOptions::no_options();
    let handle = pair.client.send_cancellable_request(request.into(), options).await.unwrap();
    assert_eq!(pair.told.recv().await, Some("asked"));
    handle.cancel(None).await.unwrap();
    assert_eq!(pair.told.recv().await, Some("taken back"));
}
