//! Each layer alone.

use tower_agent::{ModelRequest, RunRequest, ToolCall};
use tower_agent_test::assert_service_contract;

use super::table::{Layered, Stack};

async fn each_layer_alone<O: Layered>() {
    tower_agent_tests::set_up();
    for entry in O::table() {
        let name = entry.name;
        let stack = Stack(vec![entry]);
        println!("{} around a {}", name, O::KIND);
        let counts = assert_service_contract::<O, _>(&stack).await;
        assert_eq!(counts.calls > 0, stack.lets_through(), "{name}: {counts:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn each_layer_around_a_tool_keeps_the_contract() {
    each_layer_alone::<ToolCall>().await;
}

#[tokio::test(start_paused = true)]
async fn each_layer_around_a_model_keeps_the_contract() {
    each_layer_alone::<ModelRequest>().await;
}

#[tokio::test(start_paused = true)]
async fn each_layer_around_an_agent_keeps_the_contract() {
    each_layer_alone::<RunRequest>().await;
}
