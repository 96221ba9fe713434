use std::{
    collections::HashMap,
    env,
    error::Error,
    path::PathBuf,
    process::{Command, Output},
};

use tower_agent_benches::catalog::COUNTED;

/// Allocations and bytes of a case, by its name and size.
pub(crate) type Allocations = HashMap<(String, usize), (u64, u64)>;

/// Instructions of one call, by the name of the case; nothing where there is no valgrind.
pub(crate) type Instructions = Vec<(String, u64)>;

/// Rounds of the shorter run; the longer one has twice as many, and the difference is free of the start.
const ROUNDS: u64 = 2_000;

/// Asks the program that counts allocations.
pub(crate) fn allocations() -> Result<Allocations, Box<dyn Error>> {
    let output = succeed(&mut Command::new(sibling("allocations")?))?;
    let text = String::from_utf8(output.stdout)?;
    text.lines().map(|line| read(line).ok_or_else(|| format!("what is `{line}`?").into())).collect()
}

fn read(line: &str) -> Option<((String, usize), (u64, u64))> {
    let mut fields = line.split('\t');
    let name = fields.next()?.to_owned();
    let size = fields.next()?.parse().ok()?;
    let counts = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some(((name, size), counts))
}

/// Asks callgrind, if it is installed.
pub(crate) fn instructions() -> Result<Instructions, Box<dyn Error>> {
    if Command::new("valgrind").arg("--version").output().is_err() {
        eprintln!("valgrind is not installed: instructions are not counted");
        return Ok(Instructions::new());
    }
    COUNTED.into_iter().map(|name| Ok((name.to_owned(), per_call(name)?))).collect()
}

fn per_call(name: &str) -> Result<u64, Box<dyn Error>> {
    eprintln!("counting the instructions of {name}");
    let (once, twice) = (collected(name, ROUNDS)?, collected(name, 2 * ROUNDS)?);
    Ok(twice.saturating_sub(once) / ROUNDS)
}

fn collected(name: &str, rounds: u64) -> Result<u64, Box<dyn Error>> {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    valgrind.arg(sibling("instructions")?).args([name, &rounds.to_string()]);
    let text = String::from_utf8(succeed(&mut valgrind)?.stderr)?;
    let count =
        text.lines().find_map(|line| line.split_once("Collected : ")).map(|(_, count)| count);
    Ok(count.ok_or("callgrind said no count")?.trim().parse()?)
}

/// A program of this package, which was built beside this one.
fn sibling(name: &str) -> Result<PathBuf, Box<dyn Error>> {
    Ok(env::current_exe()?.with_file_name(name))
}

fn succeed(command: &mut Command) -> Result<Output, Box<dyn Error>> {
    let output = command.output().map_err(|error| format!("{command:?} did not start: {error}"))?;
    if output.status.success() {
        return Ok(output);
    }
    Err(format!("{command:?} failed: {}", String::from_utf8_lossy(&output.stderr)).into())
}
