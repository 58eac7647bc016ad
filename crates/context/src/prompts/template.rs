//! One embedded template: compiled when it is first rendered, then kept.
//!
//! It is compiled in pieces, cut around its outermost blocks: the parser looks up the place of
//! every token from the start of its text, so that the time of one text grows with the square of
//! its length, and the system prompt's is on the way to the first request. Lines without an
//! expression are not compiled at all, and what stands in a conditional block only where its
//! condition holds: most runs have most capabilities off.

use std::sync::OnceLock;

use handlebars::{
    Context, Handlebars, JsonTruthy, Output, RenderContext, RenderError, Renderable, StringOutput,
    Template, TemplateError, TemplateErrorReason,
};
use serde::Serialize;

use super::PromptError;

/// A template of the binary.
pub(super) struct Embedded {
    pub(super) name: &'static str,
    pub(super) source: &'static str,
    compiled: OnceLock<Compiled<'static>>,
}

/// Declares the templates of a file, each by its static and its name in `templates/`, and the list
/// of them all.
macro_rules! templates {
    ($($constant:ident = $name:literal),+ $(,)?) => {
        $(static $constant: $crate::prompts::template::Embedded =
            $crate::prompts::template::Embedded::new(
                $name,
                include_str!(concat!("../../../../templates/", $name, ".hbs")),
            );)+

        /// Every template of this file.
        pub(in crate::prompts) static ALL: [&$crate::prompts::template::Embedded; [$($name),+].len()] =
            [$(&$constant),+];
    };
}
pub(super) use templates;

impl Embedded {
    pub(super) const fn new(name: &'static str, source: &'static str) -> Self {
        Self {
            name,
            source,
            compiled: OnceLock::new(),
        }
    }

    /// Compiles what of it every rendering needs, where that has not been done.
    pub(super) fn warm(&self) {
        let compiled = self.compiled();
        for piece in &compiled.pieces {
            if matches!(piece.kind, Kind::Filled) {
                // A piece that does not compile says so to whoever renders it.
                piece.template(self.name).ok();
            }
        }
    }

    /// Renders it.
    pub(super) fn render(&self, variables: &impl Serialize) -> Result<String, PromptError> {
        self.compiled().fill(self.name, variables)
    }

    fn compiled(&self) -> &Compiled<'static> {
        self.compiled
            .get_or_init(|| Compiled::new(cut(self.source, 0)))
    }
}

/// Renders a text that is no template of the binary.
pub(super) fn render_once(
    name: &'static str,
    source: &str,
    variables: &impl Serialize,
) -> Result<String, PromptError> {
    // Whole: an operator's may take away what stands around an expression, over the ends of lines.
    Compiled::new(vec![Piece::filled(source, 0)]).fill(name, variables)
}

/// Parses a text, and answers what is wrong with it.
pub(super) fn parse(name: &'static str, source: &str) -> Result<(), PromptError> {
    match Template::compile(source) {
        Ok(_) => Ok(()),
        Err(error) => Err(unparsed(name, source, &error)),
    }
}

/// Compiles a text, also on a stack that is not its thread's own, as calls of a program run on: the
/// parser measures what is left of the thread's, finds none of it there, and refuses what is right.
fn compile(source: &str) -> Result<Template, TemplateError> {
    let here = Template::compile(source);
    if here.is_ok() {
        return here;
    }
    std::thread::scope(|scope| {
        let apart = std::thread::Builder::new().spawn_scoped(scope, || Template::compile(source));
        // Where no thread is to be had, what was found here stands.
        let apart = apart.ok().and_then(|thread| thread.join().ok());
        apart.unwrap_or(here)
    })
}

/// A template to be rendered, strictly and without escaping.
#[derive(Debug)]
struct Compiled<'a> {
    engine: Handlebars<'static>,
    pieces: Vec<Piece<'a>>,
}

/// A part of a template that is compiled by itself.
#[derive(Debug)]
struct Piece<'a> {
    source: &'a str,
    /// The line of the template it begins on, from 0.
    line: usize,
    kind: Kind<'a>,
    compiled: OnceLock<Result<Template, PromptError>>,
}

