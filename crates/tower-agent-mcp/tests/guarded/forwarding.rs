#![expect(deprecated, reason = "methods that rmcp deprecates are forwarded as well")]

use std::{
    path::PathBuf,
    process::Command,
    sync::{Arc, Mutex},
};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::*,
    service::{NotificationContext, RequestContext},
};
use serde_json::{Value, json};
use tower_agent_mcp::guarded::Guarded;

use crate::support::{connect, connect_as, stateless};

/// The methods of rmcp's trait, from its own source.
fn methods_of_the_trait() -> Vec<String> {
    let source = std::fs::read_to_string(rmcp().join("src/handler/server.rs")).unwrap();
    let (_, rest) = source.split_once("macro_rules! server_handler_methods").unwrap();
    let (methods, _) = rest.split_once("pub trait ServerHandler").unwrap();
    let names = methods.lines().filter_map(|line| {
        // Examples in comments have methods, too.
        let name = line.trim_start().strip_prefix("fn ")?;
        Some(name.split(['(', '<']).next()?.to_owned())
    });
    names.collect()
}

/// Where its source is. Only what this machine builds with is looked for, as the rest need not be here.
fn rmcp() -> PathBuf {
    let output = Command::new("rustc").arg("-vV").output().unwrap();
    let version = String::from_utf8(output.stdout).unwrap();
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--offline", "--filter-platform", host])
        .args(["--manifest-path", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")])
        .output()
        .unwrap();
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let rmcp = packages.iter().find(|package| package["name"] == "rmcp").unwrap();
    PathBuf::from(rmcp["manifest_path"].as_str().unwrap()).parent().unwrap().to_owned()
}

#[test]
fn no_method_of_the_trait_is_forgotten() {
    let source = include_str!("../../src/guarded/handler.rs");
    let (_, ours) = source.split_once("ServerHandler for Guarded<H>").unwrap();
    let methods = methods_of_the_trait();
    assert!(methods.len() >= 32, "{methods:?}");

    let has = |name: &String| {
        ours.lines().map(str::trim_start).any(|line| {
            let line = line.strip_prefix("async ").unwrap_or(line);
            let line = line.strip_prefix("fn ").unwrap_or(line);
            line.starts_with(&format!("{name}("))
        })
    };
    let forgotten: Vec<_> = methods.iter().filter(|name| !has(name)).collect();

    assert!(forgotten.is_empty(), "not forwarded: {forgotten:?}");
}

/// A server that notes which of its methods run.
#[derive(Clone, Default)]
struct Noting(Arc<Mutex<Vec<&'static str>>>);

impl Noting {
    fn note<T>(&self, name: &'static str, answer: T) -> Result<T, ErrorData> {
        self.0.lock().unwrap().push(name);
        Ok(answer)
    }

    fn noted(&self) -> Vec<&'static str> {
        self.0.lock().unwrap().clone()
    }
}

fn read<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

impl ServerHandler for Noting {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_completions()
            .enable_logging()
            .build();
        ServerConfig::new(capabilities).with_instructions("theirs")
    }

    async fn ping(&self, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        self.note("ping", ())
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        self.note("initialize", ())?;
        self.negotiate_initialize(&request)
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        self.note("complete", CompleteResult::default())
    }

    async fn set_level(
        &self,
        _: SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.note("set_level", ())
    }

    async fn get_prompt(
        &self,
        _: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let result: GetPromptResult = read(json!({ "messages": [] }));
        self.note("get_prompt", result.into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.note("list_prompts", ListPromptsResult::default())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.note("list_resources", ListResourcesResult::default())
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.note("list_resource_templates", ListResourceTemplatesResult::default())
    }

    async fn read_resource(
        &self,
        _: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let result: ReadResourceResult = read(json!({ "contents": [] }));
        self.note("read_resource", result.into())
    }

    async fn subscribe(
        &self,
        _: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.note("subscribe", ())
    }

    async fn unsubscribe(
        &self,
        _: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.note("unsubscribe", ())
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = vec![ProtocolVersion::V_2026_07_28];
        self.note("discover", DiscoverResult::from_server_info(versions, self.get_info()))
    }

    async fn on_custom_request(
        &self,
        _: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        self.note("on_custom_request", CustomResult::new(json!({ "theirs": true })))
    }

    async fn on_initialized(&self, _: NotificationContext<RoleServer>) {
        let _ = self.note("on_initialized", ());
    }
}

#[tokio::test]
async fn requests_that_are_no_calls_reach_the_handler() {
    let noting = Noting::default();
    let pair = connect(Guarded::builder(noting.clone()).build()).await;
    let client = &pair.client;

    assert_eq!(client.peer_info().unwrap().instructions.as_deref(), Some("theirs"));
    client.list_prompts(None).await.unwrap();
    client.get_prompt(read(json!({ "name": "p" }))).await.unwrap();
    client.list_resources(None).await.unwrap();
    client.list_resource_templates(None).await.unwrap();
    client.read_resource(read(json!({ "uri": "file:///a" }))).await.unwrap();
    client.subscribe(read(json!({ "uri": "file:///a" }))).await.unwrap();
    client.unsubscribe(read(json!({ "uri": "file:///a" }))).await.unwrap();
    client.set_level(read(json!({ "level": "debug" }))).await.unwrap();
    let completes = json!({ "ref": { "type": "ref/prompt", "name": "p" }, "argument": { "name": "a", "value": "" } });
    client.complete(read(completes)).await.unwrap();
    client.send_request(PingRequest::default().into()).await.unwrap();
    let custom = CustomRequest::new("theirs/own", None);
    client.send_request(ClientRequest::CustomRequest(custom)).await.unwrap();

    let mut noted = noting.noted();
    // The notification comes when it comes.
    noted.retain(|name| *name != "on_initialized");
    assert_eq!(
        noted,
        [
            "initialize",
            "list_prompts",
            "get_prompt",
            "list_resources",
            "list_resource_templates",
            "read_resource",
            "subscribe",
            "unsubscribe",
            "set_level",
            "complete",
            "ping",
            "on_custom_request",
        ]
    );
}

#[tokio::test]
async fn discovery_reaches_the_handler() {
    let noting = Noting::default();
    let _pair = connect_as(Guarded::builder(noting.clone()).build(), stateless()).await;

    assert_eq!(noting.noted(), ["discover"]);
}
