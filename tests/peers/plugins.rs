//! Plugins one by one and in lists.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use tower::{Layer, ServiceExt};
use tower_agent::{
    Agent, BoxError, Context, Denial, End, Error, ErrorKind, Message, ModelRequest, ModelResponse,
    Outcome, Plugin, PluginLayer, Reply, RunEvent, RunRequest, Tool, ToolCall, ToolOutput, ToolSet,
    Verdict, plugin::BoxPlugin,
};
use tower_agent_test::{ScriptedModel, StaticTool, Turn};

struct Refuses;

impl Plugin for Refuses {
    fn name(&self) -> &str {
        "refuses"
    }

    async fn before_tool(&self, _: &mut ToolCall) -> Result<Verdict<ToolCall>, BoxError> {
        Ok(Denial::new("Not today.").into())
    }
}

#[tokio::test]
async fn a_boxed_plugin_keeps_its_name_and_its_verdict() {
    let layer = PluginLayer::new(vec![BoxPlugin::new(Refuses)]);
    assert_eq!(layer.names(), ["refuses"]);
    let tool = StaticTool::text("pay", "paid");
    let output = layer.layer(tool.clone()).oneshot(ToolCall::new("pay", "{}")).await.unwrap();
    let Outcome::Denied(denial) = &output.outcome else { panic!("{output:?}") };
    assert_eq!((denial.layer.as_ref(), denial.message.as_str()), ("refuses", "Not today."));
    assert!(tool.calls().is_empty());
}

/// Lives as long as the stack.
struct Lives(#[expect(dead_code, reason = "what counts is how many there are")] Arc<()>);

impl Plugin for Lives {
    fn name(&self) -> &str {
        "lives"
    }
}

#[tokio::test]
async fn plugins_end_with_the_last_clone_of_their_stack() {
    let life = Arc::new(());
    let plugins = vec![BoxPlugin::new(Lives(life.clone())), BoxPlugin::new(Lives(life.clone()))];
    let layer = PluginLayer::new(plugins);
    let stack = layer.layer(StaticTool::text("now", "noon"));
    let clone = stack.clone();
    drop((layer, stack));
    clone.clone().oneshot(ToolCall::new("now", "{}")).await.unwrap();
    assert_eq!(Arc::strong_count(&life), 3);
    drop(clone);
    assert_eq!(Arc::strong_count(&life), 1);
}

/// Writes down the name of every hook that is called.
#[derive(Clone, Default)]
struct Hears(Arc<Mutex<Vec<&'static str>>>);

impl Hears {
    fn note(&self, hook: &'static str) {
        let mut heard = self.0.lock().unwrap();
        if !heard.contains(&hook) {
            heard.push(hook);
        }
    }
}

impl Plugin for Hears {
    fn name(&self) -> &str {
        "hears"
    }

    async fn before_run(&self, _: &mut RunRequest) -> Result<Verdict<RunRequest>, BoxError> {
        self.note("before_run");
        Ok(Verdict::Allow)
    }

    async fn on_user_message(&self, _: &Context, _: &mut Message) -> Result<(), BoxError> {
        self.note("on_user_message");
        Ok(())
    }

    async fn on_event(&self, _: &Context, _: &mut RunEvent) -> Result<(), BoxError> {
        self.note("on_event");
        Ok(())
    }

    fn after_run(&self, _: &RunRequest, _: &End) {
        self.note("after_run");
    }

    async fn before_model(&self, _: &mut ModelRequest) -> Result<Verdict<ModelRequest>, BoxError> {
        self.note("before_model");
        Ok(Verdict::Allow)
    }

    async fn after_model(
        &self,
        _: &ModelRequest,
        _: &mut Reply,
        _: Duration,
    ) -> Result<(), BoxError> {
        self.note("after_model");
        Ok(())
    }

    async fn on_model_error(
        &self,
        _: &ModelRequest,
        _: &Error,
    ) -> Result<Option<ModelResponse>, BoxError> {
        self.note("on_model_error");
        Ok(None)
    }

    async fn before_tool(&self, _: &mut ToolCall) -> Result<Verdict<ToolCall>, BoxError> {
        self.note("before_tool");
        Ok(Verdict::Allow)
    }

    async fn after_tool(
        &self,
        _: &ToolCall,
        _: &mut ToolOutput,
        _: Duration,
    ) -> Result<(), BoxError> {
        self.note("after_tool");
        Ok(())
    }

    async fn on_tool_error(
        &self,
        call: &ToolCall,
        error: &Error,
    ) -> Result<Option<ToolOutput>, BoxError> {
        self.note("on_tool_error");
        Ok(Some(ToolOutput::failure(format!("{}: {error}", call.name))))
    }
}

#[tokio::test]
async fn one_plugin_around_run_model_and_tools_hears_of_everything() {
    let hears = Hears::default();
    let layer = PluginLayer::new(hears.clone());
    let fails = StaticTool::error("fails", Error::new(ErrorKind::Tool, "out of paper"));
    let tools = ToolSet::builder()
        .tool(Tool::new(fails.spec().clone(), fails.clone()))
        .layer(layer.clone())
        .build()
        .unwrap();
    let model = ScriptedModel::tool_call("c1", "fails", "{}")
        .then(Turn::error(Error::new(ErrorKind::Overloaded, "busy")));
    let agent = Agent::builder("helper", layer.layer(model)).tools(tools).build();
    let run = layer.layer(agent).oneshot(RunRequest::user("go")).await.unwrap();
    run.collect().await.unwrap_err();

    let mut heard = hears.0.lock().unwrap().clone();
    heard.sort_unstable();
    let all = [
        "after_model",
        "after_run",
        "after_tool",
        "before_model",
        "before_run",
        "before_tool",
        "on_event",
        "on_model_error",
        "on_tool_error",
        "on_user_message",
    ];
    assert_eq!(heard, all);
}

#[tokio::test]
async fn one_plugin_in_several_stacks_shares_its_state() {
    struct Counts(Arc<AtomicUsize>);
    impl Plugin for Counts {
        fn name(&self) -> &str {
            "counts"
        }
        async fn before_model(
            &self,
            _: &mut ModelRequest,
        ) -> Result<Verdict<ModelRequest>, BoxError> {
            self.0.fetch_add(1, SeqCst);
            Ok(Verdict::Allow)
        }
        async fn before_tool(&self, _: &mut ToolCall) -> Result<Verdict<ToolCall>, BoxError> {
            self.0.fetch_add(1, SeqCst);
            Ok(Verdict::Allow)
        }
    }
    let count: Arc<AtomicUsize> = Arc::default();
    let layer = PluginLayer::new((Counts(count.clone()), Refuses));
    let tool = layer.layer(StaticTool::text("t", "ran"));
    let model = layer.layer(ScriptedModel::text("hi"));
    tool.oneshot(ToolCall::new("t", "{}")).await.unwrap();
    model.oneshot(ModelRequest::default()).await.unwrap();
    assert_eq!(count.load(SeqCst), 2);
}
