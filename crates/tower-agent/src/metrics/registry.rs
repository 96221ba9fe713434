use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::{Arc, PoisonError, RwLock},
};

use tower_agent_core::{OperationKind, Str};

use super::{
    series::Series,
    snapshot::{SeriesSnapshot, Snapshot},
};

/// Where the numbers are. Clones share them.
#[derive(Clone, Default)]
pub struct Registry(Arc<Inner>);

struct Inner {
    tools: Names,
    models: Names,
    runs: Names,
    max_names: usize,
}

type Names = RwLock<HashMap<Str, Arc<Series>>>;

/// The name of those that are too many to be counted apart.
const OTHER: &str = "other";

impl Default for Inner {
    fn default() -> Self {
        Self {
            tools: Names::default(),
            models: Names::default(),
            runs: Names::default(),
            max_names: 256,
        }
    }
}

impl Registry {
    /// An empty registry.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty registry that counts so many names of each operation apart; by default they are 256. A model can
    /// make up any number of names for tools; those beyond are counted together as `other`.
    #[must_use]
    pub fn with_max_names(max_names: usize) -> Self {
        Self(Arc::new(Inner { max_names, ..Inner::default() }))
    }

    /// All numbers as they are now. Calls go on meanwhile, so numbers that belong together may differ by a call.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let kinds = [OperationKind::Tool, OperationKind::Model, OperationKind::Run];
        Snapshot { series: kinds.into_iter().flat_map(|kind| self.snapshot_of(kind)).collect() }
    }

    /// How many calls of each tool are over.
    #[must_use]
    pub fn calls(&self) -> BTreeMap<Str, u64> {
        self.tools(SeriesSnapshot::calls)
    }

    /// How many calls of each tool failed or took too long.
    #[must_use]
    pub fn failures(&self) -> BTreeMap<Str, u64> {
        self.tools(SeriesSnapshot::failures)
    }

    fn tools(&self, number: fn(&SeriesSnapshot) -> u64) -> BTreeMap<Str, u64> {
        let tools = self.snapshot_of(OperationKind::Tool).into_iter();
        tools.map(|tool| (tool.name.clone(), number(&tool))).collect()
    }

    fn snapshot_of(&self, kind: OperationKind) -> Vec<SeriesSnapshot> {
        let names = self.names(kind).read().unwrap_or_else(PoisonError::into_inner);
        let series = names.iter().map(|(name, series)| series.snapshot(kind, name.clone()));
        let mut series: Vec<_> = series.collect();
        series.sort_by(|a, b| a.name.cmp(&b.name));
        series
    }

    fn names(&self, kind: OperationKind) -> &Names {
        match kind {
            OperationKind::Tool => &self.0.tools,
            OperationKind::Model => &self.0.models,
            OperationKind::Run => &self.0.runs,
        }
    }

    /// The numbers of a name, which the first call makes.
    pub(super) fn series(&self, kind: OperationKind, name: &str) -> Arc<Series> {
        let known = {
            let names = self.names(kind).read().unwrap_or_else(PoisonError::into_inner);
            let full = names.len() >= self.0.max_names;
            let other = || names.get(OTHER).filter(|_| full);
            names.get(name).or_else(other).map(Arc::clone)
        };
        known.unwrap_or_else(|| self.first(kind, name))
    }

    fn first(&self, kind: OperationKind, name: &str) -> Arc<Series> {
        let mut names = self.names(kind).write().unwrap_or_else(PoisonError::into_inner);
        let full = names.len() >= self.0.max_names && !names.contains_key(name);
        let name = Str::from(if full { OTHER } else { name });
        let series = names.entry(name).or_insert_with_key(|name| Arc::new(Series::new(kind, name)));
        Arc::clone(series)
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Registry").field(&self.snapshot()).finish()
    }
}
