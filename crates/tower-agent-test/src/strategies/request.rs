use std::sync::Arc;

use proptest::{collection, option, prelude::*};
use tower_agent_core::{
    Annotations, ModelRequest, OutputFormat, RunLimits, RunRequest, Sampling, ToolCall, ToolChoice,
    ToolOrigin, ToolSpec, Tools,
};

use super::{
    json::{extra, json, json_text, text},
    message::{call_id, conversation},
};

/// A call of a tool; its arguments need not be JSON.
pub fn tool_call() -> BoxedStrategy<ToolCall> {
    (call_id(), text(), json_text())
        .prop_map(|(id, name, arguments)| ToolCall::new(name, arguments).with_id(id))
        .boxed()
}

fn annotations() -> BoxedStrategy<Annotations> {
    let hint = || any::<Option<bool>>();
    (hint(), hint(), hint(), hint())
        .prop_map(|(read_only, destructive, idempotent, open_world)| Annotations {
            read_only,
            destructive,
            idempotent,
            open_world,
        })
        .boxed()
}

fn origin() -> BoxedStrategy<ToolOrigin> {
    (text(), option::of(text()), option::of(text()))
        .prop_map(|(server, version, digest)| ToolOrigin { server, version, digest })
        .boxed()
}

/// What a tool says of itself.
pub fn tool_spec() -> BoxedStrategy<ToolSpec> {
    let texts = (text(), text(), option::of(text()), collection::vec(text(), 0..3));
    let schemas = (json(), option::of(json()), extra());
    let flags = (any::<bool>(), any::<bool>(), annotations(), option::of(origin()));
    (texts, schemas, flags)
        .prop_map(|(texts, schemas, flags)| {
            let (name, description, title, tags) = texts;
            let (input, output_schema, extra) = schemas;
            let (internal, one_at_a_time, annotations, origin) = flags;
            let mut spec = ToolSpec::new(name, description).with_input_schema(input);
            (spec.title, spec.tags, spec.output_schema, spec.extra) =
                (title, tags, output_schema, extra);
            (spec.internal, spec.one_at_a_time) = (internal, one_at_a_time);
            (spec.annotations, spec.origin) = (annotations, origin);
            spec
        })
        .boxed()
}

/// A list of tools.
pub fn tools() -> BoxedStrategy<Tools> {
    collection::vec(tool_spec().prop_map(Arc::new), 0..3).prop_map(Tools::from).boxed()
}

fn sampling() -> BoxedStrategy<Sampling> {
    let share = || option::of(0.0..2.0f64);
    let stop = option::of(collection::vec(text(), 0..3).prop_map(Arc::from));
    (share(), share(), any::<Option<u64>>(), stop, any::<Option<i64>>(), any::<Option<bool>>())
        .prop_map(|(temperature, top_p, max_output_tokens, stop, seed, parallel)| {
            let mut sampling = Sampling::default();
            (sampling.temperature, sampling.top_p) = (temperature, top_p);
            (sampling.max_output_tokens, sampling.stop) = (max_output_tokens, stop);
            (sampling.seed, sampling.parallel_tool_calls) = (seed, parallel);
            sampling
        })
        .boxed()
}

fn tool_choice() -> BoxedStrategy<ToolChoice> {
    prop_oneof![
        Just(ToolChoice::Auto),
        Just(ToolChoice::None),
        Just(ToolChoice::Required),
        text().prop_map(ToolChoice::Tool),
    ]
    .boxed()
}

fn output_format() -> BoxedStrategy<OutputFormat> {
    prop_oneof![
        Just(OutputFormat::Text),
        Just(OutputFormat::JsonObject),
        (text(), json(), any::<Option<bool>>())
            .prop_map(|(name, schema, strict)| OutputFormat::JsonSchema { name, schema, strict }),
    ]
    .boxed()
}

/// A call of a model, outside any run.
pub fn model_request() -> BoxedStrategy<ModelRequest> {
    let what = (text(), option::of(text()), conversation(), tools());
    let how = (option::of(tool_choice()), sampling(), option::of(output_format()));
    (what, how, any::<bool>(), extra())
        .prop_map(|(what, how, stream, extra)| {
            let (model, instructions, messages, tools) = what;
            let mut request = ModelRequest::new(model, messages);
            (request.instructions, request.tools) = (instructions, tools);
            (request.tool_choice, request.sampling, request.output) = how;
            (request.stream, request.extra) = (stream, extra);
            request
        })
        .boxed()
}

fn limits() -> BoxedStrategy<RunLimits> {
    (any::<Option<u32>>(), any::<Option<u16>>())
        .prop_map(|(turns, parallel)| {
            let mut limits = RunLimits::default();
            (limits.turns, limits.parallel_calls) = (turns, parallel.map(usize::from));
            limits
        })
        .boxed()
}

/// A run of an agent, without a context.
pub fn run_request() -> BoxedStrategy<RunRequest> {
    let what = (conversation(), conversation(), option::of(text()), option::of(text()));
    let how = (option::of(sampling()), option::of(output_format()), limits());
    (what, how, any::<bool>(), extra())
        .prop_map(|(what, how, stream, extra)| {
            let (conversation, input, instructions, model) = what;
            let mut request = RunRequest::new(input);
            (request.conversation, request.instructions, request.model) =
                (conversation, instructions, model);
            (request.sampling, request.output, request.limits) = how;
            (request.stream, request.extra) = (stream, extra);
            request
        })
        .boxed()
}
