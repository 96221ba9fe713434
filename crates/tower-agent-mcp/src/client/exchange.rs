//! One request and its reply: with time-outs that progress puts off, and with a word to the server when it is given up.

use std::{future::pending, sync::Arc, time::Duration};

use rmcp::{
    RoleClient,
    model::{ClientRequest, ProgressNotificationParam, RequestId, RequestMetaObject},
    service::{Peer, PeerRequestOptions, RequestHandle},
};
use tokio::{
    sync::{
        broadcast::{self, error::RecvError},
        mpsc,
    },
    time::{Instant, sleep_until},
};
use tower_agent_core::{CancellationToken, Effect, Error, ErrorKind, Json, Str};

use super::{fault, pending::Questions, raw::Reply, tap::Wire};

/// A request that nobody waits for any more, with the reason.
pub(crate) type Abandoned = (RequestId, &'static str);

/// A connection as its calls see it.
#[derive(Clone)]
pub(crate) struct Link {
    pub(crate) server: Str,
    pub(crate) peer: Peer<RoleClient>,
    pub(crate) wire: Arc<Wire>,
    pub(crate) abandoned: mpsc::UnboundedSender<Abandoned>,
}

/// How long a reply may take.
#[derive(Clone, Copy)]
pub(crate) struct Patience {
    /// From the request, or from the last sign of progress.
    pub(crate) idle: Duration,
    /// In all.
    pub(crate) total: Duration,
    /// When the run must be over.
    pub(crate) deadline: Option<std::time::Instant>,
}

/// Tells the server that nobody waits any more, unless the reply came.
struct Guard {
    abandoned: mpsc::UnboundedSender<Abandoned>,
    request: Option<Abandoned>,
}

impl Guard {
    fn because(&mut self, reason: &'static str) {
        if let Some((_, before)) = &mut self.request {
            *before = reason;
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(request) = self.request.take() {
            // Without a keeper the connection ends, and the server with it.
            drop(self.abandoned.send(request));
        }
    }
}

type Progress = ProgressNotificationParam;

/// What goes with a request, and how long its reply may take.
pub(crate) struct Terms<'a> {
    pub(crate) patience: Patience,
    pub(crate) cancellation: &'a CancellationToken,
    /// In the place of what the connection says of itself with each request.
    pub(crate) meta: Option<RequestMetaObject>,
    /// Those that this request answers, if it does.
    pub(crate) questions: Option<Questions<'a>>,
}

impl<'a> Terms<'a> {
    pub(crate) const fn new(patience: Patience, cancellation: &'a CancellationToken) -> Self {
        Self { patience, cancellation, meta: None, questions: None }
    }
}

/// A request that was sent.
struct Wait<'a> {
    handle: RequestHandle<RoleClient>,
    reports: broadcast::Receiver<Progress>,
    terms: Terms<'a>,
    end: Instant,
}

async fn step(questions: &mut Option<Questions<'_>>) {
    match questions {
        Some(questions) => questions.step().await,
        None => pending().await,
    }
}

impl Link {
    /// Sends a request that is marked as raw and waits for its reply.
    pub(crate) async fn ask(
        &self,
        request: ClientRequest,
        terms: Terms<'_>,
        mut on_progress: impl FnMut(&Progress),
    ) -> Result<Json, Error> {
        let (total, end) = (terms.patience.total, terms.patience.end());
        // Reports may come before this call knows their token.
        let reports = self.wire.progress.subscribe();
        let mut options = PeerRequestOptions::no_options();
        options.meta = terms.meta.clone();
        let sent = self.peer.send_cancellable_request(request, options);
        let handle = match tokio::time::timeout_at(end, sent).await {
            Ok(handle) => {
                handle.map_err(|_| fault::away(&self.server, "the connection is closed"))?
            }
            Err(_) => return Err(self.late("took no call", total, Effect::NotStarted)),
        };
        let mut guard = Guard {
            abandoned: self.abandoned.clone(),
            request: Some((handle.id.clone(), "the call was dropped")),
        };
        let wait = Wait { handle, reports, terms, end };
        let reply = self.wait(wait, &mut guard, &mut on_progress).await?;
        guard.request = None;
        match reply {
            Ok(Reply::Text(json)) => Ok(json),
            Ok(Reply::Flaw(flaw)) => Err(fault::malformed(&self.server, &flaw)),
            Err(error) => Err(error),
        }
    }

    /// The outer result is an error when the server still works on the request.
    async fn wait(
        &self,
        wait: Wait<'_>,
        guard: &mut Guard,
        on_progress: &mut impl FnMut(&Progress),
    ) -> Result<Result<Reply, Error>, Error> {
        let Wait { mut handle, mut reports, terms, end } = wait;
        let Terms { patience, cancellation, mut questions, .. } = terms;
        let mut idle = after(patience.idle);
        let is_ours = |report: &Progress| report.progress_token == handle.progress_token;
        loop {
            let is_asked = questions.as_ref().is_some_and(Questions::are_open);
            tokio::select! {
                biased;
                reply = &mut handle.rx => {
                    while let Ok(report) = reports.try_recv() {
                        if report.progress_token == handle.progress_token { on_progress(&report); }
                    }
                    return Ok(match reply {
                        Ok(Ok(result)) => Ok(Reply::of(result)),
                        Ok(Err(error)) => Err(fault::request(&self.server, error)),
                        Err(_) => Err(fault::gone(&self.server)),
                    });
                }
                () = self.wire.closed.cancelled() => return Ok(Err(fault::gone(&self.server))),
                () = cancellation.cancelled() => {
                    guard.because("the run was cancelled");
                    return Err(fault::error(ErrorKind::Cancelled, "the run was cancelled"));
                }
                () = sleep_until(end) => {
                    guard.because("the call took too long");
                    return Err(self.late("did not finish", patience.total, Effect::Unknown));
                }
                // While the server waits for an answer, it makes no progress.
                () = step(&mut questions) => idle = after(patience.idle),
                report = reports.recv() => match report {
                    Ok(report) if is_ours(&report) => {
                        idle = after(patience.idle);
                        on_progress(&report);
                    }
                    Ok(_) => {}
                    // Among the many that were missed one may have been ours.
                    Err(RecvError::Lagged(_)) => idle = after(patience.idle),
                    Err(RecvError::Closed) => return Ok(Err(fault::gone(&self.server))),
                },
                () = sleep_until(idle), if !is_asked => {
                    guard.because("the call showed no progress for too long");
                    return Err(self.late("showed no progress", patience.idle, Effect::Unknown));
                }
            }
        }
    }

    fn late(&self, what: &str, after: Duration, effect: Effect) -> Error {
        fault::timeout(&format!("server `{}` {what}", self.server), after).with_effect(effect)
    }
}

impl Patience {
    /// When nobody waits any longer, whatever the number of requests.
    pub(crate) fn latest(&self) -> std::time::Instant {
        self.end().into_std()
    }

    fn end(&self) -> Instant {
        let end = after(self.total);
        self.deadline.map_or(end, |deadline| end.min(Instant::from_std(deadline)))
    }
}

fn after(wait: Duration) -> Instant {
    let now = Instant::now();
    // Too far away ever to come, and near enough to be a time.
    now.checked_add(wait).unwrap_or_else(|| now + Duration::from_secs(86400 * 365 * 30))
}
