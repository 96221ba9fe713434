//! The agent over services that fail in every way: one output per call, and nothing goes on after a drop.

use std::{future::Future, time::Duration};

use futures_util::StreamExt as _;
use proptest::{collection, prelude::*};
use tokio::time::timeout;
use tower::{ServiceBuilder, ServiceExt as _};
use tower_agent::{
    Agent, CatchPanicLayer, Error, ReportErrorsLayer, RunEvent, RunRequest, TimeoutLayer, Tool,
    ToolSet, ToolSpec,
};
use tower_agent_test::{Plan, Probe, ScriptedModel, Turn};

use super::random::poll_at_most;

/// A run whose model asks for `plans.len()` calls at once, and then answers.
#[derive(Clone, Debug)]
struct Story {
    plans: Vec<Plan>,
    parallel: usize,
    streamed: bool,
    permits: Option<usize>,
    /// After how many polls the reader drops the run, if it does.
    drop_after: Option<usize>,
}

fn story() -> impl Strategy<Value = Story> {
    let plans = collection::vec(any::<u64>().prop_map(Plan::from_seed), 1..5);
    let drop_after = proptest::option::of(0..40usize);
    (plans, 1..4usize, any::<bool>(), proptest::option::of(1..3usize), drop_after).prop_map(
        |(plans, parallel, streamed, permits, drop_after)| Story {
            plans,
            parallel,
            streamed,
            permits,
            drop_after,
        },
    )
}

fn key(number: usize) -> String {
    format!("c{number}")
}

fn model(story: &Story) -> ScriptedModel {
    let asks = story.plans.iter().enumerate().fold(Turn::text("I look."), |turn, (number, _)| {
        turn.and_tool_call(key(number), "probe", "{}")
    });
    let (asks, answers) = (asks.in_pieces(3), Turn::text("Done.").in_pieces(2));
    ScriptedModel::new([asks.streamed(story.streamed), answers.streamed(story.streamed)])
}

/// Runs the story and returns the events that were read, the last one an error if the run failed.
async fn play(story: &Story, contained: bool) -> Vec<Result<RunEvent, Error>> {
    let mut probe = Probe::builder();
    if let Some(permits) = story.permits {
        probe = probe.permits(permits);
    }
    for (number, plan) in story.plans.iter().enumerate() {
        probe = probe.plan_for(key(number), plan.clone());
    }
    let (probe, handle) = probe.build();
    let tool = Tool::new(ToolSpec::new("probe", "What is tested."), probe);
    let tools = if contained {
        let layers = ServiceBuilder::new()
            .layer(ReportErrorsLayer::new())
            .layer(CatchPanicLayer::new())
            .layer(TimeoutLayer::new(Duration::from_secs(60)));
        ToolSet::builder().tool(tool).layer(layers).build().unwrap()
    } else {
        ToolSet::builder().tool(tool).build().unwrap()
    };
    let agent = Agent::builder("helper", model(story)).tools(tools).parallel_calls(story.parallel);
    let mut request = RunRequest::user("hello");
    request.stream = story.streamed;

    let response = agent.build().oneshot(request).await.unwrap();
    let events = response.body.into_stream().collect::<Vec<_>>();
    let patient = timeout(Duration::from_secs(3600), events);
    let read = poll_at_most(patient, story.drop_after.unwrap_or(usize::MAX)).await;
    handle.verify_idle();
    assert_eq!(handle.counts().instances, 0);
    read.and_then(Result::ok).unwrap_or_default()
}

fn ids(events: &[Result<RunEvent, Error>], finished: bool) -> Vec<String> {
    let ids = events.iter().filter_map(|event| match event {
        Ok(RunEvent::ToolStarted { id, .. }) if !finished => Some(id.to_string()),
        Ok(RunEvent::ToolFinished(record)) if finished => Some(record.id.to_string()),
        _ => None,
    });
    let mut ids: Vec<_> = ids.collect();
    ids.sort();
    ids
}

fn run<T>(story: impl Future<Output = T>) -> T {
    tower_agent_tests::set_up();
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_time().start_paused(true).build().unwrap().block_on(story)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_call_of_a_run_has_exactly_one_output_behind_the_layers_that_contain_failures(
        story in story(),
    ) {
        let whole = Story { drop_after: None, ..story };
        let events = run(play(&whole, true));
        prop_assert!(
            matches!(events.last(), Some(Ok(RunEvent::Finished { .. }))), "{:?}", events.last()
        );
        let all: Vec<_> = (0..whole.plans.len()).map(key).collect();
        prop_assert_eq!(ids(&events, false), all.clone());
        prop_assert_eq!(ids(&events, true), all);
    }

    #[test]
    fn a_run_that_is_dropped_or_fails_leaves_nothing_behind(story in story(), contained in any::<bool>()) {
        let events = run(play(&story, contained));
        // A call that had not begun when the run ended may have an output, but never two.
        for ids in [ids(&events, true), ids(&events, false)] {
            let mut distinct = ids.clone();
            distinct.dedup();
            prop_assert_eq!(distinct, ids);
        }
    }
}
