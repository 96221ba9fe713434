//! Names of tools that look like others.

use serde_json::json;

use crate::{
    case::Case,
    layers::{number, text},
    scene::Scene,
};

pub(crate) async fn look_alikes(case: &Case) {
    let checks = case.input["checks"].as_array().unwrap();
    let decisions = case.expected.texts("decisions");
    let escaped: Vec<_> = case.expected.list("escaped_in_message").iter().map(number).collect();
    assert_eq!(decisions.len(), checks.len());
    for (place, (check, decision)) in checks.iter().zip(decisions).enumerate() {
        let name = text(&check["name"]);
        let call = json!({"id": "c1", "name": name, "args": {}});
        let played = Scene::of_call(&case.input["stack"], "verify_user", &call).play().await;
        let denied = played.record().output.outcome.is_denied();
        assert_eq!(if denied { "deny" } else { "allow" }, decision, "{name:?}");
        assert_eq!(played.ran.is_empty(), denied, "{name:?}");
        if escaped.contains(&place) {
            let shown = played.result().text();
            assert!(shown.is_ascii() && shown.contains(r"\u{"), "{shown}");
        }
    }
}
