//! Runs that outlive their connections.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, BodyDataStream},
    http::Request,
};
use futures_util::{FutureExt, StreamExt, stream};
use tokio::time::{Instant, sleep};
use tower::{ServiceExt, service_fn};
use tower_agent_axum::{ApiError, Identity, RunStore, run_router};
use tower_agent_core::{CancellationToken, Error, RunEvent, RunRequest, RunResponse};

use crate::support::{Answer, Counters, ask, finished, post, wants_json, with_header};

const EVENTS: usize = 12;

/// A host of runs that are counted, whose events come a second apart or all at once.
#[derive(Clone, Default)]
struct Host {
    counters: Counters,
    token: Arc<Mutex<Option<CancellationToken>>>,
}

impl Host {
    fn app(&self, runs: RunStore, events: usize, pause: Duration) -> Router {
        let host = self.clone();
        let agent = service_fn(move |request: RunRequest| {
            *host.token.lock().unwrap() = Some(request.ctx.cancellation().clone());
            let counted = host.counters.stream(made(events), false);
            let events = counted.then(move |event| async move {
                if !pause.is_zero() {
                    sleep(pause).await;
                }
                event
            });
            async move { Ok::<_, Error>(RunResponse::new(events)) }
        });
        let router = run_router(agent).resumable(runs).identity(|parts| {
            let header = |name| Some(parts.headers.get(name)?.to_str().ok()?.to_owned());
            let mut identity = Identity::default();
            if let Some(user) = header("x-user") {
                identity = identity.with_user(user);
            }
            if let Some(tenant) = header("x-tenant") {
                identity = identity.with_tenant(tenant);
            }
            Ok::<_, ApiError>(identity)
        });
        router.into()
    }

    fn is_cancelled(&self) -> bool {
        self.token.lock().unwrap().as_ref().unwrap().is_cancelled()
    }
}

fn made(events: usize) -> Vec<RunEvent> {
    let turns = 1..u32::try_from(events).unwrap();
    turns.map(|turn| RunEvent::TurnStarted { turn }).chain([finished()]).collect()
}

fn by(user: &str, request: Request<Body>) -> Request<Body> {
    with_header(request, "x-user", user)
}

