use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::Router;
use futures_util::{FutureExt, StreamExt};
use tower::{ServiceExt, service_fn};
use tower_agent_axum::{RunRouter, run_router};
use tower_agent_core::{CancellationToken, Error, RunEvent, RunRequest, RunResponse};

use crate::support::{Counters, ask, post, says, wants_json};

type Token = Arc<Mutex<Option<CancellationToken>>>;

/// An agent whose streams are counted and whose last token is kept.
fn counted(
    counters: &Counters,
    events: Vec<RunEvent>,
    hang: bool,
) -> (
    RunRouter<
        impl tower::Service<
            RunRequest,
            Response = RunResponse,
            Error = Error,
            Future = impl Future<Output = Result<RunResponse, Error>> + Send,
        > + Clone
        + Send
        + Sync
        + 'static,
    >,
    Token,
) {
    let token = Token::default();
    let (kept, counters) = (token.clone(), counters.clone());
    let agent = service_fn(move |request: RunRequest| {
        *kept.lock().unwrap() = Some(request.ctx.cancellation().clone());
        let run = RunResponse::new(counters.stream(events.clone(), hang));
        async move { Ok::<_, Error>(run) }
    });
    (run_router(agent), token)
}

fn is_cancelled(token: &Token) -> bool {
    token.lock().unwrap().as_ref().unwrap().is_cancelled()
}

async fn open(app: Router) -> axum::body::BodyDataStream {
    let response = app.oneshot(post("/v1/runs", r#"{"text":"hi"}"#)).await.unwrap();
    response.into_body().into_data_stream()
}

#[tokio::test]
async fn a_dropped_body_drops_the_run_once_and_cancels_its_token() {
    let counters = Counters::default();
    let (router, token) = counted(&counters, says("ho"), true);
    let mut body = open(router.into()).await;
    body.next().await.unwrap().unwrap();
    assert!(!is_cancelled(&token));
    assert_eq!(counters.dropped(), 0);

    drop(body);
    assert!(is_cancelled(&token));
    assert_eq!(counters.dropped(), 1);
}

#[tokio::test]
async fn a_body_that_is_never_read_starts_nothing_but_cancels_all_the_same() {
    let counters = Counters::default();
    let (router, token) = counted(&counters, says("ho"), true);
    drop(open(router.into()).await);
    assert_eq!((counters.polled(), counters.dropped()), (0, 1));
    assert!(is_cancelled(&token));
}

#[tokio::test]
async fn a_run_that_finished_is_not_cancelled_afterwards() {
    for json in [false, true] {
        let counters = Counters::default();
        let (router, token) = counted(&counters, says("ho"), false);
        let mut request = post("/v1/runs", r#"{"text":"hi"}"#);
        if json {
            request = wants_json(request);
        }
        assert_eq!(ask(&router.into(), request).await.status, 200);
        assert!(!is_cancelled(&token), "json: {json}");
        assert_eq!(counters.dropped(), 1);
    }
}

#[tokio::test]
async fn a_reader_that_leaves_after_the_last_event_cancels_nothing() {
    let counters = Counters::default();
    let (router, token) = counted(&counters, says("ho"), true);
    let mut body = open(router.into()).await;
    for _ in 0..says("ho").len() {
        body.next().await.unwrap().unwrap();
    }
    drop(body);
    assert_eq!(counters.dropped(), 1);
    assert!(!is_cancelled(&token), "the run is complete");
}

#[tokio::test]
async fn a_run_that_failed_is_cancelled_so_that_nothing_of_it_goes_on() {
    let counters = Counters::default();
    let mut events = says("ho");
    events.truncate(2);
    let (router, token) = counted(&counters, events, false);
    ask(&router.into(), post("/v1/runs", r#"{"text":"hi"}"#)).await;
    assert!(is_cancelled(&token));
}

#[tokio::test]
async fn a_caller_that_goes_away_before_the_whole_answer_cancels_its_run() {
    let counters = Counters::default();
    let (router, token) = counted(&counters, says("ho"), true);
    let app: Router = router.into();
    let mut answer =
        tokio_test::task::spawn(app.oneshot(wants_json(post("/v1/runs", r#"{"text":"hi"}"#))));
    assert!(answer.poll().is_pending());
    assert_eq!((counters.started(), counters.dropped()), (1, 0));
    drop(answer);
    assert_eq!(counters.dropped(), 1);
    assert!(is_cancelled(&token));
}

#[tokio::test]
async fn nothing_is_made_ahead_of_the_reader() {
    let counters = Counters::default();
    let events = vec![RunEvent::TurnStarted { turn: 1 }; 100];
    let (router, _token) = counted(&counters, events, true);
    let mut body = open(router.into()).await;
    for read in 1..=100 {
        body.next().await.unwrap().unwrap();
        assert_eq!(counters.made(), read);
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_stream_shows_every_fifteen_seconds_that_it_lives() {
    let counters = Counters::default();
    let (router, _token) = counted(&counters, says("ho"), true);
    let mut body = open(router.into()).await;
    for _ in 0..4 {
        body.next().await.unwrap().unwrap();
    }
    for _ in 0..3 {
        let start = tokio::time::Instant::now();
        assert_eq!(body.next().await.unwrap().unwrap(), ": keep-alive\n\n");
        assert_eq!(start.elapsed(), Duration::from_secs(15));
    }
    assert_eq!(counters.made(), 4, "a comment asks the run for nothing");
}

#[tokio::test(start_paused = true)]
async fn a_busy_stream_has_no_comments_and_zero_turns_them_off() {
    for (every, comments) in
        [(Duration::from_secs(15), 0), (Duration::ZERO, 0), (Duration::from_secs(4), 12)]
    {
        let agent = service_fn(|_: RunRequest| async {
            let ticks = futures_util::stream::unfold(0, |turn| async move {
                tokio::time::sleep(Duration::from_secs(10)).await;
                (turn < 5).then_some((Ok(RunEvent::TurnStarted { turn }), turn + 1))
            });
            Ok::<_, Error>(RunResponse::new(ticks))
        });
        let app: Router = run_router(agent).keep_alive(every).into();
        let answer = ask(&app, post("/v1/runs", r#"{"text":"hi"}"#)).await;
        let turns = answer.body.matches("event: turn_started").count();
        assert_eq!(turns, 5);
        // Two in each of six silences of ten seconds.
        assert_eq!(answer.body.matches(": keep-alive").count(), comments, "{every:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_event_that_comes_with_a_comment_is_not_held_back() {
    let agent = service_fn(|_: RunRequest| async {
        let late = async {
            tokio::time::sleep(Duration::from_secs(15)).await;
            Ok(RunEvent::TurnStarted { turn: 1 })
        };
        Ok::<_, Error>(RunResponse::new(late.into_stream()))
    });
    let mut body = open(run_router(agent).into()).await;
    let first = body.next().await.unwrap().unwrap();
    assert!(first.starts_with(b"event: turn_started\n"), "{first:?}");
}
