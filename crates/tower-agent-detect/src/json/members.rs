//! Which name a value belongs to. Most often it is the key above it, but that of a pair is the text beside it, and that of what lies
//! in an object of secrets is the key of the object.

use std::{borrow::Cow, ops::Range};

use super::LeafKind;
use crate::judge::{self, Holds, Part};

/// Where a leaf or a key stands.
#[derive(Debug)]
pub(super) struct Place {
    /// With its quotes.
    pub(super) literal: Range<usize>,
    pub(super) escaped: bool,
    pub(super) kind: LeafKind,
}

/// The objects that are open.
#[derive(Debug, Default)]
pub(super) struct Members<'t> {
    open: Vec<Object<'t>>,
    /// Values whose names may follow them, of each open object behind those of the one around it.
    held: Vec<Held<'t>>,
}

#[derive(Debug, Default)]
struct Object<'t> {
    /// The key of the member that comes next, and what such a member is.
    key: Option<Cow<'t, str>>,
    part: Part,
    /// How many arrays the next value lies in.
    arrays: usize,
    /// The plural that it lies in.
    within: Option<Within>,
    /// The text of the member that names another one.
    name: Option<Cow<'t, str>>,
    /// Whether it has a member that may be named so.
    has_value: bool,
    /// Where what is held of it begins.
    held: usize,
}

/// Something around an object: which of the open ones has the member, and what that holds.
#[derive(Clone, Copy, Debug)]
struct Within {
    object: usize,
    holds: Holds,
}

/// A value whose name may follow it.
#[derive(Debug)]
pub(super) struct Held<'t> {
    pub(super) place: Place,
    key: Cow<'t, str>,
    part: Part,
}

impl<'t> Members<'t> {
    #[inline]
    pub(super) fn object_begins(&mut self) {
        let within = self.plural();
        let held = self.held.len();
        self.open.push(Object { within, held, ..Object::default() });
    }

    pub(super) fn object_ends(&mut self) {
        self.open.pop();
    }

    pub(super) fn array_begins(&mut self) {
        if let Some(object) = self.open.last_mut() {
            object.arrays += 1;
        }
    }

    pub(super) fn array_ends(&mut self) {
        if let Some(object) = self.open.last_mut() {
            object.arrays -= 1;
        }
    }

    #[inline]
    pub(super) fn key(&mut self, key: Cow<'t, str>) {
        let Some(object) = self.open.last_mut() else { return };
        object.part = judge::part(&key);
        object.has_value |= object.part == Part::Value;
        object.key = Some(key);
    }

    /// The key of the innermost object.
    pub(super) fn above(&self) -> Option<&str> {
        self.open.iter().rev().nth(1).and_then(|object| object.key.as_deref())
    }

    /// Takes a leaf. Gives it back, unless its name may follow it.
    #[inline]
    pub(super) fn take(&mut self, text: &'t str, place: Place) -> Option<Place> {
        let Some(object) = self.open.last_mut() else { return Some(place) };
        if matches!(object.part, Part::Name | Part::Key)
            && object.arrays == 0
            && place.kind == LeafKind::String
        {
            object.take_name(place.text(text));
        }
        match (&object.key, object.part) {
            (Some(key), part @ (Part::Value | Part::Key)) => {
                self.held.push(Held { place, key: key.clone(), part });
                None
            }
            _ => Some(place),
        }
    }

    /// The name of a leaf that comes next and is not held.
    #[inline]
    pub(super) fn name(&self, kind: LeafKind) -> Option<&str> {
        let object = self.open.last()?;
        let key = object.key.as_deref()?;
        let map = object.within.filter(|within| {
            let text = kind == LeafKind::String && object.part == Part::Other;
            within.holds == Holds::All && text && !judge::is_plain(key) && !is_secret(key)
        });
        let holder = map.and_then(|map| self.holder(map));
        Some(read_as(holder.unwrap_or(key), kind))
    }

    /// What is still held of the innermost object, the last one first.
    pub(super) fn next_held(&mut self) -> Option<Held<'t>> {
        let first = self.open.last()?.held;
        if self.held.len() > first { self.held.pop() } else { None }
    }

    /// The name of what was held, once the object ends.
    pub(super) fn name_of<'a>(&'a self, held: &'a Held<'_>) -> Option<&'a str> {
        let object = self.open.last()?;
        let kind = held.place.kind;
        let named = object.name.as_deref().filter(|_| held.part == Part::Value);
        if let Some(name) = named.filter(|name| is_secret(name)) {
            return Some(read_as(name, kind));
        }
        let within = object.within.or_else(|| self.around()).filter(|within| match within.holds {
            Holds::One => held.part == Part::Value,
            Holds::Parts | Holds::All => {
                kind == LeafKind::String && (held.part == Part::Value || !object.has_value)
            }
        });
        let holder = within.and_then(|within| self.holder(within));
        Some(holder.map(|it| read_as(it, kind)).or(named).unwrap_or(&held.key))
    }

    /// The plural that an object lies in which begins.
    fn plural(&self) -> Option<Within> {
        let object = self.open.len().checked_sub(1)?;
        let around = self.open.last()?;
        let key = around.holder()?;
        let in_array = around.arrays > 0;
        if judge::singular(key).is_some() {
            let holds = if in_array { Holds::Parts } else { Holds::All };
            return Some(Within { object, holds });
        }
        let map = around.within.filter(|within| within.holds == Holds::All)?;
        if around.part == Part::Name || judge::is_plain(key) {
            return None;
        }
        Some(Within { holds: if in_array { Holds::Parts } else { Holds::All }, ..map })
    }

    /// What else the innermost object lies in.
    fn around(&self) -> Option<Within> {
        let object = self.open.len().checked_sub(2)?;
        let around = self.open.get(object)?;
        let key = around.holder()?;
        let paired = around.part == Part::Value && around.name.is_some() && is_secret(key);
        let holds = judge::holds(key).or(paired.then_some(Holds::One))?;
        Some(Within { object, holds })
    }

    fn holder(&self, within: Within) -> Option<&str> {
        self.open.get(within.object)?.holder()
    }
}

impl<'t> Object<'t> {
    /// Of several members that may be the name, the one that says "secret".
    fn take_name(&mut self, name: Cow<'t, str>) {
        if self.name.is_none() || is_secret(&name) {
            self.name = Some(name);
        }
    }

    /// The name of the next value.
    fn holder(&self) -> Option<&str> {
        match self.part {
            Part::Value => self.name.as_deref().or(self.key.as_deref()),
            _ => self.key.as_deref(),
        }
    }
}

fn is_secret(key: &str) -> bool {
    judge::is_sensitive_key(key) || judge::singular(key).is_some()
}

/// A text under a name of several secrets is one of them.
fn read_as(key: &str, kind: LeafKind) -> &str {
    let one = if kind == LeafKind::String { judge::singular(key) } else { None };
    one.unwrap_or(key)
}
