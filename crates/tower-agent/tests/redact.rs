//! What is masked, what is not, and what goes on when a check breaks down.

#![cfg(test)]
#![cfg(feature = "redact")]
#![allow(clippy::needless_pass_by_value, reason = "a layer reads as a value")]

use std::{
    error::Error as StdError,
    fmt,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures_util::{StreamExt, stream};
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_test::{assert_pending, assert_ready, assert_ready_ok, block_on};
use tower::{Layer, ServiceBuilder, ServiceExt, service_fn};
use tower_agent::{
    BoxError, Content, Denial, Effect, Error, ErrorKind, FinishReason, Json, Media, MediaSource,
    Message, ModelEvent, ModelRequest, ModelResponse, Operation, Outcome, Part, PartDelta,
    PartStart, RedactLayer, Reply, Resource, Role, RunEvent, RunFinish, RunRequest, RunResponse,
    Str, TextPart, ToolCall, ToolCallPart, ToolOutput, ToolRecord, ToolResultPart, TruncateLayer,
    Usage,
    redact::{Arguments, Detector, Mask},
};
use tower_test::mock;

/// A key, in parts so that this file holds none.
fn key() -> String {
    ["AK", "IAQ3EGRXZ7PL2MVTK5"].concat()
}

/// Looks for credentials; what stands in their place is of no interest here.
fn secrets() -> RedactLayer {
    RedactLayer::secrets().mask(Mask::text("[REDACTED]"))
}

#[derive(Deserialize)]
struct Table {
    mask: Vec<Sample>,
    keep: Vec<Sample>,
}

#[derive(Deserialize)]
struct Sample {
    shows: String,
    parts: Vec<String>,
    #[serde(default)]
    masked: String,
    #[serde(default)]
    rules: String,
    /// Whether it is about personal data.
    #[serde(default)]
    personal: bool,
}

impl Sample {
    fn layer(&self) -> RedactLayer {
        let layer = if self.personal { RedactLayer::all() } else { RedactLayer::secrets() };
        layer.mask(Mask::text("[REDACTED]"))
    }
}

fn table() -> Table {
    toml::from_str(include_str!("data/redact.toml")).unwrap()
}

fn through(layer: RedactLayer, output: ToolOutput) -> ToolOutput {
    let service = layer
        .layer(service_fn(move |_: ToolCall| std::future::ready(Ok::<_, Error>(output.clone()))));
    block_on(service.oneshot(ToolCall::new("t", "{}"))).unwrap()
}

fn text_through(layer: RedactLayer, text: &str) -> String {
    through(layer, ToolOutput::text(text)).joined_text()
}

fn marks(marks: &[tower_agent::Mark]) -> Vec<String> {
    let mark = |mark: &tower_agent::Mark| {
        format!("{} {} {}", mark.layer, mark.action, mark.detail.as_deref().unwrap_or_default())
    };
    marks.iter().map(mark).collect()
}

#[test]
fn the_built_in_rules_mask_what_the_table_says() {
    for sample in table().mask {
        let output = through(sample.layer(), ToolOutput::text(sample.parts.concat()));
        let wanted = sample.masked.replace('•', "[REDACTED]");
        assert_eq!(output.joined_text(), wanted, "{}", sample.shows);
        let mark = format!("redact masked {}", sample.rules);
        assert_eq!(marks(&output.provenance.marks), [mark], "{}", sample.shows);
    }
}

#[test]
fn the_built_in_rules_leave_alone_what_the_table_says_down_to_the_handle() {
    for sample in table().keep {
        let text = Str::from(sample.parts.concat());
        let output = through(RedactLayer::all(), ToolOutput::text(text.clone()));
        let Some(Content::Text(part)) = output.content.first() else { panic!("no text") };
        assert!(part.text.ptr_eq(&text), "{}: {}", sample.shows, part.text);
        assert!(output.provenance.marks.is_empty(), "{}", sample.shows);
        assert!(output.extensions.is_empty(), "{}", sample.shows);
    }
}

#[test]
fn masking_what_was_masked_changes_nothing() {
    for sample in table().mask {
        for layer in [sample.layer(), sample.layer().mask(Mask::label())] {
            let once = text_through(layer.clone(), &sample.parts.concat());
            let twice = through(layer, ToolOutput::text(once.as_str()));
            assert_eq!(twice.joined_text(), once, "{}", sample.shows);
            assert!(twice.provenance.marks.is_empty(), "{}", sample.shows);
        }
    }
}

#[test]
fn a_label_names_the_rule_unless_another_mask_is_chosen() {
    let text = format!("id={}", key());
    assert_eq!(text_through(RedactLayer::default(), &text), "id=[REDACTED:aws-access-key-id]");
    let masks = [
        (Mask::text("***"), "id=***"),
        (Mask::keep_last(4), "id=****VTK5"),
        (Mask::remove(), "id="),
        (Mask::with(|found| format!("<{}>", found.rule())), "id=<aws-access-key-id>"),
    ];
    for (mask, wanted) in masks {
        assert_eq!(text_through(RedactLayer::default().mask(mask), &text), wanted);
    }
}

#[test]
fn a_fixed_text_is_taken_literally() {
    for text in ["$0", "[$SECRET]", "${secret}", "\\1", "\"quoted\""] {
        assert_eq!(text_through(RedactLayer::default().mask(Mask::text(text)), &key()), text);
    }
    assert_eq!(text_through(RedactLayer::default().mask(Mask::text("")), &key()), "[REDACTED]");
    let layer = RedactLayer::default().mask(Mask::text("say \"no\""));
    let text = text_through(layer, &json!({"id": key()}).to_string());
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), json!({"id": "say \"no\""}));
}