/// How a piece comes to its text.
#[derive(Debug)]
enum Kind<'a> {
    /// It is its text.
    Plain,
    /// One block, nothing where its condition does not hold, and else what stands in it.
    Block {
        condition: &'a str,
        body: Vec<Piece<'a>>,
    },
    /// The engine makes it.
    Filled,
}

impl<'a> Piece<'a> {
    fn filled(source: &'a str, line: usize) -> Self {
        Self {
            source,
            line,
            kind: Kind::Filled,
            compiled: OnceLock::new(),
        }
    }

    fn of(source: &'a str, line: usize) -> Self {
        let kind = if !source.contains("{{") {
            Kind::Plain
        } else if let Some((condition, body)) = block(source) {
            let body = cut(body, line + 1);
            Kind::Block { condition, body }
        } else {
            Kind::Filled
        };
        let filled = Self::filled(source, line);
        Self { kind, ..filled }
    }

    fn template(&self, name: &'static str) -> Result<&Template, PromptError> {
        let compiled = self.compiled.get_or_init(|| {
            compile(self.source)
                .map_err(|error| unparsed(name, self.source, &error).moved(self.line))
        });
        compiled.as_ref().map_err(Clone::clone)
    }
}

impl<'a> Compiled<'a> {
    fn new(pieces: Vec<Piece<'a>>) -> Self {
        let mut engine = Handlebars::new();
        engine.set_strict_mode(true);
        engine.register_escape_fn(handlebars::no_escape);
        Self { engine, pieces }
    }

    fn fill(&self, name: &'static str, variables: &impl Serialize) -> Result<String, PromptError> {
        // Made a value once, not once a piece.
        let variables = Context::wraps(variables).map_err(|error| unrendered(name, &error))?;
        let mut output = StringOutput::new();
        self.write(name, &self.pieces, &variables, &mut output)?;
        let mut text = output
            .into_string()
            .map_err(|error| unwritten(name, &error))?;
        // A template's last line end is the file's, not the prompt's.
        text.truncate(text.trim_end_matches('\n').len());
        Ok(text)
    }

    fn write(
        &self,
        name: &'static str,
        pieces: &[Piece<'_>],
        variables: &Context,
        output: &mut StringOutput,
    ) -> Result<(), PromptError> {
        for piece in pieces {
            match &piece.kind {
                Kind::Plain => output
                    .write(piece.source)
                    .map_err(|error| unwritten(name, &error))?,
                Kind::Block { condition, body } => match variables.data().get(*condition) {
                    Some(value) if value.is_truthy(false) => {
                        self.write(name, body, variables, output)?;
                    }
                    Some(_) => {}
                    // That a variable is not there is for the engine to tell of.
                    None => self.engine_writes(name, piece, variables, output)?,
                },
                Kind::Filled => self.engine_writes(name, piece, variables, output)?,
            }
        }
        Ok(())
    }

    fn engine_writes(
        &self,
        name: &'static str,
        piece: &Piece<'_>,
        variables: &Context,
        output: &mut StringOutput,
    ) -> Result<(), PromptError> {
        let mut state = RenderContext::new(None);
        piece
            .template(name)?
            .render(&self.engine, variables, &mut state, output)
            .map_err(|error| unrendered(name, &error).moved(piece.line))
    }
}

/// Cuts a text that begins on this line into pieces: around its outermost blocks, and where lines
/// that are only text meet others. Whole lines go into a piece, so that each block that has a line
/// of its own to begin or end on takes that line along, as it does in the whole.
///
/// One that takes away what stands around an expression is one piece: that reaches over lines.
fn cut(source: &str, line: usize) -> Vec<Piece<'_>> {
    if source.contains("{{~") || source.contains("~}}") {
        return vec![Piece::filled(source, line)];
    }
    let mut line = line;
    let piece = |source| {
        let piece = Piece::of(source, line);
        line += source.lines().count();
        piece
    };
    pieces(source).into_iter().map(piece).collect()
}

