//! A program without its types: JavaScript that stands where its author wrote it.
//!
//! The compiler says where types are, by the tree it parsed the program into; here they are blanked
//! out. What is left keeps its lines and columns, so places of a runtime are the author's own and no
//! map is needed. Emission by the compiler itself costs a process, five times what all else of a
//! preparation does.
//!
//! Not every text can be had so: an enum, a namespace, a parameter that is a property, a decorator
//! stand for code of their own, and here and there a text would mean something else once a type is
//! gone. Then there is no answer, and the compiler emits it.
//!
//! Always true: nothing is answered that the compiler's own emission would run differently; nothing
//! but blanks, `;` and a moved `)` is written; every line break stays.

use std::collections::BTreeMap;

use super::tree::{LIST, Node, Tree};

/// The numbers of kinds of nodes in the release of the compiler that gg is built with.
mod kind {
    use std::ops::RangeInclusive;

    pub(super) const IDENTIFIER: u32 = 79;
    pub(super) const PRIVATE: u32 = 122;
    pub(super) const PROTECTED: u32 = 123;
    pub(super) const PUBLIC: u32 = 124;
    pub(super) const ABSTRACT: u32 = 127;
    pub(super) const ACCESSOR: u32 = 128;
    pub(super) const DECLARE: u32 = 137;
    pub(super) const READONLY: u32 = 148;
    pub(super) const OVERRIDE: u32 = 164;
    pub(super) const PARAMETER: u32 = 170;
    pub(super) const DECORATOR: u32 = 171;
    pub(super) const PROPERTY_DECLARATION: u32 = 173;
    pub(super) const METHOD_DECLARATION: u32 = 175;
    pub(super) const CONSTRUCTOR: u32 = 177;
    pub(super) const GET_ACCESSOR: u32 = 178;
    pub(super) const SET_ACCESSOR: u32 = 179;
    pub(super) const INDEX_SIGNATURE: u32 = 182;
    pub(super) const BINDING_ELEMENT: u32 = 209;
    pub(super) const PROPERTY_ACCESS: u32 = 212;
    pub(super) const CALL: u32 = 214;
    pub(super) const NEW: u32 = 215;
    pub(super) const TAGGED_TEMPLATE: u32 = 216;
    pub(super) const TYPE_ASSERTION: u32 = 217;
    pub(super) const FUNCTION_EXPRESSION: u32 = 219;
    pub(super) const ARROW_FUNCTION: u32 = 220;
    /// `delete`, `typeof`, `void`, `await`, and operators before or behind one operand.
    pub(super) const UNARY: RangeInclusive<u32> = 221..=226;
    pub(super) const BINARY: u32 = 227;
    pub(super) const CLASS_EXPRESSION: u32 = 232;
    pub(super) const EXPRESSION_WITH_TYPE_ARGUMENTS: u32 = 234;
    pub(super) const AS: u32 = 235;
    pub(super) const NON_NULL: u32 = 236;
    pub(super) const META_PROPERTY: u32 = 237;
    pub(super) const SATISFIES: u32 = 239;
    pub(super) const VARIABLE_STATEMENT: u32 = 244;
    pub(super) const CONTINUE: u32 = 252;
    pub(super) const BREAK: u32 = 253;
    pub(super) const LABELED: u32 = 257;
    pub(super) const VARIABLE_DECLARATION: u32 = 261;
    pub(super) const VARIABLE_DECLARATION_LIST: u32 = 262;
    pub(super) const FUNCTION_DECLARATION: u32 = 263;
    pub(super) const CLASS_DECLARATION: u32 = 264;
    pub(super) const INTERFACE: u32 = 265;
    pub(super) const TYPE_ALIAS: u32 = 266;
    pub(super) const ENUM: u32 = 267;
    pub(super) const MODULE: u32 = 268;
    pub(super) const NAMESPACE_EXPORT_DECLARATION: u32 = 271;
    pub(super) const IMPORT_EQUALS: u32 = 272;
    pub(super) const IMPORT_DECLARATION: u32 = 273;
    pub(super) const IMPORT_CLAUSE: u32 = 274;
    pub(super) const NAMESPACE_IMPORT: u32 = 275;
    pub(super) const NAMED_IMPORTS: u32 = 276;
    pub(super) const IMPORT_SPECIFIER: u32 = 277;
    pub(super) const EXPORT_ASSIGNMENT: u32 = 278;
    pub(super) const EXPORT_DECLARATION: u32 = 279;
    pub(super) const NAMED_EXPORTS: u32 = 280;
    pub(super) const NAMESPACE_EXPORT: u32 = 281;
    pub(super) const JSX: RangeInclusive<u32> = 285..=296;
    pub(super) const HERITAGE_CLAUSE: u32 = 299;
    pub(super) const IMPORT_ATTRIBUTE: u32 = 302;
    pub(super) const PROPERTY_ASSIGNMENT: u32 = 303;
    pub(super) const SHORTHAND_PROPERTY_ASSIGNMENT: u32 = 304;
    pub(super) const SOURCE_FILE: u32 = 307;
    pub(super) const JSDOC: RangeInclusive<u32> = 308..=343;
    /// The last kind that a parser makes.
    pub(super) const LAST: u32 = 350;
    /// Operators that bind tighter than `as`: sums, shifts and products.
    pub(super) const TIGHT: [u32; 9] = [39, 40, 41, 42, 43, 44, 47, 48, 49];
    /// `**`, whose left side is no operand with an operator before it.
    pub(super) const POWER: u32 = 42;
}

