//! Puts folder, model, stacks and routes together.

use std::{error::Error, io};

use axum::Router;
use serde::Serialize;
use tower::ServiceExt;
use tower_agent::{
    Agent, AllowListLayer, BoxModelService, Description, MetricsLayer, ModelRequest, Secret, Str,
};
use tower_agent_axum::{
    Models, chat_router, gemini_router, health_router, messages_router, metrics_router,
    responses_router, run_router, stack_router,
};
use tower_agent_providers::{
    Anthropic, OpenAi, OpenAiResponses, anthropic, openai, openai_responses,
};

use crate::{
    args::{Api, Model, Options},
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
        .merge(messages_router().models(models.clone()))
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
    let Model::Remote { base_url, name, api } = model else {
        return Ok((demo::NAME, stacks::provider(Demo::new())));
    };
    let key = |variable| std::env::var(variable).ok().map(Secret::from);
    let provider = match api {
        Api::OpenAi => {
            let server = OpenAi::builder(base_url.as_str());
            let key = key("OPENAI_API_KEY");
            stacks::provider(key.into_iter().fold(server, openai::Builder::api_key).build()?)
        }
        Api::Responses => {
            let server = OpenAiResponses::builder(base_url.as_str()).store(false);
            let key = key("OPENAI_API_KEY");
            let server = key.into_iter().fold(server, openai_responses::Builder::api_key);
            stacks::provider(server.build()?)
        }
        Api::Anthropic => {
            let server = Anthropic::builder(base_url.as_str());
            let key = key("ANTHROPIC_API_KEY");
            stacks::provider(key.into_iter().fold(server, anthropic::Builder::api_key).build()?)
        }
    };
    Ok((name, provider))
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
