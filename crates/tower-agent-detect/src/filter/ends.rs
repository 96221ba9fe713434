//! Words by their last bytes: what has just come to its end.

use super::{
    Kind, Occurrence,
    class::{self, Window},
    numbers,
};

/// Words by their ends.
#[derive(Clone, Debug)]
pub(super) struct Ends {
    marks: Box<[Marks; class::WINDOWS]>,
    /// The words, read backwards, as a tree. Its root is the first one.
    nodes: Vec<Node>,
    branches: Vec<Branch>,
}

/// What a window stands for at the end of words, which are in [`GROUPS`] groups by their last window.
///
/// A bit for each group with a word that ends so, a bit for words of three bytes, a bit for each group with a word
/// that is about to end, and a bit for numbers.
pub(super) type Marks = u16;

const GROUPS: u16 = 6;
const THREE: Marks = 1 << GROUPS;
const WORDS: Marks = THREE | (THREE - 1);
const ABOUT: u32 = 8;
const NUMBER: Marks = 1 << 14;

#[derive(Clone, Copy, Debug, Default)]
struct Node {
    /// The word that begins here.
    word: Option<u32>,
    /// Where its branches begin, and where they end.
    first: u32,
    behind: u32,
}

#[derive(Clone, Copy, Debug)]
struct Branch {
    byte: u8,
    node: u32,
}

/// A word backwards, and its number.
type Backwards = (Vec<u8>, u32);

impl Ends {
    pub(super) fn new(words: &[String], numbers: bool) -> Self {
        let long = (0..).zip(words).filter(|(_, word)| word.len() >= 3);
        let mut backwards: Vec<Backwards> =
            long.map(|(number, word)| (word.bytes().rev().collect(), number)).collect();
        backwards.sort();
        let mut ends =
            Self { marks: Box::new([0; class::WINDOWS]), nodes: Vec::new(), branches: Vec::new() };
        ends.grow(&backwards, 0);
        for (word, _) in &backwards {
            ends.mark_word(word);
        }
        if numbers {
            numbers::each(|bytes, _| ends.mark(class::window(bytes), NUMBER));
        }
        ends
    }

    fn mark_word(&mut self, backwards: &[u8]) {
        let Some(&[third, second, first]) = backwards.first_chunk() else { return };
        let last = class::window([first, second, third]);
        let Some(&[_, third, second, first]) = backwards.first_chunk() else {
            return self.mark(last, THREE);
        };
        let group = 1 << ((last.wrapping_mul(0x9e37) >> 8) % GROUPS);
        self.mark(last, group);
        self.mark(class::window([first, second, third]), group << ABOUT);
    }

    fn mark(&mut self, window: Window, marks: Marks) {
        if let Some(old) = self.marks.get_mut(usize::from(window)) {
            *old |= marks;
        }
    }

    /// Enters words that agree in their last `depth` bytes, and says where.
    fn grow(&mut self, words: &[Backwards], depth: usize) -> u32 {
        let here = self.nodes.len();
        self.nodes.push(Node::default());
        let (word, longer) = match words {
            [(bytes, number), longer @ ..] if bytes.len() == depth => (Some(*number), longer),
            longer => (None, longer),
        };
        let mut own = Vec::new();
        for same in longer.chunk_by(|one, other| one.0.get(depth) == other.0.get(depth)) {
            if let Some(&byte) = same.first().and_then(|(bytes, _)| bytes.get(depth)) {
                own.push(Branch { byte, node: self.grow(same, depth + 1) });
            }
        }
        let first = self.branches.len() as u32;
        self.branches.append(&mut own);
        if let Some(node) = self.nodes.get_mut(here) {
            *node = Node { word, first, behind: self.branches.len() as u32 };
        }
        here as u32
    }

    /// What a window stands for.
    #[inline]
    pub(super) fn marks(&self, window: Window) -> Marks {
        self.marks.get(usize::from(window) & (class::WINDOWS - 1)).copied().unwrap_or(0)
    }

    /// Calls `each` with the words that end with a text.
    pub(super) fn each(&self, text: &[u8], mut each: impl FnMut(Occurrence)) {
        let Some(mut node) = self.nodes.first() else { return };
        for (start, byte) in text.iter().enumerate().rev() {
            let Some(next) = self.next(*node, byte.to_ascii_lowercase()) else { return };
            node = next;
            if let Some(number) = node.word {
                each(Occurrence { kind: Kind::Word(number), start, end: text.len() });
            }
        }
    }

    #[inline]
    fn next(&self, node: Node, byte: u8) -> Option<&Node> {
        let branches = self.branches.get(node.first as usize..node.behind as usize)?;
        let branch = branches.iter().find(|branch| branch.byte == byte)?;
        self.nodes.get(branch.node as usize)
    }
}

/// What the marks of a window and those of the one before it say of the place.
#[inline]
pub(super) const fn meet(before: Marks, marks: Marks) -> Marks {
    marks & (before >> ABOUT | THREE | NUMBER)
}

/// Whether a word may end.
pub(super) const fn word(met: Marks) -> bool {
    met & WORDS != 0
}

/// Whether a number may begin two bytes before.
pub(super) const fn number(met: Marks) -> bool {
    met & NUMBER != 0
}
