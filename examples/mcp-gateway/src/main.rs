//! Layers around any MCP servers, from one TOML file: `mcp-gateway --config FILE`.

mod args;
mod audit;
mod check;
mod config;
mod connect;
mod gateway;
mod http;
mod keeper;
mod listeners;
mod masks;
mod relay;
mod router;
mod stacks;
mod tools;
mod watch;

use std::{
    io::{self, Write},
    net::SocketAddr,
    pin::pin,
    process::ExitCode,
};

use tokio::signal;
use tower_agent::{BoxError, MetricsLayer, Secret};
use tower_agent_mcp::server::serve_stdio;
use tracing_subscriber::EnvFilter;

use crate::{
    args::{Args, HELP, Options, Task},
    audit::Audit,
    config::{Config, ConfigError},
    http::Guard,
    keeper::Keeper,
    relay::Held,
    stacks::Plan,
    watch::Watch,
};

#[tokio::main]
async fn main() -> ExitCode {
    let options = match Args::parse(std::env::args_os().skip(1)) {
        Ok(Args::Run(options)) => options,
        Ok(Args::Help) => {
            let printed = io::stdout().write_all(HELP.as_bytes());
            return if printed.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
        }
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::from(2);
        }
    };
    match run(options).await {
        Ok(code) => code,
        Err(error) if error.is::<ConfigError>() => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(options: Options) -> Result<ExitCode, BoxError> {
    let watch = Watch::new(&options.config);
    let config = Config::read(&options.config)?;
    let is_serving = matches!(options.task, Task::Stdio | Task::Http { .. });
    log(if is_serving { "info,rmcp=warn" } else { "off" });
    let audit = match &config.audit {
        Some(settings) if is_serving => Some(keeper::open(settings)?),
        Some(settings) => Some(Audit::nowhere(settings)),
        None => None,
    };
    let plan = Plan { config, metrics: MetricsLayer::new(), audit, held: Held::default() };
    let mut out = io::stdout();
    match options.task {
        Task::Stdio => stdio(plan, watch).await?,
        Task::Http { addr, token } => http(addr, token, plan, watch).await?,
        Task::Check => {
            let is_well = check::check(&plan, &mut out).await?;
            return Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE });
        }
        Task::Accept(names) => check::accept(&plan, names, &mut out).await?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Standard output belongs to the protocol.
fn log(usual: &str) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(usual));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(false)
        .init();
}

async fn stdio(plan: Plan, watch: Watch) -> Result<(), BoxError> {
    let mut stop = pin!(stopped());
    let mut keeper = tokio::select! {
        keeper = Keeper::start(plan, watch) => keeper?,
        () = &mut stop => return Ok(()),
    };
    let serving = serve_stdio(keeper.gateway());
    let served = tokio::select! {
        served = serving => served,
        () = stop => Ok(()),
        never = keeper.keep() => match never {},
    };
    keeper.close().await;
    Ok(served?)
}

async fn http(
    addr: SocketAddr,
    token: Option<Secret>,
    plan: Plan,
    watch: Watch,
) -> Result<(), BoxError> {
    if !addr.ip().is_loopback() && plan.config.http.hosts.is_empty() {
        let what = "others can reach it, so `hosts` of [http] must list its names";
        return Err(format!("--http {addr}: {what}").into());
    }
    let guard = Guard::new(plan.config.http.clone(), token);
    let metrics = plan.metrics.clone();
    let mut keeper = tokio::select! {
        keeper = Keeper::start(plan, watch) => keeper?,
        () = stopped() => return Ok(()),
    };
    let serving = http::serve(addr, guard, keeper.gateway(), metrics, stopped());
    let served = tokio::select! {
        served = serving => served,
        never = keeper.keep() => match never {},
    };
    keeper.close().await;
    served
}

/// Ends with Ctrl-C, or with the signal that a service manager sends.
async fn stopped() {
    tokio::select! {
        _ = signal::ctrl_c() => {}
        () = terminated() => {}
    }
    tracing::info!("shutting down");
}

#[cfg(unix)]
async fn terminated() {
    match signal::unix::signal(signal::unix::SignalKind::terminate()) {
        Ok(mut signal) => {
            signal.recv().await;
        }
        Err(error) => {
            tracing::warn!(%error, "no signal but Ctrl-C stops the server");
            std::future::pending().await
        }
    }
}

#[cfg(not(unix))]
async fn terminated() {
    std::future::pending().await
}
