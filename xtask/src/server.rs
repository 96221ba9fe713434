//! The servers that the tasks start and ask.

use std::{
    ffi::OsStr,
    fs::File,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError},
    thread,
    time::Duration,
};

use serde_json::Value;

use crate::{Result, command, options::Options, workspace::Workspace};

/// A server of this workspace: how it is built, and the flags that make it listen on a port of the system's choice.
pub(crate) struct Program {
    pub(crate) package: &'static str,
    /// Which of the package's targets it is, where it has several.
    pub(crate) target: Option<(&'static str, &'static str)>,
    pub(crate) flags: &'static [&'static str],
}

/// The agent that most clients ask.
const AGENT: Program =
    Program { package: "axum-agent", target: None, flags: &["--addr", "127.0.0.1:0"] };
const STARTS_WITHIN: Duration = Duration::from_secs(30);

/// Does `work` with the address of a server: the one that the options name, else one that runs as long as the work.
pub(crate) fn with_server(
    workspace: &Workspace,
    options: &Options,
    work: impl FnOnce(&str) -> Result,
) -> Result {
    if let Some(url) = &options.url {
        return work(url);
    }
    AGENT.serve(workspace, |_, url| work(url))
}

/// Starts a server that says where it listens, and does `work` with its address while it runs.
pub(crate) fn while_it_runs(
    workspace: &Workspace,
    command: &mut Command,
    name: &str,
    work: impl FnOnce(&str) -> Result,
) -> Result {
    let log = workspace.output("servers")?.join(format!("{name}.log"));
    let server = Server::spawn(command, name, &log)?;
    work(&server.url)
        .map_err(|error| format!("{error}; the server's log is {}", log.display()).into())
}

impl Program {
    /// Builds and starts the server, and does `work` with its file and its address while it runs.
    pub(crate) fn serve(
        &self,
        workspace: &Workspace,
        work: impl FnOnce(&Path, &str) -> Result,
    ) -> Result {
        self.serve_with(workspace, &[], work)
    }

    /// The same, with more flags than it always has.
    pub(crate) fn serve_with(
        &self,
        workspace: &Workspace,
        flags: &[&OsStr],
        work: impl FnOnce(&Path, &str) -> Result,
    ) -> Result {
        let program = self.build(workspace)?;
        let mut command = Command::new(&program);
        command.args(self.flags).args(flags);
        while_it_runs(workspace, &mut command, self.name(), |url| work(&program, url))
    }

    fn build(&self, workspace: &Workspace) -> Result<PathBuf> {
        let mut cargo = workspace.cargo(&["build", "--package", self.package]);
        if let Some((kind, name)) = self.target {
            cargo.args([kind, name]);
        }
        let output = command::read(cargo.args(["--message-format", "json-render-diagnostics"]))?;
        let program = output.split(|byte| *byte == b'\n').rev().find_map(executable);
        program.ok_or_else(|| format!("cargo built no program for `{}`", self.name()).into())
    }

    const fn name(&self) -> &'static str {
        match self.target {
            Some((_, name)) => name,
            None => self.package,
        }
    }
}

fn executable(message: &[u8]) -> Option<PathBuf> {
    let message: Value = serde_json::from_slice(message).ok()?;
    Some(PathBuf::from(message.get("executable")?.as_str()?))
}

/// A running server. Whichever way its owner ends, the server ends too.
struct Server {
    process: Child,
    url: String,
}

impl Server {
    /// Starts the server and waits until it says where it listens.
    fn spawn(command: &mut Command, name: &str, log: &Path) -> Result<Self> {
        let file = File::create(log)?;
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(file.try_clone()?);
        let mut server = Self { process: command.spawn()?, url: String::new() };
        let output = server.process.stdout.take().ok_or("the server has no output")?;
        server.url = addresses(output, file).recv_timeout(STARTS_WITHIN).map_err(|wait| {
            let what = match wait {
                RecvTimeoutError::Timeout => "printed no address",
                RecvTimeoutError::Disconnected => "ended before it listened",
            };
            format!("the server {what}: {}", log.display())
        })?;
        println!("{name} listens on {}", server.url);
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to kill, and only its exit to collect.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Copies the server's output into its log for as long as it writes, since a full pipe would stop it, and hands out
/// each address in it.
fn addresses(output: ChildStdout, mut log: File) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(std::io::Result::ok) {
            // Neither a full disk nor a reader who has what he wants is a reason to stop.
            let _ = writeln!(log, "{line}");
            if let Some(url) = address(&line) {
                let _ = sender.send(url);
            }
        }
    });
    receiver
}

/// The address of a server that listens on this machine, if the line names one.
fn address(line: &str) -> Option<String> {
    const BASE: &str = "http://127.0.0.1:";
    let (_, rest) = line.split_once(BASE)?;
    let port: String = rest.chars().take_while(char::is_ascii_digit).collect();
    (!port.is_empty()).then(|| format!("{BASE}{port}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("xtask-{}-{name}.log", std::process::id()))
    }

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn an_address_is_found_amid_other_text() {
        let found = address("listening on http://127.0.0.1:4321/ (ctrl-c stops it)");
        assert_eq!(found.as_deref(), Some("http://127.0.0.1:4321"));
    }

    #[test]
    fn what_is_no_address_is_passed_over() {
        assert_eq!(address("asks https://example.com"), None);
        assert_eq!(address("http://127.0.0.1:"), None);
    }

    #[test]
    fn a_server_is_gone_once_its_owner_is() {
        let log = log("gone");
        let server =
            Server::spawn(&mut shell("echo http://127.0.0.1:9; exec sleep 600"), "shell", &log)
                .unwrap();
        let process = format!("/proc/{}", server.process.id());
        assert_eq!(server.url, "http://127.0.0.1:9");
        assert!(Path::new(&process).exists());
        drop(server);
        assert!(!Path::new(&process).exists());
        std::fs::remove_file(log).unwrap();
    }

    #[test]
    fn a_server_that_ends_early_fails_with_its_log() {
        let log = log("early");
        let error =
            Server::spawn(&mut shell("echo no port >&2; exit 1"), "shell", &log).err().unwrap();
        assert_eq!(
            error.to_string(),
            format!("the server ended before it listened: {}", log.display())
        );
        assert_eq!(std::fs::read_to_string(&log).unwrap(), "no port\n");
        std::fs::remove_file(log).unwrap();
    }
}
