//! The tool as a user runs it: the program itself, over pipes.

#![cfg(test)]

use std::{
    io::{Read, Write},
    process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
};

use serde_json::{Value, json};

/// What has come out of a run that has ended.
#[derive(Debug)]
struct Ended {
    status: ExitStatus,
    out: Vec<u8>,
    err: String,
}

/// A run that goes on.
struct Running {
    child: Child,
    to: ChildStdin,
    from: ChildStdout,
}

fn redact(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_redact"));
    command.args(args).env_remove("REDACT_KEY");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn start(mut command: Command) -> Running {
    let mut child = command.spawn().unwrap();
    let (to, from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    Running { child, to, from }
}

fn run_with(command: Command, input: &[u8]) -> Ended {
    let Running { child, mut to, mut from } = start(command);
    let input = input.to_vec();
    // A run that refuses its flags does not read.
    let writer = std::thread::spawn(move || drop(to.write_all(&input)));
    let mut out = Vec::new();
    from.read_to_end(&mut out).unwrap();
    writer.join().unwrap();
    ended(child, out)
}

fn run(args: &[&str], input: &[u8]) -> Ended {
    run_with(redact(args), input)
}

fn ended(child: Child, out: Vec<u8>) -> Ended {
    let rest = child.wait_with_output().unwrap();
    Ended { status: rest.status, out, err: String::from_utf8(rest.stderr).unwrap() }
}

impl Ended {
    fn text(&self) -> &str {
        str::from_utf8(&self.out).unwrap()
    }
}

impl Running {
    fn send(&mut self, bytes: &[u8]) {
        self.to.write_all(bytes).unwrap();
    }

    /// Waits until exactly this has come out.
    fn expect(&mut self, bytes: &[u8]) {
        let mut out = vec![0; bytes.len()];
        self.from.read_exact(&mut out).unwrap();
        assert_eq!(String::from_utf8_lossy(&out), String::from_utf8_lossy(bytes));
    }

    fn end(self) -> Ended {
        let Self { child, to, mut from } = self;
        drop(to);
        let mut out = Vec::new();
        from.read_to_end(&mut out).unwrap();
        ended(child, out)
    }
}

fn token() -> String {
    format!("ghp_{}", "a1B2c3D4e5F6".repeat(3))
}

fn key_block() -> String {
    let line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n";
    format!("-----BEGIN {0}-----\n{1}-----END {0}-----", "PRIVATE KEY", line.repeat(20))
}

#[test]
fn secrets_are_masked_and_everything_else_passes_byte_for_byte() {
    let (token, block) = (token(), key_block());
    let input = format!("one\r\n\ttoken: {token}, é\n\n{block}\n\u{feff}end");
    let ended = run(&[], input.as_bytes());
    let expected =
        input.replace(&token, "[REDACTED:github-pat]").replace(&block, "[REDACTED:private-key]");
    assert_eq!(ended.text(), expected);
    assert_eq!(ended.status.code(), Some(0));
    let summary: Vec<_> = ended.err.lines().collect();
    assert!(summary[0].starts_with("redact: 0.0 MB, ") && summary[0].ends_with(", 2 findings"));
    assert_eq!(summary[1..], ["        1  github-pat", "        1  private-key"]);
}

#[test]
fn masking_the_output_changes_nothing() {
    let once = run(&["--quiet"], format!("{}\n{}\n", token(), key_block()).as_bytes());
    assert_eq!(run(&["--quiet"], &once.out).text(), once.text());
    assert_eq!(once.err, "");
}

#[test]
fn what_is_settled_comes_out_while_the_input_pauses() {
    let token = token();
    let (front, back) = token.split_at(11);
    let mut redact = start(redact(&[]));
    redact.send(b"first line\n");
    redact.expect(b"first line\n");
    redact.send(format!("key {front}").as_bytes());
    redact.expect(b"key ");
    redact.send(back.as_bytes());
    redact.send(b"\nlast");
    redact.expect(b"[REDACTED:github-pat]\n");
    assert_eq!(redact.end().text(), "last");
}

#[test]
fn what_is_no_utf_8_passes_and_what_stands_around_it_is_masked() {
    let token = token();
    let mut input = Vec::new();
    let mut expected = Vec::new();
    // A byte that is never UTF-8, half a character before another one, and Latin-1.
    for odd in [&b"\xff"[..], b"\xe2\x82", b" caf\xe9 ", b"\xf0\x9f\x98\x41", b"\xed\xa0\x80"] {
        input.extend([odd, token.as_bytes(), odd, b"\n"].concat());
        expected.extend([odd, b"[REDACTED:github-pat]", odd, b"\n"].concat());
    }
    input.extend(b"\xe2\x82");
    expected.extend(b"\xe2\x82");
    let out = run(&["--quiet"], &input).out;
    assert_eq!(out, expected, "{}", String::from_utf8_lossy(&out));
}

#[test]
fn a_character_may_come_in_two_pieces() {
    let mut redact = start(redact(&[]));
    for (piece, rest) in
        [(&b"\xc3"[..], &b"\xa9\n"[..]), (b"\xf0\x9f", b"\x98\x80\n"), (b"\xe2", b"\x41\n")]
    {
        redact.send(b"\n");
        redact.expect(b"\n");
        redact.send(piece);
        redact.send(rest);
        redact.expect(&[piece, rest].concat());
    }
    redact.send(b"\n\xe2\x82");
    redact.expect(b"\n");
    assert_eq!(redact.end().out, b"\xe2\x82");
}

#[test]
fn long_input_is_the_same_however_it_is_cut() {
    let line = format!("{} and \"é日😀\" {}\n", "lorem ipsum ".repeat(20), token());
    let input = line.repeat(2_000);
    let ended = run(&[], input.as_bytes());
    assert_eq!(ended.text(), input.replace(&token(), "[REDACTED:github-pat]"));
    assert!(ended.err.contains("     2000  github-pat"), "{}", ended.err);
}

#[test]
fn each_mask_writes_what_it_says() {
    let token = token();
    let input = format!("a {token} b");
    let masked = |args: &[&str]| run(args, input.as_bytes()).text().to_owned();
    assert_eq!(masked(&["--mask", "label"]), "a [REDACTED:github-pat] b");
    assert_eq!(masked(&["--mask", "last4"]), "a ****e5F6 b");
    assert_eq!(masked(&["--mask", "remove"]), "a  b");
    let hashed = |key: &str| {
        let mut command = redact(&["--mask", "hash"]);
        command.env("REDACT_KEY", key);
        run_with(command, format!("{token}\n{token}").as_bytes()).text().to_owned()
    };
    let (first, second) = (hashed("one key"), hashed("another key"));
    let (left, right) = first.split_once('\n').unwrap();
    assert_eq!(left, right);
    assert!(left.starts_with("[REDACTED:github-pat:") && left.len() == 38, "{left}");
    assert_ne!(first, second);
    let refused = run(&["--mask", "hash"], b"");
    assert_eq!(refused.status.code(), Some(2));
    assert_eq!(refused.err, "redact: --mask hash needs a key in REDACT_KEY\n");
}

#[test]
fn json_lines_keep_their_shape() {
    let (token, block) = (token(), key_block());
    let rows = [
        json!({"text": format!("a \"{token}\"\n{block}"), "list": [1, 2.5, null, {"deep": [token]}]}),
        json!([true, format!("\\{token}\\")]),
        json!({"é": "nothing here", "empty": {}}),
    ];
    let mut input = String::new();
    for row in &rows {
        input.push_str(&format!(" {row}\r\n"));
    }
    input.push_str("\n{\"id\": 12345678901234567890, \"id\" :1.50}");
    let ended = run(&["--json"], input.as_bytes());
    let lines: Vec<_> = ended.text().split('\n').collect();
    assert_eq!(lines.len(), 5);
    for (row, line) in rows.iter().zip(&lines) {
        let masked = row.to_string().replace(&token, "[REDACTED:github-pat]");
        let block = Value::from(block.clone()).to_string();
        let masked = masked.replace(block.trim_matches('"'), "[REDACTED:private-key]");
        assert_eq!(
            serde_json::from_str::<Value>(line).unwrap(),
            serde_json::from_str::<Value>(&masked).unwrap()
        );
    }
    assert_eq!(
        lines[2..],
        [
            " {\"empty\":{},\"é\":\"nothing here\"}\r",
            "",
            "{\"id\": 12345678901234567890, \"id\" :1.50}"
        ]
    );
    assert!(!ended.err.contains("warning"), "{}", ended.err);
}

#[test]
fn values_under_sensitive_keys_are_masked_in_json() {
    let ended = run(
        &["--json", "--mask", "remove"],
        br#"{"db": {"password": ["hunter2!x9"], "user": "mara"}}"#,
    );
    assert_eq!(ended.text(), r#"{"db": {"password": [""], "user": "mara"}}"#);
    assert!(ended.err.contains("        1  generic-"), "{}", ended.err);
}

#[test]
fn a_line_that_is_no_json_is_masked_as_text_and_counted() {
    let token = token();
    let input =
        [format!("{{\"a\": \"{token}\"").as_bytes(), token.as_bytes(), b"[\"\xff\"]", b"[]", b""]
            .join(&b'\n');
    let ended = run(&["--json"], &input);
    let expected = b"{\"a\": \"[REDACTED:github-pat]\"\n[REDACTED:github-pat]\n[\"\xff\"]\n[]\n";
    assert_eq!(ended.out, expected);
    assert!(
        ended.err.ends_with("redact: warning: 3 lines were no JSON and were masked as text\n"),
        "{}",
        ended.err
    );
    assert_eq!(ended.status.code(), Some(0));
}

#[test]
fn json_lines_come_out_one_by_one() {
    let mut redact = start(redact(&["--json"]));
    for part in ["{\"a\":", "[\"b", "\"]}"] {
        redact.send(part.as_bytes());
    }
    redact.send(b"\n[");
    redact.expect(b"{\"a\":[\"b\"]}\n");
    redact.send(b"]\n");
    redact.expect(b"[]\n");
    assert_eq!(redact.end().text(), "");
}

#[test]
fn rules_of_ones_own_are_looked_for_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rules.toml");
    let rules = "[[rule]]\nid = \"badge\"\ndescription = \"A badge\"\nkeywords = [\"bdg-\"]\npattern = 'bdg-[0-9]{6}'\n";
    std::fs::write(&path, rules).unwrap();
    let path = path.to_str().unwrap();
    let input = format!("bdg-123456 {}", token());
    let ended = run(&["--rules", path], input.as_bytes());
    assert_eq!(ended.text(), "[REDACTED:badge] [REDACTED:github-pat]", "{}", ended.err);
    let ended = run(&["--rules", path, "--set", "pii"], input.as_bytes());
    assert_eq!(ended.text(), format!("[REDACTED:badge] {}", token()), "{}", ended.err);
}

#[test]
fn a_rule_that_makes_no_sense_is_named_with_the_cause() {
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        (
            "[[rule]]\nid = \"badge\"\ndescription = \"\"\nkeywords = [\"bdg-\"]\npattern = 'bdg-[0-9'\n",
            "rule `badge`: ",
        ),
        (
            "[[rule]]\nid = \"badge\"\nkeywords = [\"b\"]\ndescription = \"\"\npattern = 'b'\n",
            "rule `badge`: keyword `b`",
        ),
        ("[[rule]\n", "TOML parse error"),
    ];
    for (rules, expected) in cases {
        let path = folder.path().join("rules.toml");
        std::fs::write(&path, rules).unwrap();
        let ended = run(&["--rules", path.to_str().unwrap()], b"text");
        assert_eq!((ended.status.code(), ended.text()), (Some(2), ""));
        assert!(
            ended.err.contains(expected) && ended.err.contains("rules.toml: "),
            "{}",
            ended.err
        );
    }
    let ended = run(&["--rules", "/nowhere/rules.toml"], b"text");
    assert_eq!(ended.status.code(), Some(2));
    assert!(ended.err.starts_with("redact: --rules /nowhere/rules.toml: "), "{}", ended.err);
}

#[test]
fn flags_that_are_wrong_end_with_two_and_help_with_zero() {
    for args in [&["--fast"][..], &["--set", "none"], &["--mask"], &["file"]] {
        let ended = run(args, b"text");
        assert_eq!((ended.status.code(), ended.text()), (Some(2), ""), "{args:?}");
        assert!(
            ended.err.starts_with("redact: ") && ended.err.lines().count() == 1,
            "{}",
            ended.err
        );
    }
    let help = run(&["--help"], b"");
    assert!(help.status.success() && help.text().contains("Usage: redact") && help.err.is_empty());
}

#[test]
fn a_reader_that_leaves_ends_the_run_quietly() {
    let Running { child, mut to, from } = start(redact(&[]));
    drop(from);
    let line = [b'x'; 80];
    while to.write_all(&line).is_ok() {}
    let ended = ended(child, Vec::new());
    assert_eq!((ended.status.code(), ended.err.as_str()), (Some(0), ""));
}

#[cfg(unix)]
#[test]
fn input_that_cannot_be_read_ends_with_one() {
    let mut command = redact(&[]);
    command.stdin(std::fs::File::open(".").unwrap());
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stderr.starts_with(b"redact: "), "{output:?}");
}

#[test]
fn no_input_is_no_output() {
    for args in [&["--quiet"][..], &["--quiet", "--json"]] {
        let ended = run(args, b"");
        assert_eq!((ended.status.code(), ended.text(), ended.err.as_str()), (Some(0), "", ""));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_with_the_input() {
    let line = "2024-05-01 INFO the request of user 4711 finished, 12 ms, path /items?page=%20x\n";
    let piece = line.repeat(200);
    for args in [&["--quiet"][..], &["--quiet", "--json"]] {
        let mut redact = start(redact(args));
        let mut pass = |kilobytes: usize| {
            for _ in 0..kilobytes * 1024 / piece.len() {
                redact.send(piece.as_bytes());
                redact.expect(piece.as_bytes());
            }
            let status = std::fs::read_to_string(format!("/proc/{}/status", redact.child.id()));
            let status = status.unwrap();
            let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
            peak.trim().strip_suffix(" kB").unwrap().parse::<usize>().unwrap()
        };
        let (before, after) = (pass(512), pass(4096));
        assert!(after < before + 1024, "{args:?}: {before} kB, then {after} kB");
        assert!(redact.end().status.success());
    }
}
