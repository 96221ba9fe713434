//! The stack, once around each provider.

use std::{error::Error, time::Duration};

use axum::Router;
use tower::{Service, ServiceBuilder};
use tower_agent::{
    AllowListLayer, BoxModelService, CatchPanicLayer, ConcurrencyLimitLayer, LogLayer,
    MetricsLayer, ModelRequest, ModelResponse, RedactLayer, TimeoutLayer, timeout::Limits,
};
use tower_agent_axum::{Models, health_router, metrics_router, proxy_router};
use tower_agent_providers::{Anthropic, Forward, Gemini, OpenAi, OpenAiResponses};

use crate::args::Options;

/// Everything that is served.
pub(crate) fn app(options: &Options) -> Result<Router, Box<dyn Error>> {
    let metrics = MetricsLayer::new();
    let at = &options.upstreams;
    let chat = OpenAi::builder(format!("{}/v1", at.openai)).caller_headers(true).build()?;
    let responses =
        OpenAiResponses::builder(format!("{}/v1", at.openai)).caller_headers(true).build()?;
    let messages =
        Anthropic::builder(format!("{}/v1", at.anthropic)).caller_headers(true).build()?;
    let gemini = Gemini::builder(format!("{}/v1beta", at.gemini)).caller_headers(true).build()?;
    let allowed = allowed(options)?;
    let mut proxy = proxy_router()
        .chat(Models::new().any_model(stack(chat, &allowed, &metrics)))
        .responses(Models::new().any_model(stack(responses, &allowed, &metrics)))
        .messages(Models::new().any_model(stack(messages, &allowed, &metrics)))
        .gemini(Models::new().any_model(stack(gemini, &allowed, &metrics)))
        .pass_keys();
    if options.forward {
        proxy = proxy.forward(Forward::to(at.openai.as_str()).build()?);
    }
    Ok(Router::from(proxy)
        .merge(metrics_router(move || metrics.registry().snapshot().to_prometheus()))
        .merge(health_router()))
}

fn allowed(options: &Options) -> Result<AllowListLayer, Box<dyn Error>> {
    let all = ["*".to_owned()];
    let names = if options.allow.is_empty() { &all[..] } else { &options.allow };
    Ok(AllowListLayer::new(names)?)
}

/// What every request goes through on its way to a provider, and every reply on its way back.
fn stack<M>(provider: M, allowed: &AllowListLayer, metrics: &MetricsLayer) -> BoxModelService
where
    M: Service<ModelRequest, Response = ModelResponse, Error = tower_agent::Error>
        + Clone
        + Send
        + Sync
        + 'static,
    M::Future: Send,
{
    let silence = Duration::from_secs(300);
    let stack = ServiceBuilder::new()
        .layer(LogLayer::new())
        .layer(metrics.clone())
        .layer(CatchPanicLayer::new())
        .layer(allowed.clone())
        .layer(RedactLayer::default())
        .layer(ConcurrencyLimitLayer::new(64))
        .layer(TimeoutLayer::limits(Limits::new().head(silence).idle(silence)))
        .service(provider);
    BoxModelService::new(stack)
}
