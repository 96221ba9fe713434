//! An agent that plays a case: a scripted model asks for the calls, scripted tools answer them through the layers.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};
use tower::{Layer, ServiceExt};
use tower_agent::{
    Agent, BoxError, CancellationToken, Content, Error, ErrorKind, FinishReason, Json, Message,
    ModelEvent, Part, Reply, Role, Run, RunRequest, Str, Tool, ToolCall, ToolCallPart, ToolOutput,
    ToolRecord, ToolResultPart, ToolSet, ToolSpec, Transcript, Usage,
};
use tower_agent_test::{ScriptedModel, Step, Turn};

use crate::layers::{Gauges, around_model, around_tools, millis, text};

/// What is played.
pub(crate) struct Scene {
    layers: Vec<Value>,
    turns: Vec<Turn>,
    tools: BTreeMap<String, Value>,
    /// Whether the layers stand around the model and not around the tools.
    model_is_wrapped: bool,
    one_at_a_time: bool,
    cancel_at: Option<String>,
}

/// What came of it.
pub(crate) struct Played {
    pub(crate) transcript: Transcript,
    pub(crate) error: Option<Error>,
    /// The calls that reached a tool.
    pub(crate) ran: Vec<ToolCall>,
    pub(crate) gauges: Gauges,
    pub(crate) took: Duration,
}

impl Scene {
    pub(crate) fn of(input: &Value) -> Self {
        let batches: Vec<Vec<Value>> = if input["call"].is_object() {
            vec![vec![input["call"].clone()]]
        } else if let Some(calls) = input["sequence"].as_array() {
            calls.iter().map(|call| vec![call.clone()]).collect()
        } else {
            let calls = input["batch"].as_array().or(input["serial_batch"].as_array());
            calls.into_iter().cloned().collect()
        };
        let mut replies: Vec<Value> = batches
            .into_iter()
            .map(|calls| json!({"message": {"text": "", "tool_calls": calls}}))
            .collect();
        replies.extend(input["model"]["replies"].as_array().into_iter().flatten().cloned());
        Self {
            layers: input["stack"].as_array().cloned().unwrap_or_default(),
            tools: tools_of(input, &replies),
            turns: replies.iter().map(turn).chain([Turn::text("done")]).collect(),
            model_is_wrapped: input["model"].is_object(),
            one_at_a_time: input["serial_batch"].is_array(),
            cancel_at: input["cancel_when_running"].as_str().map(str::to_owned),
        }
    }

    /// A scene of one call.
    pub(crate) fn of_call(layers: &Value, tool: &str, call: &Value) -> Self {
        Self::of(&json!({"stack": layers, "tools": {tool: {"echo": true}}, "call": call}))
    }

    pub(crate) async fn play(self) -> Played {
        let mut gauges = Gauges::default();
        let ran = Arc::new(Mutex::new(Vec::new()));
        let run = Run::builder("run").build();
        let cancel = self.cancel_at.clone().map(|id| (id, run.cancellation().clone()));
        let tools = self.tools.iter().map(|(name, script)| {
            let spec = ToolSpec::new(name.as_str(), "A tool of the case");
            let script = Script::new(script, Arc::clone(&ran), cancel.clone());
            let tool = Tool::raw(spec, move |call| script.clone().answer(call));
            if self.one_at_a_time { tool.one_at_a_time() } else { tool }
        });
        let set = tools.fold(ToolSet::builder(), |set, tool| set.tool(tool)).build().unwrap();
        let (for_model, for_tools) = if self.model_is_wrapped {
            (&self.layers[..], &[][..])
        } else {
            (&[][..], &self.layers[..])
        };
        let tools = around_tools(for_tools, &mut gauges).layer(set.clone());
        let model = around_model(for_model, &gauges).layer(ScriptedModel::new(self.turns));
        let set = ToolSet::from_service(set.specs().clone(), tools).unwrap();
        let agent = Agent::builder("case", model).model("demo").tools(set).build();

        let start = Instant::now();
        let response = agent.oneshot(RunRequest::user("go").with_context(run)).await.unwrap();
        let (transcript, error) = match response.collect().await {
            Ok(transcript) => (transcript, None),
            Err(error) => (Transcript::clone(&Transcript::of_error(&error).unwrap()), Some(error)),
        };
        let ran = ran.lock().unwrap().clone();
        Played { transcript, error, ran, gauges, took: start.elapsed() }
    }
}

impl Played {
    /// What the model gets to read, in its order.
    pub(crate) fn results(&self) -> Vec<&ToolResultPart> {
        let parts = self.transcript.messages.iter().flat_map(|message| message.parts());
        let results = parts.filter_map(|part| match part {
            Part::ToolResult(result) => Some(result),
            _ => None,
        });
        results.collect()
    }

    /// The one result of a scene with one call.
    pub(crate) fn result(&self) -> &ToolResultPart {
        let [result] = self.results()[..] else { panic!("one call has one result") };
        result
    }

    pub(crate) fn record(&self) -> &ToolRecord {
        let [record] = &self.transcript.tools[..] else { panic!("one call has one record") };
        record
    }

    /// The first thing that the model said.
    pub(crate) fn reply(&self) -> &Message {
        let said = |message: &&Message| *message.role() == Role::Assistant;
        self.transcript.messages.iter().find(said).unwrap()
    }
}

/// All text that a result consists of, in whatever form.
pub(crate) fn visible(result: &ToolResultPart) -> String {
    let value = result.structured.as_ref().map(|value| value.as_str().to_owned());
    [result.text()].into_iter().chain(value).collect::<Vec<_>>().join("\n")
}

