//! What servers ask in the middle of a call, and who answers.
#![cfg(test)]

mod client_support;

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use client_support::{Doorway, Server, connect, connect_with, door, tool};
use rmcp::{ErrorData, model::ErrorCode};
use serde_json::{Value, json};
use tokio::{sync::mpsc, time::Instant};
use tower::{ServiceExt, service_fn};
use tower_agent_core::{Context, Effect, Error, ErrorKind, Json, Outcome, Run, ToolCall};
use tower_agent_mcp::client::{Ask, Asking, Builder, McpClient, Question};

const SECOND: Duration = Duration::from_secs(1);

/// A form whose fields stand in an order, with a number that no double holds and a field that no library knows.
const FORM: &str = r#"{"message":"Which seat?","mode":"form","requestedSchema":{"type":"object","properties":{"row":{"type":"integer","maximum":12345678901234567890},"aisle":{"type":"boolean","x-ui":1.0}}}}"#;

fn call() -> ToolCall {
    ToolCall::new("book", "{}").with_id("c1")
}

fn of_run(ctx: Context) -> ToolCall {
    call().with_context(ctx)
}

/// Has a function answer everything.
fn answered(
    builder: Builder,
    answer: impl Fn(Question) -> Result<Json, Error> + Clone + Send + Sync + 'static,
) -> Builder {
    builder.answer(Ask::ALL, service_fn(move |question| std::future::ready(answer(question))))
}

/// Hands out what is asked, and waits for ever.
fn open(builder: Builder) -> (Builder, mpsc::UnboundedReceiver<Open>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let service = service_fn(move |question: Question| {
        let (alive, gone) = tokio::sync::oneshot::channel::<()>();
        drop(sender.send(Open { question, gone }));
        async move {
            let _alive = alive;
            std::future::pending::<Result<Json, Error>>().await
        }
    });
    (builder.answer(Ask::ALL, service), receiver)
}

struct Open {
    question: Question,
    /// Ends when the service is dropped.
    gone: tokio::sync::oneshot::Receiver<()>,
}

async fn ask(server: &mut Server, id: u64, method: &str, params: &str) {
    server
        .say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#))
        .await;
}

fn done() -> Value {
    json!({"content": [{"type": "text", "text": "done"}]})
}

