//! What the lists of names let through, and what they hide.

#![allow(clippy::unwrap_used, reason = "a helper of a test fails the test")]
#![cfg(feature = "allow-list")]

use std::{pin::pin, sync::Arc};

use proptest::prelude::*;
use serde::Deserialize;
use tokio_test::{assert_pending, assert_ready, assert_ready_ok};
use tower::{Layer, Service, ServiceBuilder, ServiceExt, service_fn};
use tower_agent::{
    AllowListLayer, Context, DenyListLayer, Error, ErrorKind, Message, ModelRequest, ModelResponse,
    Names, Origin, Outcome, Reply, ToolCall, ToolChoice, ToolOutput, ToolSpec, Tools,
};
use tower_test::mock;

#[derive(Deserialize)]
struct Table {
    case: Vec<Case>,
    bad: Vec<Bad>,
}

#[derive(Deserialize)]
struct Case {
    shows: String,
    names: Vec<String>,
    #[serde(default)]
    listed: Vec<String>,
    #[serde(default)]
    unlisted: Vec<String>,
}

#[derive(Deserialize)]
struct Bad {
    shows: String,
    glob: String,
}

fn table() -> Table {
    toml::from_str(include_str!("data/names.toml")).unwrap()
}

#[test]
fn names_are_decided_as_the_table_says_by_both_layers() {
    for case in table().case {
        let allow = AllowListLayer::new(&case.names).unwrap();
        let deny = DenyListLayer::new(&case.names).unwrap();
        let expected = case.listed.iter().map(|name| (name, true));
        for (name, listed) in expected.chain(case.unlisted.iter().map(|name| (name, false))) {
            assert_eq!(allow.permits(name), listed, "{}: allow {name:?}", case.shows);
            assert_eq!(deny.permits(name), !listed, "{}: deny {name:?}", case.shows);
        }
    }
}

#[test]
fn a_bad_glob_is_an_error_of_the_constructor_and_is_named() {
    for bad in table().bad {
        let error = AllowListLayer::new(["fine", &bad.glob]).unwrap_err();
        assert_eq!(error.pattern(), bad.glob, "{}", bad.shows);
        assert!(error.to_string().contains(&bad.glob), "{}: {error}", bad.shows);
        assert!(DenyListLayer::new([&bad.glob]).is_err(), "{}", bad.shows);
    }
}

#[test]
fn exact_names_may_hold_the_characters_of_globs() {
    let layer = AllowListLayer::exact(["a*", "[x"]);
    assert!(layer.permits("a*") && layer.permits("[x"));
    assert!(!layer.permits("ab"));
}

#[tokio::test]
async fn an_unlisted_tool_does_not_run_and_the_refusal_names_it() {
    let (service, mut tool) = mock::pair::<ToolCall, ToolOutput>();
    let mut service = AllowListLayer::new(["read_file"]).unwrap().layer(service);
    tool.allow(1);
    let output = service.ready().await.unwrap().call(ToolCall::new("shell", "{}")).await.unwrap();

    let Outcome::Denied(denial) = &output.outcome else { panic!("{:?}", output.outcome) };
    assert_eq!((&*denial.layer, &*denial.code), ("allow_list", "not_allowed"));
    assert_eq!(output.provenance.origin, Origin::Denied);
    let text = output.joined_text();
    for part in [
        "\"shell\"",
        "not available in this deployment",
        "did not run",
        "Do not call it again",
        "tools that you were given",
    ] {
        assert!(text.contains(part), "{part:?} in {text:?}");
    }
    assert_pending!(tokio_test::task::spawn(tool.next_request()).poll());
}

