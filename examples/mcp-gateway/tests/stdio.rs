//! The gateway as an editor runs it: over its standard input and output, in front of real servers.

#![cfg(test)]

mod support;

use serde_json::{Value, json};
use support::{Folder, Gateway, PATIENCE, appears, call, text};

const SECRET: &str = "ghp_a1B2c3D4e5F6a1B2c3D4e5F6a1B2c3D4e5F6";

#[tokio::test]
async fn what_is_not_allowed_is_neither_listed_nor_run() {
    let folder = Folder::new(
        r#"
        [all]
        deny = ["delete"]

        [[server]]
        name = "demo"
        command = "DEMO"
        allow = ["echo", "delete"]
        "#,
    );
    let gateway = Gateway::start(&folder).await;
    assert_eq!(gateway.names().await, ["echo"]);
    let result = gateway.call("echo", json!({"text": "hello"})).await;
    assert_eq!((result.is_error, text(&result).as_str()), (Some(false), "hello"));
    for denied in ["delete", "leak"] {
        let result = gateway.call(denied, json!({})).await;
        assert_eq!(result.is_error, Some(true));
        let expected = format!("The tool \"{denied}\" is not available in this deployment");
        assert!(text(&result).starts_with(&expected), "{}", text(&result));
    }
    let error = gateway.client.call_tool(call("nothing", json!({}))).await.unwrap_err();
    assert!(error.to_string().contains("Unknown tool: nothing"), "{error}");
    let (code, _) = gateway.end().await;
    assert_eq!(code, Some(0));
}

#[tokio::test]
async fn results_are_masked_and_cut_as_the_narrowest_table_says() {
    let folder = Folder::new(
        r#"
        [all]
        truncate = 1000

        [[server]]
        name = "demo"
        command = "DEMO"

        [[tool]]
        match = ["gr*"]
        truncate = { bytes = 200, keep = "tail" }

        [[tool]]
        match = ["echo"]
        redact = false
        truncate = false
        "#,
    );
    let gateway = Gateway::start(&folder).await;
    let leaked = text(&gateway.call("leak", json!({})).await);
    assert!(leaked.contains("token = \"[REDACTED:github-pat]\""), "{leaked}");
    assert!(leaked.contains("user = \"mara\"") && !leaked.contains("hunter2"), "{leaked}");
    let grown = text(&gateway.call("grow", json!({"bytes": 5000})).await);
    assert!(grown.len() <= 200 && grown.starts_with("[cut: ") && grown.ends_with('x'), "{grown}");
    let echoed = format!("{SECRET} {}", "y".repeat(2000));
    assert_eq!(text(&gateway.call("echo", json!({"text": echoed})).await), echoed);
}

#[tokio::test]
async fn confidential_arguments_are_refused_where_the_file_says_so() {
    let folder = Folder::new(
        r#"
        [all]
        redact = { set = "all", mask = "last4", arguments = "block" }

        [[server]]
        name = "demo"
        command = "DEMO"
        "#,
    );
    let gateway = Gateway::start(&folder).await;
    let refused = gateway.call("echo", json!({"text": format!("send {SECRET}")})).await;
    assert_eq!(refused.is_error, Some(true));
    assert!(text(&refused).contains("github-pat"), "{}", text(&refused));
    assert!(!text(&refused).contains(SECRET), "{}", text(&refused));
    let leaked = text(&gateway.call("leak", json!({})).await);
    assert!(leaked.contains("token = \"****e5F6\""), "{leaked}");
}

#[tokio::test]
async fn what_takes_too_long_is_stopped_and_what_is_quick_is_not() {
    let folder = Folder::new(
        r#"
        [[server]]
        name = "demo"
        command = "DEMO"
        timeout = "100ms"

        [[tool]]
        match = ["demo__echo"]
        timeout = "10m"
        "#,
    );
    let gateway = Gateway::start(&folder).await;
    let stopped = gateway.call("sleep", json!({"milliseconds": 600_000})).await;
    assert_eq!(stopped.is_error, Some(true));
    assert!(text(&stopped).contains("took too long"), "{}", text(&stopped));
    let result = gateway.call("echo", json!({"text": "still here"})).await;
    assert_eq!(text(&result), "still here");
}