#[test]
fn credentials_are_looked_for_unless_personal_data_is_asked_for_too() {
    let text = "mara@example.com pays with 4111 1111 1111 1111";
    assert_eq!(text_through(RedactLayer::secrets(), text), text);
    assert_eq!(
        text_through(RedactLayer::all(), text),
        "[REDACTED:email] pays with [REDACTED:credit-card]"
    );
}

#[test]
fn overlapping_finds_are_masked_as_one() {
    let rules = r#"
        [[rule]]
        id = "bare-url"
        description = "An address without a scheme"
        keywords = ["files.example.com"]
        pattern = 'files\.example\.com/\S{0,80}'

        [[rule]]
        id = "url"
        description = "An address"
        keywords = ["https://"]
        pattern = 'https://\S{1,80}'
        border = "end"
    "#;
    let layer = RedactLayer::new(Detector::builder().none().rules_toml(rules).build().unwrap());
    let text = "docs at files.example.com/get?next=https://cdn.example.net/x.tgz then wait";
    assert_eq!(text_through(layer, text), "docs at [REDACTED:bare-url] then wait");
}

#[test]
fn bad_rules_are_errors_of_the_builder() {
    for (rule, part) in [
        ("pattern = '('\nkeywords = [\"abc\"]", "mine"),
        ("pattern = 'abc'\nkeywords = [\"ab\"]", "mine"),
        ("keywords = [\"abc\"]", "mine"),
        ("nonsense = 1", "nonsense"),
    ] {
        let toml = format!("[[rule]]\nid = \"mine\"\ndescription = \"x\"\n{rule}");
        let Err(error) = Detector::builder().rules_toml(&toml).build() else {
            panic!("{rule} was taken");
        };
        assert!(error.to_string().contains(part), "{error}");
    }
    assert!(Detector::builder().without(["no-such-rule"]).build().is_err());
}

#[test]
fn every_text_of_a_result_is_looked_at_and_bytes_are_not_touched() {
    let picture = Content::Image(Media {
        source: MediaSource::Base64(key().into()),
        mime_type: None,
        extra: None,
    });
    let resource = Resource {
        uri: format!("https://u:{}@host/", "p4ss").into(),
        name: Some(key().into()),
        description: Some(key().into()),
        mime_type: None,
        text: Some(key().into()),
        blob: Some(key().into()),
        extra: Some(json!({"k": key()}).into()),
    };
    let mut output = ToolOutput::structured(json!({"a": [{"b": key()}], "n": 1}));
    output.meta = Some(json!({"m": key()}).into());
    output.extra = Some(json!({"e": key()}).into());
    output.content.extend([
        picture.clone(),
        Content::Resource(resource.clone()),
        Content::ResourceLink(resource),
        Content::Opaque { json: json!({"o": key()}).into() },
        Content::Text(TextPart { text: "plain".into(), extra: Some(json!({"e": key()}).into()) }),
    ]);
    let output = through(secrets(), output);

    assert_eq!(output.structured.as_ref().unwrap().as_str(), r#"{"a":[{"b":"[REDACTED]"}],"n":1}"#);
    assert_eq!(output.content[0].as_text(), Some(output.structured.as_ref().unwrap().as_str()));
    assert_eq!(output.content[1], picture);
    let Content::Resource(resource) = &output.content[2] else { panic!("no resource") };
    assert_eq!(resource.uri, "https://u:[REDACTED]@host/");
    assert_eq!(resource.blob.as_deref(), Some(key().as_str()));
    let all = format!("{:?}{:?}{:?}", output.content, output.meta, output.extra)
        .replace(&format!("Base64({:?})", key()), "");
    assert_eq!(all.matches(&key()).count(), 2, "only the two blobs keep it: {all}");
}

#[test]
fn failures_refusals_and_waits_are_masked_as_results_are() {
    let failed = ToolOutput::failure(format!("no access for {}", key()));
    assert_eq!(through(secrets(), failed).joined_text(), "no access for [REDACTED]");

    let call = ToolCall::new("t", "{}");
    let denied = call.denied(Denial::new(format!("{} is blocked", key())).code("blocked"));
    let output = through(secrets(), denied);
    let Outcome::Denied(denial) = &output.outcome else { panic!("{output:?}") };
    assert_eq!((&*denial.code, denial.message.as_str()), ("blocked", "[REDACTED] is blocked"));
    assert_eq!(output.joined_text(), "[REDACTED] is blocked");

    let wait = tower_agent::Suspension::new("approve", "1", format!("send {}?", key()))
        .request(json!({"key": key()}));
    let output = ToolOutput::text("").with_outcome(wait);
    let shown = format!("{:?}", through(secrets(), output));
    assert!(!shown.contains(&key()), "{shown}");
}

/// An error that shows a secret only where somebody prints its fields.
#[derive(Debug)]
struct Refused {
    #[allow(dead_code, reason = "Debug reads it")]
    with: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("connection refused")
    }
}