fn start() -> Request<Body> {
    by("ada", post("/v1/runs", r#"{"text":"hi"}"#))
}

fn resume(id: &str, after: usize) -> Request<Body> {
    let request = Request::get(format!("/v1/runs/{id}/events")).body(Body::empty()).unwrap();
    by("ada", with_header(request, "last-event-id", &after.to_string()))
}

/// Begins a run: its id and its body.
async fn begin(app: &Router) -> (String, BodyDataStream) {
    let response = app.clone().oneshot(start()).await.unwrap();
    assert_eq!(response.status(), 200);
    let id = response.headers()["x-run-id"].to_str().unwrap().to_owned();
    (id, response.into_body().into_data_stream())
}

async fn read(body: &mut BodyDataStream, events: usize) -> String {
    let mut text = String::new();
    for _ in 0..events {
        text += std::str::from_utf8(&body.next().await.unwrap().unwrap()).unwrap();
    }
    text
}

async fn go_on(app: &Router, id: &str, after: usize) -> BodyDataStream {
    let response = app.clone().oneshot(resume(id, after)).await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    assert_eq!(response.headers()["x-run-id"], *id);
    response.into_body().into_data_stream()
}

/// What a run says when nothing breaks.
async fn whole(events: usize) -> String {
    let host = Host::default();
    ask(&host.app(RunStore::new(), events, Duration::ZERO), start()).await.body
}

/// Lets tasks run that have something to do.
async fn settle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_cut_at_any_event_comes_out_whole_and_each_event_once() {
    let whole = whole(EVENTS).await;
    for pause in [Duration::ZERO, Duration::from_secs(1)] {
        for cut in 0..=EVENTS {
            let host = Host::default();
            let app = host.app(RunStore::new(), EVENTS, pause);
            let (id, mut body) = begin(&app).await;
            let seen = read(&mut body, cut).await;
            drop(body);
            let rest = ask(&app, resume(&id, cut)).await;
            if cut == EVENTS && rest.status == 204 {
                assert_eq!(rest.body, "");
            }
            assert_eq!(seen + &rest.body, whole, "cut after {cut}");
            assert_eq!(host.counters.started(), 1, "the agent was asked once");
            assert!(!host.is_cancelled());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_cut_after_each_event_comes_out_whole_and_each_event_once() {
    let host = Host::default();
    let app = host.app(RunStore::new(), EVENTS, Duration::from_secs(1));
    let (id, mut body) = begin(&app).await;
    let mut seen = String::new();
    for event in 1..=EVENTS {
        seen += &read(&mut body, 1).await;
        body = if event < EVENTS { go_on(&app, &id, event).await } else { body };
    }
    assert_eq!(seen, whole(EVENTS).await);
    assert!(body.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn events_that_were_sent_and_never_arrived_are_sent_again() {
    let host = Host::default();
    let app = host.app(RunStore::new(), EVENTS, Duration::ZERO);
    let (id, mut body) = begin(&app).await;
    let seen = read(&mut body, EVENTS).await;
    drop(body);
    for arrived in 0..EVENTS {
        let rest = ask(&app, resume(&id, arrived)).await.body;
        assert!(
            rest.starts_with(&format!(
                "event: {}",
                if arrived + 1 < EVENTS { "turn" } else { "fin" }
            ))
        );
        assert!(seen.ends_with(&rest) && rest.contains(&format!("\nid: {}\n", arrived + 1)));
    }
}

#[tokio::test(start_paused = true)]
async fn the_last_event_may_stand_in_the_query_and_the_header_counts_more() {
    let host = Host::default();
    let app = host.app(RunStore::new(), EVENTS, Duration::ZERO);
    let (id, body) = begin(&app).await;
    drop(body);
    settle().await;
    let query = |query: &str| {
        let request = Request::get(format!("/v1/runs/{id}/events{query}"));
        by("ada", request.body(Body::empty()).unwrap())
    };
    for (request, first) in [
        (query(""), 1),
        (query("?after=3"), 4),
        (query("?x=1&after=3"), 4),
        (with_header(query("?after=3"), "last-event-id", "5"), 6),
    ] {
        assert_eq!(ask(&app, request).await.events()[0].1, first.to_string());
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_goes_on_while_its_reader_is_away() {
    let host = Host::default();
    let app = host.app(RunStore::new(), EVENTS, Duration::from_secs(1));
    let (id, mut body) = begin(&app).await;
    read(&mut body, 1).await;
    drop(body);
    sleep(Duration::from_secs(30)).await;
    assert_eq!((host.counters.made(), host.counters.dropped()), (EVENTS, 1));
    let now = Instant::now();
    assert_eq!(ask(&app, resume(&id, 1)).await.events().len(), EVENTS - 1);
    assert_eq!(now.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_nobody_comes_back_for_is_dropped_and_cancelled_in_time() {
    let host = Host::default();
    let runs = RunStore::new().wait(Duration::from_secs(60));
    let app = host.app(runs.clone(), 1000, Duration::from_secs(1));
    let (id, mut body) = begin(&app).await;
    read(&mut body, 1).await;
    drop(body);
    sleep(Duration::from_secs(59)).await;
    assert_eq!((host.counters.dropped(), runs.len()), (0, 1));
    // Whoever comes and goes again begins the time anew.
    drop(go_on(&app, &id, 1).await);
    sleep(Duration::from_millis(59_999)).await;
    assert_eq!(host.counters.dropped(), 0);
    sleep(Duration::from_millis(2)).await;
    assert_eq!((host.counters.dropped(), runs.len()), (1, 0));
    assert!(host.is_cancelled());
    let answer = ask(&app, resume(&id, 1)).await;
    assert_eq!((answer.status.as_u16(), &answer.error()["code"]), (404, &"run_not_found".into()));
}

#[tokio::test(start_paused = true)]
async fn a_complete_run_stays_to_be_read_and_is_then_forgotten() {
    let host = Host::default();
    let runs = RunStore::new().wait(Duration::from_secs(60));
    let app = host.app(runs.clone(), EVENTS, Duration::ZERO);
    let (id, mut body) = begin(&app).await;
    read(&mut body, EVENTS).await;
    assert!(body.next().await.is_none());
    assert_eq!(host.counters.dropped(), 1, "a complete run holds nothing");
    assert!(!host.is_cancelled());
    drop(body);

    sleep(Duration::from_secs(59)).await;
    // Nothing to come is told so that an `EventSource` stays away.
    assert_eq!(ask(&app, resume(&id, EVENTS)).await.status, 204);
    sleep(Duration::from_secs(61)).await;
    assert_eq!(ask(&app, resume(&id, EVENTS)).await.status, 404);
    assert!(runs.is_empty());
}

#[tokio::test(start_paused = true)]
async fn only_who_began_a_run_gets_to_it() {
    let host = Host::default();
    let app = host.app(RunStore::new(), EVENTS, Duration::ZERO);
    let (id, _body) = begin(&app).await;
    settle().await;
    let strangers = [
        by("eve", resume(&id, 0)),
        with_header(resume(&id, 0), "x-tenant", "acme"),
        Request::get(format!("/v1/runs/{id}/events")).body(Body::empty()).unwrap(),
        by("eve", delete(&id)),
    ];
    let unknown = ask(&app, resume("0191d2a4-0000-7000-8000-000000000000", 0)).await;
    for stranger in strangers {
        let answer = ask(&app, stranger).await;
        assert_eq!((answer.status, &answer.body), (unknown.status, &unknown.body));
    }
    assert_eq!(ask(&app, resume(&id, 0)).await.status, 200);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_gone_on_with_is_told_apart() {
    let host = Host::default();
    let app = host.app(RunStore::new().events_per_run(4), EVENTS, Duration::ZERO);
    let (id, mut body) = begin(&app).await;
    read(&mut body, EVENTS).await;
    let header = |value: &str| with_header(resume(&id, 0), "last-event-id", value);
    for (request, status, code) in [
        (resume("no-id", 0), 404, "run_not_found"),
        (resume("0191d2a4-0000-7000-8000-000000000000", 0), 404, "run_not_found"),
        (header("soon"), 400, "invalid_event_id"),
        (header("-1"), 400, "invalid_event_id"),
        (header("18446744073709551616"), 400, "invalid_event_id"),
        (header("18446744073709551615"), 400, "unknown_event"),
        (resume(&id, EVENTS + 1), 400, "unknown_event"),
        (resume(&id, 3), 410, "events_gone"),
    ] {
        let answer = ask(&app, request).await;
        assert_eq!((answer.status.as_u16(), &answer.error()["code"]), (status, &code.into()));
    }
    assert_eq!(ask(&app, resume(&id, EVENTS - 4)).await.events().len(), 4);
}

fn delete(id: &str) -> Request<Body> {
    by("ada", Request::delete(format!("/v1/runs/{id}")).body(Body::empty()).unwrap())
}

#[tokio::test(start_paused = true)]
async fn a_run_waits_when_its_room_is_full_whether_its_reader_is_slow_or_away() {
    for away in [false, true] {
        let host = Host::default();
        let app = host.app(RunStore::new().events_per_run(20), 1000, Duration::ZERO);
        let (id, mut body) = begin(&app).await;
        let mut seen = read(&mut body, 50).await;
        if away {
            drop(body);
            settle().await;
            assert_eq!(host.counters.made(), 60);
            sleep(Duration::from_secs(50)).await;
            body = go_on(&app, &id, 50).await;
        }
        settle().await;
        assert_eq!(host.counters.made(), 60, "half of the room is for what is to be read");
        seen += &read(&mut body, 950).await;
        assert_eq!(seen, whole(1000).await);
        assert!(body.next().await.is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn bytes_count_too_and_one_event_may_be_larger_than_all_of_them() {
    for (bytes, ahead) in [(1, 1), (100, 1), (1000, 8)] {
        let host = Host::default();
        let app = host.app(RunStore::new().bytes_per_run(bytes), 100, Duration::ZERO);
        let (_, mut body) = begin(&app).await;
        settle().await;
        // Some 67 bytes an event; those to be read may fill half of the room, and one goes beyond.
        assert_eq!(host.counters.made(), ahead, "{bytes} bytes");
        assert_eq!(read(&mut body, 100).await, whole(100).await);
    }
}

#[tokio::test(start_paused = true)]
async fn the_latest_reader_counts() {
    let host = Host::default();
    let app = host.app(RunStore::new(), EVENTS, Duration::from_secs(1));
    let (id, mut first) = begin(&app).await;
    read(&mut first, 2).await;
    let mut second = go_on(&app, &id, 1).await;
    let end = read(&mut first, 1).await;
    assert!(end.starts_with("event: error\ndata: ") && end.contains("taken_over"), "{end}");
    assert!(first.next().await.is_none());
    // That the first one leaves is no news.
    drop(first);
    sleep(Duration::from_secs(100)).await;
    assert_eq!(read(&mut second, EVENTS - 1).await.matches("\nid: ").count(), EVENTS - 1);
}

#[tokio::test(start_paused = true)]
async fn too_many_runs_are_refused_before_the_agent_is_asked() {
    let host = Host::default();
    let runs = RunStore::new().max_runs(3).max_runs_per_user(2);
    let app = host.app(runs.clone(), EVENTS, Duration::from_secs(1));
    let (_first, mut second) = (begin(&app).await, begin(&app).await);
    let refused = ask(&app, start()).await;
    assert_eq!((refused.status.as_u16(), refused.header("retry-after")), (429, "1"));
    assert_eq!(refused.error()["code"], "rate_limit_exceeded");

    let bobs = app.clone().oneshot(by("bob", start())).await.unwrap();
    assert_eq!(bobs.status(), 200);
    let refused = ask(&app, by("cleo", start())).await;
    assert_eq!((refused.status.as_u16(), refused.header("retry-after")), (503, "1"));
    assert_eq!(host.counters.started(), 3);

    // What was read to its end makes room.
    read(&mut second.1, EVENTS).await;
    assert!(second.1.next().await.is_none());
    drop(second.1);
    drop(begin(&app).await);
    assert_eq!(ask(&app, resume(&second.0, EVENTS)).await.status, 404);
    assert_eq!(runs.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_failed_head_gives_its_place_back() {
    let agent = service_fn(|_: RunRequest| async {
        Err::<RunResponse, _>(Error::new(tower_agent_core::ErrorKind::Unavailable, "away"))
    });
    let runs = RunStore::new().max_runs(1);
    let app: Router = run_router(agent).resumable(runs.clone()).into();
    for _ in 0..3 {
        let answer = ask(&app, start()).await;
        assert_eq!((answer.status.as_u16(), &answer.error()["code"]), (503, &"unavailable".into()));
    }
    assert!(runs.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_deleted_run_is_dropped_and_its_reader_told() {
    let host = Host::default();
    let runs = RunStore::new();
    let app = host.app(runs.clone(), EVENTS, Duration::from_secs(1));
    let (id, mut body) = begin(&app).await;
    read(&mut body, 2).await;
    assert_eq!(ask(&app, delete(&id)).await.status, 204);
    let end = read(&mut body, 1).await;
    assert!(end.starts_with("event: error\ndata: ") && end.contains("run_stopped"), "{end}");
    assert!(body.next().await.is_none());
    assert!(host.is_cancelled() && runs.is_empty());
    assert_eq!(host.counters.dropped(), 1);
    assert_eq!(ask(&app, delete(&id)).await.status, 404);
}

#[tokio::test(start_paused = true)]
async fn whole_answers_are_not_kept_and_their_connection_is_the_run() {
    let host = Host::default();
    let runs = RunStore::new();
    let app = host.app(runs.clone(), EVENTS, Duration::from_secs(1));
    let answer = ask(&app, wants_json(start())).await;
    assert_eq!(ask(&app, resume(answer.header("x-run-id"), 0)).await.status, 404);
    assert!(app.oneshot(wants_json(start())).now_or_never().is_none());
    assert_eq!(host.counters.dropped(), 2);
    assert!(runs.is_empty());
}

#[tokio::test(start_paused = true)]
async fn without_it_there_are_no_such_routes() {
    let agent = service_fn(|_: RunRequest| async {
        Ok::<_, Error>(RunResponse::new(stream::iter(made(3).into_iter().map(Ok))))
    });
    let app: Router = run_router(agent).into();
    let answer = ask(&app, start()).await;
    let id = answer.header("x-run-id");
    assert_eq!(ask(&app, resume(id, 0)).await.status, 404);
    assert_eq!(ask(&app, delete(id)).await.status, 404);
}

#[tokio::test(start_paused = true)]
async fn a_look_at_the_head_does_not_take_the_run_from_its_reader() {
    let host = Host::default();
    let app = host.app(RunStore::new(), EVENTS, Duration::from_secs(1));
    let (id, mut body) = begin(&app).await;
    let mut head = resume(&id, 0);
    *head.method_mut() = http::Method::HEAD;
    assert_eq!(ask(&app, head).await.status, 405);
    assert!(!read(&mut body, EVENTS).await.contains("taken_over"));
}

#[tokio::test(start_paused = true)]
async fn the_last_handle_of_the_store_takes_the_runs_with_it() {
    let host = Host::default();
    let app = host.app(RunStore::new(), EVENTS, Duration::from_secs(1));
    let (_, mut body) = begin(&app).await;
    read(&mut body, 1).await;
    assert_eq!(host.counters.dropped(), 0);
    drop(app);
    settle().await;
    assert_eq!(host.counters.dropped(), 1);
    assert!(read(&mut body, 1).await.contains("run_stopped"));
    assert!(body.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_run_that_panics_ends_for_its_reader_and_frees_its_place() {
    let agent = service_fn(|_: RunRequest| async {
        let events = stream::iter([1, 2]).map(|turn| match turn {
            1 => Ok(RunEvent::TurnStarted { turn }),
            _ => panic!("a bug of the agent"),
        });
        Ok::<_, Error>(RunResponse::new(events))
    });
    let runs = RunStore::new();
    let app: Router = run_router(agent).resumable(runs.clone()).into();
    let answer = Answer::of(app.clone().oneshot(start()).await.unwrap()).await;
    let events: Vec<_> = answer.events().into_iter().map(|(name, ..)| name).collect();
    assert_eq!(events, ["turn_started", "error"]);
    assert!(!answer.body.contains("a bug"));
    assert!(runs.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_shutdown_lets_runs_finish_whose_readers_are_away_and_drops_the_rest_in_time() {
    for (grace, dropped_early) in [(20, false), (5, true)] {
        let host = Host::default();
        let runs = RunStore::new();
        let app = host.app(runs.clone(), EVENTS, Duration::from_secs(1));
        drop(begin(&app).await);
        let begun = Instant::now();
        runs.shutdown(Duration::from_secs(grace)).await;
        assert_eq!(begun.elapsed().as_secs(), if dropped_early { grace } else { 12 });
        assert_eq!((host.is_cancelled(), host.counters.dropped()), (dropped_early, 1));
        assert_eq!(ask(&app, start()).await.status, 503, "no more are taken");
        assert!(runs.is_empty());
    }
}
