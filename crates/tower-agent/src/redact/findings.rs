//! What was masked, by rule and number, and who is told of it.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{Error, Extensions, OperationKind, Str};

/// What was masked in one call: how often each rule found something. It holds no value.
///
/// Found in the extensions of an answer, or of an error, of which something was masked. A streamed answer always has one: it
/// fills up while the stream is read and is complete at its end. Clones are the same counts.
///
/// ```
/// use tower::{ServiceBuilder, ServiceExt, service_fn};
/// use tower_agent::{Error, RedactLayer, ToolCall, ToolOutput, redact::Findings};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), tower_agent::BoxError> {
/// let tool = ServiceBuilder::new().layer(RedactLayer::default()).service(service_fn(|_: ToolCall| async {
///     Ok::<_, Error>(ToolOutput::text("DB_PASSWORD=swordfish7"))
/// }));
/// let output = tool.oneshot(ToolCall::new("env", "{}")).await?;
/// let findings = output.extensions.get::<Findings>().ok_or("nothing was found")?;
/// assert_eq!((findings.count("generic-password"), findings.total()), (1, 1));
/// assert_eq!(findings.to_string(), "1 generic-password");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct Findings {
    counts: Arc<Mutex<Counts>>,
    /// What a layer further in found in the same answer.
    inside: Option<Arc<Self>>,
}

type Counts = BTreeMap<Str, u64>;

/// What a search found. It allocates nothing before something is found.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally(Vec<(Str, u64)>);

/// What is told, once, when a call has ended or is dropped.
#[derive(Debug)]
pub(super) struct Report {
    kind: OperationKind,
    findings: Option<Findings>,
}

impl Findings {
    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How often a rule found something.
    #[must_use]
    pub fn count(&self, rule: &str) -> u64 {
        let ours = self.lock().get(rule).copied().unwrap_or_default();
        ours + self.inside.as_ref().map_or(0, |inside| inside.count(rule))
    }

    /// How often anything was found.
    #[must_use]
    pub fn total(&self) -> u64 {
        let ours: u64 = self.lock().values().sum();
        ours + self.inside.as_ref().map_or(0, |inside| inside.total())
    }

    /// Whether nothing was found, so far.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty() && self.inside.as_ref().is_none_or(|inside| inside.is_empty())
    }

    /// The ids of the rules that found something, and how often, sorted by id.
    #[must_use]
    pub fn rules(&self) -> Vec<(Str, u64)> {
        self.all().into_iter().collect()
    }

    fn all(&self) -> Counts {
        let mut all = self.inside.as_ref().map(|inside| inside.all()).unwrap_or_default();
        for (rule, count) in &*self.lock() {
            *all.entry(rule.clone()).or_default() += count;
        }
        all
    }

    fn add(&self, tally: &Tally) {
        let mut all = self.lock();
        for (rule, count) in &tally.0 {
            *all.entry(rule.clone()).or_default() += count;
        }
    }
}

impl fmt::Display for Findings {
    /// `2 github-pat, 1 jwt`; nothing for nothing.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_counts(self.all().iter().map(|(rule, count)| (rule, *count)), f)
    }
}

impl fmt::Debug for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.all()).finish()
    }
}

impl Tally {
    pub(super) fn count(&mut self, rule: &str) {
        match self.0.binary_search_by(|(known, _)| (**known).cmp(rule)) {
            Ok(place) => {
                if let Some((_, count)) = self.0.get_mut(place) {
                    *count += 1;
                }
            }
            Err(place) => self.0.insert(place, (rule.into(), 1)),
        }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The rules, each once.
    pub(super) fn rules(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(rule, _)| &**rule)
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_counts(self.0.iter().map(|(rule, count)| (rule, *count)), f)
    }
}

fn write_counts<'a>(
    counts: impl Iterator<Item = (&'a Str, u64)>,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    for (place, (rule, count)) in counts.enumerate() {
        let comma = if place == 0 { "" } else { ", " };
        write!(f, "{comma}{count} {rule}")?;
    }
    Ok(())
}

impl Report {
    pub(super) const fn new(kind: OperationKind) -> Self {
        Self { kind, findings: None }
    }

    pub(super) fn add(&mut self, tally: &Tally) {
        if !tally.is_empty() {
            self.handle().add(tally);
        }
    }

    /// Puts what was found where whoever gets the answer finds it; nothing if nothing was.
    pub(super) fn attach(&self, extensions: &mut Extensions) {
        if let Some(findings) = &self.findings {
            let inside = extensions.get_arc();
            extensions.insert(Findings { inside, ..findings.clone() });
        }
    }

    /// The same for an answer of which nobody knows yet what will be found.
    pub(super) fn attach_early(&mut self, extensions: &mut Extensions) {
        self.handle();
        self.attach(extensions);
    }

    /// Puts what was found into an error.
    pub(super) fn attach_to_error(&self, error: Error) -> Error {
        match &self.findings {
            Some(findings) => {
                let inside = error.extensions().get_arc();
                error.with_extension(Findings { inside, ..findings.clone() })
            }
            None => error,
        }
    }

    fn handle(&mut self) -> &Findings {
        self.findings.get_or_insert_with(Findings::default)
    }

    /// Tells of the call, which has ended.
    pub(super) fn finish(&mut self) {
        if let Some(findings) = self.findings.take().filter(|findings| !findings.is_empty()) {
            self.tell(&findings);
        }
    }

    fn tell(&self, findings: &Findings) {
        tracing::debug!(
            layer = super::policy::LAYER,
            operation = self.kind.as_str(),
            findings = %findings,
            "masked confidential values"
        );
        #[cfg(feature = "metrics-facade")]
        for (rule, count) in findings.rules() {
            let labels =
                [("rule", rule.as_str().to_owned()), ("operation", self.kind.as_str().to_owned())];
            metrics::counter!("tower_agent.redact.findings", &labels).increment(count);
        }
    }
}

impl Drop for Report {
    fn drop(&mut self) {
        self.finish();
    }
}
