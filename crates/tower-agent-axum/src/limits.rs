//! How much callers may ask for.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use tokio::time::Instant;

use crate::{ApiError, identity::Caller};

/// How many calls all callers and each of them may make, over all routers that share it.
///
/// ```
/// use std::time::Duration;
/// use axum::Router;
/// use tower_agent_axum::{Limits, chat_router, messages_router};
///
/// let limits = Limits::new()
///     .calls(512)
///     .calls_per_user(4)
///     .rate_per_user(60, Duration::from_secs(60));
/// // What one user does here counts there.
/// let app: Router = Router::new()
///     .merge(chat_router().limits(limits.clone()))
///     .merge(messages_router().limits(limits));
/// # let _ = app;
/// ```
///
/// A user is who the host's [`Identity`](crate::Identity) names by user and tenant. Callers without a name count as one.
/// Clones share what they count.
///
/// # What counts
///
/// A call counts from before its body is read until the last byte of its answer was made, or it was dropped. A
/// [resumable](crate::RunRouter::resumable) run counts until it ended, also while its reader is away; to read it on is no
/// call. What was refused does not count.
///
/// # Answers
///
/// 429 where the caller is at its own limit, 503 where the host is at its own, both with `Retry-After` and in the form of
/// the route's errors. Nobody waits: a queue would only hold connections. The agent is not asked.
///
/// # Placement
///
/// These know the caller and hold until a stream ends. What knows the agent belongs around the agent: budgets, load
/// shedding, a limit of model calls at once.
#[derive(Clone, Default)]
pub struct Limits {
    bounds: Bounds,
    shared: Arc<Mutex<Table>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Bounds {
    calls: Option<usize>,
    calls_per_user: Option<usize>,
    rate: Option<Rate>,
}

/// One call an interval, and as many at once as were not made in a period.
#[derive(Clone, Copy, Debug)]
struct Rate {
    interval: Duration,
    period: Duration,
}

#[derive(Default)]
struct Table {
    callers: HashMap<Caller, Usage>,
    calls: usize,
    /// How many callers there may be before those that are not limited any more are forgotten.
    sweep_at: usize,
}

#[derive(Clone, Copy, Default)]
struct Usage {
    calls: usize,
    /// When all calls that were made will have had their interval.
    spent_until: Option<Instant>,
}

impl Limits {
    /// Nothing is limited yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The most calls at once, of all callers together. More are answered with 503.
    #[must_use]
    pub const fn calls(mut self, limit: usize) -> Self {
        self.bounds.calls = Some(limit);
        self
    }

    /// The most calls at once of one user. More are answered with 429.
    #[must_use]
    pub const fn calls_per_user(mut self, limit: usize) -> Self {
        self.bounds.calls_per_user = Some(limit);
        self
    }

    /// The most calls of one user in a time. More are answered with 429, which says when the next one may be made.
    ///
    /// They may be made all at once; after that, one is free again with each `per / calls` that passes. Zero calls are
    /// taken for one.
    #[must_use]
    pub fn rate_per_user(mut self, calls: u32, per: Duration) -> Self {
        self.bounds.rate = Some(Rate { interval: per / calls.max(1), period: per });
        self
    }

    /// Lets a call in, or says why not.
    pub(crate) fn admit(&self, caller: Caller) -> Result<Permit, ApiError> {
        let now = Instant::now();
        let mut table = lock(&self.shared);
        table.sweep(now);
        let usage = table.callers.get(&caller).copied().unwrap_or_default();
        if is_at(usage.calls, self.bounds.calls_per_user) {
            return Err(ApiError::rate_limited("too many of your requests are running"));
        }
        let spent_until = match self.bounds.rate {
            Some(rate) => Some(rate.spend(usage.spent_until, now).map_err(too_often)?),
            None => None,
        };
        if is_at(table.calls, self.bounds.calls) {
            return Err(ApiError::overloaded("too many requests are running"));
        }
        table.calls += 1;
        let usage = Usage { calls: usage.calls + 1, spent_until };
        table.callers.insert(caller.clone(), usage);
        drop(table);
        Ok(Permit { table: Arc::downgrade(&self.shared), caller })
    }
}

impl fmt::Debug for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let table = lock(&self.shared);
        f.debug_struct("Limits")
            .field("bounds", &self.bounds)
            .field("calls", &table.calls)
            .field("callers", &table.callers.len())
            .finish()
    }
}

const fn is_at(calls: usize, limit: Option<usize>) -> bool {
    matches!(limit, Some(limit) if calls >= limit)
}

fn too_often(wait: Duration) -> ApiError {
    ApiError::rate_limited("you send requests too often").with_retry_after(wait)
}

