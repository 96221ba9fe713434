//! What stands in a line. No value of arguments or results, unless masked arguments are asked for.

use std::{collections::BTreeMap, sync::Arc};

use serde::Serialize;
use tokio::time::Instant;
use tower_agent::{
    Class, Content, Effect, Error, Json, Outcome, RedactLayer, Str, ToolCall, ToolOutput,
    redact::Findings,
};
use tower_agent_mcp::server::Caller;

use super::AuditFile;
use crate::masks::scrub;

/// Arguments that are longer are left out, in bytes.
const LONGEST_ARGUMENTS: usize = 16 << 10;
/// So much of the name of a tool that nobody has is kept, in characters.
const LONGEST_NAME: usize = 128;

/// A call whose line is not written yet; whatever becomes of it, one is.
pub(super) struct Entry {
    file: Arc<AuditFile>,
    began: Instant,
    record: Option<Record>,
}

#[derive(Debug, Serialize)]
struct Record {
    time: String,
    run: Str,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<Str>,
    /// What the client calls itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    client: Option<String>,
    call: String,
    server: Option<Str>,
    tool: Str,
    decision: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    layer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<String>,
    /// Whether anything may have happened, of a call that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    effect: Option<Effect>,
    ms: u64,
    argument_bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    result_bytes: Option<usize>,
    /// What was masked: how often by which rule.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    findings: BTreeMap<Str, u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<Json>,
}

impl Entry {
    pub(super) fn begin(
        file: Arc<AuditFile>,
        server: Option<&Str>,
        call: &ToolCall,
        with_arguments: bool,
    ) -> Self {
        let run = call.ctx.run();
        let client = Caller::of(&call.ctx).and_then(Caller::client);
        let record = Record {
            time: now(),
            run: run.id().clone(),
            session: run.session().cloned(),
            client: client.map(|client| client.name),
            call: call.id.as_str().to_owned(),
            server: server.cloned(),
            tool: if server.is_some() { call.name.clone() } else { made_up(&call.name) },
            decision: decision(Class::Cancelled),
            layer: None,
            code: None,
            effect: None,
            ms: 0,
            argument_bytes: call.arguments.as_str().len(),
            result_bytes: None,
            findings: BTreeMap::new(),
            arguments: if with_arguments { masked(&call.arguments) } else { None },
        };
        Self { file, began: Instant::now(), record: Some(record) }
    }

    pub(super) fn end(mut self, result: &Result<ToolOutput, Error>) {
        if let Some(record) = &mut self.record {
            match result {
                Ok(output) => record.note(output),
                Err(error) => record.note_error(error),
            }
        }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let Some(mut record) = self.record.take() else { return };
        record.ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        match serde_json::to_string(&record) {
            Ok(line) => self.file.write(line),
            Err(error) => tracing::error!(%error, "a line of the audit file could not be made"),
        }
    }
}

impl Record {
    fn note(&mut self, output: &ToolOutput) {
        self.decision = decision(Class::from(&output.outcome));
        let texts = output.content.iter().filter_map(Content::as_text).map(str::len);
        self.result_bytes = Some(texts.sum());
        if let Some(findings) = output.extensions.get::<Findings>() {
            self.findings = findings.rules().into_iter().collect();
        }
        match &output.outcome {
            Outcome::Denied(denial) => {
                self.layer = Some(denial.layer.to_string());
                self.code = Some(denial.code.to_string());
            }
            Outcome::Failed(failure) => {
                self.layer = failure.layer.as_ref().map(ToString::to_string);
                self.code = Some(failure.kind.as_str().to_owned());
                self.effect = Some(failure.effect);
            }
            Outcome::Suspended(suspension) => self.layer = Some(suspension.layer.to_string()),
            _ => {}
        }
    }

    fn note_error(&mut self, error: &Error) {
        self.decision = decision(error.kind().into());
        self.layer = error.layer().map(ToOwned::to_owned);
        self.code = Some(error.kind().as_str().to_owned());
        self.effect = Some(error.effect());
    }
}

const fn decision(class: Class) -> &'static str {
    match class {
        Class::Ok => "executed",
        other => other.as_str(),
    }
}

fn now() -> String {
    chrono::Utc::now().to_rfc3339_opts(chrono::SecondsFormat::Millis, true)
}

/// A name that no tool has is whatever a model wrote.
fn made_up(name: &str) -> Str {
    let short: String = name.chars().take(LONGEST_NAME).collect();
    let clean = scrub(&RedactLayer::all(), ToolOutput::text(short));
    clean.map(|output| output.joined_text()).unwrap_or_default().into()
}

fn masked(arguments: &Json) -> Option<Json> {
    if arguments.as_str().len() > LONGEST_ARGUMENTS || arguments.check().is_err() {
        return None;
    }
    let mut output = ToolOutput::default();
    output.structured = Some(arguments.clone());
    scrub(&RedactLayer::all(), output)?.structured
}
