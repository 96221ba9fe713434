//! Runs one case so many times, for a counter of instructions such as callgrind:
//!
//! ```text
//! valgrind --tool=callgrind --callgrind-out-file=/dev/null instructions bare 1000
//! ```

use std::{env, error::Error};

use tower_agent_benches::{catalog::calls, payload::SMALL};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let (Some(name), Some(rounds)) = (arguments.next(), arguments.next()) else {
        return Err("give the name of a case and how often to run it".into());
    };
    let rounds = rounds.parse()?;
    let found = calls(SMALL).into_iter().find(|entry| entry.name == name);
    let mut entry = found.ok_or_else(|| format!("no case is called `{name}`"))?;
    entry.case.repeat(rounds);
    Ok(())
}
