//! Words by their last bytes.

/// Words, read backwards.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    /// The root is the first one.
    nodes: Vec<Node>,
    branches: Vec<Branch>,
    /// The node behind the root for each byte, if there is one: the root has most of the branches, and most texts end there.
    last: Vec<Option<u32>>,
}

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

impl Tree {
    /// Words in lower case, each one once, and their numbers.
    pub(crate) fn new<'a>(words: impl Iterator<Item = (&'a [u8], u32)>) -> Self {
        let mut backwards: Vec<Backwards> =
            words.map(|(word, number)| (word.iter().rev().copied().collect(), number)).collect();
        backwards.sort();
        let mut tree = Self::default();
        tree.grow(&backwards, 0);
        let root = tree.nodes.first().copied().unwrap_or_default();
        let of = |byte| tree.branch(root, byte).map(|branch| branch.node);
        tree.last = (0..=u8::MAX).map(|byte| of(byte.to_ascii_lowercase())).collect();
        tree
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

    /// Calls `each` with the words that end with a text, in any case, and with where they begin; the shortest one first.
    #[inline]
    pub(crate) fn each(&self, text: &[u8], mut each: impl FnMut(u32, usize)) {
        let Some((last, before)) = text.split_last() else { return };
        let Some(Some(mut node)) = self.last.get(usize::from(*last)).copied() else { return };
        let mut before = before.iter().enumerate().rev();
        let mut start = text.len() - 1;
        while let Some(here) = self.nodes.get(node as usize) {
            if let Some(number) = here.word {
                each(number, start);
            }
            let Some((place, byte)) = before.next() else { return };
            let Some(next) = self.branch(*here, byte.to_ascii_lowercase()) else { return };
            (start, node) = (place, next.node);
        }
    }

    #[inline]
    fn branch(&self, node: Node, byte: u8) -> Option<&Branch> {
        let branches = self.branches.get(node.first as usize..node.behind as usize)?;
        branches.iter().find(|branch| branch.byte == byte)
    }
}