/// The flag of `using`, among those of a list of declarations.
const USING: u32 = 4;

/// Where a node says that it is about types alone.
const TYPE_ONLY: u32 = 1 << 24;

/// What a node can say there.
const SAYS: u32 = 0x3f << 24;

/// A text with one of each thing that is erased, and what it is then.
const SAMPLE: (&str, &str) = (include_str!("sample.ts"), include_str!("sample.js"));

/// The text a compiler is tried on.
pub(super) const TRIED_ON: &str = SAMPLE.0;

/// Whether the tree that a compiler made of [`TRIED_ON`] is understood: another release may count
/// kinds otherwise.
pub(super) fn understood(tree: &[u8]) -> bool {
    erased(tree, SAMPLE.0).as_deref() == Some(SAMPLE.1)
}

/// A program without its types, by the tree that the compiler made of it; `None` where only the
/// compiler can say what it is.
pub(super) fn erased(tree: &[u8], source: &str) -> Option<String> {
    let tree = Tree::read(tree)?;
    let mut eraser = Eraser {
        tree: &tree,
        text: Text::new(source, tree.node(1))?,
        marks: vec![KEEP; source.len()],
        gone: vec![false; tree.len()],
    };
    for at in 1..tree.len() {
        eraser.visit(at)?;
    }
    eraser.imports()?;
    Some(eraser.written())
}

/// What a byte of the text becomes: itself, a blank, or another.
const KEEP: u8 = 0;
const BLANK: u8 = b' ';

struct Eraser<'a> {
    tree: &'a Tree,
    text: Text<'a>,
    marks: Vec<u8>,
    /// Nodes that are no more.
    gone: Vec<bool>,
}

/// A text, by the places of its tree.
struct Text<'a> {
    source: &'a str,
    /// The byte at which each UTF-16 unit begins; empty where they are the same.
    bytes: Vec<usize>,
}

/// Which properties of a node that is called are what.
struct Signature {
    type_parameters: u32,
    parameters: u32,
    returns: u32,
    body: u32,
}

fn signature(kind: u32) -> Option<Signature> {
    let [type_parameters, parameters, returns, body] = match kind {
        kind::FUNCTION_DECLARATION | kind::FUNCTION_EXPRESSION => [3, 4, 5, 6],
        kind::METHOD_DECLARATION => [4, 5, 6, 7],
        kind::CONSTRUCTOR => [1, 2, 3, 4],
        kind::GET_ACCESSOR | kind::SET_ACCESSOR => [2, 3, 4, 5],
        kind::ARROW_FUNCTION => [1, 2, 3, 5],
        _ => return None,
    };
    Some(Signature {
        type_parameters,
        parameters,
        returns,
        body,
    })
}

