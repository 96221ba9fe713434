use std::time::Duration;

use futures_util::StreamExt;
use serde_json::json;
use tokio::time::Instant;
use tower_agent::{
    ErrorKind, FinishReason, Message, ModelEvent, ModelRequest, Reply, Role, ToolChoice,
    ToolOutput, ToolResultPart, ToolSpec, Tools,
};
use tower_service::Service;

use super::Demo;

fn request(messages: Vec<Message>) -> ModelRequest {
    let mut request = ModelRequest::new("demo", messages);
    let names = ["list_files", "read_file", "search_files"];
    request.tools = names.iter().map(|name| ToolSpec::new(*name, "").into()).collect();
    request
}

fn asking(text: &str) -> ModelRequest {
    request(vec![Message::user(text)])
}

async fn reply(request: ModelRequest) -> Reply {
    Demo::new().call(request).await.unwrap().body.collect().await.unwrap()
}

async fn says(request: ModelRequest) -> String {
    reply(request).await.message.text()
}

/// A conversation in which the model's calls were answered.
async fn answered(text: &str, outputs: &[ToolOutput]) -> ModelRequest {
    let asked = reply(asking(text)).await.message;
    let mut messages = vec![Message::user(text), asked.clone()];
    for (call, output) in asked.tool_calls().zip(outputs) {
        let result = ToolResultPart::new(call.id.clone(), call.name.clone(), output);
        messages.push(Message::tool_result(result));
    }
    assert_eq!(messages.len(), outputs.len() + 2);
    request(messages)
}

#[tokio::test]
async fn it_says_that_it_is_a_demo() {
    for text in ["hello", "what is the meaning of life?"] {
        assert!(says(asking(text)).await.contains("demo model"), "{text}");
    }
    assert!(says(request(Vec::new())).await.contains("demo model"));
}

#[tokio::test]
async fn it_remembers_what_it_thought_only_if_it_is_told() {
    let thought = reply(asking("Think aloud.")).await.message;
    assert_eq!(thought.parts().len(), 2);
    let again = Message::user("What did you think?");
    let told = request(vec![Message::user("Think aloud."), thought.clone(), again.clone()]);
    assert!(says(told).await.contains("but one thought"));
    let untold = Message::assistant(thought.text());
    let untold = request(vec![Message::user("Think aloud."), untold, again]);
    assert!(says(untold).await.contains("not thought"));
}

#[tokio::test]
async fn requests_in_one_sentence_are_asked_for_at_once_with_ids_of_their_own() {
    let reply = reply(asking("read config.toml and search for timeout")).await;
    assert_eq!(reply.finish, FinishReason::ToolCalls);
    let calls: Vec<_> = reply.message.tool_calls().collect();
    assert_eq!(calls[0].name, "read_file");
    assert_eq!(calls[0].arguments.value().unwrap(), &json!({"path": "config.toml"}));
    assert_eq!(calls[1].name, "search_files");
    assert_eq!(calls[1].arguments.value().unwrap(), &json!({"pattern": "timeout"}));
    assert_ne!(calls[0].id, calls[1].id);
}

#[tokio::test]
async fn ids_do_not_come_twice_in_a_conversation() {
    let mut messages = answered("read a.txt", &[ToolOutput::text("a")]).await.messages.to_vec();
    let first = messages[1].tool_calls().next().unwrap().id.clone();
    messages.extend([Message::assistant("a"), Message::user("read a.txt")]);
    let again = reply(request(messages)).await;
    assert_ne!(again.message.tool_calls().next().unwrap().id, first);
}

#[tokio::test]
async fn it_answers_from_the_results() {
    let listing =
        ToolOutput::text("2 entries in docs:\noverview.md (1 bytes)\nrunning.md (2 bytes)");
    let text = says(answered("what is in docs?", &[listing]).await).await;
    assert_eq!(text, "2 entries in docs:\n\n```\noverview.md (1 bytes)\nrunning.md (2 bytes)\n```");

    let file = ToolOutput::text("user = \"pigeon\"\npassword = \"[REDACTED]\"\n");
    let text = says(answered("read config.toml", &[file]).await).await;
    let expected = "I read **config.toml** (2 lines). I was not shown 1 value of it:\n\n\
                    ```\npassword = \"[REDACTED]\"\n```";
    assert_eq!(text, expected);

    let long = ToolOutput::text("line\n".repeat(40));
    let text = says(answered("read long.txt", &[long]).await).await;
    assert!(
        text.starts_with("**long.txt** (40 lines):") && text.contains("and 32 more lines"),
        "{text}"
    );

    let hits = format!("30 lines match:{}", "\na.txt:1: hit".repeat(30));
    let text = says(answered("search for hit", &[ToolOutput::text(hits)]).await).await;
    assert!(text.ends_with("and 22 more lines."), "{text}");
}

