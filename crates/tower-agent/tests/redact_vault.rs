//! What becomes of confidential values in arguments: blocked, or hidden from the model in the vault of the run.
#![cfg(test)]
#![cfg(all(feature = "redact", feature = "agent"))]

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tower::{Layer, Service, ServiceBuilder, ServiceExt, service_fn};
use tower_agent::{
    Agent, Content, Context, Error, Message, ModelRequest, ModelResponse, Outcome, Part,
    RedactLayer, Reply, Role, Run, RunRequest, Tool, ToolCall, ToolCallPart, ToolOutput, ToolSet,
    ToolSpec,
    redact::{Arguments, Findings, Vault},
};

/// A token, in parts so that this file holds none.
fn token() -> String {
    ["gh", "p_16C7e42F292c6912E7710c838347Ae178B4a"].concat()
}

fn vault() -> RedactLayer {
    RedactLayer::default().arguments(Arguments::Vault).trusted(["http_request"])
}

/// What a service was given, for a look afterwards.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<String>>>);

impl Seen {
    fn note(&self, text: impl Into<String>) {
        self.0.lock().unwrap().push(text.into());
    }

    fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

type Answer = fn(&str) -> String;

fn tool(
    name: &'static str,
    seen: &Seen,
    answer: Answer,
) -> Tool<
    impl Service<ToolCall, Response = ToolOutput, Error = Error, Future: Send>
    + Clone
    + Send
    + Sync
    + use<>,
> {
    let seen = seen.clone();
    Tool::new(
        ToolSpec::new(name, name),
        service_fn(move |call: ToolCall| {
            seen.note(call.arguments.as_str());
            std::future::ready(Ok::<_, Error>(ToolOutput::text(answer(call.arguments.as_str()))))
        }),
    )
}

/// The placeholder that a text shows.
fn placeholder(text: &str) -> String {
    let rest = text.split_once("[REDACTED:").map(|(_, rest)| rest);
    let inner = rest.and_then(|rest| rest.split(']').next());
    format!("[REDACTED:{}]", inner.unwrap_or_else(|| panic!("no placeholder in {text}")))
}

fn call(name: &str, arguments: Value) -> Message {
    let call = ToolCallPart::new(format!("call_{name}"), name, arguments);
    Message::new(Role::Assistant, vec![Part::ToolCall(call)])
}

#[tokio::test]
async fn a_model_passes_a_token_on_that_it_never_saw_and_only_a_trusted_tool_gets_it() {
    let (model_saw, http_saw, notes_saw) = (Seen::default(), Seen::default(), Seen::default());
    let script = {
        let seen = model_saw.clone();
        service_fn(move |request: ModelRequest| {
            let shown = format!("{:?}", request.messages);
            seen.note(shown.clone());
            let message =
                match request.messages.iter().filter(|it| *it.role() == Role::Assistant).count() {
                    0 => call("read_config", json!({})),
                    1 => call(
                        "http_request",
                        json!({"auth": format!("Bearer {}", placeholder(&shown))}),
                    ),
                    2 => call("notes", json!({"note": placeholder(&shown)})),
                    _ => Message::assistant("done"),
                };
            std::future::ready(Ok::<_, Error>(ModelResponse::full(Reply::new(message))))
        })
    };
    let layer = vault();
    let tools = ToolSet::builder()
        .tool(tool("read_config", &Seen::default(), |_| format!("github: {}", token())))
        .tool(tool("http_request", &http_saw, |arguments| format!("echo of {arguments}")))
        .tool(tool("notes", &notes_saw, |_| "noted".to_owned()))
        .layer(layer.clone())
        .build()
        .unwrap();
    let model = ServiceBuilder::new().layer(layer.clone()).service(script);
    let agent = layer.layer(Agent::builder("reader", model).tools(tools).build());

    let run = agent.oneshot(RunRequest::user("call the service")).await.unwrap();
    let transcript = run.collect().await.unwrap();

    assert_eq!(transcript.text(), "done");
    assert_eq!(http_saw.all(), [json!({"auth": format!("Bearer {}", token())}).to_string()]);
    let [note] = &*notes_saw.all() else { panic!("{:?}", notes_saw.all()) };
    assert!(note.contains("[REDACTED:github-pat:vault-"), "{note}");
    let told = format!("{:?} {transcript:?}", model_saw.all());
    assert!(!told.contains(&token()), "{told}");
    assert!(told.contains("echo of "), "the result of the trusted tool came back: {told}");
}

fn in_a_run() -> Context {
    Run::builder("run-1").build()
}

async fn called(layer: &RedactLayer, call: ToolCall, answer: &str) -> (ToolOutput, Vec<String>) {
    let seen = Seen::default();
    let (inner, answer) = (seen.clone(), answer.to_owned());
    let tool = layer.layer(service_fn(move |call: ToolCall| {
        inner.note(call.arguments.as_str());
        std::future::ready(Ok::<_, Error>(ToolOutput::text(answer.as_str())))
    }));
    let output = tool.oneshot(call).await.unwrap();
    (output, seen.all())
}

#[tokio::test]
async fn a_placeholder_that_the_model_made_up_is_refused() {
    let made_up = "[REDACTED:github-pat:vault-0123456789abcdef]";
    for context in [in_a_run(), Context::default()] {
        let call = ToolCall::in_context(context, "http_request", json!({"auth": made_up}));
        let (output, seen) = called(&vault(), call, "").await;
        let Outcome::Denied(denial) = &output.outcome else { panic!("{output:?}") };
        assert_eq!((&*denial.layer, &*denial.code), ("redact", "unknown_placeholder"));
        assert_eq!(
            output.joined_text(),
            format!(
                "The tool `http_request` was not run: `{made_up}` stands for no value that was hidden in this run. Use a placeholder exactly as it was shown, or do without it."
            )
        );
        assert!(seen.is_empty());
    }
}

#[tokio::test]
async fn placeholders_of_one_run_are_worth_nothing_in_another() {
    let layer = vault();
    let read = ToolCall::in_context(in_a_run(), "read", json!({}));
    let shown = called(&layer, read, &token()).await.0.joined_text();
    let send = ToolCall::in_context(in_a_run(), "http_request", json!({"auth": shown}));
    assert!(called(&layer, send, "").await.0.outcome.is_denied());
}

#[tokio::test]
async fn a_run_that_another_one_started_shares_its_vault() {
    let (layer, outer) = (vault(), in_a_run());
    let inner = outer.nested("run-2", "call_1".into());
    let read = ToolCall::in_context(inner, "read", json!({}));
    let shown = called(&layer, read, &token()).await.0.joined_text();
    let send = ToolCall::in_context(outer, "http_request", json!({"auth": shown}));
    assert_eq!(called(&layer, send, "").await.1, [json!({"auth": token()}).to_string()]);
}

#[tokio::test]
async fn what_a_trusted_tool_repeats_is_masked_again_in_any_context() {
    let (layer, context) = (vault(), in_a_run());
    let read = ToolCall::in_context(context.clone(), "read", json!({}));
    let shown = called(&layer, read, "password=swordfish7").await.0.joined_text();
    let send = |arguments| ToolCall::in_context(context.clone(), "http_request", arguments);

    for answer in ["the word is swordfish7", r#"{"n":1,"said":"a swordfish7 \u0062"}"#] {
        let (output, seen) = called(&layer, send(json!({"w": shown})), answer).await;
        assert_eq!(seen, [json!({"w": "password=swordfish7"}).to_string()]);
        let masked = output.joined_text();
        assert!(!masked.contains("swordfish7") && masked.contains(":vault-"), "{masked}");
        assert_eq!(output.extensions.get::<Findings>().unwrap().count("generic-password"), 1);
    }

    let failing = layer.layer(service_fn(|_: ToolCall| async {
        Err::<ToolOutput, _>(Error::new(tower_agent::ErrorKind::Tool, "swordfish7 is wrong"))
    }));
    let error = failing.oneshot(send(json!({"w": shown}))).await.unwrap_err();
    assert!(!format!("{error:?}").contains("swordfish7"), "{error:?}");
}

#[tokio::test]
async fn a_call_of_no_run_gets_labels() {
    let read = ToolCall::new("read", json!({}));
    let (output, _) = called(&vault(), read, &token()).await;
    assert_eq!(output.joined_text(), "[REDACTED:github-pat]");
}

#[tokio::test]
async fn the_vault_is_a_value_in_the_state_of_the_run_and_a_host_may_choose_its_size() {
    let (layer, context) = (vault(), in_a_run());
    context.state().insert(Vault::new(1));
    let other = ["gh", "o_16C7e42F292c6912E7710c838347Ae178B4a"].concat();
    let read = ToolCall::in_context(context.clone(), "read", json!({}));
    let (output, _) = called(&layer, read, &format!("{} {other}", token())).await;
    let shown = output.joined_text();
    assert!(shown.ends_with(" [REDACTED:github-oauth]"), "one value is all it takes: {shown}");
    let vault = context.state().typed::<Vault>().unwrap();
    assert_eq!(vault.open(&placeholder(&shown)).unwrap(), token());
    assert!(!format!("{:?}", context).contains(&token()));
}

#[tokio::test]
async fn a_call_with_a_secret_is_refused_where_it_would_run_and_stays_as_it_is_in_the_reply() {
    let layer = RedactLayer::default().arguments(Arguments::Block);
    let arguments = json!({"body": token(), "password": "swordfish7"});
    let (output, seen) = called(&layer, ToolCall::new("post", arguments.clone()), "").await;
    let Outcome::Denied(denial) = &output.outcome else { panic!("{output:?}") };
    assert_eq!((&*denial.layer, &*denial.code), ("redact", "confidential_arguments"));
    assert_eq!(
        output.joined_text(),
        "The tool `post` was not run: its arguments hold confidential values (`generic-password`, `github-pat`). Call it without them."
    );
    assert!(seen.is_empty() && !format!("{output:?}").contains(&token()));

    let harmless = ToolCall::new("post", json!({"body": "hello"}));
    let (output, seen) = called(&layer, harmless, "sent").await;
    assert_eq!((output.joined_text().as_str(), seen.len()), ("sent", 1));

    let message = call("post", arguments);
    let sent = message.clone();
    let model = layer.layer(service_fn(move |_: ModelRequest| {
        std::future::ready(Ok::<_, Error>(ModelResponse::full(Reply::new(sent.clone()))))
    }));
    let request = ModelRequest::new("demo", vec![Message::user("hello")]);
    let reply = model.oneshot(request).await.unwrap().body.collect().await.unwrap();
    assert_eq!(reply.message, message);
}

#[tokio::test]
async fn what_is_not_opened_keeps_its_handle() {
    let sent =
        ToolCall::in_context(in_a_run(), "http_request", json!({"url": "https://example.com"}));
    let kept = sent.clone();
    let tool = vault().layer(service_fn(move |call: ToolCall| {
        assert!(call.is_untouched(&kept));
        std::future::ready(Ok::<_, Error>(ToolOutput::text("ok")))
    }));
    let output = tool.oneshot(sent).await.unwrap();
    assert!(matches!(output.content.as_slice(), [Content::Text(_)]));
}