impl StdError for Refused {}

fn error_through(layer: RedactLayer, error: Error) -> Error {
    let service = layer.layer(service_fn(move |_: ToolCall| {
        std::future::ready(Err::<ToolOutput, _>(error.clone()))
    }));
    block_on(service.oneshot(ToolCall::new("t", "{}"))).unwrap_err()
}

#[test]
fn an_error_shows_no_secret_in_any_form_and_keeps_what_programs_need() {
    let retry_after = Some(Duration::from_secs(3));
    let error = Error::new(ErrorKind::RateLimited { retry_after }, format!("429 for {}", key()))
        .with_model_text(format!("too many calls with {}", key()))
        .with_layer("upstream")
        .with_effect(Effect::NotStarted)
        .with_extension(7_u8)
        .with_source(Refused { with: key() });
    let error = error_through(secrets(), error);

    let mut shown = format!("{error} {error:?} {}", error.model_text());
    let mut source = error.source();
    while let Some(link) = source {
        shown += &format!(" {link} {link:?}");
        source = link.source();
    }
    assert!(!shown.contains(&key()), "{shown}");
    assert_eq!(error.to_string(), "upstream: 429 for [REDACTED]");
    assert_eq!(error.model_text(), "too many calls with [REDACTED]");
    assert_eq!(error.retry_after(), retry_after);
    assert_eq!((error.effect(), error.layer()), (Effect::NotStarted, Some("upstream")));
    assert_eq!(error.extensions().get::<u8>(), Some(&7));
    assert_eq!(error.source().unwrap().to_string(), "connection refused");
    assert!(error.find::<Refused>().is_none(), "whoever has the value can print it");
}

#[test]
fn an_error_without_a_secret_keeps_its_causes_as_they_are() {
    let error = Error::new(ErrorKind::Tool, "refused").with_source(Refused { with: "x".into() });
    let error = error_through(secrets(), error);
    assert!(error.find::<Refused>().is_some());
}

#[test]
fn an_error_whose_text_alone_shows_a_secret_keeps_its_causes() {
    let error = Error::new(ErrorKind::Tool, key()).with_source(Refused { with: "x".into() });
    let error = error_through(secrets(), error);
    assert_eq!(error.to_string(), "[REDACTED]");
    assert!(error.find::<Refused>().is_some());
}

#[test]
fn errors_of_any_service_in_between_are_masked_too() {
    let service = secrets().layer(service_fn(|_: ToolCall| {
        std::future::ready(Err::<ToolOutput, _>(BoxError::from(format!("bad key {}", key()))))
    }));
    let error = block_on(service.oneshot(ToolCall::new("t", "{}"))).unwrap_err();
    assert_eq!(error.to_string(), "bad key [REDACTED]");
    assert!(!format!("{error:?}").contains(&key()));
}