impl Eraser<'_> {
    /// Erases what a node has of types; `None` where that cannot be done.
    fn visit(&mut self, at: usize) -> Option<()> {
        if self.gone[at] || (at > 1 && self.gone[self.tree.parent(at)]) {
            self.gone[at] = true;
            return Some(());
        }
        let node = self.tree.node(at);
        match node.kind {
            kind::DECORATOR
            | kind::ACCESSOR
            | kind::IMPORT_EQUALS
            | kind::NAMESPACE_EXPORT_DECLARATION => return None,
            kind::INTERFACE | kind::TYPE_ALIAS | kind::INDEX_SIGNATURE => self.drop_whole(at)?,
            kind::VARIABLE_STATEMENT
            | kind::FUNCTION_DECLARATION
            | kind::CLASS_DECLARATION
            | kind::ENUM
            | kind::MODULE
                if self.says(at, &[kind::DECLARE]) =>
            {
                self.drop_whole(at)?;
            }
            kind::ENUM | kind::MODULE => return None,
            kind::VARIABLE_DECLARATION_LIST if node.flags & USING != 0 => return None,
            kind::VARIABLE_DECLARATION => {
                self.token(at, 1);
                self.annotation(at, 2)?;
            }
            kind::PARAMETER => self.parameter(at)?,
            kind::PROPERTY_DECLARATION => self.property(at)?,
            kind::PROPERTY_ASSIGNMENT | kind::SHORTHAND_PROPERTY_ASSIGNMENT
                if self.tree.child(at, 2).is_some() || self.tree.child(at, 3).is_some() =>
            {
                return None;
            }
            kind::CLASS_DECLARATION | kind::CLASS_EXPRESSION => self.angles(at, 2)?,
            kind::HERITAGE_CLAUSE => {
                let start = self.text.start(node);
                if self.text.source[start..].starts_with("implements") {
                    self.blank(start, self.text.byte(node.end));
                    self.gone[at] = true;
                }
            }
            kind::PRIVATE
            | kind::PROTECTED
            | kind::PUBLIC
            | kind::READONLY
            | kind::OVERRIDE
            | kind::ABSTRACT => self.modifier(at)?,
            kind::CALL | kind::TAGGED_TEMPLATE => self.angles(at, 2)?,
            kind::NEW => self.angles(at, 1)?,
            kind::EXPRESSION_WITH_TYPE_ARGUMENTS => {
                self.angles(at, 1)?;
                self.stays_apart(node)?;
            }
            kind::AS | kind::SATISFIES => self.cast(at)?,
            kind::TYPE_ASSERTION => self.assertion(at)?,
            kind::NON_NULL => {
                let operand = self.tree.node(self.tree.child(at, 0)?);
                self.blank(self.text.byte(operand.end), self.text.byte(node.end));
            }
            // Only JavaScript has declarations of that kind.
            kind::BINARY if node.data & 0b101 != 0 => return None,
            kind::EXPORT_DECLARATION => self.export(at)?,
            kind::EXPORT_ASSIGNMENT => {
                let exported = self.tree.node(self.tree.child(at, 2)?);
                // What the name stands for may be a type.
                if node.data & SAYS != 0 || exported.kind == kind::IDENTIFIER {
                    return None;
                }
            }
            _ if kind::JSDOC.contains(&node.kind) => self.gone[at] = true,
            _ if kind::JSX.contains(&node.kind) => return None,
            LIST => {}
            other if other > kind::LAST => return None,
            _ => {}
        }
        if !self.gone[at]
            && let Some(signature) = signature(node.kind)
        {
            self.called(at, &signature)?;
        }
        Some(())
    }

    /// What is called: without a body it is a declaration of one that has.
    fn called(&mut self, at: usize, signature: &Signature) -> Option<()> {
        let arrow = self.tree.node(at).kind == kind::ARROW_FUNCTION;
        if self.tree.child(at, signature.body).is_none() {
            return self.drop_whole(at);
        }
        if self.tree.node(at).kind == kind::METHOD_DECLARATION {
            self.token(at, 3);
        }
        self.angles(at, signature.type_parameters)?;
        let Some(returns) = self.tree.child(at, signature.returns) else {
            return Some(());
        };
        self.annotation(at, signature.returns)?;
        let (start, end) = self.text.range(self.tree.node(returns));
        if !arrow || !self.text.breaks(start, end) {
            return Some(());
        }
        // No line may break between the parameters and the arrow: their bracket closes behind it.
        let parameters = self.tree.node(self.tree.child(at, signature.parameters)?);
        let closes = self.text.skip(self.text.byte(parameters.end));
        self.put(closes, b')', BLANK)?;
        self.marks[end.checked_sub(1)?] = b')';
        self.text.source[..end].ends_with(|last: char| last.is_ascii()).then_some(())
    }

    fn parameter(&mut self, at: usize) -> Option<()> {
        let node = self.tree.node(at);
        let name = self.tree.node(self.tree.child(at, 2)?);
        if self.text.token(name) != "this" {
            self.token(at, 3);
            return self.annotation(at, 4);
        }
        let list = self.tree.node(self.tree.parent(at));
        let next = self.tree.children(self.tree.parent(at)).nth(1);
        let end = next.map_or(list.end, |next| self.tree.node(next).pos);
        self.blank(self.text.byte(node.pos), self.text.byte(end));
        self.gone[at] = true;
        Some(())
    }

    fn property(&mut self, at: usize) -> Option<()> {
        if self.says(at, &[kind::DECLARE, kind::ABSTRACT]) {
            return self.drop_whole(at);
        }
        let name = self.tree.node(self.tree.child(at, 1)?);
        // Without a type behind it, each would be a word before whatever comes next.
        if ["get", "set", "static", "async", "accessor"].contains(&self.text.token(name)) {
            return None;
        }
        self.token(at, 2);
        self.annotation(at, 3)
    }

    /// A word before a member, a class or a parameter that says something of types.
    fn modifier(&mut self, at: usize) -> Option<()> {
        let owner = self.tree.node(self.tree.parent(self.tree.parent(at)));
        let (start, end) = (
            self.text.start(self.tree.node(at)),
            self.text.byte(self.tree.node(at).end),
        );
        match owner.kind {
            kind::CLASS_DECLARATION | kind::CLASS_EXPRESSION => {}
            kind::PROPERTY_DECLARATION
            | kind::METHOD_DECLARATION
            | kind::CONSTRUCTOR
            | kind::GET_ACCESSOR
            | kind::SET_ACCESSOR => {
                self.blank(start, end);
                // The member before it may have ended with this word, and no sign of its own.
                if self.tree.node(at).role == 0 {
                    self.marks[start] = b';';
                }
                return Some(());
            }
            // A parameter that is a property too is code of its own.
            _ => return None,
        }
        self.blank(start, end);
        Some(())
    }

    /// `x as T`, `x satisfies T`.
    fn cast(&mut self, at: usize) -> Option<()> {
        let node = self.tree.node(at);
        let operand = self.tree.node(self.tree.child(at, 0)?);
        self.erase(self.tree.child(at, 1)?);
        self.blank(self.text.byte(operand.end), self.text.byte(node.end));
        self.stays_apart(node)?;
        // What it holds together by standing between two operators falls apart.
        let parent = self.tree.parent(at);
        let operator = self.tree.child(parent, 3);
        if self.tree.node(parent).kind != kind::BINARY || node.role != 1 {
            return Some(());
        }
        let operator = self.tree.node(operator?).kind;
        let mut inner = operand;
        let mut below = self.tree.child(at, 0)?;
        while [kind::AS, kind::SATISFIES].contains(&inner.kind) {
            below = self.tree.child(below, 0)?;
            inner = self.tree.node(below);
        }
        let falls = match inner.kind {
            kind::BINARY => kind::TIGHT.contains(&operator),
            kind::TYPE_ASSERTION => operator == kind::POWER,
            kind if kind::UNARY.contains(&kind) => operator == kind::POWER,
            _ => false,
        };
        (!falls).then_some(())
    }

    /// `<T>x`.
    fn assertion(&mut self, at: usize) -> Option<()> {
        let node = self.tree.node(at);
        let asserted = self.tree.child(at, 0)?;
        self.erase(asserted);
        let start = self.text.start(node);
        let closes = self.text.skip(self.text.byte(self.tree.node(asserted).end));
        if !self.text.source[closes..].starts_with('>') || self.text.breaks(start, closes) {
            return None;
        }
        // Where a statement or the body of a function may begin, these would begin another.
        let behind = &self.text.source[self.text.skip(closes + 1)..];
        let opens = ["{", "function", "class", "async", "let"];
        if opens.iter().any(|word| behind.starts_with(word)) {
            return None;
        }
        self.blank(start, closes + 1);
        Some(())
    }

    fn export(&mut self, at: usize) -> Option<()> {
        let node = self.tree.node(at);
        if node.data & SAYS == TYPE_ONLY {
            return self.drop_whole(at);
        }
        let Some(clause) = self.tree.child(at, 1) else {
            return Some(());
        };
        // Which of the names are of types, the compiler knows.
        let named = self.tree.node(clause).kind == kind::NAMED_EXPORTS;
        let list = self.tree.child(clause, 0);
        let names = list.is_some_and(|list| self.tree.children(list).next().is_some());
        (!named || !names).then_some(())
    }

    /// Drops what is imported and stands for no value, as the compiler does: what no code mentions.
    fn imports(&mut self) -> Option<()> {
        let mut used: BTreeMap<&str, bool> = BTreeMap::new();
        let source = self.text.source;
        for at in 1..self.tree.len() {
            let node = self.tree.node(at);
            let parent = self.tree.node(self.tree.parent(at));
            if node.kind == kind::IDENTIFIER && binds(parent) && !self.gone[at] {
                used.insert(&source[self.text.start(node)..self.text.byte(node.end)], false);
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

    /// Erases a statement or a member. An empty one stays in its place, so that what stands before it
    /// ends where it did.
    fn drop_whole(&mut self, at: usize) -> Option<()> {
        let (start, end) = self.text.range(self.tree.node(at));
        if !self.text.source[start..end].starts_with(|first: char| first.is_ascii()) {
            return None;
        }
        self.blank(start, end);
        self.marks[start] = b';';
        self.gone[at] = true;
        Some(())
    }

    /// Erases a sign: `?` or `!`.
    fn token(&mut self, at: usize, role: u32) {
        if let Some(token) = self.tree.child(at, role) {
            self.erase(token);
        }
    }

    /// Erases a type with the colon before it.
    fn annotation(&mut self, at: usize, role: u32) -> Option<()> {
        let Some(annotation) = self.tree.child(at, role) else {
            return Some(());
        };
        let colon = self.text.byte(self.tree.node(annotation).pos).checked_sub(1)?;
        self.erase(annotation);
        self.put(colon, b':', BLANK)
    }

    /// Erases a list of types in angle brackets.
    fn angles(&mut self, at: usize, role: u32) -> Option<()> {
        let Some(list) = self.tree.child(at, role) else {
            return Some(());
        };
        let node = self.tree.node(list);
        let opens = self.text.byte(node.pos).checked_sub(1)?;
        let closes = self.text.skip(self.text.byte(node.end));
        // A line that breaks before the parameters of an arrow may end what stands before them.
        if self.tree.node(at).kind == kind::ARROW_FUNCTION && self.text.breaks(opens, closes) {
            return None;
        }
        self.erase(list);
        self.blank(opens, closes);
        self.put(opens, b'<', BLANK)?;
        self.put(closes, b'>', BLANK)
    }

    /// Whether what follows a node on another line stays apart from it, as a type between them has it.
    fn stays_apart(&self, node: Node) -> Option<()> {
        let end = self.text.byte(node.end);
        let next = self.text.skip(end);
        let joins = self.text.source[next..].starts_with(['(', '[', '`']);
        (!joins || !self.text.breaks(end, next)).then_some(())
    }

    /// Whether one of these words stands before a declaration.
    fn says(&self, at: usize, words: &[u32]) -> bool {
        self.tree.child(at, 0).is_some_and(|list| {
            let mut modifiers = self.tree.children(list);
            modifiers.any(|one| words.contains(&self.tree.node(one).kind))
        })
    }

    fn erase(&mut self, at: usize) {
        let (start, end) = self.text.range(self.tree.node(at));
        // What stands before it, from the token before on, is blank or a comment.
        self.blank(start, end);
        self.gone[at] = true;
    }

    fn blank(&mut self, start: usize, end: usize) {
        for mark in self.marks.iter_mut().take(end).skip(start) {
            *mark = BLANK;
        }
    }

    /// Puts a sign in the place of another, which must be there.
    fn put(&mut self, at: usize, there: u8, sign: u8) -> Option<()> {
        if *self.text.source.as_bytes().get(at)? != there {
            return None;
        }
        self.marks[at] = sign;
        Some(())
    }

    fn written(&self) -> String {
        let mut written = String::with_capacity(self.text.source.len());
        for (at, character) in self.text.source.char_indices() {
            match self.marks[at] {
                KEEP => written.push(character),
                _ if breaks_line(character) => written.push(character),
                // As wide as it was, as columns are counted.
                BLANK => written.extend(std::iter::repeat_n(' ', character.len_utf16())),
                other => written.push(char::from(other)),
            }
        }
        written
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
        | (kind::PARAMETER | kind::BINDING_ELEMENT, 2)
        | (kind::FUNCTION_DECLARATION | kind::FUNCTION_EXPRESSION, 2)
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

impl<'a> Text<'a> {
    /// A text, where the whole of it is what a tree is of.
    fn new(source: &'a str, whole: Node) -> Option<Self> {
        let bytes = if source.is_ascii() {
            Vec::new()
        } else {
            let starts = source.char_indices();
            let starts = starts.flat_map(|(at, one)| std::iter::repeat_n(at, one.len_utf16()));
            starts.chain([source.len()]).collect()
        };
        let text = Self { source, bytes };
        let units = text.bytes.len().checked_sub(1).unwrap_or(source.len());
        let same = whole.kind == kind::SOURCE_FILE && whole.end as usize == units;
        // A mark at its start is no part of the tree.
        (same && !source.starts_with('\u{feff}')).then_some(text)
    }

    /// The byte of a place.
    fn byte(&self, unit: u32) -> usize {
        let unit = unit as usize;
        let byte = if self.bytes.is_empty() {
            unit
        } else {
            self.bytes.get(unit).copied().unwrap_or(usize::MAX)
        };
        byte.min(self.source.len())
    }

    /// Where a node's first token begins.
    fn start(&self, node: Node) -> usize {
        self.skip(self.byte(node.pos)).min(self.byte(node.end))
    }

    fn range(&self, node: Node) -> (usize, usize) {
        (self.start(node), self.byte(node.end))
    }

    fn token(&self, node: Node) -> &'a str {
        &self.source[self.start(node)..self.byte(node.end)]
    }

    /// Behind blanks and comments.
    fn skip(&self, from: usize) -> usize {
        let mut rest = &self.source[from..];
        loop {
            rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
            if rest.starts_with("//") {
                rest = &rest[rest.find(breaks_line).unwrap_or(rest.len())..];
            } else if rest.starts_with("/*") {
                rest = &rest[rest.find("*/").map_or(rest.len(), |end| end + 2)..];
            } else {
                return self.source.len() - rest.len();
            }
        }
    }

    /// Whether a line breaks between two places.
    fn breaks(&self, start: usize, end: usize) -> bool {
        let between = self.source.get(start..end.max(start));
        between.is_none_or(|between| between.contains(breaks_line))
    }
}

fn breaks_line(character: char) -> bool {
    matches!(character, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}