/// The texts of those pieces.
fn pieces(source: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut start, mut end, mut depth) = (0, 0, 0_usize);
    // Of the line before: whether it was only text, and how many expressions go on behind it.
    let (mut text, mut open) = (false, 0_usize);
    for line in source.split_inclusive('\n') {
        let between = depth == 0 && open == 0;
        let only_text = between && !line.contains("{{");
        if start < end && between && (only_text != text || condition(line).is_some()) {
            pieces.push(&source[start..end]);
            start = end;
        }
        text = only_text;
        end += line.len();
        let closed = line.matches("{{/").count();
        depth = (depth + line.matches("{{#").count()).saturating_sub(closed);
        open = (open + line.matches("{{").count()).saturating_sub(line.matches("}}").count());
        // A block that stands within a line ends nothing: what is around it is one sentence.
        if depth == 0 && open == 0 && closed > 0 && line.trim_start().starts_with("{{/") {
            pieces.push(&source[start..end]);
            start = end;
        }
    }
    if start < end {
        pieces.push(&source[start..end]);
    }
    pieces
}

/// The variable of a line that does nothing but begin a block with it as its condition.
fn condition(line: &str) -> Option<&str> {
    let variable = line.trim_end().strip_prefix("{{#if ")?.strip_suffix("}}")?;
    let plain = |c: char| c.is_ascii_alphanumeric();
    (!variable.is_empty() && variable.chars().all(plain)).then_some(variable)
}

/// Condition and inner lines of a piece that is one block and has nothing else to say where the
/// condition does not hold.
fn block(source: &str) -> Option<(&str, &str)> {
    let (first, rest) = source.split_once('\n')?;
    let variable = condition(first)?;
    let body = rest.trim_end_matches('\n').strip_suffix("{{/if}}")?;
    let mut depth = 1_usize;
    for line in body.lines() {
        depth = (depth + line.matches("{{#").count()).checked_sub(line.matches("{{/").count())?;
        // The block is over, or goes on otherwise.
        if depth == 0 || depth == 1 && line.contains("{{else") {
            return None;
        }
    }
    let whole_lines = body.is_empty() || body.ends_with('\n');
    (depth == 1 && whole_lines).then_some((variable, body))
}

