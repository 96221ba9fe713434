/// Ends in a panic: how a test kit reports, and what a script may ask for.
#[expect(clippy::panic, reason = "a failed test is a panic")]
#[track_caller]
pub(crate) fn panic_with(message: &str) -> ! {
    panic!("{message}")
}
