//! One fault, tried on one model.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tower::{ServiceBuilder, ServiceExt, util::BoxCloneSyncService};
use tower_agent_core::{
    Effect, Error, ErrorKind, FinishReason, Message, ModelRequest, ModelResponse, Reply, Str,
};
use tower_agent_providers::{Anthropic, OpenAi, OpenAiResponses};

use crate::{
    Result,
    fault::{Fault, Request},
    llmock::Llmock,
    retry::Retry,
};

/// What llmock's models say.
pub(crate) const GREETING: &str = "Hello! This is a mock response from model.";

/// The most tokens of a reply. Without it, Anthropic's default alone would use up the quota.
pub(crate) const ROOM: u64 = 250;

pub(crate) const DIALECTS: [&str; 3] = ["openai", "openai_responses", "anthropic"];

pub(crate) type Model = BoxCloneSyncService<ModelRequest, ModelResponse, Error>;

/// A model of llmock's.
pub(crate) fn model(dialect: &str, url: &str, patience: Duration) -> Result<Model> {
    let openai = format!("{url}/v1");
    Ok(match dialect {
        "openai" => Model::new(OpenAi::builder(openai).read_timeout(patience).build()?),
        "openai_responses" => {
            Model::new(OpenAiResponses::builder(openai).read_timeout(patience).build()?)
        }
        "anthropic" => {
            let model = Anthropic::builder(format!("{url}/anthropic/v1"));
            Model::new(model.read_timeout(patience).build()?)
        }
        other => return Err(format!("no dialect is called `{other}`").into()),
    })
}

pub(crate) fn request(kind: Request, stream: bool) -> ModelRequest {
    let text = match kind {
        Request::Long => "word ".repeat(8_000),
        Request::Short | Request::AfterAll => "Hello".to_owned(),
    };
    let mut request = ModelRequest::new("model", vec![Message::user(text)]);
    request.sampling.max_output_tokens = Some(ROOM);
    request.stream = stream;
    request
}

/// Tries the fault and compares all that comes of it with the table.
pub(crate) async fn run(llmock: &Llmock, fault: &Fault, dialect: &str, stream: bool) -> Result {
    llmock.behave(&fault.does).await?;
    let model = model(dialect, llmock.url(), Duration::from_millis(fault.patience))?;
    let mut asked = fault.attempts;
    if matches!(fault.request, Request::AfterAll) {
        let mut greedy = request(Request::Short, stream);
        greedy.sampling.max_output_tokens = Some(5_900);
        model.clone().oneshot(greedy).await?.body.collect().await?;
        asked += 1;
    }
    let answers = Answers::default();
    let end = stack(model, fault.allowed, &answers).oneshot(request(fault.request, stream)).await;
    let verdict = llmock.verdict(asked).await?;
    same("first answer", &answers.first().as_deref(), &Some(&*fault.answer))?;
    same("attempts", &answers.count(), &fault.attempts)?;
    same("attempts that llmock saw", &verdict.attempts, &asked)?;
    same("whether a reply came", &end.is_ok(), &fault.ends_well)?;
    if let Ok(reply) = end {
        whole(&reply)?;
        same("whether the usage came", &reply.usage.is_some(), &true)?;
    }
    let findings: Vec<_> = verdict.findings.iter().map(|finding| &finding.code).collect();
    same("verdict", &findings, &fault.findings.iter().collect())
}

/// A reply that came in the end has all of its text, and nothing of the attempts before.
pub(crate) fn whole(reply: &Reply) -> Result {
    same("text", &&*reply.message.text(), &GREETING)?;
    same("reason", &reply.finish, &FinishReason::Stop)
}

/// A layer cannot take back what a stream has handed out, so a stream is collected inside the retries.
fn stack(
    model: Model,
    attempts: u32,
    answers: &Answers,
) -> BoxCloneSyncService<ModelRequest, Reply, Error> {
    let answers = answers.clone();
    let service = ServiceBuilder::new()
        .retry(Retry::new(attempts))
        .map_result(move |result| answers.note(result))
        .and_then(|response: ModelResponse| response.body.collect())
        .service(model);
    BoxCloneSyncService::new(service)
}

/// What the service answered, attempt by attempt.
#[derive(Clone, Default)]
struct Answers(Arc<Mutex<Vec<Str>>>);

impl Answers {
    fn note(&self, result: Result<Reply, Error>) -> Result<Reply, Error> {
        let answer = match &result {
            Ok(_) => "reply".into(),
            Err(error) => describe(error),
        };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(answer);
        result
    }

    fn first(&self) -> Option<Str> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).first().cloned()
    }

    fn count(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

pub(crate) fn describe(error: &Error) -> Str {
    name(error.kind(), error.effect())
}

/// A kind and an effect as the table has them.
pub(crate) fn name(kind: ErrorKind, effect: Effect) -> Str {
    let effect = match effect {
        Effect::NotStarted => "not started",
        Effect::Unknown => "unknown",
        Effect::Completed => "completed",
    };
    format!("{}, {effect}", kind.as_str()).into()
}

pub(crate) fn same<T: PartialEq + std::fmt::Debug>(what: &str, is: &T, should: &T) -> Result {
    if is == should { Ok(()) } else { Err(format!("{what}: {is:?} is not {should:?}").into()) }
}
