//! Every layer around a service that is ready only where it was asked.

#[path = "../contract/table.rs"]
#[allow(dead_code, reason = "the contract tests use the rest of it")]
mod table;

use tower_agent::ToolCall;
use tower_agent_test::assert_service_contract;

use self::table::{Entry, Layered, Stack};
use crate::case::Case;

/// The stories of the contract are those that the case tells, and some more.
pub(crate) async fn every_layer(case: &Case) {
    assert_eq!(case.expected.field("panics"), false);
    tower_agent_tests::set_up();
    for entry in ToolCall::table() {
        keeps_the_contract(vec![entry]).await;
    }
    keeps_the_contract(ToolCall::table().into_iter().filter(|entry| entry.lets_through).collect())
        .await;
}

async fn keeps_the_contract(layers: Vec<Entry<ToolCall>>) {
    let stack = Stack(layers);
    let counts = assert_service_contract::<ToolCall, _>(&stack).await;
    assert_eq!(counts.outputs > 0, stack.lets_through(), "{counts:?}");
}
