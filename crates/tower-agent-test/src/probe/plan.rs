use tower_agent_core::ErrorKind;

/// What a [`Probe`](crate::Probe) does with one call.
///
/// ```
/// use tower_agent_core::ErrorKind;
/// use tower_agent_test::Plan;
///
/// Plan::ok().pending(2);
/// Plan::stream(3).cut_off();
/// Plan::error(ErrorKind::Timeout);
/// assert_eq!(Plan::from_seed(7), Plan::from_seed(7));
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
#[must_use]
pub struct Plan {
    pub(super) pending: u32,
    pub(super) answer: Answer,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Answer {
    Whole,
    Stream(StreamPlan),
    /// An output that says that it failed.
    Failed,
    Error(ErrorKind),
    Panic,
    PanicInCall,
    Hang,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct StreamPlan {
    /// How many pieces of text come before the end.
    pub(super) pieces: u32,
    /// How often each step is pending first.
    pub(super) pending: u32,
    pub(super) end: StreamEnd,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum StreamEnd {
    Finish,
    CutOff,
    Error(ErrorKind),
    Panic,
    Hang,
}

impl Plan {
    const fn new(answer: Answer) -> Self {
        Self { pending: 0, answer }
    }

    /// Answers whole and well.
    pub const fn ok() -> Self {
        Self::new(Answer::Whole)
    }

    /// Answers with an output that says that the call failed.
    pub const fn failed() -> Self {
        Self::new(Answer::Failed)
    }

    /// Answers with an error.
    pub const fn error(kind: ErrorKind) -> Self {
        Self::new(Answer::Error(kind))
    }

    /// Panics when the answer is awaited.
    pub const fn panic() -> Self {
        Self::new(Answer::Panic)
    }

    /// Panics already in `call`.
    pub const fn panic_in_call() -> Self {
        Self::new(Answer::PanicInCall)
    }

    /// Never answers.
    pub const fn hang() -> Self {
        Self::new(Answer::Hang)
    }

    /// Answers in that many pieces of text and an end. A tool, which does not stream, answers whole.
    pub const fn stream(pieces: u32) -> Self {
        Self::new(Answer::Stream(StreamPlan { pieces, pending: 0, end: StreamEnd::Finish }))
    }

    const fn end(mut self, end: StreamEnd) -> Self {
        if let Answer::Stream(stream) = &mut self.answer {
            stream.end = end;
        }
        self
    }

    /// Ends the stream without saying that it is complete.
    pub const fn cut_off(self) -> Self {
        self.end(StreamEnd::CutOff)
    }

    /// Ends the stream in an error.
    pub const fn breaks(self, kind: ErrorKind) -> Self {
        self.end(StreamEnd::Error(kind))
    }

    /// Ends the stream in a panic.
    pub const fn panics(self) -> Self {
        self.end(StreamEnd::Panic)
    }

    /// Never ends the stream.
    pub const fn stalls(self) -> Self {
        self.end(StreamEnd::Hang)
    }

    /// Is pending that often before it answers, and a stream before each of its steps.
    pub const fn pending(mut self, polls: u32) -> Self {
        self.pending = polls;
        if let Answer::Stream(stream) = &mut self.answer {
            stream.pending = polls;
        }
        self
    }

    /// Whether it answers in pieces.
    #[must_use]
    pub const fn is_stream(&self) -> bool {
        matches!(self.answer, Answer::Stream(_))
    }

    /// Whether it answers in pieces and says at the end that it is complete.
    #[must_use]
    pub const fn completes(&self) -> bool {
        match &self.answer {
            Answer::Whole | Answer::Failed => true,
            Answer::Stream(stream) => matches!(stream.end, StreamEnd::Finish),
            _ => false,
        }
    }

    /// A plan chosen by a number: every kind of plan comes up, good ones more often.
    pub fn from_seed(seed: u64) -> Self {
        let mut dice = Dice(seed);
        let plan = match dice.roll(12) {
            0 => Self::failed(),
            1 => Self::error(dice.kind()),
            2 => Self::panic(),
            3 => Self::panic_in_call(),
            4 => Self::hang(),
            5 => Self::stream(dice.roll(4)).cut_off(),
            6 => Self::stream(dice.roll(4)).breaks(dice.kind()),
            7 => Self::stream(dice.roll(4)).panics(),
            8 => Self::stream(dice.roll(4)).stalls(),
            9 => Self::stream(dice.roll(4)),
            _ => Self::ok(),
        };
        plan.pending(dice.roll(4))
    }
}

/// SplitMix64: good enough to choose stories, and the same everywhere.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let high = u32::try_from((mixed ^ (mixed >> 31)) >> 32).unwrap_or_default();
        high.checked_rem(sides).unwrap_or_default()
    }

    fn kind(&mut self) -> ErrorKind {
        match self.roll(5) {
            0 => ErrorKind::Timeout,
            1 => ErrorKind::Cancelled,
            2 => ErrorKind::Upstream { status: Some(503) },
            3 => ErrorKind::RateLimited { retry_after: None },
            _ => ErrorKind::Tool,
        }
    }
}
