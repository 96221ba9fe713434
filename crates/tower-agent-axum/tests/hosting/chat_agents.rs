//! OpenAI's API in front of an agent.

use axum::Router;
use futures_util::StreamExt;
use serde_json::json;
use tower::{ServiceExt, service_fn};
use tower_agent::{Agent, Tool, ToolSet, ToolSpec};
use tower_agent_axum::chat_router;
use tower_agent_core::{
    Denial, Error, ErrorKind, Message, ModelEvent, ModelRequest, ModelResponse, Operation,
    OutputFormat, Part, PartDelta, Reply, Role, RunEvent, RunFinish, RunRequest, RunResponse,
    ToolCallPart, Usage,
};

use crate::support::{Asked, Seen, ask, chat, finish_of, finished, post, says, text_of};

/// Thinks, says what it does, calls a tool, and answers with what the tool said.
fn clerk(request: &ModelRequest) -> Result<ModelResponse, Error> {
    let last = request.messages.last().unwrap();
    let parts = match last.parts() {
        [Part::ToolResult(result)] => vec![Part::text(format!("It is {}.", result.text()))],
        _ => vec![
            Part::Reasoning(tower_agent_core::TextPart { text: "hmm, secret".into(), extra: None }),
            Part::text("Let me look."),
            Part::ToolCall(ToolCallPart::new("c1", "now", "{}")),
        ],
    };
    let reply = Reply::new(Message::new(Role::Assistant, parts)).with_usage(Usage::new(10, 5));
    Ok(ModelResponse::full(reply))
}

fn agent_app(asked: &Asked) -> Router {
    let now = Tool::raw(ToolSpec::new("now", "Tells the time"), |_| async { "noon" });
    let tools = ToolSet::builder().tool(now).build().unwrap();
    let agent = Agent::builder("clerk", asked.model(clerk)).tools(tools).build();
    chat_router().agent("helper", agent).into()
}

#[tokio::test]
async fn tools_run_here_and_the_client_reads_what_was_said() {
    let asked = Asked::default();
    let body = ask(&agent_app(&asked), chat("helper", json!({}))).await.json();
    assert_eq!(asked.count(), 2);
    let choice = &body["choices"][0];
    assert_eq!(choice["message"]["content"], "Let me look.\n\nIt is noon.");
    assert_eq!(choice["finish_reason"], "stop");
    assert_eq!(body["usage"]["total_tokens"], 30, "of both turns");
    assert_eq!((&body["model"], &body["object"]), (&json!("helper"), &json!("chat.completion")));
    for hidden in ["tool_calls", "secret", "now\""] {
        assert!(!body.to_string().contains(hidden), "{hidden} in {body}");
    }
}

#[tokio::test]
async fn a_streamed_answer_says_the_same_as_a_whole_one() {
    let options = json!({"stream": true, "stream_options": {"include_usage": true}});
    let asked = Asked::default();
    let answer = ask(&agent_app(&asked), chat("helper", options)).await;
    assert!(asked.last().stream, "the agent asks its model for a stream");
    let chunks = answer.chunks();
    assert_eq!(text_of(&chunks), "Let me look.\n\nIt is noon.");
    assert_eq!(finish_of(&chunks), "stop");
    assert_eq!(chunks.last().unwrap()["usage"]["total_tokens"], 30);
    assert!(!answer.body.contains("tool_calls") && !answer.body.contains("secret"));
}

#[tokio::test]
async fn the_last_message_is_the_input_and_the_rest_the_conversation() {
    let seen = Seen::default();
    let app: Router = chat_router().agent("helper", seen.agent(says("ho"))).into();
    let body = json!({
        "model": "helper",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "One?"},
            {"role": "assistant", "content": "One."},
            {"role": "user", "content": "Two?"},
        ],
        "temperature": 2, "max_tokens": 100_000, "response_format": {"type": "json_object"},
    });
    assert_eq!(ask(&app, post("/v1/chat/completions", body.to_string())).await.status, 200);
    let run = seen.last();
    assert_eq!(run.conversation.len(), 3);
    assert_eq!(*run.input, [Message::user("Two?")]);
    assert_eq!(run.output, Some(OutputFormat::JsonObject));
    assert!(!run.stream);
    let hosts = (run.model, run.instructions, run.sampling.is_none());
    assert_eq!(hosts, (None, None, true), "these are the host's to choose");
}

#[tokio::test]
async fn what_an_agent_cannot_do_is_refused_and_not_ignored() {
    let seen = Seen::default();
    let app: Router = chat_router().agent("helper", seen.agent(says("ho"))).into();
    let tools = json!([{"type": "function", "function": {"name": "find"}}]);
    for (field, value) in [("tools", tools), ("n", json!(2))] {
        let answer = ask(&app, chat("helper", json!({field: value}))).await;
        assert_eq!(answer.status, 400, "{field}");
        let error = answer.error();
        assert_eq!((&error["code"], &error["param"]), (&json!("not_supported"), &json!(field)));
    }
    assert_eq!(seen.count(), 0);
    for harmless in [json!({"tools": []}), json!({"n": 1}), json!({"n": null})] {
        assert_eq!(ask(&app, chat("helper", harmless.clone())).await.status, 200, "{harmless}");
    }
}

