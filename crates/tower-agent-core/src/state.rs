use std::{
    any::{Any, TypeId},
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::JsonError;

/// What the hooks and tools of one run share: JSON values under string keys, and one value per Rust type.
///
/// It lives as long as the run, so two runs never see each other's values. All clones share it. Each method
/// takes the lock once and never across an await; [`update`](Self::update) is atomic.
///
/// ```
/// use tower_agent_core::RunState;
///
/// let state = RunState::new();
/// state.update("calls", |calls: Option<u64>| calls.unwrap_or(0) + 1).unwrap();
/// assert_eq!(state.get::<u64>("calls"), Some(1));
///
/// #[derive(Clone, Debug, Default, PartialEq)]
/// struct Seen(Vec<String>);
/// state.update_typed(|seen: &mut Seen| seen.0.push("search".into()));
/// assert_eq!(state.typed::<Seen>(), Some(Seen(vec!["search".into()])));
/// ```
#[derive(Clone, Default)]
pub struct RunState(Arc<Mutex<Table>>);

#[derive(Default)]
struct Table {
    named: HashMap<String, Value>,
    typed: HashMap<TypeId, Box<dyn Any + Send>>,
}

impl RunState {
    /// An empty state.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        // A closure that panicked inside `update` left the table as it was.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value under a key, if there is one of this type.
    #[must_use]
    pub fn get<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        T::deserialize(self.lock().named.get(key)?).ok()
    }

    /// Stores a value under a key.
    ///
    /// # Errors
    /// When the value has no JSON form.
    pub fn set(&self, key: impl Into<String>, value: impl Serialize) -> Result<(), JsonError> {
        let value = to_value(value)?;
        self.lock().named.insert(key.into(), value);
        Ok(())
    }

    /// Replaces the value under a key by one made of it, as one step that no other caller can get between.
    ///
    /// The closure runs under the lock: it must be short and must not use this state.
    ///
    /// # Errors
    /// When the new value has no JSON form; the old one stays.
    pub fn update<T: Serialize + DeserializeOwned>(
        &self,
        key: &str,
        update: impl FnOnce(Option<T>) -> T,
    ) -> Result<T, JsonError> {
        let mut table = self.lock();
        let old = table.named.get(key).and_then(|value| T::deserialize(value).ok());
        let new = update(old);
        table.named.insert(key.to_owned(), to_value(&new)?);
        Ok(new)
    }

    /// Removes the value under a key and returns it.
    pub fn remove(&self, key: &str) -> Option<Value> {
        self.lock().named.remove(key)
    }

    /// Whether a key has a value.
    #[must_use]
    pub fn contains(&self, key: &str) -> bool {
        self.lock().named.contains_key(key)
    }

    /// A copy of the value of a type.
    #[must_use]
    pub fn typed<T: Clone + Send + 'static>(&self) -> Option<T> {
        self.lock().typed.get(&TypeId::of::<T>())?.downcast_ref().cloned()
    }

    /// Stores the value of a type and returns the one it replaces.
    pub fn insert<T: Send + 'static>(&self, value: T) -> Option<T> {
        let old = self.lock().typed.insert(TypeId::of::<T>(), Box::new(value))?;
        old.downcast().ok().map(|old| *old)
    }

    /// Takes the value of a type out.
    pub fn take<T: Send + 'static>(&self) -> Option<T> {
        let old = self.lock().typed.remove(&TypeId::of::<T>())?;
        old.downcast().ok().map(|old| *old)
    }

    /// Changes the value of a type, starting from its default, as one step.
    ///
    /// The closure runs under the lock: it must be short and must not use this state.
    pub fn update_typed<T: Default + Send + 'static, R>(
        &self,
        update: impl FnOnce(&mut T) -> R,
    ) -> R {
        let mut table = self.lock();
        let slot = table.typed.entry(TypeId::of::<T>()).or_insert_with(|| Box::new(T::default()));
        match slot.downcast_mut() {
            Some(value) => update(value),
            // The key is the type, so this does not happen; a default keeps the promise all the same.
            None => update(&mut T::default()),
        }
    }
}

fn to_value(value: impl Serialize) -> Result<Value, JsonError> {
    serde_json::to_value(value).map_err(|error| JsonError::from_serde(&error))
}

impl fmt::Debug for RunState {
    /// Lists the keys only: values may be confidential.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let table = self.lock();
        let mut keys: Vec<_> = table.named.keys().collect();
        keys.sort_unstable();
        f.debug_struct("RunState").field("keys", &keys).field("types", &table.typed.len()).finish()
    }
}
