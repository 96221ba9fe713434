//! Each layer inside each other one.

use tower_agent::{ModelRequest, RunRequest, ToolCall};
use tower_agent_test::assert_service_contract;

use super::table::{Layered, Stack};

async fn each_pair<O: Layered>() {
    tower_agent_tests::set_up();
    // Two tables: a limit that stood inside itself would wait for its own permits.
    for outer in &O::table() {
        for inner in &O::table() {
            if outer.is_stock() && inner.is_stock() {
                continue;
            }
            let stack = Stack(vec![outer.clone(), inner.clone()]);
            println!("{stack:?} around a {}", O::KIND);
            let counts = assert_service_contract::<O, _>(&stack).await;
            assert_eq!(counts.calls > 0, stack.lets_through(), "{stack:?}: {counts:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn each_pair_of_layers_around_a_tool_keeps_the_contract() {
    each_pair::<ToolCall>().await;
}

#[tokio::test(start_paused = true)]
async fn each_pair_of_layers_around_a_model_keeps_the_contract() {
    each_pair::<ModelRequest>().await;
}

#[tokio::test(start_paused = true)]
async fn each_pair_of_layers_around_an_agent_keeps_the_contract() {
    each_pair::<RunRequest>().await;
}
