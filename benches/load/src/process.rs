//! A server in a process of its own, and what the system says of it.

use std::{
    env, fs,
    io::{BufRead, BufReader},
    net::SocketAddr,
    process::{Child, Command, Stdio},
    time::Duration,
};

use crate::{Result, hosts::Host};

/// The core of the servers. Whoever starts us gives us another.
const CORE: &str = "0";

/// A server that is killed when this is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    pub(crate) addr: SocketAddr,
}

impl Server {
    pub(crate) fn start(host: Host) -> Result<Self> {
        let mut command = Command::new("taskset");
        command.args(["--cpu-list", CORE]).arg(env::current_exe()?).args(["serve", host.name()]);
        let mut child = command
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("`taskset` did not start: {error}"))?;
        let stdout = child.stdout.take().ok_or("the server has no output")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let addr = line.trim().parse().map_err(|_| "the server did not say where it listens")?;
        Ok(Self { child, addr })
    }

    /// How long its one thread had the processor.
    pub(crate) fn busy(&self) -> Result<Duration> {
        let text = self.read("schedstat")?;
        let nanoseconds = text.split_whitespace().next().ok_or("schedstat is empty")?;
        Ok(Duration::from_nanos(nanoseconds.parse()?))
    }

    /// The bytes of memory that it has in use.
    pub(crate) fn memory(&self) -> Result<u64> {
        let text = self.read("status")?;
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes = line.and_then(|line| line.split_whitespace().next()).ok_or("no VmRSS")?;
        Ok(kilobytes.parse::<u64>()? * 1024)
    }

    /// How many files and sockets it has open.
    pub(crate) fn files(&self) -> Result<usize> {
        Ok(fs::read_dir(format!("/proc/{}/fd", self.child.id()))?.count())
    }

    fn read(&self, file: &str) -> Result<String> {
        Ok(fs::read_to_string(format!("/proc/{}/{file}", self.child.id()))?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // One that is gone already needs no killing.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