#[tokio::test]
async fn each_of_several_results_is_answered_in_the_order_of_the_calls() {
    let outputs = [ToolOutput::text("A"), ToolOutput::failure("b.txt does not exist.")];
    let text = says(answered("read a.txt and b.txt", &outputs).await).await;
    assert_eq!(
        text,
        "**a.txt** (1 line):\n\n```\nA\n```\n\nI could not read **b.txt**. I was told: b.txt does not exist."
    );
}

#[tokio::test]
async fn it_tries_to_delete_although_that_was_not_offered() {
    let reply = reply(asking("delete notes.txt")).await;
    assert_eq!(reply.message.tool_calls().next().unwrap().name, "delete_file");
    let denied = ToolOutput::failure("That is not allowed here.");
    let text = says(answered("delete notes.txt", &[denied]).await).await;
    assert!(text.contains("could not delete **notes.txt**") && text.ends_with("not allowed here."));
}

#[tokio::test]
async fn without_tools_it_asks_for_none() {
    let mut none_offered = asking("read config.toml");
    none_offered.tools = Tools::new();
    let mut none_allowed = asking("read config.toml");
    none_allowed.tool_choice = Some(ToolChoice::None);
    for request in [none_offered, none_allowed] {
        let reply = reply(request).await;
        assert_eq!(reply.finish, FinishReason::Stop);
        assert_eq!(reply.message.tool_calls().count(), 0);
        assert!(reply.message.text().contains("`read_file {\"path\":\"config.toml\"}`"));
    }
    let mut with_results = answered("read a.txt", &[ToolOutput::text("A")]).await;
    with_results.tools = Tools::new();
    assert!(says(with_results).await.contains("**a.txt** (1 line)"));
}

#[tokio::test(start_paused = true)]
async fn a_stream_says_the_same_word_by_word_and_takes_its_time() {
    for text in ["hello", "read config.toml and search for \"a b\""] {
        let whole = reply(asking(text)).await;
        let mut request = asking(text);
        request.stream = true;
        let began = Instant::now();
        let body = Demo::new().call(request).await.unwrap().body;
        assert!(body.is_stream());
        let events: Vec<_> = body.into_stream().map(Result::unwrap).collect().await;
        let pieces = events.iter().filter(|event| matches!(event, ModelEvent::PartDelta { .. }));
        assert_eq!(
            began.elapsed(),
            Duration::from_millis(18) * u32::try_from(pieces.count()).unwrap()
        );
        let mut collector = tower_agent::Collector::new();
        events.into_iter().for_each(|event| collector.push(event).unwrap());
        assert_eq!(collector.finish().unwrap(), whole);
    }
}

#[tokio::test]
async fn usage_is_estimated() {
    let short = reply(asking("hello")).await.usage.unwrap();
    let long = reply(asking(&"hello ".repeat(100))).await.usage.unwrap();
    assert!(long.input > short.input && short.input > 0);
    assert!(short.output > 50);
}

#[tokio::test(start_paused = true)]
async fn it_fails_when_asked_to_and_breaks_off_in_the_middle_of_a_stream() {
    let error = Demo::new().call(asking("simulate a failure")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Upstream { status: Some(503) });

    let mut request = asking("break off");
    assert!(Demo::new().call(request.clone()).await.is_err());
    request.stream = true;
    let stream = Demo::new().call(request).await.unwrap().body.into_stream();
    let mut events: Vec<_> = stream.collect().await;
    assert_eq!(events.pop().unwrap().unwrap_err().kind(), ErrorKind::Protocol);
    assert!(events.len() > 5 && events.iter().all(Result::is_ok));
}

#[tokio::test]
async fn a_whole_answer_is_asked_for_and_given() {
    let response = Demo::new().call(asking("count to 3")).await.unwrap();
    assert!(!response.body.is_stream());
    assert_eq!(response.head.model, "demo");
    let reply = response.body.collect().await.unwrap();
    assert_eq!(reply.message.text(), "1 2 3");
    assert_eq!(*reply.message.role(), Role::Assistant);
}

#[tokio::test]
async fn an_answer_has_the_form_that_was_asked_for() {
    let mut request = asking("count to 3");
    request.output = Some(tower_agent::OutputFormat::JsonSchema {
        name: "counted".into(),
        schema: serde_json::json!({"type": "object", "properties": {"said": {"type": "string"}, "n": {"type": "number"}}}).into(),
        strict: None,
    });
    assert_eq!(reply(request.clone()).await.message.text(), r#"{"said":"1 2 3"}"#);
    request.output = Some(tower_agent::OutputFormat::JsonObject);
    assert_eq!(reply(request).await.message.text(), r#"{"text":"1 2 3"}"#);
}
