//! Values within values: what is not judged since it changes nothing must change nothing.
#![cfg(test)]

use proptest::{collection::vec, prelude::*, sample::select};
use tower_agent_detect::{Detector, Finding};

/// Names, operators, values and what ends them.
const PARTS: &[&str] = &[
    "password",
    "passwd",
    "pwd",
    "token",
    "secret",
    "api_key",
    "client_secret",
    "DB_PASSWORD",
    "Authorization",
    "bearer ",
    "session_id",
    "=",
    "=",
    "=",
    ":",
    ":",
    ": ",
    "==",
    "=>",
    "(",
    "\"",
    "'",
    " ",
    "\n",
    "&",
    ";",
    ",",
    "\\",
    "\\n",
    "\\\"",
    "<",
    ">",
    "|",
    "]",
    " is ",
    "é",
    "。",
    "a1B2c3D4",
    "hunter2",
    "x",
    "xxxx",
    "your",
    "$",
    "${",
    "/",
    "://",
    "@",
    "@b.co",
    "AKIA",
    "-",
    "_",
    ".",
    "!",
    "0123456789abcdefABCDEF",
    "Zq7-Xk2_Vw9.Pb4",
];

fn told(found: &[Finding]) -> Vec<(String, std::ops::Range<usize>)> {
    found.iter().map(|it| (it.rule().id().to_owned(), it.span())).collect()
}

proptest! {
    #[test]
    fn a_value_within_another_one_is_found_as_if_each_were_judged(
        parts in vec(select(PARTS), 1..40),
        times in prop_oneof![8 => Just(1_usize), 2 => 2_usize..40, 1 => 400_usize..900],
    ) {
        // What is never masked must be looked for in each value by itself.
        let each = Detector::builder().allow_values(["no such value"]).build().unwrap();
        let text = parts.concat().repeat(times);
        prop_assert_eq!(told(&Detector::builtin().find(&text)), told(&each.find(&text)));
    }
}