#[test]
fn a_cut_below_the_mask_would_let_half_a_secret_through_and_one_above_it_does_not() {
    let text = format!("{}{}{}", "x ".repeat(25), key(), " y".repeat(100));
    let tool = || {
        let text = text.clone();
        service_fn(move |_: ToolCall| {
            std::future::ready(Ok::<_, Error>(ToolOutput::text(text.as_str())))
        })
    };
    let limit = 110;
    let right =
        ServiceBuilder::new().layer(TruncateLayer::bytes(limit)).layer(secrets()).service(tool());
    let wrong =
        ServiceBuilder::new().layer(secrets()).layer(TruncateLayer::bytes(limit)).service(tool());
    let half = key().chars().take(8).collect::<String>();
    let right = block_on(right.oneshot(ToolCall::new("t", "{}"))).unwrap();
    assert!(!right.joined_text().contains(&half), "{}", right.joined_text());
    assert_eq!(marks(&right.provenance.marks).len(), 2);
    let wrong = block_on(wrong.oneshot(ToolCall::new("t", "{}"))).unwrap();
    assert!(wrong.joined_text().contains(&half), "{}", wrong.joined_text());
}

// Arguments.

fn email() -> RedactLayer {
    let detector = Detector::builder().only(["email"]).build().unwrap();
    RedactLayer::new(detector).mask(Mask::text("[REDACTED]"))
}

