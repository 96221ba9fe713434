//! Measures every case in turn and prints what came of it as Markdown.
//!
//! Progress goes to the standard error. `valgrind` is asked for counts of instructions where it is installed.

mod counts;
mod results;
mod sampling;
mod tables;
mod targets;

use std::error::Error;

use tower_agent_benches::{agent, catalog::groups};

use crate::results::Results;

fn main() -> Result<(), Box<dyn Error>> {
    let allocations = counts::allocations()?;
    let mut results = Results::default();
    for group in groups(&agent::runtime()) {
        results.add(sampling::sample(group), &allocations);
    }
    let instructions = counts::instructions()?;
    println!("{}", tables::machine());
    println!("{}", targets::table(&results));
    println!("{}", tables::calls(&results));
    println!("{}", tables::runs(&results));
    print!("{}", tables::instructions(&instructions));
    Ok(())
}
