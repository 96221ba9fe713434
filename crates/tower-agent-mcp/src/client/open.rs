//! The calls that are open on a connection. What a server logs or asks does not always say which of them it belongs to.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rmcp::{model::RequestId, service::InboundStreamOrigin};
use tokio::sync::{mpsc, oneshot};
use tower_agent_core::{Context, Error, Json, Str};

use super::{
    Ask,
    events::{Log, OnLog},
};

/// How many questions of one call may wait to be looked at.
const QUESTIONS: usize = 8;

/// A question on its way to its call, and the way back.
pub(crate) struct Asked {
    pub(crate) ask: Ask,
    pub(crate) params: Json,
    pub(crate) answer: oneshot::Sender<Result<Json, Error>>,
}

#[derive(Default)]
pub(crate) struct OpenCalls(Mutex<Calls>);

#[derive(Default)]
struct Calls {
    next: u64,
    /// In the order in which they began.
    open: Vec<Open>,
}

struct Open {
    key: u64,
    /// Unknown until it is sent.
    id: Option<RequestId>,
    run: Str,
    session: Option<Str>,
    questions: mpsc::Sender<Asked>,
    on_log: Option<OnLog>,
}

impl Open {
    /// Whether what is meant for one of two calls may as well be told the other.
    fn is_kin_of(&self, other: &Self) -> bool {
        match (&self.session, &other.session) {
            (Some(one), Some(other)) => one == other,
            (None, None) => self.run == other.run,
            _ => false,
        }
    }
}

impl OpenCalls {
    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a call that begins, until the entry is dropped.
    pub(crate) fn begin(&self, ctx: &Context) -> (Entry<'_>, mpsc::Receiver<Asked>) {
        let (questions, asked) = mpsc::channel(QUESTIONS);
        let mut calls = self.calls();
        let key = calls.next;
        calls.next = calls.next.wrapping_add(1);
        calls.open.push(Open {
            key,
            id: None,
            run: ctx.run().id().clone(),
            session: ctx.run().session().cloned(),
            questions,
            on_log: ctx.extensions.get::<OnLog>().cloned(),
        });
        (Entry { calls: self, key }, asked)
    }

    /// Notes under which id a call is sent.
    pub(crate) fn sent(&self, key: u64, id: &RequestId) {
        if let Some(call) = self.calls().open.iter_mut().find(|call| call.key == key) {
            call.id = Some(id.clone());
        }
    }

    /// The way to the call that a question belongs to: that of its stream, and otherwise the last one, if all are of one caller.
    pub(crate) fn asked(
        &self,
        origin: Option<&InboundStreamOrigin>,
    ) -> Option<mpsc::Sender<Asked>> {
        let calls = self.calls();
        let found = match origin {
            Some(InboundStreamOrigin::OutboundRequest(id)) => {
                calls.open.iter().find(|call| call.id.as_ref() == Some(id))
            }
            _ => calls.open.last().filter(|last| calls.open.iter().all(|one| one.is_kin_of(last))),
        };
        found.map(|call| call.questions.clone())
    }

    /// Tells a line to the last call of each caller that wants to hear it, and whether there was one.
    pub(crate) fn log(&self, log: &Log) -> bool {
        let calls = self.calls();
        let mut told: Vec<&Open> = Vec::new();
        for call in calls.open.iter().rev().filter(|call| call.on_log.is_some()) {
            if !told.iter().any(|other| other.is_kin_of(call)) {
                told.push(call);
            }
        }
        let listeners: Vec<OnLog> = told.iter().filter_map(|call| call.on_log.clone()).collect();
        drop(calls);
        for listener in &listeners {
            listener.tell(log);
        }
        !listeners.is_empty()
    }
}

/// A call that is open as long as this lives.
pub(crate) struct Entry<'a> {
    calls: &'a OpenCalls,
    pub(crate) key: u64,
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        self.calls.calls().open.retain(|call| call.key != self.key);
    }
}

#[cfg(test)]
mod tests {
    use tower_agent_core::Run;

    use super::*;

    /// Calls as `session/run`, and whose question one is that came on no stream of its own.
    #[test]
    fn a_question_without_a_stream_is_told_nobody_who_did_not_call() {
        let table: [(&[&str], Option<usize>); 8] = [
            (&[], None),
            (&["/r1"], Some(0)),
            (&["/r1", "/r1"], Some(1)),
            (&["/r1", "/r2"], None),
            (&["s1/r1", "s1/r2"], Some(1)),
            (&["s1/r1", "s2/r2"], None),
            (&["s1/r1", "/r1"], None),
            (&["s1/r1", "s1/r2", "s2/r3"], None),
        ];
        for (callers, expected) in table {
            let open = OpenCalls::default();
            let mut entries: Vec<_> = callers.iter().map(|who| open.begin(&context(who))).collect();
            let asked = open.asked(None);
            assert_eq!(asked.is_some(), expected.is_some(), "{callers:?}");
            if let (Some(way), Some(at)) = (asked, expected) {
                let (answer, _) = oneshot::channel();
                way.try_send(Asked { ask: Ask::Roots, params: Json::object(), answer }).unwrap();
                assert!(entries[at].1.try_recv().is_ok(), "{callers:?}");
            }
        }
    }

    #[test]
    fn a_question_on_the_stream_of_a_call_is_that_calls_whoever_else_calls() {
        let open = OpenCalls::default();
        let (first, mut questions) = open.begin(&context("s1/r1"));
        let (second, _) = open.begin(&context("s2/r2"));
        open.sent(first.key, &RequestId::Number(7));
        open.sent(second.key, &RequestId::Number(8));
        let of = |id| InboundStreamOrigin::OutboundRequest(RequestId::Number(id));
        let (answer, _) = oneshot::channel();
        let asked = Asked { ask: Ask::Roots, params: Json::object(), answer };
        open.asked(Some(&of(7))).unwrap().try_send(asked).unwrap();
        assert!(questions.try_recv().is_ok());
        // That of another request than a call.
        assert!(open.asked(Some(&of(9))).is_none());
        drop((first, second));
        assert!(open.asked(Some(&of(7))).is_none());
    }

    fn context(who: &str) -> Context {
        let (session, run) = who.split_once('/').unwrap();
        let builder = Run::builder(run.to_owned());
        let builder =
            if session.is_empty() { builder } else { builder.session(session.to_owned()) };
        builder.build()
    }
}
