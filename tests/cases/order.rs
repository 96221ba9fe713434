//! Two layers in either order.

use serde_json::json;
use tower::{Layer, ServiceBuilder};
use tower_agent::{RedactLayer, ToolSet, TruncateLayer, check, describe};

use crate::{case::Case, scene::Scene};

pub(crate) async fn cut_and_mask(case: &Case) {
    let stacks = case.input["stacks"].as_array().unwrap();
    let pieces = case.expected.field("any_of")[1]["not_contains"].as_array().unwrap();
    assert_eq!(*pieces, case.expected.list("not_contains_for_stack_1"));
    for stack in stacks {
        let input = json!({"stack": stack, "call": case.input["call"], "tool": case.input["tool"]});
        let all = Scene::of(&input).play().await.result().text();
        for piece in pieces {
            assert!(!all.contains(piece.as_str().unwrap()), "{stack}: {all}");
        }
    }
    assert_eq!(warnings(RedactLayer::secrets(), TruncateLayer::bytes(500)), 1);
    assert_eq!(warnings(TruncateLayer::bytes(500), RedactLayer::secrets()), 0);
}

/// What `check` has to say about two layers, the outer one first.
fn warnings<A, B>(outer: A, inner: B) -> usize
where
    B: Layer<ToolSet>,
    A: Layer<B::Service>,
    A::Service: 'static,
{
    let stack = ServiceBuilder::new().layer(outer).layer(inner);
    check(&describe(&stack.service(ToolSet::empty()))).len()
}