fn tools_of(input: &Value, replies: &[Value]) -> BTreeMap<String, Value> {
    if let Some(tools) = input["tools"].as_object() {
        return tools.clone().into_iter().collect();
    }
    let echo = json!({"echo": true});
    if let Some(names) = input["tools_known"].as_array() {
        return names.iter().map(|name| (text(name).to_owned(), echo.clone())).collect();
    }
    let calls = replies.iter().flat_map(|reply| reply["message"]["tool_calls"].as_array());
    let names: BTreeSet<_> = calls.flatten().map(|call| text(&call["name"])).collect();
    let script = if input["tool"].is_object() { &input["tool"] } else { &echo };
    names.into_iter().map(|name| (name.to_owned(), script.clone())).collect()
}

/// What a model says in one turn.
pub(crate) fn turn(reply: &Value) -> Turn {
    if let Some(events) = reply["stream"].as_array() {
        let pause =
            reply["delay_ms_per_chunk"].is_u64().then(|| millis(&reply["delay_ms_per_chunk"]));
        let steps =
            events.iter().flat_map(|event| pause.map(Step::Wait).into_iter().chain([step(event)]));
        return Turn::stream(steps);
    }
    let message = &reply["message"];
    let said = message["text"].as_str().filter(|said| !said.is_empty()).map(Part::text);
    let calls = message["tool_calls"].as_array().into_iter().flatten().map(|call| {
        let written = call["args_raw"].as_str().map(Json::from);
        let arguments = written.unwrap_or_else(|| call["args"].clone().into());
        Part::ToolCall(ToolCallPart::new(text(&call["id"]), text(&call["name"]), arguments))
    });
    let parts = said.into_iter().chain(calls).collect();
    let turn = Turn::reply(Reply::new(Message::new(Role::Assistant, parts)));
    match reply["finish"].as_str() {
        Some(reason) => turn.finish(FinishReason::from(reason)),
        None => turn,
    }
}

fn step(event: &Value) -> Step {
    if let Some(piece) = event["text"].as_str() {
        Step::text(piece)
    } else if let Some(reason) = event["finish"].as_str() {
        Step::finish(FinishReason::from(reason))
    } else if event["usage"].is_object() {
        let tokens = |name: &str| event["usage"][name].as_u64().unwrap_or_default();
        Step::from(ModelEvent::Usage {
            usage: Usage::new(tokens("input_tokens"), tokens("output_tokens")),
        })
    } else if event["err"].is_object() {
        let status = event["err"]["status"].as_u64().map(|status| u16::try_from(status).unwrap());
        Step::Error(Error::new(ErrorKind::Upstream { status }, "the case says so"))
    } else {
        assert_eq!(event["stall"], true, "an event that nobody knows: {event}");
        Step::Hang
    }
}

/// The call whose start cancels the run.
type Cancel = (String, CancellationToken);

/// What a tool answers.
#[derive(Clone)]
struct Script {
    replies: Arc<Mutex<VecDeque<Value>>>,
    ran: Arc<Mutex<Vec<ToolCall>>>,
    cancel: Option<Cancel>,
}

impl Script {
    fn new(script: &Value, ran: Arc<Mutex<Vec<ToolCall>>>, cancel: Option<Cancel>) -> Self {
        let replies = script["replies"].as_array().cloned();
        let replies = replies.unwrap_or_else(|| vec![script.clone(); 16]);
        Self { replies: Arc::new(Mutex::new(replies.into())), ran, cancel }
    }

    async fn answer(self, call: ToolCall) -> Result<ToolOutput, BoxError> {
        let reply = self.replies.lock().unwrap().pop_front().expect("the script is over");
        self.ran.lock().unwrap().push(call.clone());
        let arguments = call.arguments.value().unwrap();
        if let Some((id, token)) = &self.cancel
            && call.id == **id
        {
            token.cancel();
        }
        sleep(delay(&reply, arguments)).await;
        if hangs(&reply, arguments) {
            std::future::pending::<()>().await;
        }
        if let Some(message) = reply["panic"].as_str() {
            panic!("{message}");
        }
        if let Some(message) = reply["err"]["message"].as_str() {
            return Err(message.into());
        }
        if let Some(argument) = reply["echo_arg"].as_str() {
            return Ok(ToolOutput::text(text(&arguments[argument])));
        }
        Ok(if reply["echo"] == true {
            ToolOutput::text(call.arguments.as_str())
        } else {
            output(&reply["ok"])
        })
    }
}

fn hangs(reply: &Value, arguments: &Value) -> bool {
    let on = reply["hang_on"].as_object();
    on.is_some_and(|on| on.iter().all(|(name, value)| arguments[name] == *value))
}

fn delay(reply: &Value, arguments: &Value) -> Duration {
    let by_argument = reply["echo_arg"].as_str().map(|name| text(&arguments[name]));
    let delay = by_argument.map_or(&reply["delay_ms"], |value| &reply["delay_ms_by_arg"][value]);
    Duration::from_millis(delay.as_u64().unwrap_or_default())
}

fn output(ok: &Value) -> ToolOutput {
    let mut output = ToolOutput::default();
    for block in ok["content"].as_array().unwrap() {
        match text(&block["type"]) {
            "text" => output.content.push(Content::text(text(&block["text"]))),
            "json" => {
                let ToolOutput { content, structured, .. } =
                    ToolOutput::structured(block["json"].clone());
                output.content.extend(content);
                output.structured = structured;
            }
            other => panic!("no block is known as {other}"),
        }
    }
    output
}

/// The name of the model in all scenes.
pub(crate) fn model() -> Str {
    "demo".into()
}
