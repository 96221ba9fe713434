//! Requests a second.

use std::time::Duration;

use tokio::time::Instant;

use crate::{Result, client, hosts::Host, process::Server};

pub(crate) const HOSTS: [Host; 4] = [Host::Axum, Host::Bare, Host::Layers, Host::Resumable];
pub(crate) const CALLERS: usize = 16;
pub(crate) const ROUNDS: usize = 9;
pub(crate) const ROUND: Duration = Duration::from_secs(2);

/// What one host did in one round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Round {
    /// Requests a second on the clock.
    pub(crate) rate: f64,
    /// The processor's time for a request.
    pub(crate) cost: Duration,
    pub(crate) median: Duration,
    pub(crate) p99: Duration,
}

/// All rounds of one host.
#[derive(Debug)]
pub(crate) struct Measured {
    pub(crate) host: Host,
    pub(crate) rounds: Vec<Round>,
}

impl Measured {
    /// The least that a request costs: what disturbs a round only adds to it.
    pub(crate) fn cost(&self) -> Duration {
        self.rounds.iter().map(|round| round.cost).min().unwrap_or_default()
    }

    /// p99 by median, where it was least.
    pub(crate) fn spread(&self) -> f64 {
        let spread = |round: &Round| round.p99.as_secs_f64() / round.median.as_secs_f64();
        self.rounds.iter().map(spread).fold(f64::INFINITY, f64::min)
    }

    /// The round that was disturbed least.
    pub(crate) fn best(&self) -> Option<&Round> {
        self.rounds.iter().max_by(|a, b| a.rate.total_cmp(&b.rate))
    }
}

/// All hosts in turn, so that a slow spell hits all alike.
pub(crate) async fn measure() -> Result<Vec<Measured>> {
    let servers: Vec<_> = HOSTS.into_iter().map(Server::start).collect::<Result<_>>()?;
    let mut all: Vec<_> =
        HOSTS.into_iter().map(|host| Measured { host, rounds: Vec::new() }).collect();
    for number in 0..=ROUNDS {
        for (server, measured) in servers.iter().zip(&mut all) {
            let round = round(server, measured.host).await?;
            eprintln!("{:10} {:6.0} requests a second", measured.host.name(), round.rate);
            // The first one warms up.
            if number > 0 {
                measured.rounds.push(round);
            }
        }
    }
    Ok(all)
}

async fn round(server: &Server, host: Host) -> Result<Round> {
    let (before, begun) = (server.busy()?, Instant::now());
    let mut took = client::load(server.addr, host, CALLERS, ROUND).await?;
    let (after, time) = (server.busy()?, begun.elapsed());
    took.sort_unstable();
    let calls = u32::try_from(took.len())?;
    let at = |hundredth: usize| took.get(took.len() * hundredth / 100).copied().unwrap_or_default();
    Ok(Round {
        rate: f64::from(calls) / time.as_secs_f64(),
        cost: (after - before) / calls.max(1),
        median: at(50),
        p99: at(99),
    })
}
