//! Every layer that there is, boxed, so that stacks can be put together at run time.

use std::{fmt, future::Ready, sync::Arc, time::Duration};

use tower::{
    Layer, Service, ServiceExt,
    buffer::BufferLayer,
    layer::util::Identity,
    limit::{ConcurrencyLimitLayer as StockConcurrencyLimitLayer, RateLimitLayer},
    load_shed::LoadShedLayer,
    retry::{Policy, RetryLayer},
    timeout::TimeoutLayer as StockTimeoutLayer,
    util::BoxCloneSyncService,
};
use tower_agent::{
    AllowListLayer, BoxError, Boxed, CatchPanicLayer, ConcurrencyLimitLayer, Context,
    DenyListLayer, Error, LogLayer, Message, MetricsLayer, ModelEvent, ModelRequest, Operation,
    Plugin, PluginLayer, RedactLayer, ReloadLayer, Reply, ReportErrorsLayer, RunEvent, RunRequest,
    TimeoutLayer, Tool, ToolCall, ToolOutput, ToolSet, ToolSpec, TruncateLayer, Verdict,
    concurrency_limit::WhenFull,
    hooks::{
        Hook, HookList, after, after_async, after_call, before, before_async, from_fn, on_error,
        on_error_async, on_model_event, on_run_event,
    },
    plugin::BoxPlugin,
    redact::Arguments,
    timeout::Limits,
};
use tower_agent_test::Sample;

/// A service somewhere in a stack.
pub(crate) type Inner<O> = BoxCloneSyncService<O, <O as Operation>::Output, Error>;

/// A layer with a name. Its shared state is the same in all stacks that it is part of.
pub(crate) struct Entry<O: Operation> {
    pub(crate) name: &'static str,
    /// Whether calls get through to the service inside when all is well.
    pub(crate) lets_through: bool,
    wrap: Arc<dyn Fn(Inner<O>) -> Inner<O> + Send + Sync>,
}

impl<O: Operation> Entry<O> {
    fn new<L>(name: &'static str, layer: L) -> Self
    where
        L: Layer<Inner<O>> + Send + Sync + 'static,
        L::Service: Service<O, Response = O::Output, Error: Into<Error>, Future: Send>
            + Clone
            + Send
            + Sync
            + 'static,
    {
        let wrap = move |inner| BoxCloneSyncService::new(layer.layer(inner).map_err(Into::into));
        Self { name, lets_through: true, wrap: Arc::new(wrap) }
    }

    /// Whether it is tower's own, which it is not for us to test.
    pub(crate) fn is_stock(&self) -> bool {
        self.name == "nothing" || self.name.starts_with("tower's")
    }

    fn refusing(mut self) -> Self {
        self.lets_through = false;
        self
    }
}

/// Layers as one, the outermost first.
#[derive(Clone)]
pub(crate) struct Stack<O: Operation>(pub(crate) Vec<Entry<O>>);

impl<O, S> Layer<S> for Stack<O>
where
    O: Operation,
    S: Service<O, Response = O::Output, Error = Error, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static,
{
    type Service = Inner<O>;

    fn layer(&self, inner: S) -> Inner<O> {
        let leaf = BoxCloneSyncService::new(inner);
        self.0.iter().rev().fold(leaf, |inner, entry| (entry.wrap)(inner))
    }
}

impl<O: Operation> Stack<O> {
    pub(crate) fn lets_through(&self) -> bool {
        self.0.iter().all(|entry| entry.lets_through)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|entry| entry.name == name)
    }
}

/// An operation with the layers that stand around it.
pub(crate) trait Layered: Sample + Sync {
    fn table() -> Vec<Entry<Self>>;
}

impl Layered for ToolCall {
    fn table() -> Vec<Entry<Self>> {
        let mut table = for_all();
        table.extend([
            Entry::new("allow list", AllowListLayer::exact(["probe"])),
            Entry::new("empty allow list", AllowListLayer::exact([""; 0])).refusing(),
            Entry::new("deny list", DenyListLayer::exact(["other"])),
            Entry::new("full deny list", DenyListLayer::exact(["probe"])).refusing(),
            Entry::new("truncate", TruncateLayer::characters(3)),
            Entry::new("redact", redact()),
            Entry::new("hook list", hook_list()),
            Entry::new("plugin", PluginLayer::new(Waits)),
            Entry::new("plugins", PluginLayer::new((Waits, Waits))),
            Entry::new("list of plugins", PluginLayer::new(vec![BoxPlugin::new(Waits)])),
            Entry::new("tool set", tower::layer::layer_fn(tool_set)),
        ]);
        table
    }
}

