//! From the settings of a case to our layers.

use std::{sync::Arc, time::Duration};

use serde_json::Value;
use tower::{Layer, Service};
use tower_agent::{
    AllowListLayer, Boxed, ConcurrencyLimitLayer, Error, MetricsLayer, ModelRequest, Operation,
    RedactLayer, ReportErrorsLayer, TimeoutLayer, ToolCall, TruncateLayer,
    hooks::before,
    redact::{Arguments, Detector, Rule, Set},
    timeout::Limits,
};

/// Layers without their types, outermost first.
#[derive(Clone)]
pub(crate) struct Stack<O: Operation>(pub(crate) Vec<Wrap<O>>);

/// A layer without its type.
pub(crate) type Wrap<O> = Arc<dyn Fn(Boxed<O>) -> Boxed<O> + Send + Sync>;

/// What a test reads about the layers of a stack.
#[derive(Clone, Default)]
pub(crate) struct Gauges {
    pub(crate) metrics: MetricsLayer,
    pub(crate) limits: Vec<ConcurrencyLimitLayer>,
}

pub(crate) fn wrap<O, L>(layer: L) -> Wrap<O>
where
    O: Operation,
    L: Layer<Boxed<O>> + Send + Sync + 'static,
    L::Service: Service<O, Response = O::Output, Error: Into<Error>, Future: Send + 'static>
        + Clone
        + Send
        + Sync
        + 'static,
{
    Arc::new(move |inner| Boxed::new(layer.layer(inner)))
}

impl<O, S> Layer<S> for Stack<O>
where
    O: Operation,
    S: Service<O, Response = O::Output, Error: Into<Error>, Future: Send + 'static>
        + Clone
        + Send
        + Sync
        + 'static,
{
    type Service = Boxed<O>;

    fn layer(&self, inner: S) -> Boxed<O> {
        self.0.iter().rev().fold(Boxed::new(inner), |inner, layer| layer(inner))
    }
}

/// The layers around tools.
pub(crate) fn around_tools(settings: &[Value], gauges: &mut Gauges) -> Stack<ToolCall> {
    let layers = settings.iter().map(|layer| match layer["layer"].as_str().unwrap() {
        "allow" => wrap(AllowListLayer::exact(texts(&layer["tools"]))),
        "concurrency" => {
            let limit = ConcurrencyLimitLayer::new(number(&layer["max"]));
            gauges.limits.push(limit.clone());
            wrap(limit)
        }
        "error_to_result" => wrap(ReportErrorsLayer::new()),
        "metrics" => wrap(gauges.metrics.clone()),
        "redact" => wrap(redact(layer)),
        "rewrite" => wrap(before(rewrite(layer["set"].clone()))),
        "truncate" => wrap(TruncateLayer::bytes(number(&layer["max_bytes"]))),
        other => panic!("no layer for tools is known as {other}"),
    });
    Stack(layers.collect())
}

/// The layers around a model.
pub(crate) fn around_model(settings: &[Value], gauges: &Gauges) -> Stack<ModelRequest> {
    let layers = settings.iter().map(|layer| match layer["layer"].as_str().unwrap() {
        "metrics" => wrap(gauges.metrics.clone()),
        "redact" => wrap(redact(layer)),
        "timeout" => {
            let limits = Limits::new().head(millis(&layer["first_ms"]));
            wrap(TimeoutLayer::limits(limits.idle(millis(&layer["idle_ms"]))))
        }
        other => panic!("no layer for models is known as {other}"),
    });
    Stack(layers.collect())
}

fn redact(layer: &Value) -> RedactLayer {
    let surfaces = texts(&layer["apply_to"]);
    let arguments = surfaces.contains(&"model_output.tool_call_args");
    RedactLayer::new(detector(layer))
        .model_output(surfaces.is_empty() || surfaces.contains(&"model_output.text"))
        .arguments(if arguments { Arguments::Mask } else { Arguments::Keep })
}

/// The built-in rules that a case names, and its own.
fn detector(layer: &Value) -> Detector {
    let all = Detector::builtin();
    let named = texts(&layer["detect"]);
    let personal = |id: &str| named.iter().any(|name| name.replace('_', "-") == id);
    let chosen = |rule: &&Arc<Rule>| match rule.set() {
        Set::Secrets => named.contains(&"secrets"),
        _ => personal(rule.id()),
    };
    let chosen: Vec<_> = all.rules().iter().filter(chosen).map(|rule| rule.id()).collect();
    let own = layer["custom"].as_array().into_iter().flatten().map(own_rule);
    own.fold(Detector::builder().only(chosen), |builder, own| builder.rules_toml(&own))
        .build()
        .unwrap()
}

/// A pattern of a case's own. A rule names the words that a match begins with, which the two patterns that there are leave open.
fn own_rule(own: &Value) -> String {
    let (keywords, pattern) = match text(&own["pattern"]) {
        r"[a-z]+\.example\.com/\S*" => ("files.", r"files\.example\.com/\S{0,200}"),
        r"https?://\S+" => ("http", r"https?://\S{1,200}"),
        other => panic!("no rule is known for {other}"),
    };
    let id = text(&own["name"]);
    format!(
        "[[rule]]\nid = '{id}'\ndescription = '{id}'\nkeywords = ['{keywords}']\npattern = '{pattern}'\nborder = 'none'"
    )
}

fn rewrite(fields: Value) -> impl Fn(&mut ToolCall) -> Result<(), Error> + Clone + Send + Sync {
    move |call| {
        for (field, value) in fields.as_object().unwrap() {
            call.arguments.make_mut()?[field] = value.clone();
        }
        Ok(())
    }
}

pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().into_iter().flatten().map(text).collect()
}

pub(crate) fn number(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

pub(crate) fn millis(value: &Value) -> Duration {
    Duration::from_millis(value.as_u64().unwrap())
}