#[tokio::test]
async fn a_listed_tool_gets_the_call_and_its_output_comes_back_untouched() {
    let (service, mut tool) = mock::pair::<ToolCall, ToolOutput>();
    let mut service = DenyListLayer::new(["shell"]).unwrap().layer(service);
    tool.allow(1);
    let call = ToolCall::new("read_file", r#"{"path": "a"}"#).with_id("c1");
    let mut answer = pin!(service.ready().await.unwrap().call(call.clone()));
    let (seen, respond) = tool.next_request().await.unwrap();
    assert!(seen.is_untouched(&call));
    respond.send_response(ToolOutput::text("text"));
    assert_eq!(answer.as_mut().await.unwrap(), ToolOutput::text("text"));
}

#[test]
fn the_service_is_ready_when_the_inner_one_is_and_passes_its_errors_on() {
    let (mut service, mut tool) =
        mock::spawn_layer::<ToolCall, ToolOutput, _>(AllowListLayer::exact(["a"]));
    tool.allow(0);
    assert_pending!(service.poll_ready());
    tool.allow(1);
    assert_ready_ok!(service.poll_ready());
    let mut future = tokio_test::task::spawn(service.call(ToolCall::new("a", "")));
    let (_, respond) = assert_ready!(tokio_test::task::spawn(tool.next_request()).poll()).unwrap();
    respond.send_error("as it was");
    assert_eq!(assert_ready!(future.poll()).unwrap_err().to_string(), "as it was");
    tool.send_error("broken");
    assert_eq!(assert_ready!(service.poll_ready()).unwrap_err().to_string(), "broken");
}

#[tokio::test]
async fn odd_characters_of_a_refused_name_are_shown_escaped() {
    let refuse_all = || AllowListLayer::exact::<&str>([]).layer(service_fn(no_tool));
    for (name, shown) in [
        ("verify_\u{57d}ser", r#""verify_\u{57d}ser""#),
        ("verify_user\u{200b}", r#""verify_user\u{200b}""#),
        ("\u{ff56}erify_user", r#""\u{ff56}erify_user""#),
        ("verify_\u{202e}resu", r#""verify_\u{202e}resu""#),
        ("a\"b\n", r#""a\"b\n""#),
    ] {
        let text = refuse_all().oneshot(ToolCall::new(name, "")).await.unwrap().joined_text();
        assert!(text.contains(shown), "{shown} in {text}");
        assert!(text.is_ascii());
    }
    let long = refuse_all().oneshot(ToolCall::new("x".repeat(100_000), "")).await.unwrap();
    assert!(long.joined_text().len() < 400);
}

async fn no_tool(call: ToolCall) -> Result<ToolOutput, Error> {
    Err(Error::new(ErrorKind::Other, format!("{} ran", call.name)))
}

fn request(tools: &[&str], choice: Option<ToolChoice>) -> ModelRequest {
    let mut request = ModelRequest::new("demo", vec![Message::user("hello")]);
    request.tools = tools.iter().map(|name| Arc::new(ToolSpec::new(*name, ""))).collect();
    request.tool_choice = choice;
    request
}

/// A model that hands back the request that reached it.
async fn seen_by_model<L>(layer: L, request: ModelRequest) -> ModelRequest
where
    L: Layer<tower::util::BoxService<ModelRequest, ModelResponse, Error>>,
    L::Service: Service<ModelRequest, Response = ModelResponse, Error = Error>,
{
    let inner = service_fn(|request: ModelRequest| async move {
        let mut response = ModelResponse::full(Reply::new(Message::assistant("")));
        response.head.extensions.insert(request);
        Ok::<_, Error>(response)
    });
    let service = layer.layer(tower::util::BoxService::new(inner));
    let response = service.oneshot(request).await.unwrap();
    ModelRequest::clone(response.head.extensions.get().unwrap())
}

fn names(tools: &Tools) -> Vec<&str> {
    tools.iter().map(|spec| spec.name.as_str()).collect()
}

#[tokio::test]
async fn the_model_does_not_see_what_it_may_not_call() {
    let tools = ["read_file", "shell", "search"];
    let allow = AllowListLayer::new(["read_file", "sea*"]).unwrap();
    let seen = seen_by_model(allow, request(&tools, None)).await;
    assert_eq!(names(&seen.tools), ["read_file", "search"]);

    let deny = DenyListLayer::exact(["shell"]);
    let seen = seen_by_model(deny, request(&tools, None)).await;
    assert_eq!(names(&seen.tools), ["read_file", "search"]);
}

#[tokio::test]
async fn a_request_without_refused_tools_keeps_its_list_of_tools() {
    let sent = request(&["read_file"], Some(ToolChoice::Required));
    let seen = seen_by_model(DenyListLayer::exact(["shell"]), sent.clone()).await;
    assert!(seen.tools.ptr_eq(&sent.tools));
    assert_eq!(seen.tool_choice, Some(ToolChoice::Required));
}

#[tokio::test]
async fn a_choice_of_tool_that_cannot_be_met_any_more_is_dropped() {
    let table = [
        (ToolChoice::Tool("shell".into()), &["shell", "search"][..], None),
        (
            ToolChoice::Tool("search".into()),
            &["shell", "search"],
            Some(ToolChoice::Tool("search".into())),
        ),
        (ToolChoice::Required, &["shell"], None),
        (ToolChoice::Required, &["shell", "search"], Some(ToolChoice::Required)),
        (ToolChoice::Auto, &["shell"], Some(ToolChoice::Auto)),
    ];
    for (choice, tools, expected) in table {
        let seen =
            seen_by_model(DenyListLayer::exact(["shell"]), request(tools, Some(choice))).await;
        assert_eq!(seen.tool_choice, expected);
    }
}

#[tokio::test]
async fn one_layer_serves_the_tools_and_the_model() {
    let layer = AllowListLayer::exact(["search"]);
    let seen = seen_by_model(layer.clone(), request(&["search", "shell"], None)).await;
    assert_eq!(names(&seen.tools), ["search"]);
    let tools = ServiceBuilder::new().layer(layer).service(service_fn(no_tool));
    let call = ToolCall::new("shell", "").with_context(Context::default());
    assert!(tools.oneshot(call).await.unwrap().outcome.is_denied());
}

proptest! {
    #[test]
    fn allow_and_deny_are_opposites(names in prop::collection::vec("[a-c*?]{0,3}", 0..4), name in "[a-c]{0,4}") {
        let names = Names::new(names).unwrap();
        let allow = AllowListLayer::from(names.clone());
        let deny = DenyListLayer::from(names.clone());
        prop_assert_eq!(allow.permits(&name), !deny.permits(&name));
        prop_assert_eq!(allow.permits(&name), names.contains(&name));
    }

    #[test]
    fn a_glob_of_one_star_is_a_prefix_and_a_suffix(head in "[a-z_.]{0,4}", tail in "[a-z_.]{0,4}", name in "[a-z_.]{0,12}") {
        let names = Names::new([format!("{head}*{tail}")]).unwrap();
        let fits = name.len() >= head.len() + tail.len() && name.starts_with(&head) && name.ends_with(&tail);
        prop_assert_eq!(names.contains(&name), fits);
    }
}
