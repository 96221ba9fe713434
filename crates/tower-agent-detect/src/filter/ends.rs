//! Words by their last bytes: what has just come to its end.

use super::{
    Kind, Occurrence,
    class::Window,
    table::{Table, first_window},
};

/// Words, read backwards, as a tree.
#[derive(Clone, Debug)]
pub(super) struct Ends {
    /// Where the last three bytes of words lead to.
    pub(super) table: Table<Branch>,
    nodes: Vec<Node>,
    branches: Vec<Branch>,
}

/// Bytes, and the node they lead to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Branch {
    bytes: [u8; 3],
    node: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Node {
    /// The word that begins here.
    word: Option<u32>,
    /// Where its branches begin, and where they end.
    first: u32,
    behind: u32,
}

/// A word backwards, and its number.
type Backwards = (Vec<u8>, u32);

impl Ends {
    pub(super) fn new(words: &[String], numbers: bool) -> Self {
        let long = (0..).zip(words).filter(|(_, word)| word.len() >= 3);
        let mut words: Vec<Backwards> =
            long.map(|(number, word)| (word.bytes().rev().collect(), number)).collect();
        words.sort();
        let (mut nodes, mut branches, mut entries) = (Vec::new(), Vec::new(), Vec::new());
        for same in words.chunk_by(|one, other| one.0.get(..3) == other.0.get(..3)) {
            let Some(&[third, second, first]) =
                same.first().and_then(|(word, _)| word.first_chunk())
            else {
                continue;
            };
            let node = grow(&mut nodes, &mut branches, same, 3);
            let bytes = [first, second, third];
            entries.extend(first_window(&bytes).map(|window| (window, Branch { bytes, node })));
        }
        Self { table: Table::new(entries, numbers), nodes, branches }
    }

    /// Calls `each` with the words of which the last three bytes stand at a place.
    #[inline]
    pub(super) fn each(
        &self,
        text: &[u8],
        window: Window,
        bytes: [u8; 3],
        at: usize,
        mut each: impl FnMut(Occurrence),
    ) {
        let Some(mut node) = self.follow(self.table.entries(window), bytes) else { return };
        let before = text.get(..at).unwrap_or(&[]);
        let starts = (0..=at).rev();
        let bytes = before.iter().rev().map(Some).chain([None]);
        for (start, byte) in starts.zip(bytes) {
            if let Some(number) = node.word {
                each(Occurrence { kind: Kind::Word(number), start, end: at + 3 });
            }
            let branches =
                self.branches.get(node.first as usize..node.behind as usize).unwrap_or(&[]);
            let next = byte.and_then(|byte| self.follow(branches, [*byte, 0, 0]));
            let Some(next) = next else { return };
            node = next;
        }
    }

    #[inline]
    fn follow(&self, branches: &[Branch], bytes: [u8; 3]) -> Option<&Node> {
        let bytes = bytes.map(|byte| byte.to_ascii_lowercase());
        let branch = branches.iter().find(|branch| branch.bytes == bytes)?;
        self.nodes.get(branch.node as usize)
    }
}

/// Enters words that agree in their last `depth` bytes, and says where.
fn grow(
    nodes: &mut Vec<Node>,
    branches: &mut Vec<Branch>,
    words: &[Backwards],
    depth: usize,
) -> u32 {
    let here = nodes.len();
    nodes.push(Node::default());
    let (word, longer) = match words {
        [(bytes, number), longer @ ..] if bytes.len() == depth => (Some(*number), longer),
        longer => (None, longer),
    };
    let mut own = Vec::new();
    for same in longer.chunk_by(|one, other| one.0.get(depth) == other.0.get(depth)) {
        if let Some(&byte) = same.first().and_then(|(bytes, _)| bytes.get(depth)) {
            own.push(Branch { bytes: [byte, 0, 0], node: grow(nodes, branches, same, depth + 1) });
        }
    }
    let first = branches.len() as u32;
    branches.append(&mut own);
    if let Some(node) = nodes.get_mut(here) {
        *node = Node { word, first, behind: branches.len() as u32 };
    }
    here as u32
}
