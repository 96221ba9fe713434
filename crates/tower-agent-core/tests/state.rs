//! What the hooks and tools of one run share.
#![cfg(test)]

use std::sync::Arc;

use tower_agent_core::{Context, Run, RunState};

fn count(ctx: &Context) -> u64 {
    ctx.state().update("calls", |calls: Option<u64>| calls.unwrap_or(0) + 1).unwrap()
}

async fn at_once(count: usize, work: impl Fn() + Clone + Send + 'static) {
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..count {
        let work = work.clone();
        tasks.spawn(async move {
            tokio::task::yield_now().await;
            work();
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn fifty_increments_at_once_are_fifty() {
    let state = RunState::new();
    let shared = state.clone();
    at_once(50, move || {
        shared.update("n", |n: Option<u32>| n.unwrap_or(0) + 1).unwrap();
        shared.update_typed(|n: &mut u32| *n += 1);
    })
    .await;
    assert_eq!(state.get::<u32>("n"), Some(50));
    assert_eq!(state.typed::<u32>(), Some(50));
}

#[test]
fn three_runs_in_two_sessions_count_one_each() {
    let run = |id: &str, session: &str| Run::builder(id).session(session).build();
    let runs = [run("r1", "s1"), run("r2", "s1"), run("r3", "s2")];
    assert_eq!(runs.each_ref().map(count), [1, 1, 1]);
    assert_eq!(runs.each_ref().map(count), [2, 2, 2]);
}

#[test]
fn a_nested_run_has_a_state_of_its_own_and_the_identity_of_its_parent() {
    let parent = Run::builder("outer").user("ada").session("s1").tenant("acme").build();
    assert_eq!(count(&parent), 1);
    let nested = parent.nested("inner", "c1".into());
    assert_eq!(count(&nested), 1);
    assert_eq!(nested.run().user().unwrap(), "ada");
    assert_eq!(nested.run().tenant().unwrap(), "acme");
    assert_eq!(nested.run().parent().unwrap().id(), "outer");
    assert_eq!(nested.run().parent_call().unwrap(), "c1");
    assert!(!nested.same_run(&parent));
    parent.cancellation().cancel();
    assert!(nested.cancellation().is_cancelled());
}

#[test]
fn cancelling_a_nested_run_leaves_its_parent_alone() {
    let parent = Run::builder("outer").build();
    parent.nested("inner", "c1".into()).cancellation().cancel();
    assert!(!parent.cancellation().is_cancelled());
}

#[test]
fn all_clones_of_a_context_share_the_run_but_not_the_call() {
    let ctx = Run::builder("r1").build();
    let mut call = ctx.clone();
    call.attempt = 3;
    call.extensions.insert(7u8);
    assert_eq!((count(&ctx), count(&call)), (1, 2));
    assert!(call.same_run(&ctx));
    assert_eq!(ctx.attempt, 1);
    assert!(ctx.extensions.is_empty());
}

#[test]
fn two_contexts_that_no_host_made_share_nothing() {
    assert_eq!((count(&Context::default()), count(&Context::default())), (1, 1));
}

#[test]
fn a_new_state_is_empty() {
    for state in [RunState::new(), RunState::default()] {
        assert!(!state.contains("key"));
        assert_eq!(state.get::<u32>("key"), None);
        assert_eq!(state.typed::<u32>(), None);
    }
}

#[test]
fn what_was_set_is_what_one_gets() {
    let state = RunState::new();
    state.set("key", vec![1, 2]).unwrap();
    state.insert(String::from("typed"));
    assert_eq!(state.get::<Vec<u8>>("key"), Some(vec![1, 2]));
    assert_eq!(state.typed::<String>().as_deref(), Some("typed"));
}

#[test]
fn setting_again_replaces() {
    let state = RunState::new();
    state.set("key", 1).unwrap();
    state.set("key", "two").unwrap();
    assert_eq!(state.get::<String>("key").as_deref(), Some("two"));
    assert_eq!(state.insert(1u8), None);
    assert_eq!(state.insert(2u8), Some(1));
    assert_eq!(state.typed::<u8>(), Some(2));
}

#[test]
fn values_of_different_types_and_keys_live_side_by_side() {
    let state = RunState::new();
    state.insert(1u8);
    state.insert(2u16);
    state.set("u8", 3).unwrap();
    state.set("u16", 4).unwrap();
    assert_eq!((state.typed::<u8>(), state.typed::<u16>()), (Some(1), Some(2)));
    assert_eq!((state.get::<u8>("u8"), state.get::<u16>("u16")), (Some(3), Some(4)));
}

#[test]
fn a_key_is_contained_from_its_setting_to_its_removal() {
    let state = RunState::new();
    assert!(!state.contains("key"));
    state.set("key", 1).unwrap();
    assert!(state.contains("key"));
    assert_eq!(state.remove("key"), Some(1.into()));
    assert!(!state.contains("key"));
    assert_eq!(state.get::<u8>("key"), None);
}

#[test]
fn what_was_taken_is_gone() {
    let state = RunState::new();
    state.insert(1u8);
    assert_eq!(state.take::<u8>(), Some(1));
    assert_eq!(state.typed::<u8>(), None);
}

#[test]
fn removing_nothing_gives_nothing() {
    let state = RunState::new();
    assert_eq!(state.remove("key"), None);
    assert_eq!(state.take::<u8>(), None);
}

#[test]
fn a_value_of_another_type_is_not_there() {
    let state = RunState::new();
    state.set("key", "text").unwrap();
    assert_eq!(state.get::<u64>("key"), None);
    assert!(state.contains("key"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_beside_a_writer_never_fails_and_sees_the_last_write() {
    let state = RunState::new();
    let (writer, reader) = (state.clone(), state.clone());
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(async move {
        for n in 1..=100u32 {
            writer.set("n", n).unwrap();
            writer.insert(n);
            tokio::task::yield_now().await;
        }
    });
    tasks.spawn(async move {
        let mut last = 0;
        for _ in 0..100 {
            let now = reader.get::<u32>("n").unwrap_or(0);
            assert!(now >= last);
            last = now;
            let _ = reader.typed::<u32>();
            tokio::task::yield_now().await;
        }
    });
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
    assert_eq!(state.get::<u32>("n"), Some(100));
    assert_eq!(state.typed::<u32>(), Some(100));
}

#[test]
fn an_update_that_panics_or_has_no_json_form_changes_nothing() {
    let state = RunState::new();
    state.set("n", 1).unwrap();
    let panicking = state.clone();
    let panic = std::panic::catch_unwind(move || panicking.update("n", |_: Option<u32>| panic!()));
    assert!(panic.is_err());
    assert_eq!(state.get::<u32>("n"), Some(1));

    let no_json = std::collections::HashMap::from([((1, 2), 3)]);
    assert!(state.set("n", &no_json).is_err());
    assert_eq!(state.get::<u32>("n"), Some(1));
}

#[test]
fn debug_shows_keys_but_no_values() {
    let state = RunState::new();
    state.set("key", "hunter2").unwrap();
    state.insert(Arc::new(String::from("hunter3")));
    let shown = format!("{state:?}");
    assert!(shown.contains("key") && !shown.contains("hunter"), "{shown}");
}
