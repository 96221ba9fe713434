//! The gateway as an editor runs it: over its standard input and output, in front of a real server.

#![cfg(test)]

mod support;

use serde_json::json;
use support::{Folder, Gateway, text};

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
    let (code, _) = gateway.end().await;
    assert_eq!(code, Some(0));
}
