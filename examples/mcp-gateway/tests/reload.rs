//! What happens when the file or a server changes while the gateway runs.

#![cfg(test)]

mod support;

use serde_json::json;
use support::{Folder, Gateway, PATIENCE, appears, text};
use tokio::time::timeout;

fn config(more: &str) -> String {
    format!("[[server]]\nname = \"demo\"\ncommand = \"DEMO\"\n{more}\n")
}

#[tokio::test]
async fn a_changed_file_holds_at_once_and_a_call_that_runs_is_not_dropped() {
    let folder = Folder::new(&config("allow = [\"wait\", \"echo\"]"));
    let gateway = Gateway::start(&folder).await;
    let name = folder.path("go");
    let waiting = gateway.call("wait", json!({"name": name}));
    let change = async {
        appears(&folder.path("go.started")).await;
        folder.write("gateway.toml", &config("allow = [\"echo\", \"leak\"]"));
        timeout(PATIENCE, gateway.changed.notified()).await.unwrap();
        assert_eq!(gateway.names().await, ["echo", "leak"]);
        let denied = gateway.call("wait", json!({})).await;
        assert!(text(&denied).contains("is not available"), "{denied:?}");
        std::fs::write(&name, "").unwrap();
    };
    let (waited, ()) = tokio::join!(waiting, change);
    assert_eq!((waited.is_error, text(&waited).as_str()), (Some(false), "waited"));
}

#[tokio::test]
async fn a_server_whose_entry_changed_is_replaced_and_its_calls_finish() {
    let folder = Folder::new(&config("allow = [\"wait\"]"));
    let gateway = Gateway::start(&folder).await;
    let name = folder.path("go");
    let waiting = gateway.call("wait", json!({"name": name}));
    let change = async {
        appears(&folder.path("go.started")).await;
        let more = "allow = [\"wait\", \"echo\"]\nenv = { ECHO_SAYS = \"Another one\" }";
        folder.write("gateway.toml", &config(more));
        loop {
            let tools = gateway.client.list_all_tools().await.unwrap();
            let echo = tools.iter().find(|tool| tool.name == "echo");
            if echo.and_then(|echo| echo.description.as_deref()) == Some("Another one") {
                break;
            }
            timeout(PATIENCE, gateway.changed.notified()).await.unwrap();
        }
        std::fs::write(&name, "").unwrap();
    };
    let (waited, ()) = tokio::join!(waiting, change);
    assert_eq!(text(&waited), "waited");
}

#[tokio::test]
async fn a_file_that_makes_no_sense_changes_nothing_and_is_complained_of() {
    let folder = Folder::new(&config("allow = [\"echo\"]"));
    let mut gateway = Gateway::start(&folder).await;
    folder.write("gateway.toml", &config("alow = [\"*\"]"));
    let said = gateway.says("did you mean `allow`?").await;
    assert!(said.contains("gateway.toml:4: server[0].alow"), "{said}");
    assert_eq!(gateway.names().await, ["echo"]);
    assert_eq!(text(&gateway.call("echo", json!({"text": "same"})).await), "same");

    folder.write("gateway.toml", &config("allow = [\"leak\"]"));
    timeout(PATIENCE, gateway.changed.notified()).await.unwrap();
    assert_eq!(gateway.names().await, ["leak"]);
}

#[tokio::test]
async fn a_server_that_changes_its_tools_changes_the_list_of_the_gateway() {
    let folder = Folder::new(&config("allow = [\"echo\", \"change\"]"));
    let gateway = Gateway::start(&folder).await;
    gateway.call("change", json!({"description": "Says it again"})).await;
    timeout(PATIENCE, gateway.changed.notified()).await.unwrap();
    let tools = gateway.client.list_all_tools().await.unwrap();
    assert_eq!(tools[0].description.as_deref(), Some("Says it again"));
}
