use std::{
    any::{Any, TypeId, type_name},
    collections::HashMap,
    fmt,
    sync::Arc,
};

type Entry = (&'static str, Arc<dyn Any + Send + Sync>);

/// A map from a type to one value of it, for what users and layers add to a call.
///
/// The map is shared: a clone copies one pointer, and an insertion copies the table (pointers, never
/// values) only while somebody else holds it. An empty map allocates nothing.
///
/// ```
/// use tower_agent_core::Extensions;
///
/// #[derive(Debug, PartialEq)]
/// struct Tenant(u32);
///
/// let mut ours = Extensions::new();
/// ours.insert(Tenant(7));
/// let theirs = ours.clone();
/// ours.remove::<Tenant>();
/// assert_eq!(theirs.get::<Tenant>(), Some(&Tenant(7)));
/// assert!(ours.is_empty());
/// ```
#[derive(Clone, Default)]
pub struct Extensions(Option<Arc<HashMap<TypeId, Entry>>>);

impl Extensions {
    /// An empty map.
    #[must_use]
    pub const fn new() -> Self {
        Self(None)
    }

    /// Whether two handles share one table, so that nothing was inserted or removed between them.
    #[inline]
    #[must_use]
    pub fn ptr_eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(ours), Some(theirs)) => Arc::ptr_eq(ours, theirs),
            (ours, theirs) => ours.is_none() && theirs.is_none(),
        }
    }

    /// Adds a value and returns the handle of the one it replaces.
    pub fn insert<T: Send + Sync + 'static>(&mut self, value: T) -> Option<Arc<T>> {
        let entry = (type_name::<T>(), Arc::new(value) as Arc<dyn Any + Send + Sync>);
        let table = Arc::make_mut(self.0.get_or_insert_default());
        table.insert(TypeId::of::<T>(), entry).and_then(|(_, old)| old.downcast().ok())
    }

    /// The value of a type.
    #[must_use]
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<&T> {
        let (_, value) = self.0.as_ref()?.get(&TypeId::of::<T>())?;
        value.downcast_ref()
    }

    /// The shared handle of a value, which outlives the map.
    #[must_use]
    pub fn get_arc<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        let (_, value) = self.0.as_ref()?.get(&TypeId::of::<T>())?;
        Arc::clone(value).downcast().ok()
    }

    /// Removes the value of a type and returns its handle.
    pub fn remove<T: Send + Sync + 'static>(&mut self) -> Option<Arc<T>> {
        let table = self.0.as_mut().filter(|table| table.contains_key(&TypeId::of::<T>()))?;
        let (_, value) = Arc::make_mut(table).remove(&TypeId::of::<T>())?;
        value.downcast().ok()
    }

    /// Adds everything that the other map holds; where both have a type, the other's value stays.
    pub fn extend(&mut self, other: &Self) {
        match (&mut self.0, &other.0) {
            (_, None) => {}
            (empty @ None, Some(_)) => *empty = other.0.clone(),
            (Some(table), Some(more)) => {
                Arc::make_mut(table).extend(more.iter().map(|(key, value)| (*key, value.clone())));
            }
        }
    }

    /// How many types have a value.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |table| table.len())
    }

    /// Whether no type has a value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl fmt::Debug for Extensions {
    /// Lists the types only: what users attach may be confidential.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut types: Vec<_> =
            self.0.iter().flat_map(|table| table.values()).map(|(name, _)| *name).collect();
        types.sort_unstable();
        f.debug_set().entries(types).finish()
    }
}
