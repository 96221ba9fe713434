//! Puts folder, model, stacks and routes together.

use std::{error::Error, io};

use axum::Router;
use serde::Serialize;
use tower::ServiceExt;
use tower_agent::{
    Agent, AllowListLayer, BoxModelService, Description, MetricsLayer, ModelRequest, Secret, Str,
};
use tower_agent_axum::{
    Models, chat_router, gemini_router, health_router, metrics_router, responses_router,
    run_router, stack_router,
};
use tower_agent_providers::OpenAi;

use crate::{
    args::{Model, Options},
    demo::{self, Demo},
    folder::Folder,
    page, stacks, tools,
};

const INSTRUCTIONS: &str = "You answer questions about the files of one folder. Look with the tools before you answer, \
                            and say so when a tool refuses or a value is masked.";

/// What `/stack` shows.
#[derive(Serialize)]
struct Built {
    tools: Description,
    model: Description,
    run: Description,
}

/// Everything that is served.
pub(crate) fn app(options: &Options) -> Result<Router, Box<dyn Error>> {
    let metrics = MetricsLayer::new();
    let allowed = AllowListLayer::exact(stacks::ALLOWED);
    let tools = stacks::tools(tools::over(&open(options)?), &allowed, &metrics)?;
    let (name, provider) = provider(&options.model)?;
    let model = stacks::model(&provider, allowed, &metrics);
    // A client that runs tools of its own decides by itself which.
    let bare = stacks::model(&provider, AllowListLayer::new(["*"])?, &metrics);
    let agent = Agent::builder("folder", model.clone())
        .model(name)
        .instructions(INSTRUCTIONS)
        .tools(tools.clone())
        .build();
    let run = stacks::run(agent, &metrics);
    let built = Built {
        tools: tools.description().clone(),
        model: model.description().clone(),
        run: run.description().clone(),
    };
    let models =
        Models::new().agent(name, run.clone()).model(format!("{name}-bare"), named(bare, name));
    let routes = page::router()
        .merge(run_router(run.clone()).name(name))
        .merge(chat_router().models(models.clone()))
        .merge(responses_router().models(models.clone()))
        .merge(gemini_router().models(models))
        .merge(stack_router(built))
        .merge(metrics_router(move || metrics.registry().snapshot().to_prometheus()))
        .merge(health_router().ready("agent", run));
    Ok(stacks::http(routes, options.addr.ip().is_loopback()))
}

fn open(options: &Options) -> io::Result<Folder> {
    let root = options.root.display();
    Folder::open(&options.root)
        .map_err(|error| io::Error::new(error.kind(), format!("cannot open {root}: {error}")))
}

fn provider(model: &Model) -> Result<(&str, BoxModelService), Box<dyn Error>> {
    let Model::Remote { base_url, name } = model else {
        return Ok((demo::NAME, stacks::provider(Demo::new())));
    };
    let mut server = OpenAi::builder(base_url.as_str());
    if let Ok(key) = std::env::var("OPENAI_API_KEY") {
        server = server.api_key(Secret::from(key));
    }
    Ok((name, stacks::provider(server.build()?)))
}

/// The model under the name that its provider knows.
fn named(model: BoxModelService, name: &str) -> BoxModelService {
    let name = Str::from(name);
    let description = model.description().clone();
    let renamed = model.map_request(move |mut request: ModelRequest| {
        request.model = name.clone();
        request
    });
    BoxModelService::with_description(renamed, description)
}
