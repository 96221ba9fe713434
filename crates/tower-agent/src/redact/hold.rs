//! The text of one part that comes in pieces.

use tower_agent_detect::StreamRedactor;

use super::{policy::WITHHELD, walk::Walk};
use crate::Str;

/// What is held of a text that goes on, for as long as it may become part of something that is masked.
#[derive(Debug, Default)]
pub(super) struct Hold {
    stream: Option<StreamRedactor>,
    out: String,
    withheld: bool,
}

impl Hold {
    /// Takes a piece; what may go on by now. A piece that goes on as it came keeps its handle.
    pub(super) fn push(&mut self, walk: &mut Walk<'_>, piece: &Str) -> Option<Str> {
        if self.withheld {
            return None;
        }
        self.out.clear();
        let stream = self.stream.get_or_insert_with(|| walk.stream());
        stream.push(piece, &mut self.out);
        walk.count(&stream.take_findings());
        match self.out.as_str() {
            "" => None,
            out if out == &**piece => Some(piece.clone()),
            out => Some(out.into()),
        }
    }

    /// The rest, which nothing follows.
    pub(super) fn finish(&mut self, walk: &mut Walk<'_>) -> Option<Str> {
        let mut stream = self.stream.take()?;
        self.out.clear();
        stream.finish(&mut self.out);
        walk.count(&stream.take_findings());
        (!self.out.is_empty()).then(|| self.out.as_str().into())
    }

    /// What stands for whatever is held, once it can never be known what it was.
    pub(super) fn abandon(&mut self) -> Option<Str> {
        let holds = self.stream.as_ref().is_some_and(|stream| stream.held() > 0);
        self.withhold();
        holds.then(|| WITHHELD.into())
    }

    /// Lets nothing go any more.
    pub(super) fn withhold(&mut self) {
        *self = Self { withheld: true, ..Self::default() };
    }
}
