//! Which call a piece of a streamed call belongs to.

use std::borrow::Cow;

use serde_json::{Map, Value};
use tower_agent_core::Str;

use super::tool_call::{self, Shape};
use crate::codec::raw::{Fields, NULL, string};

/// A call as far as it has come.
#[derive(Clone, Debug, Default)]
pub(super) struct Call {
    wire_index: Option<u64>,
    id: Str,
    name: Str,
    arguments: String,
    chunk: u64,
    pub(super) extra: Map<String, Value>,
}

/// A piece of a call: what one entry of `tool_calls` says.
#[derive(Debug, Default)]
pub(super) struct Piece {
    index: Option<u64>,
    pub(super) id: Option<Str>,
    pub(super) name: Option<Str>,
    pub(super) arguments: Str,
    pub(super) rest: Map<String, Value>,
}

impl Piece {
    pub(super) fn read(raw: &str) -> Option<Self> {
        let mut fields = Fields::parse(raw)?;
        let mut piece =
            Self { index: fields.take_as("index"), id: fields.take_text("id"), ..Self::default() };
        if let Some(shape) = tool_call::shape(fields.get("type").filter(|kind| *kind != NULL)) {
            piece.read_inner(&mut fields, shape);
        }
        fields.take_if("type", |raw| (raw == "\"function\"").then_some(()));
        fields.retain(|_, raw| raw != NULL && raw != "\"\"");
        piece.rest = serde_json::from_str(&fields.to_text()).ok()?;
        Some(piece)
    }

    fn read_inner(&mut self, fields: &mut Fields<'_>, shape: &'static Shape) {
        let raw = fields.take(shape.kind).unwrap_or(Cow::Borrowed("{}"));
        let mut inner = Fields::parse(&raw).unwrap_or_default();
        self.name = inner.take_text("name");
        // Some servers send the object itself.
        let arguments = inner.take(shape.arguments).filter(|raw| raw != NULL);
        self.arguments =
            arguments.map(|raw| string(&raw).unwrap_or_else(|| (&*raw).into())).unwrap_or_default();
        inner.retain(|_, raw| raw != NULL);
        fields.set_rest(shape.kind, &inner);
    }
}

/// The calls of a reply, in the order of their first pieces.
///
/// Two calls never become one, and one never becomes two: the index decides where there is one; where it is left out
/// the id does, and without an id a piece goes on with the call before it. Any of these is overruled when the piece
/// cannot belong to that call: another id, another name, a name again in the same chunk, or more arguments
/// after complete ones.
#[derive(Clone, Debug, Default)]
pub(super) struct Calls(Vec<Call>);

impl Calls {
    /// The position of the call that a piece belongs to, and whether it is new. The piece is left with what is
    /// new about the call.
    pub(super) fn take(&mut self, piece: &mut Piece, chunk: u64) -> (usize, bool) {
        let found = self
            .find(piece)
            .filter(|at| self.0.get(*at).is_some_and(|call| call.fits(piece, chunk)));
        let at = found.unwrap_or(self.0.len());
        if found.is_none() {
            self.0.push(Call { wire_index: piece.index, ..Call::default() });
        }
        if let Some(call) = self.0.get_mut(at) {
            call.take(piece, chunk);
        }
        (at, found.is_none())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Call> {
        self.0.iter()
    }

    /// The call that a piece names, before it is known whether it fits.
    fn find(&self, piece: &Piece) -> Option<usize> {
        let last = |fits: &dyn Fn(&Call) -> bool| self.0.iter().rposition(fits);
        match (&piece.index, &piece.id) {
            (Some(index), id) => last(&|call| call.wire_index == Some(*index)).or_else(|| {
                // The index came late: it was left out when the call began.
                let before = self.0.len().checked_sub(1)?;
                let call = self.0.get(before).filter(|call| call.wire_index.is_none())?;
                id.as_ref().is_none_or(|id| *id == call.id).then_some(before)
            }),
            (None, Some(id)) => last(&|call| call.id == *id).or_else(|| {
                last(&|_| true).filter(|at| self.0.get(*at).is_some_and(|call| call.id.is_empty()))
            }),
            (None, None) => last(&|_| true),
        }
    }
}

impl Call {
    fn fits(&self, piece: &Piece, chunk: u64) -> bool {
        let differs = |ours: &Str, theirs: &Option<Str>| {
            !ours.is_empty() && theirs.as_ref().is_some_and(|theirs| theirs != ours)
        };
        let has_same_id = !self.id.is_empty() && piece.id.as_ref() == Some(&self.id);
        let begins_again = piece.name.is_some()
            && !self.name.is_empty()
            && (self.chunk == chunk || (!piece.arguments.is_empty() && self.is_complete()));
        !differs(&self.id, &piece.id)
            && (has_same_id || !differs(&self.name, &piece.name))
            && !begins_again
    }

    /// Whether the arguments are a whole object, so that more text would only break them.
    fn is_complete(&self) -> bool {
        self.arguments.starts_with('{')
            && serde_json::from_str::<serde::de::IgnoredAny>(&self.arguments).is_ok()
    }

    fn take(&mut self, piece: &mut Piece, chunk: u64) {
        self.chunk = chunk;
        self.wire_index = self.wire_index.or(piece.index);
        piece.id = piece.id.take().filter(|_| self.id.is_empty());
        piece.name = piece.name.take().filter(|_| self.name.is_empty());
        if let Some(id) = &piece.id {
            self.id = id.clone();
        }
        if let Some(name) = &piece.name {
            self.name = name.clone();
        }
        self.arguments.push_str(&piece.arguments);
        super::merge::object(&mut self.extra, std::mem::take(&mut piece.rest));
    }
}