#[tokio::test(start_paused = true)]
async fn the_question_of_a_server_is_answered_in_the_middle_of_its_call() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&heard);
    let (client, mut server, _door) = connect_with(json!([tool("book")]), |builder| {
        answered(builder, move |question| {
            notes.lock().unwrap().push(question);
            Ok(Json::from_text(r#"{"action":"accept","content":{"row":3}}"#))
        })
    })
    .await;
    let ctx = Run::builder("r1").user("ada").build();
    let serve = async {
        let call = server.expect("tools/call").await;
        ask(&mut server, 5, "elicitation/create", FORM).await;
        let answer = server.hear().await;
        assert_eq!(answer["id"], 5);
        assert_eq!(answer["result"], json!({"action": "accept", "content": {"row": 3}}));
        server.answer(&call, done()).await;
    };
    let (output, ()) = tokio::join!(client.oneshot(of_run(ctx)), serve);
    assert_eq!(output.unwrap().joined_text(), "done");
    let heard = heard.lock().unwrap();
    let [question] = &heard[..] else { panic!("{heard:?}") };
    assert_eq!(question.ask, Ask::Elicitation);
    assert_eq!(question.params.as_str(), FORM);
    assert_eq!((&*question.server, &*question.tool), ("fake", "book"));
    assert_eq!(question.call.as_str(), "c1");
    assert_eq!(question.ctx.run().user().unwrap(), "ada");
}

#[tokio::test(start_paused = true)]
async fn a_server_is_told_at_its_greeting_what_it_may_ask() {
    let table: [(&[Ask], Value); 3] = [
        (&[], json!({})),
        (&[Ask::Roots], json!({"roots": {}})),
        (&Ask::ALL, json!({"elicitation": {}, "roots": {}, "sampling": {}})),
    ];
    for (asks, expected) in table {
        let (streams, mut doorway) = door();
        let service = service_fn(|_: Question| async { Ok::<_, Error>(Json::object()) });
        let builder = McpClient::builder("fake", streams).answer(asks.iter().copied(), service);
        let serve = async {
            let mut server = doorway.recv().await.unwrap();
            let discover = server.expect("server/discover").await;
            server.refuse(&discover, -32601, "Method not found").await;
            let greeting = server.expect("initialize").await;
            assert_eq!(greeting["params"]["capabilities"], expected);
        };
        tokio::select! {
            connected = builder.connect() => panic!("{connected:?}"),
            () = serve => {}
        }
    }
}

#[tokio::test(start_paused = true)]
async fn without_anybody_to_answer_users_decline_and_there_are_no_folders() {
    let (client, mut server, _door) = connect(json!([tool("book")])).await;
    let serve = async {
        let call = server.expect("tools/call").await;
        ask(&mut server, 5, "elicitation/create", FORM).await;
        assert_eq!(server.hear().await["result"], json!({"action": "decline"}));
        ask(&mut server, 6, "roots/list", "{}").await;
        assert_eq!(server.hear().await["result"], json!({"roots": []}));
        ask(&mut server, 7, "sampling/createMessage", r#"{"messages":[],"maxTokens":1}"#).await;
        assert_eq!(server.hear().await["error"]["code"], -32601);
        server.answer(&call, done()).await;
    };
    let (output, ()) = tokio::join!(client.oneshot(call()), serve);
    assert_eq!(output.unwrap().joined_text(), "done");
}

#[tokio::test(start_paused = true)]
async fn what_a_server_may_not_ask_is_refused_even_if_others_may_be_asked() {
    let (client, mut server, _door) = connect_with(json!([tool("book")]), |builder| {
        let service = service_fn(|_: Question| async { Ok::<_, Error>(Json::object()) });
        builder.answer([Ask::Roots], service)
    })
    .await;
    let serve = async {
        let call = server.expect("tools/call").await;
        ask(&mut server, 5, "elicitation/create", FORM).await;
        let refused = server.hear().await;
        assert_eq!(refused["error"]["code"], -32601);
        assert_eq!(refused["error"]["message"], "this client does not take elicitation/create");
        server.answer(&call, done()).await;
    };
    let (output, ()) = tokio::join!(client.oneshot(call()), serve);
    output.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_call_shows_no_progress_while_its_question_is_open_and_is_not_given_up() {
    let (client, mut server, _door) = connect_with(json!([tool("book")]), |builder| {
        let service = service_fn(|_: Question| async {
            tokio::time::sleep(100 * SECOND).await;
            Ok::<_, Error>(Json::object())
        });
        builder.answer(Ask::ALL, service).timeout(10 * SECOND)
    })
    .await;
    let begun = Instant::now();
    let serve = async {
        let call = server.expect("tools/call").await;
        tokio::time::sleep(9 * SECOND).await;
        ask(&mut server, 5, "roots/list", "{}").await;
        assert_eq!(server.hear().await["result"], json!({}));
        // Its patience begins anew.
        tokio::time::sleep(9 * SECOND).await;
        server.answer(&call, done()).await;
    };
    let (output, ()) = tokio::join!(client.oneshot(call()), serve);
    assert_eq!(output.unwrap().joined_text(), "done");
    assert_eq!(begun.elapsed(), 118 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_question_nobody_answers_ends_with_all_patience() {
    let mut questions = None;
    let (client, mut server, _door) = connect_with(json!([tool("book")]), |builder| {
        let (builder, receiver) = open(builder);
        questions = Some(receiver);
        builder.timeout(10 * SECOND).total_timeout(60 * SECOND)
    })
    .await;
    let serve = async {
        server.expect("tools/call").await;
        ask(&mut server, 5, "elicitation/create", FORM).await;
        let mut told = [server.hear().await, server.hear().await];
        told.sort_by_key(|message| message.get("method").is_some());
        assert_eq!(told[0]["error"]["message"], "the call that this belongs to is over");
        assert_eq!(told[1]["params"]["reason"], "the call took too long");
    };
    let (output, ()) = tokio::join!(client.clone().oneshot(call()), serve);
    assert!(output.unwrap_err().is_timeout());
    let Open { question, gone } = questions.unwrap().recv().await.unwrap();
    assert_eq!(question.ask, Ask::Elicitation);
    assert!(gone.await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_takes_its_question_with_it() {
    let mut questions = None;
    let (client, mut server, _door) = connect_with(json!([tool("book")]), |builder| {
        let (builder, receiver) = open(builder);
        questions = Some(receiver);
        builder
    })
    .await;
    let mut questions = questions.unwrap();
    let asked = async {
        server.expect("tools/call").await;
        ask(&mut server, 5, "elicitation/create", FORM).await;
        questions.recv().await.unwrap()
    };
    let Open { gone, .. } = tokio::select! {
        output = client.clone().oneshot(call()) => panic!("{output:?}"),
        asked = asked => asked,
    };
    assert!(gone.await.is_err());
    let mut told = [server.hear().await, server.hear().await];
    told.sort_by_key(|message| message.get("method").is_some());
    assert_eq!((&told[0]["id"], &told[0]["error"]["code"]), (&json!(5), &json!(-32603)));
    assert_eq!(told[1]["method"], "notifications/cancelled");
}

#[tokio::test(start_paused = true)]
async fn a_question_that_the_server_takes_back_is_not_answered() {
    let mut questions = None;
    let (client, mut server, _door) = connect_with(json!([tool("book")]), |builder| {
        let (builder, receiver) = open(builder);
        questions = Some(receiver);
        builder
    })
    .await;
    let mut questions = questions.unwrap();
    let serve = async {
        let call = server.expect("tools/call").await;
        ask(&mut server, 5, "elicitation/create", FORM).await;
        let Open { gone, .. } = questions.recv().await.unwrap();
        server.notify("notifications/cancelled", json!({"requestId": 5})).await;
        assert!(gone.await.is_err());
        server.answer(&call, done()).await;
    };
    let (output, ()) = tokio::join!(client.oneshot(call()), serve);
    assert_eq!(output.unwrap().joined_text(), "done");
}

#[tokio::test(start_paused = true)]
async fn what_a_server_asks_outside_a_call_or_of_several_callers_is_refused() {
    let (client, mut server, _door) = connect_with(json!([tool("book")]), |builder| {
        answered(builder, |_| Ok(Json::from_text(r#"{"roots":[]}"#)))
    })
    .await;
    ask(&mut server, 5, "roots/list", "{}").await;
    let refused = server.hear().await;
    assert_eq!(refused["error"]["code"], -32602);
    assert_eq!(refused["error"]["message"], "it cannot be told which call this belongs to");

    let of = |run: &str, session: &str| {
        of_run(Run::builder(run.to_owned()).session(session.to_owned()).build())
    };
    for (other, is_answered) in [("s2", false), ("s1", true)] {
        let serve = async {
            let first = server.expect("tools/call").await;
            let second = server.expect("tools/call").await;
            ask(&mut server, 6, "roots/list", "{}").await;
            let answer = server.hear().await;
            assert_eq!(answer.get("result").is_some(), is_answered, "{answer}");
            server.answer(&first, done()).await;
            server.answer(&second, done()).await;
        };
        let (first, second, ()) = tokio::join!(
            client.clone().oneshot(of("r1", "s1")),
            client.clone().oneshot(of("r2", other)),
            serve
        );
        first.unwrap();
        second.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_fails_reaches_the_server_as_an_error_without_what_is_for_operators() {
    let refusal = || ErrorData::new(ErrorCode(-1), "the user rejected it", None);
    let table: [(&str, Box<dyn Fn() -> Error + Send + Sync>, i64, &str); 3] = [
        (
            "its own error",
            Box::new(move || Error::new(ErrorKind::Other, "secret").with_source(refusal())),
            -1,
            "the user rejected it",
        ),
        (
            "ours",
            Box::new(|| Error::new(ErrorKind::Other, "secret").with_model_text("Not now.")),
            -32603,
            "Not now.",
        ),
        ("a panic", Box::new(|| panic!("secret")), -32603, ""),
    ];
    for (what, fail, code, message) in table {
        let (client, mut server, _door) = connect_with(json!([tool("book")]), |builder| {
            let fail = Arc::new(fail);
            answered(builder, move |_| Err(fail()))
        })
        .await;
        let serve = async {
            let call = server.expect("tools/call").await;
            ask(&mut server, 5, "elicitation/create", FORM).await;
            let answer = server.hear().await;
            assert_eq!(answer["error"]["code"], code, "{what}");
            let said = answer["error"]["message"].as_str().unwrap();
            assert!(said.contains(message) && !said.contains("secret"), "{what}: {said}");
            server.answer(&call, done()).await;
        };
        let (output, ()) = tokio::join!(client.oneshot(call()), serve);
        output.unwrap();
    }
}

/// A client of a server of 2026-07-28.
async fn connect_newer(edit: impl FnOnce(Builder) -> Builder) -> (McpClient, Server, Doorway) {
    let (streams, mut doorway) = door();
    let serve = async {
        let mut server = doorway.recv().await.unwrap();
        server.discover().await;
        let list = server.expect("tools/list").await;
        server.answer(&list, json!({"resultType": "complete", "tools": [tool("book")], "ttlMs": 0, "cacheScope": "private"})).await;
        server.expect("subscriptions/listen").await;
        server
    };
    let builder = edit(McpClient::builder("fake", streams));
    let (client, server) = tokio::join!(builder.connect(), serve);
    (client.unwrap(), server, doorway)
}

fn asked(state: &str) -> String {
    format!(
        r#"{{"resultType":"input_required","inputRequests":{{"seat":{{"method":"elicitation/create","params":{FORM}}},"where":{{"method":"roots/list"}}}},"requestState":"{state}"}}"#
    )
}

fn finished() -> Value {
    json!({"resultType": "complete", "content": [{"type": "text", "text": "done"}]})
}

#[tokio::test(start_paused = true)]
async fn a_newer_server_gets_its_answers_with_the_same_call_once_more() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&heard);
    let (client, mut server, _door) = connect_newer(|builder| {
        answered(builder, move |question| {
            notes.lock().unwrap().push((question.ask, question.params.as_str().to_owned()));
            Ok(Json::from_text(match question.ask {
                Ask::Roots => r#"{"roots":[{"uri":"file:///a"}]}"#,
                _ => r#"{"action":"accept","content":{"row":3.0}}"#,
            }))
        })
    })
    .await;
    let serve = async {
        let call = server.expect("tools/call").await;
        let told = &call["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
        assert_eq!(*told, json!({"elicitation": {}, "roots": {}, "sampling": {}}));
        server.answer_text(&call, &asked("s1")).await;
        let text = server.text().await;
        assert!(text.contains(r#"{"row":3.0}"#), "{text}");
        let call: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(call["params"]["requestState"], "s1");
        assert_eq!(call["params"]["inputResponses"]["where"]["roots"][0]["uri"], "file:///a");
        assert_eq!(call["params"]["arguments"], json!({"day": 1}));
        server.answer(&call, finished()).await;
    };
    let call = ToolCall::new("book", r#"{"day": 1}"#);
    let (output, ()) = tokio::join!(client.oneshot(call), serve);
    assert_eq!(output.unwrap().joined_text(), "done");
    let expected = [(Ask::Elicitation, FORM.to_owned()), (Ask::Roots, "{}".to_owned())];
    assert_eq!(*heard.lock().unwrap(), expected);
}

#[tokio::test(start_paused = true)]
async fn a_newer_server_that_never_stops_asking_is_given_up() {
    let (client, mut server, _door) =
        connect_newer(|builder| answered(builder, |_| Ok(Json::object()))).await;
    let serve = async {
        for round in 0..10 {
            let call = server.expect("tools/call").await;
            server.answer_text(&call, &asked(&round.to_string())).await;
        }
    };
    let (output, ()) = tokio::join!(client.oneshot(call()), serve);
    let error = output.unwrap_err();
    assert_eq!((error.kind(), error.effect()), (ErrorKind::Protocol, Effect::Unknown));
    assert_eq!(error.to_string(), "mcp: server `fake` asked 10 times in one call");
}

#[tokio::test(start_paused = true)]
async fn a_newer_server_whose_question_fails_fails_the_call() {
    let (client, mut server, _door) = connect_newer(|builder| {
        answered(builder, |question| match question.ask {
            Ask::Roots => Err(Error::new(ErrorKind::Unauthorized, "nobody is here")),
            _ => Ok(Json::object()),
        })
    })
    .await;
    let serve = async {
        let call = server.expect("tools/call").await;
        server.answer_text(&call, &asked("s1")).await;
    };
    let (output, ()) = tokio::join!(client.oneshot(call()), serve);
    let error = output.unwrap_err();
    assert_eq!((error.kind(), error.effect()), (ErrorKind::Unauthorized, Effect::Unknown));
    assert_eq!(
        error.model_text(),
        "The tool asked for something that it did not get, so it did not finish."
    );
}

#[tokio::test(start_paused = true)]
async fn a_newer_server_whose_question_stays_open_is_given_up_with_all_patience() {
    let (client, mut server, _door) =
        connect_newer(|builder| open(builder).0.total_timeout(60 * SECOND)).await;
    let begun = Instant::now();
    let serve = async {
        let call = server.expect("tools/call").await;
        tokio::time::sleep(50 * SECOND).await;
        server.answer_text(&call, &asked("s1")).await;
    };
    let (output, ()) = tokio::join!(client.oneshot(call()), serve);
    assert!(output.unwrap_err().is_timeout());
    assert_eq!(begun.elapsed(), 60 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn each_call_may_say_for_itself_what_can_be_asked_and_whether_it_waits() {
    let (client, mut server, _door) =
        connect_newer(|builder| answered(builder, |_| Ok(Json::object()))).await;
    let table = [
        (Asking::answered(r#"{"roots":{}}"#), json!({"roots": {}}), false),
        (
            Asking::suspended(r#"{"elicitation":{"url":{}}}"#),
            json!({"elicitation": {"url": {}}}),
            true,
        ),
    ];
    for (asking, expected, is_suspended) in table {
        let mut call = call();
        call.ctx.extensions.insert(asking);
        let serve = async {
            let call = server.expect("tools/call").await;
            let told = &call["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
            assert_eq!(*told, expected);
            server.answer_text(&call, &asked("s1")).await;
            if !is_suspended {
                let call = server.expect("tools/call").await;
                server.answer(&call, finished()).await;
            }
        };
        let (output, ()) = tokio::join!(client.clone().oneshot(call), serve);
        let outcome = output.unwrap().outcome;
        assert_eq!(matches!(outcome, Outcome::Suspended(_)), is_suspended, "{outcome:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_newer_server_cannot_ask_as_older_ones_do() {
    let (client, mut server, _door) =
        connect_newer(|builder| answered(builder, |_| Ok(Json::object()))).await;
    let serve = async {
        let call = server.expect("tools/call").await;
        ask(&mut server, 5, "elicitation/create", FORM).await;
        assert_eq!(server.hear().await["error"]["code"], -32601);
        server.answer(&call, finished()).await;
    };
    let (output, ()) = tokio::join!(client.oneshot(call()), serve);
    output.unwrap();
}