#[tokio::test]
async fn two_tools_of_one_name_are_told_apart_and_lists_mean_the_same_tools_as_before() {
    let folder = Folder::new(
        r#"
        [all]
        allow = ["echo", "delete", "two__fail"]
        deny = ["one__delete"]

        [[server]]
        name = "one"
        command = "DEMO"

        [[server]]
        name = "two"
        command = "DEMO"
        "#,
    );
    let gateway = Gateway::start(&folder).await;
    assert_eq!(gateway.names().await, ["one__echo", "two__echo", "two__fail", "two__delete"]);
    assert_eq!(text(&gateway.call("two__echo", json!({"text": "second"})).await), "second");
    let denied = gateway.call("one__delete", json!({})).await;
    assert!(text(&denied).contains("is not available"), "{}", text(&denied));
    assert!(gateway.client.call_tool(call("echo", json!({}))).await.is_err());
}

#[tokio::test]
async fn a_prefix_that_is_asked_for_is_always_there() {
    let folder = Folder::new(
        r#"
        [[server]]
        name = "demo"
        command = "DEMO"
        prefix = true
        allow = ["echo"]
        "#,
    );
    let gateway = Gateway::start(&folder).await;
    assert_eq!(gateway.names().await, ["demo__echo"]);
    assert_eq!(text(&gateway.call("demo__echo", json!({"text": "hi"})).await), "hi");
}

