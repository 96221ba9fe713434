//! Connections that come and go.

use std::time::Duration;

use tokio::{io::AsyncWriteExt, net::TcpStream, time::sleep};

use crate::{Result, client::Caller, hosts::Host, process::Server};

pub(crate) const CONNECTIONS: usize = 10_000;
const AT_ONCE: usize = 100;

/// What a server had in use, in bytes, and what is left of its connections.
#[derive(Debug)]
pub(crate) struct Churn {
    /// After the first tenth of the connections.
    pub(crate) early: u64,
    pub(crate) late: u64,
    /// Files that are still open, beyond those before.
    pub(crate) left: usize,
}

/// Opens connections and drops them: at once, in the middle of the request, in the middle of the answer.
pub(crate) async fn measure() -> Result<Churn> {
    let server = Server::start(Host::Ticking)?;
    let (files, mut early) = (server.files()?, 0);
    for batch in 1..=CONNECTIONS / AT_ONCE {
        let mut open = Vec::new();
        for number in 0..AT_ONCE {
            open.push(connection(&server, number).await?);
        }
        drop(open);
        if batch == CONNECTIONS / AT_ONCE / 10 {
            early = server.memory()?;
        }
    }
    sleep(Duration::from_secs(1)).await;
    let churn =
        Churn { early, late: server.memory()?, left: server.files()?.saturating_sub(files) };
    Caller::connect(server.addr, Host::Ticking).await?.ask().await?;
    eprintln!("{CONNECTIONS} connections came and went: {churn:?}");
    Ok(churn)
}

/// Whatever has to be held until it is dropped.
enum Open {
    Socket { _socket: TcpStream },
    Stream { _caller: Caller },
}

async fn connection(server: &Server, number: usize) -> Result<Open> {
    if number % 3 == 2 {
        let mut caller = Caller::connect(server.addr, Host::Ticking).await?;
        caller.ask().await?;
        return Ok(Open::Stream { _caller: caller });
    }
    let mut socket = TcpStream::connect(server.addr).await?;
    if number % 3 == 1 {
        socket.write_all(b"POST /v1/runs HTTP/1.1\r\nhost: x\r\ncontent-le").await?;
    }
    Ok(Open::Socket { _socket: socket })
}
