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

mod imports;
mod kind;
#[cfg(test)]
mod tests;
mod text;
mod tree;

use text::{Text, breaks_line};
use tree::{LIST, Node, Tree};

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
            kind::DECORATOR
            | kind::ACCESSOR
            | kind::ENUM
            | kind::MODULE
            | kind::IMPORT_EQUALS
            | kind::NAMESPACE_EXPORT_DECLARATION => return None,
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
            kind::CLASS_DECLARATION
            | kind::CLASS_EXPRESSION
            | kind::CALL
            | kind::TAGGED_TEMPLATE => self.angles(at, 2)?,
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
        self.text.source[..end]
            .ends_with(|last: char| last.is_ascii())
            .then_some(())
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
        let colon = self
            .text
            .byte(self.tree.node(annotation).pos)
            .checked_sub(1)?;
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
        // What goes on with an expression, and begins a statement too.
        let joins = self.text.source[next..].starts_with(['(', '[', '`', '/', '+', '-', '<']);
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
