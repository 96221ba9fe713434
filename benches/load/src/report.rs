//! What was measured, as Markdown.

use std::{env::consts, fmt::Write, time::Duration};

use crate::{
    churn::{CONNECTIONS, Churn},
    hosts::{EVENTS, Host},
    streams::{LOOKS, Memory, STREAMS},
    throughput::{CALLERS, Measured, ROUND, ROUNDS},
};

pub(crate) fn page(measured: &[Measured], streams: &[Memory], churn: &Churn) -> String {
    let mut text = format!(
        "On {} on {}, release build: servers on one core, callers on another.\n\n",
        consts::ARCH,
        consts::OS
    );
    text += &targets(measured, streams, churn);
    text += &requests(measured);
    text += &memory(streams);
    text += &connections(churn);
    text
}

fn targets(measured: &[Measured], streams: &[Memory], churn: &Churn) -> String {
    let mut text =
        "### Targets\n\n| | at most | measured | |\n| --- | --: | --: | --- |\n".to_owned();
    let mut row = |name: &str, limit: f64, value: f64| {
        let verdict = if value <= limit { "met" } else { "**missed**" };
        let _ = writeln!(text, "| {name} | {limit} | {value:.2} | {verdict} |");
    };
    let cost = |host| of(measured, host).map_or(f64::NAN, |found| found.cost().as_secs_f64());
    // On one core that is busy, a request's cost is what sets the number of requests.
    let lost = 1.0 - cost(Host::Bare) / cost(Host::Layers);
    row("share of the throughput that ten layers cost", 0.1, lost);
    for host in [Host::Axum, Host::Bare, Host::Layers] {
        let spread = of(measured, host).map_or(f64::NAN, Measured::spread);
        row(&format!("{}: p99, of the median", title(host)), 3.0, spread);
    }
    for memory in streams {
        let (least, most) = memory.range();
        let name = format!("{}: most memory in ten seconds, of the least", title(memory.host));
        row(&name, 1.05, most as f64 / least.max(1) as f64);
    }
    let growth = churn.late as f64 / churn.early.max(1) as f64;
    row(&format!("memory after {CONNECTIONS} connections, of that after a tenth"), 1.05, growth);
    row("connections of these that are still open", 0.0, churn.left as f64);
    text + "\n"
}

fn requests(measured: &[Measured]) -> String {
    let mut text = format!(
        "### Requests\n\n{CALLERS} callers, each with a connection that it keeps, ask as soon as they have their answer. Of {ROUNDS} \
         rounds of {} seconds of all hosts in turn, the cost is the \
         least, and so is p99 by median above; the rest is from the round with the most requests.\n\n\
         | host | µs of the core a request | of axum's | requests a second | median | p99 |\n\
         | --- | --: | --: | --: | --: | --: |\n",
        ROUND.as_secs()
    );
    let axum = of(measured, Host::Axum).map_or(Duration::ZERO, Measured::cost);
    for host in measured {
        let Some(best) = host.best() else { continue };
        let _ = writeln!(
            text,
            "| {} | {:.1} | {:.2} | {:.0} | {} | {} |",
            title(host.host),
            micros(host.cost()),
            ratio(host.cost(), axum),
            best.rate,
            time(best.median),
            time(best.p99),
        );
    }
    text + "\n"
}

fn memory(streams: &[Memory]) -> String {
    let mut text = format!(
        "### {STREAMS} streams at once\n\nEach sends an event every 100 ms; of those that can be read on, {EVENTS} events are kept. Memory is resident memory of the server, looked at \
         {LOOKS} times in as many seconds.\n\n\
         | host | bytes a stream | MB before | MB open, least to most | MB once closed | between events: median | p99 |\n\
         | --- | --: | --: | --: | --: | --: | --: |\n"
    );
    for memory in streams {
        let (least, most) = memory.range();
        let _ = writeln!(
            text,
            "| {} | {} | {:.1} | {:.1} to {:.1} | {:.1} | {} | {} |",
            title(memory.host),
            most.saturating_sub(memory.fresh) / u64::from(STREAMS),
            megabytes(memory.fresh),
            megabytes(least),
            megabytes(most),
            megabytes(memory.closed),
            time(memory.gap(50)),
            time(memory.gap(99)),
        );
    }
    text
}

fn connections(churn: &Churn) -> String {
    format!(
        "\n### {CONNECTIONS} connections opened and dropped\n\nA hundred at a time: a third without a byte, a third in the head of \
         the request, a third in the answer. Memory after a tenth of them: {:.1} MB; after all: {:.1} MB; connections left: {}. The \
         server answers.\n",
        megabytes(churn.early),
        megabytes(churn.late),
        churn.left
    )
}

impl Memory {
    fn range(&self) -> (u64, u64) {
        let (least, most) = (self.open.iter().min(), self.open.iter().max());
        (least.copied().unwrap_or_default(), most.copied().unwrap_or_default())
    }

    fn gap(&self, hundredth: usize) -> Duration {
        self.gaps.get(self.gaps.len() * hundredth / 100).copied().unwrap_or_default()
    }
}

fn of(measured: &[Measured], host: Host) -> Option<&Measured> {
    measured.iter().find(|found| found.host == host)
}

const fn title(host: Host) -> &'static str {
    match host {
        Host::Axum => "axum, hello world",
        Host::Bare => "an agent, no layers",
        Host::Layers => "the agent in ten layers",
        Host::Resumable => "the same, resumable",
        Host::Ticking => "streams",
        Host::TickingResumable => "streams, resumable",
    }
}

fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64()
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn time(time: Duration) -> String {
    if time < Duration::from_millis(10) {
        format!("{:.0} µs", micros(time))
    } else {
        format!("{:.0} ms", micros(time) / 1e3)
    }
}

fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}