fn tool_set(tool: Inner<ToolCall>) -> ToolSet {
    let tool = Tool::new(ToolSpec::new("probe", "What is tested."), tool);
    ToolSet::builder().tool(tool).layer(Identity::new()).build().unwrap()
}

impl Layered for ModelRequest {
    fn table() -> Vec<Entry<Self>> {
        let mut table = for_all();
        table.extend([
            Entry::new("allow list", AllowListLayer::exact(["read"])),
            Entry::new("deny list", DenyListLayer::exact(["read"])),
            Entry::new("on_model_event", on_model_event(|_: &mut ModelEvent| {})),
            Entry::new("redact", redact()),
            Entry::new("hook list", hook_list()),
            Entry::new("plugin", PluginLayer::new(Waits)),
            Entry::new("plugin that edits replies", PluginLayer::new(Edits)),
            Entry::new("plugins", PluginLayer::new((Waits, Edits))),
            Entry::new("list of plugins", PluginLayer::new(vec![BoxPlugin::new(Waits)])),
        ]);
        table
    }
}

impl Layered for RunRequest {
    fn table() -> Vec<Entry<Self>> {
        let mut table = for_all();
        table.extend([
            Entry::new("on_run_event", on_run_event(|_: &mut RunEvent| {})),
            Entry::new("redact", redact()),
            Entry::new("hook list", hook_list()),
            Entry::new("plugin", PluginLayer::new(Waits)),
            Entry::new("plugins", PluginLayer::new((Waits, Waits))),
            Entry::new("list of plugins", PluginLayer::new(vec![BoxPlugin::new(Waits)])),
        ]);
        table
    }
}

/// The layers that mean the same for all operations, and tower's own.
fn for_all<O: Sample + Sync>() -> Vec<Entry<O>> {
    let minute = Duration::from_secs(60);
    let limits = Limits::new().head(minute).idle(minute).total(minute * 5);
    let mut table = vec![
        Entry::new("nothing", Identity::new()),
        Entry::new("boxed", tower::layer::layer_fn(Boxed::<O>::new::<Inner<O>>)),
        Entry::new("catch panic", CatchPanicLayer::new()),
        Entry::new("catch panic as error", CatchPanicLayer::new().as_error()),
        Entry::new("concurrency limit", ConcurrencyLimitLayer::new(2)),
        Entry::new("concurrency limit by name", ConcurrencyLimitLayer::new(2).for_name("probe", 1)),
        Entry::new(
            "concurrency limit that rejects",
            ConcurrencyLimitLayer::new(1).when_full(WhenFull::Reject),
        ),
        Entry::new("log", LogLayer::new()),
        Entry::new("metrics", MetricsLayer::new()),
        Entry::new("reload", ReloadLayer::<O>::new(Identity::new())),
        Entry::new("report errors", ReportErrorsLayer::new()),
        Entry::new("timeout", TimeoutLayer::new(minute)),
        Entry::new("timeout with all limits", TimeoutLayer::limits(limits)),
    ];
    table.extend(hooks());
    table.extend(stock());
    table
}

fn hooks<O: Sample + Sync>() -> Vec<Entry<O>> {
    vec![
        Entry::new("before", before(|_: &mut O| {})),
        Entry::new("before that denies", before(|_: &mut O| tower_agent::Denial::new("no")))
            .refusing(),
        Entry::new(
            "before_async",
            before_async(|_: O| async {
                tokio::task::yield_now().await;
            }),
        ),
        Entry::new("after", after::<O::Output, _, _>(|_: &mut O::Output| {})),
        Entry::new("after_call", after_call(|_: &O, _: &mut O::Output| {})),
        Entry::new(
            "after_async",
            after_async(|_: O, output: O::Output| async move {
                tokio::task::yield_now().await;
                output
            }),
        ),
        Entry::new("on_error", on_error(|_: &O, _: &Error| None)),
        Entry::new(
            "on_error that answers",
            on_error(|call: &O, error: &Error| Some(call.failed(error))),
        ),
        Entry::new(
            "on_error_async",
            on_error_async(|_: O, _: Error| async {
                tokio::task::yield_now().await;
                None
            }),
        ),
        Entry::new(
            "from_fn",
            from_fn(|call: O, next: tower_agent::hooks::Next<O>| async move {
                tokio::task::yield_now().await;
                let output = next.run(call).await;
                tokio::task::yield_now().await;
                output
            }),
        ),
        Entry::new("hook that panics", after(panics::<O::Output>)),
    ]
}