/// What is wrong with a text that does not parse, in an operator's words: the parser's own name
/// the rules of its grammar.
#[derive(Debug, thiserror::Error)]
enum Flaw<'a> {
    #[error("the template ends inside an expression, or in a block that is never closed")]
    Open,
    #[error("`{0}` is not Handlebars, or closes what is not open")]
    Malformed(&'a str),
    #[error("{0}")]
    Told(&'a TemplateErrorReason),
}

fn unparsed(name: &'static str, source: &str, error: &TemplateError) -> PromptError {
    let (line, column) = error.pos().unwrap_or((1, 1));
    let flaw = match error.reason() {
        TemplateErrorReason::InvalidSyntax(_) => match rest_of_line(source, line, column) {
            "" => Flaw::Open,
            rest => Flaw::Malformed(rest),
        },
        reason => Flaw::Told(reason),
    };
    PromptError::Parse {
        name,
        line,
        column,
        reason: flaw.to_string(),
    }
}

/// At most 40 characters of a line from a column on, both counted from 1.
fn rest_of_line(source: &str, line: usize, column: usize) -> &str {
    let text = source
        .lines()
        .nth(line.saturating_sub(1))
        .unwrap_or_default();
    let place = |characters: usize| {
        let (at, _) = text
            .char_indices()
            .nth(characters)
            .unwrap_or((text.len(), ' '));
        at
    };
    let start = column.saturating_sub(1);
    text[place(start)..place(start + 40)].trim()
}

fn unwritten(name: &'static str, error: &dyn std::fmt::Display) -> PromptError {
    PromptError::Render {
        name,
        line: 1,
        column: 1,
        reason: error.to_string(),
    }
}

fn unrendered(name: &'static str, error: &RenderError) -> PromptError {
    PromptError::Render {
        name,
        line: error.line_no.unwrap_or(1),
        column: error.column_no.unwrap_or(1),
        reason: error.reason().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(source: &str) -> Compiled<'_> {
        Compiled::new(vec![Piece::filled(source, 0)])
    }

    #[test]
    fn a_template_is_cut_around_its_outermost_blocks_and_its_plain_lines() {
        let source = "a\nb\n{{#if x}}\n{{#if y}}\nb\n{{/if}}\n{{/if}}\nc {{#if x}}d{{/if}}\ne\n";
        assert_eq!(
            pieces(source),
            [
                "a\nb\n",
                "{{#if x}}\n{{#if y}}\nb\n{{/if}}\n{{/if}}\n",
                "c {{#if x}}d{{/if}}\n",
                "e\n"
            ]
        );
        let commented = "a\n{{! of two\nlines }}\nb\n";
        assert_eq!(pieces(commented), ["a\n", "{{! of two\nlines }}\n", "b\n"]);
    }

    #[test]
    fn pieces_render_what_the_whole_does() {
        let sources = [
            "a\n{{#if x}}\n- b {{n}}\n{{/if}}\n{{#if y}}\n\nc\n{{else}}\nno c\n{{/if}}\n\
                {{#each l}}\n{{this}}\n{{/each}}\n\nd {{n}}\n\n",
            "{{#if x}}\n\n{{#if y}}\n\nb\n\n{{/if}}\n{{n}}\n{{#if y}}c{{else}}d{{/if}}\ne\n{{/if}}",
            "{{#if x}}\n{{/if}}\n{{#if y}}\n  a\n{{#each l}}\n\n- {{this}}\n{{/each}}\n{{/if}}\nb",
            "{{#if x}}\na{{/if}}\n{{#if y}}\nb\n{{/if}} c\n\n{{! d\n{{e}}\nf\n",
            "a \n{{#if x}}\n{{~n~}}\n\nb\n{{/if}}\nc\n",
        ];
        for source in sources {
            for (x, y) in [(false, false), (false, true), (true, false), (true, true)] {
                let variables = serde_json::json!({ "x": x, "y": y, "n": 1, "l": ["e", "f"] });
                assert_eq!(
                    Compiled::new(cut(source, 0)).fill("t", &variables),
                    whole(source).fill("t", &variables),
                    "{source:?} with {x} and {y}"
                );
            }
        }
    }

    #[test]
    fn a_fault_in_a_later_piece_has_its_line_of_the_whole() {
        for (source, at) in [
            ("a\n{{#if x}}\nb\n{{/if}}\nc {{gone}}\n", 5),
            (
                "a\n{{#if x}}\nb\n{{#if x}}\n{{gone}}\n{{/if}}\n{{/if}}\n",
                5,
            ),
        ] {
            let error = Compiled::new(cut(source, 0))
                .fill("t", &serde_json::json!({ "x": true }))
                .unwrap_err();
            assert!(
                matches!(error, PromptError::Render { line, .. } if line == at),
                "{error}"
            );
        }
    }

    #[test]
    fn a_block_whose_condition_fails_is_not_compiled_before_it_holds() {
        let compiled = Compiled::new(cut("a\n{{#if x}}\nb {{broken\n{{/if}}\n", 0));
        for off in [
            serde_json::json!(null),
            serde_json::json!(false),
            serde_json::json!(""),
            serde_json::json!([]),
        ] {
            let text = compiled.fill("t", &serde_json::json!({ "x": off }));
            assert_eq!(text.unwrap(), "a");
        }
        let error = compiled.fill("t", &serde_json::json!({ "x": 1 }));
        assert!(matches!(error, Err(PromptError::Parse { .. })), "{error:?}");
        // As strict as the whole: a condition that nobody gave is a fault.
        let error = compiled.fill("t", &serde_json::json!({}));
        assert!(error.is_err(), "{error:?}");
    }
}
