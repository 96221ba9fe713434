use std::sync::Arc;

use tower_agent_core::{
    Context, Json, ModelRequest, OutputFormat, RunLimits, RunRequest, Sampling, Str, Tools,
};

use super::Agent;
use crate::ToolSet;

/// What all runs of an agent have in common.
#[derive(Debug)]
pub(super) struct Config {
    pub(super) name: Str,
    pub(super) model: Str,
    pub(super) specs: Tools,
    instructions: Option<Str>,
    sampling: Sampling,
    output: Option<OutputFormat>,
    extra: Option<Json>,
    max_turns: u32,
    parallel_calls: usize,
}

/// Builds an [`Agent`].
#[derive(Debug)]
#[must_use]
pub struct AgentBuilder<M, T = ()> {
    config: Config,
    model: M,
    tools: T,
}

impl<M> AgentBuilder<M> {
    pub(super) fn new(name: Str, model: M) -> Self {
        let config = Config {
            name,
            model: Str::default(),
            specs: Tools::new(),
            instructions: None,
            sampling: Sampling::default(),
            output: None,
            extra: None,
            max_turns: 40,
            parallel_calls: 8,
        };
        Self { config, model, tools: () }
    }

    /// Gives the agent its tools.
    pub fn tools(self, tools: ToolSet) -> AgentBuilder<M, ToolSet> {
        let specs = tools.specs().clone();
        self.tool_service(specs, tools)
    }

    /// Gives the agent any service of tools, and what to tell the model about them.
    ///
    /// A [`ToolSet`] also answers unknown names and malformed arguments; a service of your own has to.
    pub fn tool_service<T>(mut self, specs: Tools, service: T) -> AgentBuilder<M, T> {
        self.config.specs = specs;
        AgentBuilder { config: self.config, model: self.model, tools: service }
    }

    /// Finishes an agent that has no tools.
    pub fn build(self) -> Agent<M> {
        self.tools(ToolSet::empty()).build()
    }
}

impl<M> AgentBuilder<M, ToolSet> {
    /// Finishes the agent.
    pub fn build(self) -> Agent<M> {
        self.build_with_service()
    }
}

impl<M, T> AgentBuilder<M, T> {
    /// Names the model that requests ask for.
    pub fn model(mut self, model: impl Into<Str>) -> Self {
        self.config.model = model.into();
        self
    }

    /// Tells the model what it is for.
    pub fn instructions(mut self, instructions: impl Into<Str>) -> Self {
        self.config.instructions = Some(instructions.into());
        self
    }

    /// Sets the sampling parameters; the default leaves them to the provider.
    pub fn sampling(mut self, sampling: Sampling) -> Self {
        self.config.sampling = sampling;
        self
    }

    /// Sets the form of the answer.
    pub fn output(mut self, output: OutputFormat) -> Self {
        self.config.output = Some(output);
        self
    }

    /// Sets fields of the provider's dialect, an object, for every model request.
    pub fn extra(mut self, extra: impl Into<Json>) -> Self {
        self.config.extra = Some(extra.into());
        self
    }

    /// The most model calls of a run; 40 by default, at least 1.
    pub fn max_turns(mut self, turns: u32) -> Self {
        self.config.max_turns = turns.max(1);
        self
    }

    /// The most tool calls at a time; 8 by default, at least 1.
    pub fn parallel_calls(mut self, calls: usize) -> Self {
        self.config.parallel_calls = calls.max(1);
        self
    }

    /// Finishes an agent over a tool service of your own.
    pub fn build_with_service(self) -> Agent<M, T> {
        Agent { config: Arc::new(self.config), model: self.model, tools: self.tools }
    }
}

impl Config {
    /// The part of a model request that is the same on every turn of a run.
    pub(super) fn request(&self, run: &RunRequest, ctx: &Context) -> ModelRequest {
        let model = run.model.as_ref().unwrap_or(&self.model).clone();
        let messages = run.conversation.clone();
        let mut request = ModelRequest::in_context(ctx.clone(), model, messages);
        request.instructions = run.instructions.as_ref().or(self.instructions.as_ref()).cloned();
        request.tools = self.specs.clone();
        request.sampling = run.sampling.as_ref().unwrap_or(&self.sampling).clone();
        request.output = run.output.as_ref().or(self.output.as_ref()).cloned();
        request.extra = run.extra.as_ref().or(self.extra.as_ref()).cloned();
        request.stream = run.stream;
        request
    }

    pub(super) fn max_turns(&self, limits: RunLimits) -> u32 {
        limits.turns.map_or(self.max_turns, |turns| turns.clamp(1, self.max_turns))
    }

    pub(super) fn parallel_calls(&self, limits: RunLimits) -> usize {
        limits
            .parallel_calls
            .map_or(self.parallel_calls, |calls| calls.clamp(1, self.parallel_calls))
    }
}
