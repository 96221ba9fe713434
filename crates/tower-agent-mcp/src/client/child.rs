use std::{
    collections::BTreeMap, env, ffi::OsString, fmt, io, path::PathBuf, process::Stdio,
    time::Duration,
};

use process_wrap::tokio::{ChildWrapper, CommandWrap};
use rmcp::{
    RoleClient,
    model::{ClientJsonRpcMessage, ServerJsonRpcMessage},
    transport::Transport,
};
use tokio::process::{ChildStdout, Command};
use tower_agent_core::Str;

use super::{lines::Lines, stderr::Stderr};

/// What a program needs to find its files and speak the user's language; none of it is secret.
const ENVIRONMENT: &[&str] = &[
    "HOME",
    "LANG",
    "LC_ALL",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    // Windows.
    "APPDATA",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATHEXT",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERNAME",
    "USERPROFILE",
];

/// A server that is a program, spoken to over its standard input and output.
///
/// It gets a small environment (`PATH`, `HOME`, the locale and their like) and nothing of this process's beyond it, so
/// that keys stay here; see [`env`](Self::env) and [`inherit_env`](Self::inherit_env). What it writes to standard error goes to
/// `tracing`, at `INFO`, with the target `tower_agent_mcp::stderr`. When the client is dropped its input is closed, and
/// what has not ended after its [grace](Self::grace) is killed, on Unix with all that it started.
///
/// ```
/// use tower_agent_mcp::client::Child;
///
/// let server = Child::new("npx").args(["-y", "@modelcontextprotocol/server-filesystem", "/srv/docs"]).env("NODE_ENV", "production");
/// assert!(format!("{server:?}").contains("NODE_ENV"));
/// ```
#[derive(Clone)]
#[must_use]
pub struct Child {
    program: OsString,
    args: Vec<OsString>,
    env: BTreeMap<OsString, OsString>,
    directory: Option<PathBuf>,
    grace: Duration,
}

impl Child {
    /// A program, looked for in this process's `PATH`.
    pub fn new(program: impl Into<OsString>) -> Self {
        let kept = |name: &&str| Some((OsString::from(name), env::var_os(name)?));
        Self {
            program: program.into(),
            args: Vec::new(),
            env: ENVIRONMENT.iter().filter_map(kept).collect(),
            directory: None,
            grace: Duration::from_secs(2),
        }
    }

    /// Adds an argument.
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds arguments.
    pub fn args(mut self, args: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets a variable of its environment.
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }

    /// Hands on a variable of this process's environment, if it is set.
    pub fn inherit_env(self, name: impl Into<OsString>) -> Self {
        let name = name.into();
        match env::var_os(&name) {
            Some(value) => self.env(name, value),
            None => self,
        }
    }

    /// Empties the environment, of the usual variables too.
    pub fn clear_env(mut self) -> Self {
        self.env.clear();
        self
    }

    /// Sets the directory that it starts in; this process's unless set.
    pub fn current_dir(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// How long it may take to end after its input was closed, before it is killed; 2 seconds.
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    pub(crate) fn spawn(&self, server: &Str, max: usize) -> io::Result<(Running, Stderr)> {
        let mut command = Command::new(&self.program);
        command.args(&self.args).env_clear().envs(&self.env).kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        let mut command = CommandWrap::from(command);
        #[cfg(unix)]
        command.wrap(process_wrap::tokio::ProcessGroup::leader());
        let mut process = Process { child: command.spawn()?, ended: false };
        let missing = || io::Error::other("a standard stream is missing");
        let stdin = process.child.stdin().take().ok_or_else(missing)?;
        let stdout = process.child.stdout().take().ok_or_else(missing)?;
        let stderr = process.child.stderr().take().ok_or_else(missing)?;
        let lines = Lines::new(stdout, stdin, max);
        Ok((Running { lines, process, grace: self.grace }, Stderr::new(server.clone(), stderr)))
    }
}

impl fmt::Debug for Child {
    /// Values of the environment may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Child")
            .field("program", &self.program)
            .field("args", &self.args)
            .field("env", &self.env.keys().collect::<Vec<_>>())
            .field("directory", &self.directory)
            .finish_non_exhaustive()
    }
}

struct Process {
    child: Box<dyn ChildWrapper>,
    ended: bool,
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.ended
            && let Err(error) = self.child.start_kill()
        {
            tracing::debug!(%error, "killing a server failed");
        }
    }
}

/// A program that runs, as a transport.
pub(crate) struct Running {
    lines: Lines<ChildStdout>,
    process: Process,
    grace: Duration,
}

impl Transport<RoleClient> for Running {
    type Error = io::Error;

    fn send(
        &mut self,
        item: ClientJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.lines.send(item)
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        self.lines.receive().await
    }

    /// Closes its input, waits for its end, and kills it if it takes too long.
    async fn close(&mut self) -> io::Result<()> {
        let gentle = async {
            self.lines.close().await?;
            self.process.child.wait().await
        };
        match tokio::time::timeout(self.grace, gentle).await {
            Ok(status) => tracing::debug!(status = %status?, "a server ended"),
            Err(_) => Box::into_pin(self.process.child.kill()).await?,
        }
        self.process.ended = true;
        Ok(())
    }
}
