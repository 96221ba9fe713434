//! Words by their last bytes: what has just come to its end.

use super::{
    Kind, NOTHING, Occurrence, WORD,
    class::{self, Window},
    numbers,
};

/// Words, read backwards, as a tree.
#[derive(Clone, Debug)]
pub(super) struct Ends {
    /// What each window stands for. The upper half is never touched; it makes any window a valid index.
    kinds: Box<[u8; 1 << 16]>,
    nodes: Vec<Node>,
    /// The branches of each node in a row, ordered by their bytes.
    branches: Vec<(u8, u32)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Node {
    /// The word that begins here.
    word: Option<u32>,
    first: u32,
    behind: u32,
}

impl Ends {
    pub(super) fn new(words: &[String], numbers: bool) -> Self {
        let mut kinds: Box<[u8; 1 << 16]> = Box::new([NOTHING; 1 << 16]);
        if numbers {
            numbers::enter(kinds.as_mut_slice());
        }
        for word in words {
            let kinds = word
                .as_bytes()
                .last_chunk()
                .and_then(|end| kinds.get_mut(usize::from(class::window(*end))));
            if let Some(kinds) = kinds {
                *kinds |= WORD;
            }
        }
        let mut backwards: Vec<(Vec<u8>, u32)> = (0..)
            .zip(words)
            .filter(|(_, word)| word.len() >= 3)
            .map(|(number, word)| (word.bytes().rev().collect(), number))
            .collect();
        backwards.sort();
        let mut ends = Self { kinds, nodes: Vec::new(), branches: Vec::new() };
        ends.grow(&backwards, 0);
        ends
    }

    /// Enters words that agree in their last `depth` bytes, and says where.
    fn grow(&mut self, words: &[(Vec<u8>, u32)], depth: usize) -> u32 {
        let node = self.nodes.len();
        self.nodes.push(Node::default());
        let (word, longer) = match words {
            [(bytes, number), longer @ ..] if bytes.len() == depth => (Some(*number), longer),
            longer => (None, longer),
        };
        let mut branches = Vec::new();
        for same in longer.chunk_by(|one, other| one.0.get(depth) == other.0.get(depth)) {
            if let Some(&byte) = same.first().and_then(|(bytes, _)| bytes.get(depth)) {
                branches.push((byte, self.grow(same, depth + 1)));
            }
        }
        let first = self.branches.len() as u32;
        self.branches.extend(branches);
        if let Some(node) = self.nodes.get_mut(node) {
            *node = Node { word, first, behind: self.branches.len() as u32 };
        }
        node as u32
    }

    /// What a window stands for.
    #[inline]
    pub(super) fn kinds(&self, window: Window) -> u8 {
        self.kinds.get(usize::from(window)).copied().unwrap_or(NOTHING)
    }

    /// Calls `each` with the words of which the last three bytes stand at a place.
    pub(super) fn each(&self, text: &[u8], at: usize, mut each: impl FnMut(Occurrence)) {
        let end = at + 3;
        let mut node = self.nodes.first();
        for (start, byte) in text.get(..end).unwrap_or(&[]).iter().enumerate().rev() {
            node = node.and_then(|node| self.branch(*node, byte.to_ascii_lowercase()));
            match node {
                Some(Node { word: Some(number), .. }) => {
                    each(Occurrence { kind: Kind::Word(*number), start, end })
                }
                Some(_) => {}
                None => return,
            }
        }
    }

    fn branch(&self, node: Node, byte: u8) -> Option<&Node> {
        let branches = self.branches.get(node.first as usize..node.behind as usize)?;
        let (_, next) = branches.iter().find(|(other, _)| *other == byte)?;
        self.nodes.get(*next as usize)
    }
}
