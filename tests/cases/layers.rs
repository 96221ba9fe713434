//! From the settings of a case to our layers.

use std::{sync::Arc, time::Duration};

use serde_json::Value;
use tower::{Layer, Service};
use tower_agent::{
    AllowListLayer, Boxed, ConcurrencyLimitLayer, Error, MetricsLayer, ModelRequest, Operation,
    RedactLayer, ReportErrorsLayer, TimeoutLayer, ToolCall, TruncateLayer, hooks::before,
    redact::Pattern, timeout::Limits,
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
        "redact" if layer["apply_to"].is_null() => wrap(redact(layer).model_output(true)),
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
    let detected = texts(&layer["detect"]).into_iter().flat_map(detector);
    let own = layer["custom"].as_array().into_iter().flatten();
    let own = own.map(|own| pattern(text(&own["name"]), text(&own["pattern"])));
    let surfaces = texts(&layer["apply_to"]);
    RedactLayer::new(detected.chain(own))
        .model_output(surfaces.contains(&"model_output.text"))
        .arguments(surfaces.contains(&"model_output.tool_call_args"))
}

/// The common list knows secrets. What it has no detector for yet, a user writes as these patterns.
fn detector(name: &str) -> Vec<Pattern> {
    match name {
        "secrets" => Pattern::common(),
        "email" => vec![pattern("email", r"[a-z0-9._%+-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)+")],
        "credit_card" => {
            vec![pattern("card", r"(?-u:\b)[0-9](?:[ -]?[0-9]){12,18}(?-u:\b)").accept(is_card)]
        }
        "phone" => vec![pattern("phone", r"\+[0-9]{1,3}(?:[ -]?[0-9]){6,12}(?-u:\b)")],
        other => panic!("no detector is known as {other}"),
    }
}

fn pattern(kind: &str, regex: &str) -> Pattern {
    Pattern::new(kind, regex).unwrap()
}

/// Whether digits begin like a card's and end in the check digit of Luhn.
fn is_card(found: &str) -> bool {
    let digits: Vec<u32> = found.chars().filter_map(|digit| digit.to_digit(10)).collect();
    let sum: u32 = (digits.iter().rev().enumerate())
        .map(|(place, digit)| if place % 2 == 0 { *digit } else { digit * 2 % 10 + digit / 5 })
        .sum();
    (2..=6).contains(&digits[0]) && sum.is_multiple_of(10)
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