fn stock<O: Sample + Sync>() -> Vec<Entry<O>> {
    let minute = Duration::from_secs(60);
    let rate_limit = RateLimitLayer::new(1_000_000, minute);
    vec![
        Entry::new("tower's timeout", StockTimeoutLayer::new(minute)),
        Entry::new("tower's load shed", LoadShedLayer::new()),
        Entry::new("tower's buffer", BufferLayer::<O>::new(4)),
        Entry::new("tower's buffer and rate limit", (BufferLayer::<O>::new(4), rate_limit)),
        Entry::new("tower's concurrency limit", StockConcurrencyLimitLayer::new(2)),
        Entry::new("tower's retry", RetryLayer::new(Twice { tries: 0 })),
    ]
}

fn panics<T>(_: &mut T) {
    panic!("the probe of a hook that panics");
}

/// It looks everywhere.
fn redact() -> RedactLayer {
    RedactLayer::all().arguments(Arguments::Vault).trusted(["probe"])
}

fn hook_list<O: Operation>() -> HookList<O> {
    HookList::new([Box::new(Quiet) as Box<dyn Hook<O>>]).unwrap()
}

/// A hook that does nothing.
struct Quiet;

impl<O: Operation> Hook<O> for Quiet {
    fn name(&self) -> &str {
        "quiet"
    }
}

/// Repeats a call that failed once.
#[derive(Clone)]
struct Twice {
    tries: u8,
}

impl<O: Operation> Policy<O, O::Output, Error> for Twice {
    type Future = Ready<()>;

    fn retry(&mut self, _: &mut O, result: &mut Result<O::Output, Error>) -> Option<Self::Future> {
        self.tries += 1;
        (result.is_err() && self.tries < 2).then(|| std::future::ready(()))
    }

    fn clone_request(&mut self, request: &O) -> Option<O> {
        Some(request.clone())
    }
}

/// A plugin that awaits something in every hook.
struct Waits;

impl Plugin for Waits {
    fn name(&self) -> &str {
        "waits"
    }

    async fn before_run(&self, _: &mut RunRequest) -> Result<Verdict<RunRequest>, BoxError> {
        tokio::task::yield_now().await;
        Ok(Verdict::Allow)
    }

    async fn on_user_message(&self, _: &Context, _: &mut Message) -> Result<(), BoxError> {
        tokio::task::yield_now().await;
        Ok(())
    }

    async fn on_event(&self, _: &Context, _: &mut RunEvent) -> Result<(), BoxError> {
        tokio::task::yield_now().await;
        Ok(())
    }

    async fn before_tool(&self, _: &mut ToolCall) -> Result<Verdict<ToolCall>, BoxError> {
        tokio::task::yield_now().await;
        Ok(Verdict::Allow)
    }

    async fn after_tool(
        &self,
        _: &ToolCall,
        _: &mut ToolOutput,
        _: Duration,
    ) -> Result<(), BoxError> {
        tokio::task::yield_now().await;
        Ok(())
    }

    async fn on_tool_error(&self, _: &ToolCall, _: &Error) -> Result<Option<ToolOutput>, BoxError> {
        tokio::task::yield_now().await;
        Ok(None)
    }

    async fn before_model(&self, _: &mut ModelRequest) -> Result<Verdict<ModelRequest>, BoxError> {
        tokio::task::yield_now().await;
        Ok(Verdict::Allow)
    }

    async fn after_model(
        &self,
        _: &ModelRequest,
        _: &mut Reply,
        _: Duration,
    ) -> Result<(), BoxError> {
        tokio::task::yield_now().await;
        Ok(())
    }
}

/// A plugin that gathers replies before it hands them on.
struct Edits;

impl Plugin for Edits {
    fn name(&self) -> &str {
        "edits"
    }

    fn edits_replies(&self) -> bool {
        true
    }
}

impl<O: Operation> Clone for Entry<O> {
    fn clone(&self) -> Self {
        Self { name: self.name, lets_through: self.lets_through, wrap: Arc::clone(&self.wrap) }
    }
}

impl<O: Operation> fmt::Debug for Entry<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl<O: Operation> fmt::Debug for Stack<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|entry| entry.name)).finish()
    }
}
