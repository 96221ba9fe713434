use std::sync::Arc;

use rmcp::ServerHandler;
use serde_json::json;
use tower::ServiceBuilder;
use tower_agent::{
    AllowListLayer, BoxError, Context, Denial, ModelRequest, Tool, ToolCall, ToolSet, ToolSpec,
    Verdict,
    plugin::{Plugin, PluginLayer},
};
use tower_agent_mcp::server::{Identity, McpServer};

use crate::support::{connect, text};

fn three() -> ToolSet {
    let tool = |name: &str| {
        Tool::raw(
            ToolSpec::new(name, "A tool"),
            |call: ToolCall| async move { call.name.to_string() },
        )
    };
    let set = ToolSet::builder().tool(tool("read")).tool(tool("list")).tool(tool("delete"));
    set.build().unwrap()
}

#[tokio::test]
async fn what_an_allow_list_denies_it_hides_as_well() {
    let policy = AllowListLayer::new(["read", "list"]).unwrap();
    let pair = connect(McpServer::builder(three()).policy(policy).build().unwrap()).await;

    let denied = pair.call("delete", json!({})).await;
    let allowed = pair.call("read", json!({})).await;

    assert_eq!(pair.tools().await, ["read", "list"]);
    assert_eq!(denied.is_error, Some(true));
    assert!(text(&denied).starts_with("The tool \"delete\" is not available"), "{denied:?}");
    assert_eq!(text(&allowed), "read");
}

#[tokio::test]
async fn several_policies_hide_together() {
    let policy = ServiceBuilder::new()
        .layer(AllowListLayer::new(["read", "list"]).unwrap())
        .layer(AllowListLayer::new(["list", "delete"]).unwrap());
    let pair = connect(McpServer::builder(three()).policy(policy).build().unwrap()).await;

    assert_eq!(pair.tools().await, ["list"]);
}

#[test]
fn a_hidden_tool_cannot_be_looked_up() {
    let policy = AllowListLayer::new(["read"]).unwrap();
    let server = McpServer::builder(three()).policy(policy).build().unwrap();

    assert!(server.get_tool("read").is_some());
    assert!(server.get_tool("delete").is_none());
    assert!(server.get_tool("unknown").is_none());
}

/// Lets nobody but `ada` delete, and shows it to nobody else.
struct OnlyAda;

impl OnlyAda {
    fn permits(ctx: &Context, tool: &str) -> bool {
        tool != "delete" || ctx.run().user().is_some_and(|user| *user == "ada")
    }
}

impl Plugin for OnlyAda {
    fn name(&self) -> &str {
        "only-ada"
    }

    async fn before_tool(&self, call: &mut ToolCall) -> Result<Verdict<ToolCall>, BoxError> {
        if Self::permits(&call.ctx, &call.name) {
            return Ok(Verdict::Allow);
        }
        Ok(Verdict::deny("Only Ada may delete."))
    }

    async fn before_model(
        &self,
        request: &mut ModelRequest,
    ) -> Result<Verdict<ModelRequest>, BoxError> {
        let ctx = request.ctx.clone();
        request.tools.retain(|spec| Self::permits(&ctx, &spec.name));
        Ok(Verdict::Allow)
    }
}

#[tokio::test]
async fn each_caller_sees_what_it_may_call() {
    for (user, tools, answer) in [
        ("ada", &["read", "list", "delete"][..], "delete"),
        ("bob", &["read", "list"], "Only Ada may delete."),
    ] {
        let server = McpServer::builder(three())
            .policy(PluginLayer::new(OnlyAda))
            .identity(move |_| Ok(Identity::default().with_user(user)))
            .build()
            .unwrap();
        let pair = connect(server).await;

        assert_eq!(pair.tools().await, tools);
        assert_eq!(text(&pair.call("delete", json!({})).await), answer);
    }
}

#[tokio::test]
async fn a_caller_who_is_refused_sees_and_runs_nothing() {
    let server = McpServer::builder(three())
        .identity(|_| Err(Denial::new("Sign in first; nothing ran.")))
        .build()
        .unwrap();
    let pair = connect(server).await;

    let refused = pair.call("read", json!({})).await;

    assert!(pair.tools().await.is_empty());
    assert_eq!((text(&refused), refused.is_error), ("Sign in first; nothing ran.", Some(true)));
}

#[tokio::test]
async fn a_panic_on_the_way_to_who_calls_is_a_refusal() {
    let server = McpServer::builder(three())
        .identity(|caller| match caller.http() {
            Some(_) => Ok(Identity::default()),
            None => panic!("a secret of the host"),
        })
        .build()
        .unwrap();
    let pair = connect(server).await;

    let refused = pair.call("read", json!({})).await;

    assert!(pair.tools().await.is_empty());
    assert_eq!(refused.is_error, Some(true));
    assert!(text(&refused).starts_with("It could not be found out who calls"), "{refused:?}");
}

/// A policy that cannot decide.
struct Broken;

impl Plugin for Broken {
    fn name(&self) -> &str {
        "broken"
    }

    async fn before_model(&self, _: &mut ModelRequest) -> Result<Verdict<ModelRequest>, BoxError> {
        Err("the rules cannot be read".into())
    }
}

#[tokio::test]
async fn a_policy_that_fails_shows_no_tools() {
    let server = McpServer::builder(three()).policy(PluginLayer::new(Broken)).build().unwrap();
    let pair = connect(server).await;

    let error = pair.client.list_all_tools().await.unwrap_err();

    assert!(error.to_string().contains("the tools cannot be listed now"), "{error}");
    assert!(!error.to_string().contains("rules"), "{error}");
}

#[tokio::test]
async fn a_policy_may_change_what_a_tool_says_of_itself() {
    let policy = PluginLayer::new(Describes);
    let pair = connect(McpServer::builder(three()).policy(policy).build().unwrap()).await;

    let tools = pair.client.list_all_tools().await.unwrap();

    let texts: Vec<_> = tools.iter().map(|tool| tool.description.as_deref().unwrap()).collect();
    assert_eq!(texts, ["A tool", "A tool", "Asks first"]);
}

/// Says that a tool asks first.
struct Describes;

impl Plugin for Describes {
    fn name(&self) -> &str {
        "describes"
    }

    async fn before_model(
        &self,
        request: &mut ModelRequest,
    ) -> Result<Verdict<ModelRequest>, BoxError> {
        request.tools = request
            .tools
            .iter()
            .map(|spec| match spec.name.as_str() {
                "delete" => {
                    let mut spec = ToolSpec::clone(spec);
                    spec.description = "Asks first".into();
                    Arc::new(spec)
                }
                _ => Arc::clone(spec),
            })
            .collect();
        Ok(Verdict::Allow)
    }
}
