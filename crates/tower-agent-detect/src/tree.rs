//! Words by their last bytes.

/// Words, read backwards.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tree {
    /// The root is the first one.
    nodes: Vec<Node>,
    branches: Vec<Branch>,
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
    pub(crate) fn each(&self, text: &[u8], mut each: impl FnMut(u32, usize)) {
        let Some(mut node) = self.nodes.first() else { return };
        for (start, byte) in text.iter().enumerate().rev() {
            let Some(next) = self.next(*node, byte.to_ascii_lowercase()) else { return };
            node = next;
            if let Some(number) = node.word {
                each(number, start);
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