#[test]
fn arguments_reach_the_tool_as_they_are_unless_asked_for() {
    let sent = ToolCall::new("t", json!({"to": "mara@example.com", "n": 1}));
    let seen = |layer: RedactLayer| {
        let seen = Arc::new(Mutex::new(None));
        let tool = {
            let seen = Arc::clone(&seen);
            service_fn(move |call: ToolCall| {
                *seen.lock().unwrap() = Some(call);
                std::future::ready(Ok::<_, Error>(ToolOutput::text("")))
            })
        };
        block_on(layer.layer(tool).oneshot(sent.clone())).unwrap();
        seen.lock().unwrap().take().unwrap()
    };
    assert!(seen(email()).is_untouched(&sent));
    let masked = seen(email().model_output(false).arguments(Arguments::Mask));
    assert_eq!(masked.arguments.as_str(), r#"{"n":1,"to":"[REDACTED]"}"#);
}

#[test]
fn a_key_that_was_cut_off_ends_where_the_next_one_begins() {
    let begin = ["-----BEGIN ", "PRIVATE KEY-----\n"].concat();
    let end = ["-----END ", "PRIVATE KEY-----"].concat();
    let body = "QUJDREVGR0hJSktMTU5PUA==\n";
    let output =
        through(secrets(), ToolOutput::text([begin.as_str(), body, &begin, body, &end].concat()));
    assert_eq!(output.joined_text(), "[REDACTED]\n[REDACTED]");
    // However many openings there are, none reads on to the end.
    let openings = [begin.as_str(), body].concat().repeat(40_000);
    assert!(!text_through(secrets(), &openings).contains("QUJD"));
}

// A check that breaks down.

fn broken() -> RedactLayer {
    let rule = r#"
        [[rule]]
        id = "broken"
        description = "What no mask is made for"
        keywords = ["xxx"]
        pattern = 'x{3,9}'
    "#;
    let detector = Detector::builder().none().rules_toml(rule).build().unwrap();
    RedactLayer::new(detector).mask(Mask::with(|_| panic!("the mask is broken")))
}

#[test]
fn a_result_that_cannot_be_checked_is_withheld() {
    let output = through(broken(), ToolOutput::text("raw xxx text"));
    assert!(!format!("{output:?}").contains("xxx"), "{output:?}");
    assert!(output.joined_text().contains("withheld"), "{}", output.joined_text());
    let Outcome::Failed(failure) = &output.outcome else { panic!("{output:?}") };
    assert_eq!((failure.kind, failure.effect), (ErrorKind::Hook, Effect::Completed));
    assert_eq!(failure.layer.as_deref(), Some("redact"));
}

#[test]
fn an_error_that_cannot_be_checked_keeps_its_kind_and_loses_its_texts() {
    let error =
        Error::new(ErrorKind::Timeout, "raw xxx").with_source(Refused { with: "xxx".into() });
    let error = error_through(broken(), error);
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert!(!format!("{error}{error:?}{}", error.model_text()).contains("xxx"));
}

#[test]
fn a_call_whose_arguments_cannot_be_checked_does_not_run() {
    let (service, mut tool) = mock::pair::<ToolCall, ToolOutput>();
    tool.allow(1);
    let service = broken().arguments(Arguments::Mask).layer(service);
    let output = block_on(service.oneshot(ToolCall::new("t", json!({"a": "xxx"})))).unwrap();
    let Outcome::Denied(denial) = &output.outcome else { panic!("{output:?}") };
    assert_eq!((&*denial.layer, &*denial.code), ("redact", "unchecked"));
    assert_eq!(block_on(tool.next_request()).map(|(call, _)| call.name), None);
}

#[test]
fn a_reply_that_cannot_be_checked_is_withheld_whole_and_streamed() {
    let layer = broken();
    let whole = Message::assistant("raw xxx text");
    let reply = block_on(reply_through(layer.clone(), whole));
    assert!(!format!("{reply:?}").contains("xxx"), "{reply:?}");
    let events = streamed(layer, texts(&["raw ", "x", "xx", " text", " raw"]));
    assert_eq!(joined(&events), "raw [REDACTED]");
}

// Models.

fn request() -> ModelRequest {
    ModelRequest::new("demo", vec![Message::user("hello")])
}

async fn reply_through(layer: RedactLayer, message: Message) -> Reply {
    let service = layer.layer(service_fn(move |_: ModelRequest| {
        std::future::ready(Ok::<_, Error>(ModelResponse::full(Reply::new(message.clone()))))
    }));
    service.oneshot(request()).await.unwrap().body.collect().await.unwrap()
}

fn ticket() -> Message {
    let arguments = json!({"contact": {"emails": ["mara@example.com"]}, "priority": 2});
    let call = ToolCallPart::new("call_1", "create_ticket", Json::from(arguments));
    Message::new(
        Role::Assistant,
        vec![Part::text("Mailing mara@example.com."), Part::ToolCall(call)],
    )
}

#[tokio::test]
async fn replies_pass_untouched_where_nobody_wants_them_masked() {
    let reply = reply_through(email().model_output(false), ticket()).await;
    assert_eq!(reply.message, ticket());
}

#[tokio::test]
async fn text_and_arguments_of_a_reply_are_chosen_each_by_itself() {
    let text = reply_through(email(), ticket()).await;
    assert_eq!(text.message.text(), "Mailing [REDACTED].");
    assert_eq!(text.message.parts()[1], ticket().parts()[1]);

    let arguments =
        reply_through(email().model_output(false).arguments(Arguments::Mask), ticket()).await;
    assert_eq!(arguments.message.text(), "Mailing mara@example.com.");
    let call = arguments.message.tool_calls().next().unwrap();
    assert_eq!(call.arguments.as_str(), r#"{"contact":{"emails":["[REDACTED]"]},"priority":2}"#);
    assert_eq!((call.id.as_str(), call.name.as_str()), ("call_1", "create_ticket"));
}

#[tokio::test]
async fn what_goes_to_a_model_is_masked_and_nothing_else_is_copied() {
    let secret = key();
    let result =
        ToolResultPart::new("c".into(), "t".into(), &ToolOutput::structured(json!({"k": secret})));
    let signed = Part::Reasoning(TextPart {
        text: secret.as_str().into(),
        extra: Some(json!({"signature": "abc"}).into()),
    });
    let mut sent = ModelRequest::new(
        "demo",
        vec![
            Message::user("clean"),
            Message::user(format!("my key is {secret}")),
            Message::new(
                Role::Assistant,
                vec![
                    signed.clone(),
                    Part::ToolCall(ToolCallPart::new("c", "t", json!({"k": secret}))),
                ],
            ),
            Message::tool_result(result),
        ],
    );
    sent.instructions = Some(format!("use {secret}").into());

    let seen = seen_by_model(secrets().model_input(false), sent.clone()).await;
    assert!(seen.messages.ptr_eq(&sent.messages));

    let seen = seen_by_model(secrets(), sent.clone()).await;
    assert_eq!(seen.instructions.as_deref(), Some("use [REDACTED]"));
    assert!(seen.messages[0].ptr_eq(&sent.messages[0]));
    assert_eq!(seen.messages[1].text(), "my key is [REDACTED]");
    assert_eq!(seen.messages[2].parts()[0], signed, "its signature would not fit any more");
    let shown = format!("{:?}", &seen.messages[2..]);
    assert_eq!(shown.matches(&secret).count(), 1, "{shown}");
    assert!(sent.messages[1].text().contains(&secret), "the caller's own messages stay");
}

async fn seen_by_model(layer: RedactLayer, request: ModelRequest) -> ModelRequest {
    let service = layer.layer(service_fn(|request: ModelRequest| async move {
        let mut response = ModelResponse::full(Reply::new(Message::assistant("")));
        response.head.extensions.insert(request);
        Ok::<_, Error>(response)
    }));
    let response = service.oneshot(request).await.unwrap();
    ModelRequest::clone(response.head.extensions.get().unwrap())
}

#[tokio::test]
async fn a_refusal_or_failure_of_a_model_call_is_masked_like_one_of_a_tool() {
    let service = secrets().layer(service_fn(|request: ModelRequest| async move {
        Ok::<_, Error>(request.denied(Denial::new(format!("no {}", key()))))
    }));
    let response = service.oneshot(request()).await.unwrap();
    assert!(!format!("{response:?}").contains(&key()), "{response:?}");
    assert_eq!(response.body.collect().await.unwrap().message.text(), "no [REDACTED]");
}

// Streams.

/// An event, or the text of an error.
type Event = Result<ModelEvent, String>;

fn texts(pieces: &[&str]) -> Vec<Event> {
    let delta = |piece: &&str| {
        Ok(ModelEvent::PartDelta { index: 0, delta: PartDelta::Text((*piece).into()) })
    };
    pieces
        .iter()
        .map(delta)
        .chain([Ok(ModelEvent::Finish { reason: FinishReason::Stop })])
        .collect()
}

fn streamed(layer: RedactLayer, events: Vec<Event>) -> Vec<Event> {
    let error = |text| Error::new(ErrorKind::Upstream { status: None }, text);
    let events: Vec<_> = events.into_iter().map(|event| event.map_err(error)).collect();
    let service = layer.layer(service_fn(move |_: ModelRequest| {
        std::future::ready(Ok::<_, Error>(ModelResponse::stream(stream::iter(events.clone()))))
    }));
    let shown = |event: Result<ModelEvent, Error>| event.map_err(|error| error.to_string());
    block_on(async {
        let body = service.oneshot(request()).await.unwrap().body;
        body.into_stream().map(shown).collect().await
    })
}

fn joined(events: &[Event]) -> String {
    let text = |event: &Event| match event {
        Ok(ModelEvent::PartDelta { delta, .. }) => delta.text().to_string(),
        _ => String::new(),
    };
    events.iter().map(text).collect()
}

#[test]
fn a_secret_that_spans_pieces_is_masked_and_the_text_around_it_arrives() {
    let events = streamed(secrets(), texts(&["the key is AKI", "AQ3EGRXZ7", "PL2MVTK5 ok"]));
    assert_eq!(joined(&events), "the key is [REDACTED] ok");
    assert_eq!(events.last(), texts(&[]).last());
}

#[test]
fn held_text_that_turns_out_harmless_comes_before_the_end() {
    let events = streamed(secrets(), texts(&["total: 412, prefix AK", "IA"]));
    assert_eq!(joined(&events), "total: 412, prefix AKIA");
    assert!(matches!(events.last(), Some(Ok(ModelEvent::Finish { .. }))));
    assert!(matches!(events[events.len() - 2], Ok(ModelEvent::PartDelta { .. })));
}

#[test]
fn harmless_text_flows_while_the_stream_runs() {
    let words: Vec<_> = (0..40).map(|word| format!("word{word:02} ")).collect();
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    let sent = texts(&words);
    assert_eq!(streamed(secrets(), sent.clone()), sent);
}

#[test]
fn each_part_is_held_by_itself_and_let_go_at_its_end() {
    let (head, tail) = ("AKIAQ3EGRX", "Z7PL2MVTK5");
    let delta = |index, delta| Ok(ModelEvent::PartDelta { index, delta });
    let end = |index| Ok(ModelEvent::PartEnd { index, extra: None });
    let events = streamed(
        secrets(),
        vec![
            Ok(ModelEvent::PartStart { index: 0, part: PartStart::Reasoning }),
            delta(0, PartDelta::Reasoning(head.into())),
            delta(1, PartDelta::Text("sk".into())),
            delta(0, PartDelta::Reasoning(tail.into())),
            end(0),
            end(1),
            Ok(ModelEvent::Finish { reason: FinishReason::Stop }),
        ],
    );
    assert_eq!(
        events,
        vec![
            Ok(ModelEvent::PartStart { index: 0, part: PartStart::Reasoning }),
            delta(0, PartDelta::Reasoning("[REDACTED]".into())),
            end(0),
            delta(1, PartDelta::Text("sk".into())),
            end(1),
            Ok(ModelEvent::Finish { reason: FinishReason::Stop }),
        ]
    );
}

#[test]
fn streamed_arguments_come_in_one_masked_piece_and_names_come_at_once() {
    let delta = |delta| Ok(ModelEvent::PartDelta { index: 0, delta });
    let finish = Ok(ModelEvent::Finish { reason: FinishReason::ToolCalls });
    let named = PartDelta::ToolCall {
        id: Some("c1".into()),
        name: Some("mail".into()),
        arguments: r#"{"to":"mara@exa"#.into(),
    };
    let sent =
        vec![delta(named), delta(PartDelta::arguments(r#"mple.com","n":1}"#)), finish.clone()];
    let layer = email();
    assert_eq!(streamed(layer.clone(), sent.clone()), sent);
    let named = PartDelta::ToolCall {
        id: Some("c1".into()),
        name: Some("mail".into()),
        arguments: Str::default(),
    };
    let whole = PartDelta::arguments(r#"{"to":"[REDACTED]","n":1}"#);
    assert_eq!(
        streamed(layer.arguments(Arguments::Mask), sent),
        [delta(named), delta(whole), finish]
    );
}

#[test]
fn when_a_stream_breaks_off_what_was_held_is_replaced_and_the_error_is_masked() {
    let mut sent = texts(&["the key is AKIAQ3"]);
    sent.pop();
    let mut failed = sent.clone();
    failed.push(Err(format!("reset {}", key())));
    let events = streamed(secrets(), failed.clone());
    assert_eq!(joined(&events), "the key is [REDACTED]");
    assert_eq!(events.last(), Some(&Err("reset [REDACTED]".to_owned())));
    assert_eq!(joined(&streamed(secrets(), sent)), "the key is [REDACTED]");

    let events = streamed(secrets().model_output(false), failed);
    assert_eq!(joined(&events), "the key is AKIAQ3", "nobody wants texts masked");
    assert_eq!(events.last(), Some(&Err("reset [REDACTED]".to_owned())));
}

#[test]
fn raw_events_of_a_dialect_are_no_way_around_the_mask() {
    let json = || Json::from(json!({"delta": key()}));
    let events = streamed(
        secrets(),
        vec![
            Ok(ModelEvent::Other { json: json() }),
            Ok(ModelEvent::MessageExtra { extra: json() }),
            Ok(ModelEvent::PartStart {
                index: 0,
                part: PartStart::Whole(Part::Opaque { json: json() }),
            }),
            Ok(ModelEvent::PartEnd { index: 0, extra: Some(json()) }),
            Ok(ModelEvent::Finish { reason: FinishReason::Stop }),
        ],
    );
    let shown = format!("{events:?}");
    assert!(!shown.contains(&key()), "{shown}");
    assert_eq!(shown.matches("[REDACTED]").count(), 4, "{shown}");
}

#[test]
fn a_copy_of_the_reasoning_beside_the_message_is_masked_also_where_it_lies_in_pieces() {
    let (head, tail) = ("the key is AKIAQ3EGRX", "Z7PL2MVTK5, keep it");
    let extra = || {
        Json::from(json!({"reasoning_details": [
            {"type": "reasoning.text", "text": head}, {"type": "reasoning.text", "text": tail}, {"id": 1},
        ]}))
    };
    let masked = json!({"reasoning_details": [
        {"type": "reasoning.text", "text": "the key is [REDACTED], keep it"},
        {"type": "reasoning.text", "text": ""},
        {"id": 1},
    ]});
    let whole = Message::assistant("ok").with_extra(Some(extra()));
    let reply = block_on(reply_through(secrets(), whole));
    assert_eq!(reply.message.extra().unwrap().value().unwrap(), &masked);

    let events = streamed(secrets(), vec![Ok(ModelEvent::MessageExtra { extra: extra() })]);
    let [Ok(ModelEvent::MessageExtra { extra })] = events.as_slice() else { panic!("{events:?}") };
    assert_eq!(extra.value().unwrap(), &masked);
}

// Runs.

#[tokio::test]
async fn a_run_is_masked_on_its_way_in_and_out() {
    let record = ToolRecord {
        turn: 1,
        id: "c".into(),
        name: "t".into(),
        arguments: json!({"k": key()}).into(),
        output: ToolOutput::text(key()),
        took: Duration::ZERO,
    };
    let service = secrets().arguments(Arguments::Mask).layer(service_fn(move |run: RunRequest| {
        assert_eq!(run.input[0].text(), "use [REDACTED]");
        let (head, tail) = ("AKIAQ3EGRX", "Z7PL2MVTK5");
        let piece =
            |text: &str| ModelEvent::PartDelta { index: 0, delta: PartDelta::Text(text.into()) };
        let model = |event| RunEvent::Model { turn: 1, event };
        let events = vec![
            RunEvent::Message { turn: 0, message: Message::user(format!("use {}", key())) },
            model(piece(head)),
            model(piece(tail)),
            model(ModelEvent::Finish { reason: FinishReason::ToolCalls }),
            RunEvent::Message { turn: 1, message: Message::assistant(format!("{head}{tail}")) },
            RunEvent::ToolStarted {
                turn: 1,
                id: "c".into(),
                name: "t".into(),
                arguments: json!({"k": key()}).into(),
            },
            RunEvent::ToolFinished(Box::new(record.clone())),
            RunEvent::Finished { finish: RunFinish::Answered, turns: 1, usage: Usage::default() },
        ];
        std::future::ready(Ok::<_, Error>(RunResponse::new(stream::iter(
            events.into_iter().map(Ok),
        ))))
    }));
    let response = service.oneshot(RunRequest::user(format!("use {}", key()))).await.unwrap();
    let events: Vec<_> = response.body.collect_events().await;
    let shown = format!("{events:?}");
    assert!(!shown.contains("AKIAQ3EGRX"), "{shown}");
    assert_eq!(shown.matches("[REDACTED]").count(), 6, "{shown}");
}

trait CollectEvents {
    async fn collect_events(self) -> Vec<RunEvent>;
}

impl CollectEvents for tower_agent::RunBody {
    async fn collect_events(self) -> Vec<RunEvent> {
        self.into_stream().map(Result::unwrap).collect().await
    }
}

// Readiness.

#[test]
fn the_service_is_ready_when_the_inner_one_is_and_masks_its_errors() {
    let (mut service, mut tool) = mock::spawn_layer::<ToolCall, ToolOutput, _>(secrets());
    tool.allow(0);
    assert_pending!(service.poll_ready());
    tool.allow(1);
    assert_ready_ok!(service.poll_ready());
    let mut answer = tokio_test::task::spawn(service.call(ToolCall::new("t", "{}")));
    assert_pending!(answer.poll());
    let (_, respond) = assert_ready!(tokio_test::task::spawn(tool.next_request()).poll()).unwrap();
    respond.send_response(ToolOutput::text(key()));
    assert_eq!(assert_ready!(answer.poll()).unwrap().joined_text(), "[REDACTED]");
    tool.send_error(format!("closed by {}", key()));
    assert_eq!(
        assert_ready!(service.poll_ready()).unwrap_err().to_string(),
        "closed by [REDACTED]"
    );
}

// Properties.

fn strings() -> impl Strategy<Value = String> {
    let secret = prop_oneof![
        Just(key()),
        Just("password=hunter2".to_owned()),
        Just(r#"{"password":"a \"b"}"#.to_owned()),
        Just(r"secret='x\ny'".to_owned()),
        Just("[REDACTED]".to_owned()),
        Just("\u{1f980}\u{200b}\"\\\n".to_owned()),
        "[a-z \"\\\\:=,é]{0,12}",
    ];
    prop::collection::vec(secret, 0..4).prop_map(|parts| parts.join(" and "))
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(Value::from),
        strings().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        let keys = prop_oneof![
            Just("password".to_owned()),
            Just("note".to_owned()),
            "[a-z \"\\\\:=,é]{0,12}",
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(keys, inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// The same with every string and number emptied, so that only the shape is left: a number that is masked is a string.
fn shape(value: &Value) -> Value {
    match value {
        Value::String(_) | Value::Number(_) => Value::from(""),
        Value::Array(items) => items.iter().map(shape).collect(),
        Value::Object(map) => {
            Value::Object(map.iter().map(|(key, value)| (key.clone(), shape(value))).collect())
        }
        value => value.clone(),
    }
}

proptest! {
    #[test]
    fn json_keeps_its_shape_and_no_string_of_it_keeps_a_secret(value in values(), pretty: bool) {
        let text = if pretty { serde_json::to_string_pretty(&value).unwrap() } else { value.to_string() };
        let mut output = ToolOutput::text(text.as_str());
        output.structured = Some(Json::from_text(text));
        let output = through(secrets(), output);
        let masked: Value = serde_json::from_str(&output.joined_text()).unwrap();
        prop_assert_eq!(shape(&masked), shape(&value));
        prop_assert_eq!(output.structured.as_ref().unwrap().as_str(), output.joined_text());
        let leaves = leaves(&masked);
        prop_assert!(!leaves.contains(&key()) && !leaves.contains("hunter2"), "{}", leaves);
        let twice = through(secrets(), ToolOutput::text(output.joined_text()));
        prop_assert_eq!(twice.joined_text(), output.joined_text());
    }

    #[test]
    fn a_streamed_reply_is_the_whole_one_in_pieces(text in strings(), sizes in prop::collection::vec(1_usize..9, 1..8)) {
        let characters: Vec<_> = text.chars().collect();
        let mut rest = characters.as_slice();
        let mut pieces = Vec::new();
        for size in sizes.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, more) = rest.split_at((*size).min(rest.len()));
            pieces.push(piece.iter().collect::<String>());
            rest = more;
        }
        let pieces: Vec<_> = pieces.iter().map(String::as_str).collect();
        let whole = block_on(reply_through(secrets(), Message::assistant(text.as_str())));
        prop_assert_eq!(joined(&streamed(secrets(), texts(&pieces))), whole.message.text());
    }
}

fn leaves(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text}\n"),
        Value::Array(items) => items.iter().map(leaves).collect(),
        Value::Object(map) => map.values().map(leaves).collect(),
        _ => String::new(),
    }
}
