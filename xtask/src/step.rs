//! Steps: the named, timed parts of a task.

use std::time::{Duration, Instant};

use crate::Result;

/// Runs one part of a task, and says which it is and how long it took.
pub(crate) fn step(name: &str, work: impl FnOnce() -> Result) -> Result {
    println!("\n==> {name}");
    let start = now();
    let result = work().map_err(|error| format!("{name}: {error}"));
    let end = if result.is_ok() { "done" } else { "FAILED" };
    println!("<== {name}: {end} after {}", seconds(start.elapsed()));
    Ok(result?)
}

#[expect(clippy::disallowed_methods, reason = "a log tells the time that passed on the wall")]
fn now() -> Instant {
    Instant::now()
}

fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_fails_says_which_it_was() {
        let error = step("outer", || step("inner", || Err("no luck".into()))).unwrap_err();
        assert_eq!(error.to_string(), "outer: inner: no luck");
    }

    #[test]
    fn a_step_that_succeeds_lets_the_next_one_run() {
        assert!(step("fine", || Ok(())).is_ok());
    }
}
