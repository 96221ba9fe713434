//! The last events of a run, in bounds.

use std::collections::VecDeque;

use bytes::Bytes;

/// How much of a run is kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    pub(super) events: usize,
    pub(super) bytes: usize,
}

/// Why a reader cannot go on after the event that it names.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(in crate::run) enum Lost {
    /// Events that it would have to read first are gone, up to this one.
    UpTo(u64),
    /// No such event was made yet; this is the last one.
    Future(u64),
}

/// Events are numbered from 1. At most half of the room is for those that the reader has yet to take; the rest stays for
/// a reader that took events and never saw them.
#[derive(Debug)]
pub(super) struct Log {
    room: Room,
    events: VecDeque<Bytes>,
    bytes: usize,
    made: u64,
    taken: u64,
    ahead: usize,
}

impl Log {
    pub(super) const fn new(room: Room) -> Self {
        Self { room, events: VecDeque::new(), bytes: 0, made: 0, taken: 0, ahead: 0 }
    }

    /// Whether the run may make another event. One is always allowed, however large it may come out.
    pub(super) fn has_room(&self) -> bool {
        let waiting = self.made.saturating_sub(self.taken);
        let few = usize::try_from(waiting).is_ok_and(|waiting| waiting < self.room.events / 2);
        waiting == 0 || (few && self.ahead < self.room.bytes / 2)
    }

    pub(super) fn push(&mut self, event: Bytes) {
        self.made += 1;
        self.bytes += event.len();
        self.ahead += event.len();
        self.events.push_back(event);
        self.trim();
    }

    /// The event after that one, if it was made already.
    pub(super) fn take(&mut self, after: u64) -> Option<Bytes> {
        let event = self.events.get(self.place(after)?)?.clone();
        self.taken = after + 1;
        self.ahead = self.ahead.saturating_sub(event.len());
        self.trim();
        Some(event)
    }

    /// Goes back, or forth, to a reader that has seen all events up to this one.
    pub(super) fn seek(&mut self, after: u64) -> Result<(), Lost> {
        if after > self.made {
            return Err(Lost::Future(self.made));
        }
        let place = self.place(after).ok_or(Lost::UpTo(self.gone()))?;
        self.taken = after;
        self.ahead = self.events.iter().skip(place).map(Bytes::len).sum();
        Ok(())
    }

    /// The last event that was made.
    pub(super) const fn made(&self) -> u64 {
        self.made
    }

    /// Whether the reader took everything that was made.
    pub(super) const fn is_read(&self) -> bool {
        self.taken == self.made
    }

    /// The last event that is kept no longer.
    fn gone(&self) -> u64 {
        self.made.saturating_sub(self.events.len() as u64)
    }

    /// Where the event after that one stands.
    fn place(&self, after: u64) -> Option<usize> {
        usize::try_from(after.checked_sub(self.gone())?).ok()
    }

    /// Drops what was taken and is too much.
    fn trim(&mut self) {
        while self.gone() < self.taken
            && (self.events.len() > self.room.events || self.bytes > self.room.bytes)
        {
            let dropped = self.events.pop_front().map_or(0, |event| event.len());
            self.bytes = self.bytes.saturating_sub(dropped);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    enum Step {
        Make(usize),
        Read,
        ComeBack(u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            3 => (1usize..40).prop_map(Step::Make),
            3 => Just(Step::Read),
            1 => (0u64..80).prop_map(Step::ComeBack),
        ]
    }

    proptest! {
        /// Against all the events that were ever made: a reader gets the next one or is told what it lost.
        #[test]
        fn a_reader_gets_every_event_in_order_and_the_log_stays_in_its_bounds(
            steps in prop::collection::vec(step(), 1..200),
            events in 0usize..12,
            bytes in 0usize..200,
        ) {
            let mut log = Log::new(Room { events, bytes });
            let mut made: Vec<Bytes> = Vec::new();
            let mut seen = 0;
            for step in steps {
                match step {
                    Step::Make(size) if log.has_room() => {
                        let event = Bytes::from(vec![made.len() as u8; size]);
                        made.push(event.clone());
                        log.push(event);
                    }
                    Step::Make(_) => prop_assert!(seen < made.len() as u64, "it waits for its reader"),
                    Step::Read => {
                        let event = log.take(seen);
                        prop_assert_eq!(event.as_ref(), made.get(seen as usize));
                        seen += u64::from(event.is_some());
                    }
                    Step::ComeBack(after) => match log.seek(after) {
                        Ok(()) => seen = after,
                        Err(Lost::Future(last)) => {
                            prop_assert!(last < after && last == made.len() as u64);
                        }
                        Err(Lost::UpTo(gone)) => {
                            prop_assert!(after < gone && gone <= seen, "nothing is lost unread");
                        }
                    },
                }
                prop_assert_eq!(log.is_read(), seen == made.len() as u64);
                let kept: usize = log.events.iter().map(Bytes::len).sum();
                prop_assert_eq!(kept, log.bytes);
                // One event more than there is room for, of at most 39 bytes.
                prop_assert!(log.events.len() <= events.max(1) && log.bytes <= bytes + 39);
            }
        }
    }
}
