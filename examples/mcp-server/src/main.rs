//! Two tools behind a stack of layers, served over MCP: `cargo run -p mcp-server`.

mod args;
mod notes;

use std::{
    error::Error,
    io::{self, Write},
    net::SocketAddr,
    process::ExitCode,
    time::Duration,
};

use axum::Router;
use tokio::{net::TcpListener, signal};
use tower_agent_mcp::server::{McpServer, http_config, http_service, serve_stdio};
use tracing_subscriber::EnvFilter;

use crate::args::{Args, HELP};

/// How long a shutdown waits for what was begun.
const GRACE: Duration = Duration::from_secs(2);

#[tokio::main]
async fn main() -> ExitCode {
    let args = match Args::parse(std::env::args_os().skip(1)) {
        Ok(args) => args,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::from(2);
        }
    };
    match run(args).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(args: Args) -> Result<(), Box<dyn Error>> {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("warn"));
    // The standard output belongs to the protocol.
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).init();
    match args {
        Args::Help => Ok(io::stdout().write_all(HELP.as_bytes())?),
        Args::Stdio => Ok(serve_stdio(notes::server()?).await?),
        Args::Http(addr) => serve_http(notes::server()?, addr).await,
    }
}

async fn serve_http(server: McpServer, addr: SocketAddr) -> Result<(), Box<dyn Error>> {
    let app = Router::new().nest_service("/mcp", http_service(server, http_config()));
    let listener = TcpListener::bind(addr).await;
    let listener = listener.map_err(|error| format!("cannot listen on {addr}: {error}"))?;
    writeln!(io::stdout(), "listening on http://{}/mcp", listener.local_addr()?)?;
    let stopped = async {
        if let Err(error) = signal::ctrl_c().await {
            tracing::warn!(%error, "Ctrl-C does not stop the server");
            std::future::pending().await
        }
    };
    Ok(tower_agent_axum::serve(listener, app).with_graceful_shutdown(stopped, GRACE).await?)
}
