//! An agent hosted in axum, with a page to chat with it: `cargo run -p axum-agent`.

mod app;
mod args;
mod demo;
mod folder;
mod local;
mod page;
mod stacks;
mod tools;

use std::{
    error::Error,
    io::{self, Write},
    net::SocketAddr,
    process::ExitCode,
    time::Duration,
};

use tokio::{net::TcpListener, signal};
use tower_agent_axum::serve;
use tracing_subscriber::EnvFilter;

use crate::args::{Args, HELP, Options};

/// How long a shutdown waits for what was begun.
const GRACE: Duration = Duration::from_secs(5);

#[tokio::main]
async fn main() -> ExitCode {
    let options = match Args::parse(std::env::args_os().skip(1)) {
        Ok(Args::Serve(options)) => options,
        Ok(Args::Help) => {
            let printed = io::stdout().write_all(HELP.as_bytes());
            return if printed.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
        }
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::from(2);
        }
    };
    match run(&options).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).init();
    let app = app::app(options)?;
    let listener = listen(options.addr).await?;
    writeln!(io::stdout(), "listening on http://{}", listener.local_addr()?)?;
    serve(listener, app).with_graceful_shutdown(stopped(), GRACE).await?;
    Ok(())
}

async fn listen(addr: SocketAddr) -> Result<TcpListener, String> {
    let listener = TcpListener::bind(addr).await;
    listener
        .map_err(|error| format!("cannot listen on {addr}: {error}; --addr takes another address"))
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
