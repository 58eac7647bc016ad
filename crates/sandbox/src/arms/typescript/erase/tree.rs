//! The syntax tree of a text as the compiler's API sends it: a flat list of nodes in the order of the
//! text, each with its place and its parent.
//!
//! Only what erasing types needs is read. The format has a version, and the numbers of kinds belong to
//! a release: [`super::understood`] says whether a compiler's are these.
//!
//! Always true: a parent stands before its children, so that whatever walks the list meets it first.

/// The version of the format that is read.
const VERSION: u8 = 5;

/// Where the header says that the nodes begin.
const NODES: usize = 40;

/// Bytes of a node: seven numbers.
const NODE: usize = 28;

/// The kind of a list, which stands between a node and what there is several of.
pub(super) const LIST: u32 = u32::MAX;

/// A node. Places count UTF-16 units; a node begins where the token before it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) kind: u32,
    pub(super) pos: u32,
    pub(super) end: u32,
    /// The next of the same parent; 0 where there is none.
    next: u32,
    pub(super) parent: u32,
    /// Which properties of the node its children are (the lowest eight bits), or how many a list has.
    pub(super) data: u32,
    pub(super) flags: u32,
    /// Which property of its parent it is; its number, in a list.
    pub(super) role: u32,
}

/// The nodes of a text. The first stands for none, the second is the text.
#[derive(Debug)]
pub(super) struct Tree(Vec<Node>);

impl Tree {
    /// Reads a tree; `None` where it is none of this version.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        // The version is the highest byte of the first number.
        if *bytes.get(3)? != VERSION {
            return None;
        }
        let nodes = bytes.get(number(bytes, NODES)? as usize..)?;
        let mut read: Vec<Node> = Vec::with_capacity(nodes.len() / NODE);
        let mut met = vec![0_u32; nodes.len() / NODE];
        for (at, node) in nodes.chunks(NODE).enumerate() {
            let field = |index: usize| number(node, 4 * index);
            let mut node = Node {
                kind: field(0)?,
                pos: field(1)?,
                end: field(2)?,
                next: field(3)?,
                parent: field(4)?,
                data: field(5)?,
                flags: field(6)?,
                role: 0,
            };
            if at > 1 {
                let parent = read.get(node.parent as usize)?;
                let nth = met.get_mut(node.parent as usize)?;
                node.role = match parent.kind {
                    LIST => *nth,
                    _ => property(parent.data, *nth),
                };
                *nth += 1;
            }
            // A chain of siblings leads on, or it would have no end.
            if node.end < node.pos || (node.next != 0 && node.next as usize <= at) {
                return None;
            }
            read.push(node);
        }
        (read.len() > 1).then_some(Self(read))
    }

    /// How many there are, with the one that stands for none.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// A node.
    pub(super) fn node(&self, at: usize) -> Node {
        self.0[at]
    }

    /// The parent of a node.
    pub(super) fn parent(&self, at: usize) -> usize {
        self.0[at].parent as usize
    }

    /// The children of a node, in order.
    pub(super) fn children(&self, at: usize) -> impl Iterator<Item = usize> {
        let first = Some(at + 1).filter(|child| {
            let child = self.0.get(*child);
            child.is_some_and(|child| child.parent as usize == at)
        });
        std::iter::successors(first, |child| {
            let next = self.0[*child].next as usize;
            (next != 0 && next < self.0.len()).then_some(next)
        })
    }

    /// The child that is a property of a node.
    pub(super) fn child(&self, at: usize, role: u32) -> Option<usize> {
        self.children(at).find(|child| self.0[*child].role == role)
    }
}

/// Which property the `nth` child of a node is, by the bits that say which there are.
fn property(data: u32, nth: u32) -> u32 {
    let mut there = data & 0xff;
    for _ in 0..nth {
        there &= there.wrapping_sub(1);
    }
    // A node of one possible child may say nothing of it.
    if there == 0 {
        0
    } else {
        there.trailing_zeros()
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + 4)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A tree of these nodes: kind, position, end, next, parent, data.
    fn encoded(version: u8, nodes: &[[u32; 6]]) -> Vec<u8> {
        let mut bytes = vec![0, 0, 0, version];
        bytes.resize(NODES, 0);
        bytes.extend(44_u32.to_le_bytes());
        for node in [[0; 6]].iter().chain(nodes) {
            bytes.extend(node.iter().flat_map(|number| number.to_le_bytes()));
            bytes.extend(0_u32.to_le_bytes());
        }
        bytes
    }

    #[test]
    fn children_are_found_by_what_they_are_of_their_parent() {
        let nodes = [
            [307, 0, 9, 0, 0, 0b1_0100],
            [79, 0, 1, 3, 1, 0],
            [LIST, 2, 9, 0, 1, 2],
            [8, 2, 4, 5, 3, 0],
            [8, 5, 9, 0, 3, 0],
        ];
        let tree = Tree::read(&encoded(VERSION, &nodes)).unwrap();
        assert_eq!(tree.child(1, 2), Some(2));
        assert_eq!(tree.child(1, 4), Some(3));
        assert_eq!(tree.child(1, 0), None);
        assert_eq!(tree.children(3).collect::<Vec<_>>(), [4, 5]);
        assert_eq!((tree.node(5).role, tree.parent(5)), (1, 3));
        assert!(Tree::read(&encoded(VERSION + 1, &nodes)).is_none());
        let loops = [[307, 0, 9, 0, 0, 1], [79, 0, 1, 2, 1, 0]];
        assert!(Tree::read(&encoded(VERSION, &loops)).is_none());
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_tree_that_can_be_walked_or_none(
            nodes in prop::collection::vec(any::<[u32; 6]>(), 0..8),
            small in prop::collection::vec(prop::array::uniform6(0..8_u32), 0..8),
            cut in 0..300_usize,
        ) {
            for nodes in [nodes, small] {
                let mut bytes = encoded(VERSION, &nodes);
                bytes.truncate(cut.max(20));
                if let Some(tree) = Tree::read(&bytes) {
                    for at in 0..tree.len() {
                        prop_assert!(tree.children(at).count() <= tree.len());
                    }
                }
            }
        }
    }
}
