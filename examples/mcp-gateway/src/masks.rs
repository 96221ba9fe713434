//! Masks what does not pass through a stack.

use std::{
    future::ready,
    sync::{Arc, Mutex, PoisonError},
};

use futures_util::FutureExt;
use tower::{ServiceExt, service_fn};
use tower_agent::{Error, Json, RedactLayer, ToolCall, ToolOutput};
use tower_layer::Layer;

/// What a redacting layer leaves of an output; nothing where it fails.
pub(crate) fn scrub(layer: &RedactLayer, output: ToolOutput) -> Option<ToolOutput> {
    let given = service_fn(move |_: ToolCall| ready(Ok::<_, Error>(output.clone())));
    // Nothing in it waits.
    layer.layer(given).oneshot(ToolCall::new("", "{}")).now_or_never()?.ok()
}

/// All that masks anything of a server. What a server says beside its results does not tell which tool it belongs to, so what masks
/// the results of one tool masks it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Masks(Arc<[RedactLayer]>);

impl FromIterator<RedactLayer> for Masks {
    fn from_iter<I: IntoIterator<Item = RedactLayer>>(layers: I) -> Self {
        Self(layers.into_iter().collect())
    }
}

impl Masks {
    /// What goes from a server to a client; nothing where a layer fails.
    pub(crate) fn outward(&self, json: Json) -> Option<Json> {
        self.0.iter().try_fold(json, |json, layer| {
            let mut output = ToolOutput::default();
            output.structured = Some(json);
            scrub(layer, output)?.structured
        })
    }

    /// What goes from a client to a server, treated as arguments are; nothing where a layer refuses it.
    pub(crate) fn inward(&self, json: Json) -> Option<Json> {
        self.0.iter().try_fold(json, |json, layer| admitted(layer, json))
    }
}

fn admitted(layer: &RedactLayer, json: Json) -> Option<Json> {
    let arguments = Arc::new(Mutex::new(None));
    let seen = Arc::clone(&arguments);
    let leaf = service_fn(move |call: ToolCall| {
        *seen.lock().unwrap_or_else(PoisonError::into_inner) = Some(call.arguments);
        ready(Ok::<_, Error>(ToolOutput::default()))
    });
    layer.layer(leaf).oneshot(ToolCall::new("", json)).now_or_never()?.ok()?;
    arguments.lock().unwrap_or_else(PoisonError::into_inner).take()
}

#[cfg(test)]
mod tests {
    use tower_agent::redact::Arguments;

    use super::*;

    const SECRET: &str = "ghp_a1B2c3D4e5F6a1B2c3D4e5F6a1B2c3D4e5F6";

    fn masks(layers: &[RedactLayer]) -> Masks {
        layers.iter().cloned().collect()
    }

    #[test]
    fn what_one_layer_of_a_server_masks_is_masked() {
        let secret = Json::from_value(serde_json::json!({ "text": [SECRET, "mara@example.com"] }));
        let [secrets, all] = [RedactLayer::secrets(), RedactLayer::all()];
        let table = [
            (masks(&[]), true, true),
            (masks(std::slice::from_ref(&secrets)), false, true),
            (masks(&[secrets, all]), false, false),
        ];
        for (masks, has_token, has_mail) in table {
            let left = masks.outward(secret.clone()).unwrap();
            assert_eq!(left.as_str().contains(SECRET), has_token, "{left:?}");
            assert_eq!(left.as_str().contains("mara@"), has_mail, "{left:?}");
        }
    }

    #[test]
    fn answers_are_treated_as_arguments_are() {
        let secret = Json::from_value(serde_json::json!({ "content": { "key": SECRET } }));
        let inward = |arguments| {
            masks(&[RedactLayer::secrets().arguments(arguments)]).inward(secret.clone())
        };
        assert_eq!(inward(Arguments::Keep).unwrap(), secret);
        assert!(!inward(Arguments::Mask).unwrap().as_str().contains(SECRET));
        assert!(inward(Arguments::Block).is_none());
    }
}