impl Rate {
    /// One call more, or how long to wait for it.
    fn spend(self, until: Option<Instant>, now: Instant) -> Result<Instant, Duration> {
        let begin = until.map_or(now, |until| until.max(now));
        let spent = begin.duration_since(now).saturating_add(self.interval);
        match spent.checked_sub(self.period) {
            Some(wait) if !wait.is_zero() => Err(wait),
            _ => Ok(now.checked_add(spent).unwrap_or(now)),
        }
    }
}

impl Table {
    /// Forgets callers about whom there is nothing to know, now and then.
    fn sweep(&mut self, now: Instant) {
        const FEW: usize = 1024;
        if self.callers.len() >= self.sweep_at.max(FEW) {
            self.callers.retain(|_, usage| usage.matters(now));
            self.sweep_at = self.callers.len() * 2;
        }
    }

    fn release(&mut self, caller: &Caller, now: Instant) {
        self.calls = self.calls.saturating_sub(1);
        if let Some(usage) = self.callers.get_mut(caller) {
            usage.calls = usage.calls.saturating_sub(1);
            if !usage.matters(now) {
                self.callers.remove(caller);
            }
        }
    }
}

impl Usage {
    fn matters(&self, now: Instant) -> bool {
        self.calls > 0 || self.spent_until.is_some_and(|until| until > now)
    }
}

/// One call. Dropped, it counts no more.
pub(crate) struct Permit {
    table: Weak<Mutex<Table>>,
    caller: Caller,
}

impl Drop for Permit {
    fn drop(&mut self) {
        if let Some(table) = self.table.upgrade() {
            lock(&table).release(&self.caller, Instant::now());
        }
    }
}

fn lock(table: &Mutex<Table>) -> MutexGuard<'_, Table> {
    table.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rate(calls: u32, seconds: u64) -> Rate {
        Limits::new().rate_per_user(calls, Duration::from_secs(seconds)).bounds.rate.unwrap()
    }

    proptest! {
        /// Whenever one looks, no more calls were made than could be at once and became free since.
        #[test]
        fn no_stretch_of_time_has_more_calls_than_it_may(
            calls in 1u32..20,
            seconds in 1u64..100,
            gaps in prop::collection::vec(0u64..5_000, 1..200),
        ) {
            let rate = rate(calls, seconds);
            let (mut now, mut until, mut made) = (Instant::now(), None, Vec::new());
            for gap in gaps {
                now += Duration::from_millis(gap);
                if let Ok(next) = rate.spend(until, now) {
                    until = Some(next);
                    made.push(now);
                }
            }
            for (first, begin) in made.iter().enumerate() {
                for (last, end) in made.iter().enumerate().skip(first) {
                    let stretch = (*end - *begin).as_nanos();
                    let may = u128::from(calls) + stretch / rate.interval.as_nanos();
                    prop_assert!(((last - first) as u128) < may);
                }
            }
        }

        /// The wait that is told is the shortest after which a call is let in.
        #[test]
        fn who_waits_as_long_as_told_is_let_in_and_no_sooner(
            calls in 1u32..20,
            seconds in 1u64..100,
            tries in 1usize..50,
        ) {
            let rate = rate(calls, seconds);
            let (now, mut until) = (Instant::now(), None);
            let mut made = 0;
            for _ in 0..tries {
                match rate.spend(until, now) {
                    Ok(next) => (until, made) = (Some(next), made + 1),
                    Err(wait) => {
                        prop_assert!(rate.spend(until, now + wait).is_ok());
                        let sooner = now + wait - Duration::from_nanos(1);
                        prop_assert!(rate.spend(until, sooner).is_err());
                    }
                }
            }
            prop_assert!(made == tries.min(calls as usize));
        }
    }

    #[test]
    fn odd_rates_do_no_harm() {
        let now = Instant::now();
        for rate in [rate(0, 1), rate(1, 0), rate(u32::MAX, 1), rate(1, u64::MAX)] {
            let first = rate.spend(None, now).unwrap();
            let _ = rate.spend(Some(first), now);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn callers_about_whom_there_is_nothing_to_know_are_forgotten() {
        let limits = Limits::new().calls(1).rate_per_user(1, Duration::from_secs(60));
        for user in 0..100_000 {
            let user = crate::Identity::default().with_user(user.to_string());
            drop(limits.admit((&user).into()).unwrap());
            tokio::time::advance(Duration::from_secs(1)).await;
        }
        // Those of the last minute matter, and a sweep comes only now and then.
        let known = lock(&limits.shared).callers.len();
        assert!(known <= 1024, "{known}");
    }
}