#[tokio::test]
async fn a_server_that_dies_in_the_middle_of_a_call_is_started_again() {
    let folder = Folder::new("[[server]]\nname = \"demo\"\ncommand = \"DEMO\"\n");
    let mut gateway = Gateway::start(&folder).await;
    let failed = gateway.call("die", json!({})).await;
    assert_eq!(failed.is_error, Some(true));
    assert!(text(&failed).starts_with("The tool \"die\" failed"), "{}", text(&failed));
    gateway.says("a server went away").await;
    loop {
        let result = gateway.call("echo", json!({"text": "back"})).await;
        if result.is_error == Some(false) {
            assert_eq!(text(&result), "back");
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_server_that_cannot_be_reached_keeps_nobody_from_the_others() {
    let folder = Folder::new(
        r#"
        [[server]]
        name = "gone"
        command = "no-such-program"

        [[server]]
        name = "demo"
        command = "DEMO"
        allow = ["echo"]
        "#,
    );
    let mut gateway = Gateway::start(&folder).await;
    assert_eq!(gateway.names().await, ["echo"]);
    let said = gateway.says("a server cannot be reached").await;
    assert!(said.contains("gone"), "{said}");
}

#[tokio::test]
async fn every_decision_is_in_the_audit_file_and_no_value() {
    let folder = Folder::new(
        r#"
        [all]
        deny = ["delete"]

        [audit]
        file = "audit.jsonl"
        arguments = true

        [[server]]
        name = "demo"
        command = "DEMO"

        [[tool]]
        match = ["sleep"]
        timeout = "50ms"

        [[tool]]
        match = ["fail"]
        audit = false
        "#,
    );
    let gateway = Gateway::start(&folder).await;
    gateway.call("leak", json!({})).await;
    gateway.call("delete", json!({"path": SECRET})).await;
    gateway.call("sleep", json!({"milliseconds": 600_000})).await;
    gateway.call("die", json!({})).await;
    gateway.call("fail", json!({})).await;
    drop(gateway.client.call_tool(call(&format!("no_{SECRET}"), json!({}))).await);
    let (code, _) = gateway.end().await;
    assert_eq!(code, Some(0));

    let text = std::fs::read_to_string(folder.path("audit.jsonl")).unwrap();
    assert!(!text.contains(SECRET) && !text.contains("hunter2"), "{text}");
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told = |line: &Value| {
        ["tool", "decision", "layer", "code"]
            .map(|key| line[key].as_str().unwrap_or("-").to_owned())
    };
    let told: Vec<_> = lines.iter().map(told).collect();
    assert_eq!(told[0], ["leak", "executed", "-", "-"], "{text}");
    assert_eq!(told[1], ["delete", "denied", "deny_list", "not_allowed"]);
    assert_eq!((&*told[2][0], &*told[2][1]), ("sleep", "timed_out"));
    assert_eq!(told[3], ["die", "failed", "mcp", "unavailable"]);
    assert_eq!(told[4][1..], ["failed", "-", "not_found"]);
    assert_eq!(lines[0]["findings"], json!({"generic-password": 1, "github-pat": 1}));
    assert_eq!(lines[0]["server"], "demo");
    assert!(lines[0]["time"].as_str().unwrap().ends_with('Z'));
    assert_eq!(lines[1]["arguments"], json!({"path": "[REDACTED:github-pat]"}));
    assert!(!lines[0]["session"].is_null() && lines[0]["run"] != lines[1]["run"], "{text}");
}

#[tokio::test]
async fn a_call_that_the_client_gives_up_is_cancelled_at_the_server_and_written_down() {
    let folder = Folder::new(
        r#"
        [audit]
        file = "audit.jsonl"

        [[server]]
        name = "demo"
        command = "DEMO"
        "#,
    );
    let gateway = Gateway::start(&folder).await;
    let (name, started) = (folder.path("never"), folder.path("never.started"));
    tokio::select! {
        _ = gateway.client.call_tool(call("wait", json!({"name": name}))) => panic!("it waits"),
        () = appears(&started) => {}
    }
    gateway.end().await;
    let text = std::fs::read_to_string(folder.path("audit.jsonl")).unwrap();
    let line: Value = serde_json::from_str(text.trim()).unwrap();
    assert_eq!((&line["tool"], &line["decision"]), (&json!("wait"), &json!("cancelled")));
    assert_eq!(line.get("arguments"), None);
}

#[tokio::test]
async fn a_call_that_has_no_turn_waits_and_one_that_is_denied_takes_none() {
    let folder = Folder::new(
        r#"
        [all]
        deny = ["delete"]
        concurrency = 2

        [[server]]
        name = "demo"
        command = "DEMO"

        [[tool]]
        match = ["wait"]
        concurrency = 1
        "#,
    );
    let gateway = Gateway::start(&folder).await;
    let (one, two) = (folder.path("one"), folder.path("two"));
    let (one_runs, two_runs) = (folder.path("one.started"), folder.path("two.started"));
    let first = gateway.call("wait", json!({"name": one}));
    let second = async {
        appears(&one_runs).await;
        gateway.call("wait", json!({"name": two})).await
    };
    let others = async {
        appears(&one_runs).await;
        let echoed = gateway.call("echo", json!({"text": "mine"})).await;
        assert_eq!(text(&echoed), "mine");
        assert_eq!(gateway.call("delete", json!({})).await.is_error, Some(true));
        assert!(!two_runs.exists());
        std::fs::write(&one, "").unwrap();
        appears(&two_runs).await;
        std::fs::write(&two, "").unwrap();
    };
    let (first, second, ()) = tokio::join!(first, second, others);
    assert_eq!((text(&first).as_str(), text(&second).as_str()), ("waited", "waited"));
}

#[tokio::test]
async fn the_progress_of_a_call_reaches_whoever_waits_for_it_and_its_words_are_masked() {
    let folder = Folder::new("[[server]]\nname = \"demo\"\ncommand = \"DEMO\"\n");
    let gateway = Gateway::start(&folder).await;
    let slept = gateway.call("sleep", json!({"milliseconds": 20})).await;
    assert_eq!(text(&slept), "slept 20 ms");
    let all = async {
        while gateway.progress.lock().unwrap().len() < 4 {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, all).await.unwrap();
    let mut reports = gateway.progress.lock().unwrap().clone();
    reports.sort_by(|one, other| one.progress.total_cmp(&other.progress));
    let told: Vec<_> = reports.iter().map(|report| (report.progress, report.total)).collect();
    assert_eq!(told, [1.0, 2.0, 3.0, 4.0].map(|step| (step, Some(4.0))));
    for report in reports {
        assert_eq!(report.message.as_deref(), Some("asked with [REDACTED:github-pat]"));
    }
}

#[tokio::test]
async fn a_call_without_progress_is_given_up_by_the_connection() {
    let folder = Folder::new(
        r#"
        [[server]]
        name = "demo"
        command = "DEMO"
        idle_timeout = "100ms"
        "#,
    );
    let gateway = Gateway::start(&folder).await;
    let name = folder.path("never");
    let given_up = gateway.call("wait", json!({"name": name})).await;
    assert_eq!(given_up.is_error, Some(true));
    assert!(text(&given_up).starts_with("The tool \"wait\" failed"), "{}", text(&given_up));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn an_audit_file_that_cannot_be_written_keeps_no_call_from_running() {
    let folder = Folder::new(
        r#"
        [audit]
        file = "/dev/full"

        [[server]]
        name = "demo"
        command = "DEMO"
        "#,
    );
    let mut gateway = Gateway::start(&folder).await;
    for _ in 0..2 {
        assert_eq!(text(&gateway.call("echo", json!({"text": "on"})).await), "on");
    }
    gateway.says("the audit file cannot be written; lines are lost").await;
    assert_eq!(gateway.end().await.0, Some(0));
}
