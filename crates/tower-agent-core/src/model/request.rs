use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    Context, Conversation, Denial, Error, Failure, FinishReason, Json, Message, ModelBody,
    ModelHead, ModelResponse, Operation, OperationKind, Origin, Outcome, Provenance, Reply, Str,
    Tools,
};

/// A call of a model.
///
/// Every field is a shared handle or a number: a clone copies no text and allocates nothing.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ModelRequest {
    /// The model's name.
    pub model: Str,
    /// What the model is told before the messages; dialects without such a field send a system message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<Str>,
    /// The conversation.
    pub messages: Conversation,
    /// The tools that the model may ask for.
    pub tools: Tools,
    /// Whether and which tools the model must ask for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_choice: Option<ToolChoice>,
    /// How to sample.
    pub sampling: Sampling,
    /// The form of the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<OutputFormat>,
    /// Whether the caller wishes a stream. A model may answer whole all the same.
    pub stream: bool,
    /// Fields of the dialect, an object; sent on unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extra: Option<Json>,
    /// The run that the call belongs to.
    #[serde(skip)]
    pub ctx: Context,
}

/// Sampling parameters; what is not set is the provider's choice.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Sampling {
    /// 0 is the most predictable; providers allow up to 1 or 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Sample from the most likely tokens that have this much probability together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// The most tokens to produce, reasoning included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u64>,
    /// Texts at which the model stops.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Arc<[Str]>>,
    /// Asks for the same answer each time, where the provider can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<i64>,
    /// Whether the model may ask for several tools at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parallel_tool_calls: Option<bool>,
}

/// Whether and which tools the model must ask for.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolChoice {
    /// The model decides.
    Auto,
    /// No tool.
    None,
    /// At least one tool.
    Required,
    /// This tool.
    Tool(Str),
}

/// The form of the answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OutputFormat {
    /// Text.
    Text,
    /// Any JSON object.
    JsonObject,
    /// JSON that fits a schema.
    JsonSchema {
        /// The schema's name.
        name: Str,
        /// The schema.
        schema: Json,
        /// Whether the provider must enforce it.
        strict: Option<bool>,
    },
}

impl ModelRequest {
    /// A request with messages and nothing else, outside any run.
    pub fn new(model: impl Into<Str>, messages: impl Into<Conversation>) -> Self {
        Self::in_context(Context::default(), model, messages)
    }

    /// A request with messages that belongs to a run.
    pub fn in_context(
        ctx: Context,
        model: impl Into<Str>,
        messages: impl Into<Conversation>,
    ) -> Self {
        Self {
            model: model.into(),
            instructions: None,
            messages: messages.into(),
            tools: Tools::new(),
            tool_choice: None,
            sampling: Sampling::default(),
            output: None,
            stream: false,
            extra: None,
            ctx,
        }
    }

    /// Adds a paragraph to the instructions.
    pub fn append_instructions(&mut self, text: &str) {
        self.instructions = Some(match &self.instructions {
            Some(before) if !before.is_empty() => format!("{before}\n{text}").into(),
            _ => text.into(),
        });
    }
}

impl Operation for ModelRequest {
    type Output = ModelResponse;

    const KIND: OperationKind = OperationKind::Model;

    fn name(&self) -> &str {
        &self.model
    }

    fn context(&self) -> &Context {
        &self.ctx
    }

    fn context_mut(&mut self) -> &mut Context {
        &mut self.ctx
    }

    fn denied(&self, denial: Denial) -> ModelResponse {
        let message = denial.message.clone();
        let provenance = Provenance::made(Origin::Denied, denial.layer.clone());
        self.in_place(message, FinishReason::ContentFilter, denial.into(), provenance)
    }

    fn failed(&self, error: &Error) -> ModelResponse {
        let failure = Outcome::from(Failure::from(error));
        self.in_place(
            error.model_text().into(),
            FinishReason::Error,
            failure,
            Provenance::default(),
        )
    }
}

impl ModelRequest {
    fn in_place(
        &self,
        text: Str,
        finish: FinishReason,
        outcome: Outcome,
        provenance: Provenance,
    ) -> ModelResponse {
        let head =
            ModelHead { model: self.model.clone(), outcome, provenance, ..ModelHead::default() };
        let reply = Reply { finish, ..Reply::new(Message::assistant(text)) };
        ModelResponse { head, body: ModelBody::full(reply) }
    }
}
