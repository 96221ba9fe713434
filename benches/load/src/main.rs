//! What a host of agents bears: requests a second on one core, and memory with a thousand open streams.
//!
//! `load` measures and prints Markdown, progress goes to the standard error; `load serve NAME` is one of its servers.

mod churn;
mod client;
mod hosts;
mod process;
mod report;
mod streams;
mod throughput;

use std::{env, error::Error};

use tokio::runtime::Builder;

use crate::hosts::Host;

type Result<T = ()> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> Result {
    let mut arguments = env::args().skip(1);
    match (arguments.next().as_deref(), arguments.next()) {
        (None, _) => measure(),
        (Some("serve"), Some(name)) => {
            let host = Host::of(&name).ok_or_else(|| format!("there is no host `{name}`"))?;
            Ok(hosts::run(host)?)
        }
        _ => Err("load [serve NAME]".into()),
    }
}

fn measure() -> Result {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let throughput = runtime.block_on(throughput::measure())?;
    let mut streams = Vec::new();
    for host in [Host::Ticking, Host::TickingResumable] {
        streams.push(runtime.block_on(streams::measure(host))?);
    }
    let churn = runtime.block_on(churn::measure())?;
    print!("{}", report::page(&throughput, &streams, &churn));
    Ok(())
}
