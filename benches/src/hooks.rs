//! Hooks and plugins that do nothing, put together in each way there is.

use std::time::Duration;

use tower::Layer;
use tower_agent::{
    BoxError, Error, Plugin, PluginLayer, ToolCall, ToolOutput, Verdict,
    hooks::{Hook, HookList, Next, after, before, from_fn},
    plugin::BoxPlugin,
};

use crate::stack::{Free, ToolCase, case, five};

/// Ten layers with a hook before the call.
pub const LAYERS: &str = "10 layers of a sync before-hook";
/// Twenty layers: ten with a hook before the call, ten with one after it.
pub const PAIRS: &str = "10 sync before-hooks and 10 after-hooks, 20 layers";
/// One entry of a list.
pub const ENTRY: &str = "1 sync hook in a list";
/// Ten entries of a list that was put together at run time, with a hook before and after the call each.
pub const LIST: &str = "10 sync hooks in a list";
/// Ten plugins whose hooks are async, in one layer.
pub const TUPLE: &str = "10 async plugins as a tuple";

/// Each way around the free tool.
pub fn many(size: usize) -> Vec<(&'static str, ToolCase)> {
    let befores = five!(before(look), five!(before(look), Free::new(size)));
    let pairs = five!(
        before(look),
        five!(before(look), five!(after(glance), five!(after(glance), Free::new(size))))
    );
    let closures = five!(from_fn(around), five!(from_fn(around), Free::new(size)));
    let tuple = (Idle, Idle, Idle, Idle, Idle, Idle, Idle, Idle, Idle, Idle);
    let boxed: Vec<_> = (0..10).map(|_| BoxPlugin::new(Idle)).collect();
    vec![
        ("1 layer of a sync before-hook", case(size, before(look).layer(Free::new(size)))),
        (LAYERS, case(size, befores)),
        (PAIRS, case(size, pairs)),
        (ENTRY, case(size, list(1).layer(Free::new(size)))),
        (LIST, case(size, list(10).layer(Free::new(size)))),
        ("1 async plugin", case(size, PluginLayer::new(Idle).layer(Free::new(size)))),
        (TUPLE, case(size, PluginLayer::new(tuple).layer(Free::new(size)))),
        (
            "10 async plugins, boxed, in a list",
            case(size, PluginLayer::new(boxed).layer(Free::new(size))),
        ),
        ("1 async from_fn layer", case(size, from_fn(around).layer(Free::new(size)))),
        ("10 async from_fn layers", case(size, closures)),
    ]
}

fn look(_: &mut ToolCall) {}

fn glance(_: &mut ToolOutput) {}

async fn around(call: ToolCall, next: Next<ToolCall>) -> Result<ToolOutput, Error> {
    next.run(call).await
}

fn list(length: usize) -> HookList<ToolCall> {
    let hooks =
        (0..length).map(|index| Box::new(Entry(format!("hook {index}"))) as Box<dyn Hook<_>>);
    HookList::new(hooks).expect("each has a name")
}

/// An entry of a list that keeps both defaults, which the compiler cannot see through.
struct Entry(String);

impl Hook<ToolCall> for Entry {
    fn name(&self) -> &str {
        &self.0
    }
}

/// A plugin that writes the hooks of a tool call, as async functions, and does nothing in them.
struct Idle;

impl Plugin for Idle {
    fn name(&self) -> &str {
        "idle"
    }

    async fn before_tool(&self, _: &mut ToolCall) -> Result<Verdict<ToolCall>, BoxError> {
        Ok(Verdict::Allow)
    }

    async fn after_tool(
        &self,
        _: &ToolCall,
        _: &mut ToolOutput,
        _: Duration,
    ) -> Result<(), BoxError> {
        Ok(())
    }
}
