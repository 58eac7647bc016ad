//! Imports of what is no value: the compiler drops what no code mentions, and so it is here.

use std::collections::BTreeMap;

use super::tree::Node;
use super::{Eraser, SAYS, TYPE_ONLY, kind};

impl Eraser<'_> {
    /// Drops what is imported and stands for no value, as the compiler does: what no code mentions.
    pub(super) fn imports(&mut self) -> Option<()> {
        let mut used: BTreeMap<&str, bool> = BTreeMap::new();
        let source = self.text.source;
        for at in 1..self.tree.len() {
            let node = self.tree.node(at);
            let parent = self.tree.node(self.tree.parent(at));
            if node.kind == kind::IDENTIFIER && binds(parent) && !self.gone[at] {
                let name = &source[self.text.start(node)..self.text.byte(node.end)];
                // Which of two imports of one name is kept, the compiler knows.
                if used.insert(name, false).is_some() {
                    return None;
                }
            }
        }
        for at in 1..self.tree.len() {
            let node = self.tree.node(at);
            if node.kind != kind::IDENTIFIER || self.gone[at] {
                continue;
            }
            let name = &source[self.text.start(node)..self.text.byte(node.end)];
            if name.contains('\\') {
                return None;
            }
            let Some(used) = used.get_mut(name) else {
                continue;
            };
            match mention(self.tree.node(self.tree.parent(at)).kind, node.role) {
                Mention::Value => *used = true,
                // Whether it is this one that is meant further down, the compiler knows.
                Mention::Declares => return None,
                Mention::Name => {}
            }
        }
        for at in 1..self.tree.len() {
            if self.tree.node(at).kind == kind::IMPORT_DECLARATION && !self.gone[at] {
                self.import(at, &used)?;
            }
        }
        Some(())
    }

    fn import(&mut self, at: usize, used: &BTreeMap<&str, bool>) -> Option<()> {
        let Some(clause) = self.tree.child(at, 1) else {
            return Some(());
        };
        match self.tree.node(clause).data & SAYS {
            0 => {}
            TYPE_ONLY => return self.drop_whole(at),
            // Another word before the names.
            _ => return None,
        }
        let kept = |this: &Self, name: usize| {
            let name = this.text.token(this.tree.node(name));
            used.get(name).copied().unwrap_or_default()
        };
        let whole = self.tree.child(clause, 0);
        let bindings = self.tree.child(clause, 1);
        let mut some = false;
        let mut dropped = Vec::new();
        if let Some(bindings) = bindings {
            match self.tree.node(bindings).kind {
                kind::NAMESPACE_IMPORT => {
                    some = kept(self, self.tree.child(bindings, 0)?);
                }
                kind::NAMED_IMPORTS => {
                    let list = self.tree.child(bindings, 0)?;
                    let names: Vec<usize> = self.tree.children(list).collect();
                    let end = self.tree.node(list).end;
                    for (index, name) in names.iter().enumerate() {
                        let one = self.tree.node(*name);
                        let local = self.tree.child(*name, 1)?;
                        if one.data & SAYS == 0 && kept(self, local) {
                            some = true;
                            continue;
                        }
                        let next = names.get(index + 1);
                        let next = next.map_or(end, |next| self.tree.node(*next).pos);
                        dropped.push((one.pos, next));
                    }
                }
                _ => return None,
            }
        }
        let default = whole.is_some_and(|name| kept(self, name));
        if !default && !some {
            return self.drop_whole(at);
        }
        if let (Some(whole), Some(bindings)) = (whole, bindings) {
            let (whole, bindings) = (self.tree.node(whole), self.tree.node(bindings));
            if !default {
                self.blank(self.text.start(whole), self.text.start(bindings));
            } else if !some {
                self.blank(self.text.byte(whole.end), self.text.byte(bindings.end));
            }
        }
        for (start, end) in dropped {
            self.blank(self.text.byte(start), self.text.byte(end));
        }
        Some(())
    }
}

/// What a name does where it stands.
enum Mention {
    Value,
    /// It is another's from there on.
    Declares,
    /// It is a property's, a label's or an import's.
    Name,
}

/// Whether a name in a node is what an import binds.
fn binds(parent: Node) -> bool {
    let imports = [
        kind::IMPORT_CLAUSE,
        kind::NAMESPACE_IMPORT,
        kind::IMPORT_SPECIFIER,
    ];
    imports.contains(&parent.kind)
}

fn mention(parent: u32, role: u32) -> Mention {
    match (parent, role) {
        (kind::VARIABLE_DECLARATION, 0)
        | (
            kind::PARAMETER
            | kind::BINDING_ELEMENT
            | kind::FUNCTION_DECLARATION
            | kind::FUNCTION_EXPRESSION,
            2,
        )
        | (kind::CLASS_DECLARATION | kind::CLASS_EXPRESSION, 1) => Mention::Declares,
        (kind::PROPERTY_ACCESS | kind::METHOD_DECLARATION, 2)
        | (
            kind::PROPERTY_ASSIGNMENT
            | kind::PROPERTY_DECLARATION
            | kind::GET_ACCESSOR
            | kind::SET_ACCESSOR
            | kind::BINDING_ELEMENT,
            1,
        )
        | (
            kind::LABELED
            | kind::BREAK
            | kind::CONTINUE
            | kind::META_PROPERTY
            | kind::IMPORT_ATTRIBUTE
            | kind::NAMESPACE_EXPORT,
            0,
        )
        | (kind::IMPORT_CLAUSE | kind::NAMESPACE_IMPORT | kind::IMPORT_SPECIFIER, _) => {
            Mention::Name
        }
        _ => Mention::Value,
    }
}
