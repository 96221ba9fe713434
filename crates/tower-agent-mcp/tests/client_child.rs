//! A server that is a process of its own: this file, run once more.
#![cfg(test)]
#![cfg(unix)]

mod client_support;

use std::{
    io,
    process::Command,
    sync::{Arc, Mutex},
    time::Duration,
};

use client_support::real::Real;
use rmcp::ServiceExt as _;
use tokio::{io::AsyncReadExt, net::TcpListener};
use tower::ServiceExt;
use tower_agent_core::{Effect, ErrorKind, ToolCall};
use tower_agent_mcp::client::{Backoff, Child, McpClient, Status};

const ROLE: &str = "TOWER_AGENT_MCP_TEST_ROLE";

fn child(role: &str) -> Child {
    let program = std::env::current_exe().unwrap();
    Child::new(program)
        .args(["--exact", "this_process_is_no_server", "--nocapture"])
        .env(ROLE, role)
}

async fn connect(child: Child) -> McpClient {
    let mut backoff = Backoff::default();
    backoff.first = Duration::from_millis(1);
    McpClient::builder("real", child).backoff(backoff).connect().await.unwrap()
}

async fn ask(client: &McpClient, tool: &str, arguments: &str) -> String {
    client.clone().oneshot(ToolCall::new(tool, arguments)).await.unwrap().joined_text()
}

/// Where the children of these tests begin.
#[test]
fn this_process_is_no_server() {
    let Some(role) = std::env::var_os(ROLE) else {
        assert!(std::env::args().next().is_some());
        return;
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        if role == "fail" {
            eprintln!("no such directory: /srv/docs");
            return;
        }
        let running = Real::default().serve(rmcp::transport::stdio()).await.unwrap();
        running.waiting().await.unwrap();
        if role == "stubborn" {
            std::future::pending().await
        }
    });
}

#[tokio::test]
async fn a_child_sees_a_small_environment_and_what_it_is_given() {
    let client = connect(child("plain").env("GIVEN", "1")).await;
    let seen = ask(&client, "env", "{}").await;
    let seen: Vec<_> = seen.split(' ').collect();
    assert!(seen.contains(&"PATH") && seen.contains(&"GIVEN"), "{seen:?}");
    // Cargo sets it for every test.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    assert!(!seen.contains(&"CARGO_MANIFEST_DIR"), "{seen:?}");
}

#[tokio::test]
async fn killed_in_the_middle_of_a_call_a_child_is_answered_for_and_started_again() {
    let client = connect(child("plain")).await;
    let pid = ask(&client, "pid", "{}").await;
    let wait = client.clone().oneshot(ToolCall::new("wait", "{}"));
    let kill = async {
        // Only a server that reads on answers this.
        ask(&client, "echo", "{}").await;
        assert!(Command::new("kill").args(["-9", &pid]).status().unwrap().success());
    };
    let (output, ()) = tokio::join!(wait, kill);
    let error = output.unwrap_err();
    assert_eq!((error.kind(), error.effect()), (ErrorKind::Unavailable, Effect::Unknown));

    let mut changes = client.changes();
    changes.wait_for(|state| state.status != Status::Connected).await.unwrap();
    changes.wait_for(|state| state.status == Status::Connected).await.unwrap();
    assert_ne!(ask(&client, "pid", "{}").await, pid);
}

/// Reads to the end of a connection that only the child holds.
async fn outlive(listener: TcpListener, client: McpClient) {
    let port = listener.local_addr().unwrap().port();
    let arguments = format!(r#"{{"port": {port}}}"#);
    let (answer, stream) = tokio::join!(ask(&client, "dial", &arguments), listener.accept());
    assert_eq!(answer, "connected");
    let mut stream = stream.unwrap().0;
    assert_eq!(stream.read_u8().await.unwrap(), b'!');
    drop(client);
    match stream.read_u8().await {
        Ok(byte) => panic!("{byte}"),
        Err(error) => assert!(matches!(
            error.kind(),
            io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset
        )),
    }
}

#[tokio::test]
async fn a_dropped_client_ends_its_child() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    outlive(listener, connect(child("plain")).await).await;
}

#[tokio::test]
async fn a_child_that_does_not_end_by_itself_is_killed() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let stubborn = child("stubborn").grace(Duration::from_millis(10));
    outlive(listener, connect(stubborn).await).await;
}

#[tokio::test]
async fn what_a_child_said_last_is_in_the_error_of_its_start() {
    let failed = McpClient::builder("real", child("fail")).connect().await;
    let error = failed.unwrap_err();
    assert_eq!((error.kind(), error.effect()), (ErrorKind::Unavailable, Effect::NotStarted));
    assert!(error.to_string().contains("no such directory: /srv/docs"), "{error}");
}

#[tokio::test]
async fn a_program_that_is_not_there_is_an_error() {
    let failed = McpClient::builder("real", Child::new("/no/such/program")).connect().await;
    let error = failed.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.to_string().contains("No such file"), "{error}");
}

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn what_a_child_writes_to_standard_error_is_traced() {
    let lines = Lines::default();
    let writer = lines.clone();
    // One for all threads: a line that another test traces first would otherwise be off for this one, too.
    tracing_subscriber::fmt().with_writer(move || writer.clone()).with_ansi(false).init();
    let client = connect(child("plain")).await;
    assert_eq!(ask(&client, "mutter", "{}").await, "muttered");
    // The line may come after the answer, but not after the end of the process.
    client.close().await;
    let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    assert!(text.contains("tower_agent_mcp::stderr: I mutter server=real"), "{text}");
}
