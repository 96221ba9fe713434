//! The stacks, outermost layer first.

use std::time::Duration;

use axum::{
    Router,
    body::{Body, Bytes, HttpBody},
    error_handling::HandleErrorLayer,
    http::{self, StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use tower::{BoxError, ServiceBuilder, limit::GlobalConcurrencyLimitLayer, util::MapResponseLayer};
use tower_agent::{
    Agent, AllowListLayer, BoxModelService, BoxRunService, BuildError, CatchPanicLayer,
    ConcurrencyLimitLayer, Error, LogLayer, MetricsLayer, ModelRequest, ModelResponse, RedactLayer,
    ReportErrorsLayer, TimeoutLayer, ToolSet, ToolSetBuilder, TruncateLayer, describe,
    timeout::Limits,
};
use tower_agent_axum::ApiError;
use tower_http::{
    limit::RequestBodyLimitLayer, trace::TraceLayer, validate_request::ValidateRequestHeaderLayer,
};
use tower_service::Service;

use crate::local;

/// The tools that the model may use. That `delete_file` is not among them is what the example shows.
pub(crate) const ALLOWED: [&str; 3] = ["list_files", "read_file", "search_files"];

/// A tool call on its way to a tool: what the layers do to it is what the page shows.
pub(crate) fn tools(
    tools: ToolSetBuilder,
    allowed: &AllowListLayer,
    metrics: &MetricsLayer,
) -> Result<ToolSet, BuildError> {
    let stack = ServiceBuilder::new()
        .layer(LogLayer::new())
        .layer(metrics.clone()) // counts what is denied, too
        .layer(CatchPanicLayer::new())
        .layer(allowed.clone())
        .layer(TruncateLayer::bytes(8_000)) // outside redact: a cut must not split a secret
        .layer(RedactLayer::default()) // errors, too
        .layer(ReportErrorsLayer::new()) // the model reads what went wrong
        .layer(ConcurrencyLimitLayer::new(16))
        .layer(TimeoutLayer::new(Duration::from_secs(10)));
    tools.layer(stack).build()
}

/// A model call on its way to the model. What is not allowed is not even offered.
pub(crate) fn model(
    provider: &BoxModelService,
    allowed: AllowListLayer,
    metrics: &MetricsLayer,
) -> BoxModelService {
    let minute = Duration::from_secs(60);
    let stack = ServiceBuilder::new()
        .layer(LogLayer::new())
        .layer(metrics.clone())
        .layer(CatchPanicLayer::new())
        .layer(allowed)
        .layer(TimeoutLayer::limits(Limits::new().head(minute).idle(minute)))
        .service(provider.clone());
    let description = describe(&stack).around(provider.description());
    BoxModelService::with_description(stack, description)
}

/// The part of the way that all model calls share, with layers of tower alone.
pub(crate) fn provider<M>(provider: M) -> BoxModelService
where
    M: Service<ModelRequest, Response = ModelResponse> + Send + 'static,
    M::Error: Into<BoxError> + Send + Sync,
    M::Future: Send,
{
    let provider = ServiceBuilder::new().rate_limit(20, Duration::from_secs(1)).service(provider);
    let inside = describe(&provider);
    let stack = ServiceBuilder::new().load_shed().buffer(64).service(provider);
    // A buffer hands calls to a task and knows no more what is in it.
    let description = describe(&stack).around(&inside);
    BoxModelService::with_description(stack, description)
}

/// A run on its way to the agent.
pub(crate) fn run(agent: Agent<BoxModelService>, metrics: &MetricsLayer) -> BoxRunService {
    let stack = ServiceBuilder::new()
        .layer(LogLayer::new())
        .layer(metrics.clone())
        .layer(CatchPanicLayer::new())
        .layer(ConcurrencyLimitLayer::new(32))
        .layer(TimeoutLayer::new(Duration::from_secs(600)))
        .service(agent);
    BoxRunService::new(stack)
}

/// An HTTP request on its way to a route.
pub(crate) fn http(routes: Router, local: bool) -> Router {
    let stack = ServiceBuilder::new()
        .layer(TraceLayer::new_for_http())
        .option_layer(local.then(|| ValidateRequestHeaderLayer::custom(local::only)))
        .layer(HandleErrorLayer::new(overloaded))
        .load_shed()
        .layer(GlobalConcurrencyLimitLayer::new(256))
        .layer(MapResponseLayer::new(in_our_shape))
        .layer(RequestBodyLimitLayer::new(1 << 20));
    routes.layer(stack)
}

/// The body limit answers in plain text; a client expects the shape of every other error.
fn in_our_shape<B>(response: http::Response<B>) -> Response
where
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let response = response.map(Body::new);
    let json = response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
    if response.status() != StatusCode::PAYLOAD_TOO_LARGE || json {
        return response;
    }
    let text = "The body is larger than 1 MiB. Nothing ran.";
    ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", text).into_response()
}

async fn overloaded(error: BoxError) -> impl IntoResponse {
    ApiError::from(&Error::from(error))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use tower_agent::{Agent, AllowListLayer, MetricsLayer, check};

    use super::{ALLOWED, model, provider, run, tools};
    use crate::{demo::Demo, folder::Folder};

    #[tokio::test]
    async fn no_stack_has_a_known_bad_order() {
        let (allowed, metrics) = (AllowListLayer::exact(ALLOWED), MetricsLayer::new());
        let folder = Folder::open(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
        let tools = tools(crate::tools::over(&folder), &allowed, &metrics).unwrap();
        let model = model(&provider(Demo::new()), allowed, &metrics);
        let run = run(Agent::builder("folder", model.clone()).build(), &metrics);
        for description in [tools.description(), model.description(), run.description()] {
            assert!(description.layers().len() > 3, "{description}");
            assert_eq!(check(description), [], "{description}");
        }
    }
}