#[tokio::test]
async fn the_role_comes_at_once_however_long_the_agent_takes() {
    let stuck = service_fn(|_: RunRequest| async {
        Ok::<_, Error>(RunResponse::new(futures_util::stream::pending()))
    });
    let app: Router = chat_router().agent("helper", stuck).into();
    let response = app.oneshot(chat("helper", json!({"stream": true}))).await.unwrap();
    let mut body = response.into_body().into_data_stream();
    let first = body.next().await.unwrap().unwrap();
    assert!(std::str::from_utf8(&first).unwrap().contains(r#""role":"assistant""#));
}

fn runs(events: Vec<RunEvent>) -> Router {
    chat_router().agent("helper", Seen::default().agent(events)).into()
}

fn delta(turn: u32, text: &str) -> RunEvent {
    let delta = PartDelta::Text(text.into());
    RunEvent::Model { turn, event: ModelEvent::PartDelta { index: 3, delta } }
}

fn message(turn: u32, text: &str) -> RunEvent {
    RunEvent::Message { turn, message: Message::assistant(text) }
}

#[tokio::test]
async fn what_was_streamed_is_not_repeated_by_its_message() {
    let events = vec![
        RunEvent::Message { turn: 0, message: Message::user("Hello") },
        delta(1, "On"),
        delta(1, "e."),
        message(1, "One."),
        message(2, ""),
        message(3, "Two."),
        delta(4, "Three."),
        message(4, "Three."),
        finished(),
    ];
    for stream in [true, false] {
        let answer = ask(&runs(events.clone()), chat("helper", json!({"stream": stream}))).await;
        let text = if stream {
            text_of(&answer.chunks())
        } else {
            answer.json()["choices"][0]["message"]["content"].as_str().unwrap().to_owned()
        };
        assert_eq!(text, "One.\n\nTwo.\n\nThree.");
    }
}

#[tokio::test]
async fn input_that_the_run_tells_again_is_not_part_of_the_answer() {
    let body = json!({"model": "helper", "messages": [
        {"role": "user", "content": "Go on."}, {"role": "assistant", "content": "Once upon"},
    ]});
    let events = vec![message(0, "Once upon"), message(1, " a time."), finished()];
    let answer = ask(&runs(events), post("/v1/chat/completions", body.to_string())).await;
    assert_eq!(answer.json()["choices"][0]["message"]["content"], " a time.");
}

#[tokio::test]
async fn how_a_run_finished_is_told_in_words_of_the_dialect() {
    for (finish, word) in [
        (RunFinish::Answered, "stop"),
        (RunFinish::TurnLimit, "stop"),
        (RunFinish::Failed, "stop"),
        (RunFinish::Suspended, "stop"),
        (RunFinish::Length, "length"),
        (RunFinish::ContentFilter, "content_filter"),
        (RunFinish::Denied, "content_filter"),
    ] {
        let end = RunEvent::Finished { finish, turns: 1, usage: Usage::default() };
        let app = runs(vec![message(1, "ho"), end]);
        let whole = ask(&app, chat("helper", json!({}))).await.json();
        assert_eq!(whole["choices"][0]["finish_reason"], word, "{finish:?}");
        let chunks = ask(&app, chat("helper", json!({"stream": true}))).await.chunks();
        assert_eq!(finish_of(&chunks), word, "{finish:?}");
    }
}

#[tokio::test]
async fn a_denied_run_says_why() {
    let deny = service_fn(|request: RunRequest| async move {
        Ok::<_, Error>(request.denied(Denial::new("Not on Sundays.").by("calendar")))
    });
    let app: Router = chat_router().agent("helper", deny).into();
    let whole = ask(&app, chat("helper", json!({}))).await.json();
    assert_eq!(whole["choices"][0]["message"]["content"], "Not on Sundays.");
    assert_eq!(whole["choices"][0]["finish_reason"], "content_filter");
}

#[tokio::test]
async fn a_failed_run_is_not_to_be_repeated_once_something_may_have_run() {
    let late = service_fn(|_: RunRequest| async {
        Err::<RunResponse, _>(Error::new(ErrorKind::Timeout, "late"))
    });
    let app: Router = chat_router().agent("helper", late).into();
    let answer = ask(&app, chat("helper", json!({}))).await;
    assert_eq!((answer.status.as_u16(), answer.header("x-should-retry")), (504, "false"));

    let midway = service_fn(|_: RunRequest| async {
        let error = Error::new(ErrorKind::Upstream { status: Some(500) }, "key sk-1");
        let events = vec![Ok(RunEvent::TurnStarted { turn: 1 }), Err(error)];
        Ok::<_, Error>(RunResponse::new(futures_util::stream::iter(events)))
    });
    let app: Router = chat_router().agent("helper", midway).into();
    let answer = ask(&app, chat("helper", json!({}))).await;
    assert_eq!((answer.status.as_u16(), answer.header("x-should-retry")), (502, "false"));

    let streamed = ask(&app, chat("helper", json!({"stream": true}))).await;
    let (before, error) = streamed.broken_chunks();
    assert_eq!(text_of(&before), "");
    assert_eq!(error["code"], "upstream_failed");
    assert!(!streamed.body.contains("sk-1"));
}

#[tokio::test]
async fn a_run_that_breaks_off_is_an_error_in_both_forms() {
    let app = runs(vec![message(1, "half")]);
    let whole = ask(&app, chat("helper", json!({}))).await;
    assert_eq!((whole.status.as_u16(), &whole.error()["code"]), (502, &json!("upstream_broken")));
    let (before, error) = ask(&app, chat("helper", json!({"stream": true}))).await.broken_chunks();
    assert_eq!((text_of(&before).as_str(), &error["code"]), ("half", &json!("upstream_broken")));
}

#[tokio::test]
async fn a_dropped_stream_cancels_the_run() {
    let seen = Seen::default();
    let app: Router = chat_router().agent("helper", seen.agent(says("ho"))).into();
    let request = chat("helper", json!({"stream": true}));
    let response = app.oneshot(request).await.unwrap();
    let token = seen.last().ctx.cancellation().clone();
    assert!(!token.is_cancelled());
    drop(response);
    assert!(token.is_cancelled());
}
