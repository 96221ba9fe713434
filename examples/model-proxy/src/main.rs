//! Layers around the models that your clients use already: `cargo run -p model-proxy -- --demo`.

mod app;
mod args;
mod demo;

use std::{
    error::Error,
    io::{self, Write},
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
    match run(options).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(mut options: Options) -> Result<(), Box<dyn Error>> {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).init();
    let upstream = TcpListener::bind("127.0.0.1:0").await?;
    if options.demo {
        options.upstreams.all(&format!("http://{}", upstream.local_addr()?));
    }
    let app = app::app(&options)?;
    let listener = TcpListener::bind(options.addr).await.map_err(|error| {
        format!("cannot listen on {}: {error}; --addr takes another address", options.addr)
    })?;
    writeln!(io::stdout(), "listening on http://{}", listener.local_addr()?)?;
    let proxy = serve(listener, app).with_graceful_shutdown(stopped(), GRACE);
    if options.demo {
        // Both end with this future, and the upstream with the proxy.
        tokio::select! {
            served = proxy => served?,
            served = serve(upstream, demo::upstream()) => served?,
        }
    } else {
        proxy.await?;
    }
    Ok(())
}

async fn stopped() {
    if let Err(error) = signal::ctrl_c().await {
        tracing::warn!(%error, "Ctrl-C does not stop the server");
        std::future::pending().await
    }
}
