//! Layers around any MCP servers, from one TOML file: `mcp-gateway --config FILE`.

mod args;
mod config;
mod connect;
mod gateway;
mod keeper;
mod router;
mod stacks;
mod tools;
mod watch;

use std::{
    error::Error,
    io::{self, Write},
    process::ExitCode,
};

use tokio::signal;
use tower_agent_mcp::server::serve_stdio;
use tracing_subscriber::EnvFilter;

use crate::{
    args::{Args, HELP, Options, Task},
    config::{Config, ConfigError},
    keeper::Keeper,
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

async fn run(options: Options) -> Result<ExitCode, Box<dyn Error>> {
    let config = Config::read(&options.config)?;
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    // Standard output belongs to the protocol.
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(false)
        .init();
    let keeper = Keeper::start(&options.config, config).await?;
    let gateway = keeper.gateway();
    tokio::select! {
        served = serve_stdio(gateway) => served?,
        () = stopped() => {}
        never = keeper.keep() => match never {},
    }
    let _ = Task::Check;
    Ok(ExitCode::SUCCESS)
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
