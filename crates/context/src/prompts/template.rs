//! One embedded template: compiled when it is first rendered, then kept.
//!
//! It is compiled in pieces, cut around its outermost blocks: the parser looks up the place of
//! every token from the start of its text, so that the time of one text grows with the square of
//! its length, and the system prompt's is on the way to the first request. A piece that is one
//! conditional block is compiled when its condition holds for the first time: most runs have most
//! capabilities off.

use std::sync::OnceLock;

use handlebars::{
    Context, Handlebars, JsonTruthy, RenderContext, RenderError, Renderable, StringOutput,
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
        for piece in compiled.pieces.iter().filter(|piece| piece.guard.is_none()) {
            // A piece that does not compile says so to whoever renders it.
            piece.template(self.name).ok();
        }
    }

    /// Renders it.
    pub(super) fn render(&self, variables: &impl Serialize) -> Result<String, PromptError> {
        self.compiled().fill(self.name, variables)
    }

    fn compiled(&self) -> &Compiled<'static> {
        self.compiled
            .get_or_init(|| Compiled::new(pieces(self.source)))
    }
}

/// Renders a text that is no template of the binary.
pub(super) fn render_once(
    name: &'static str,
    source: &str,
    variables: &impl Serialize,
) -> Result<String, PromptError> {
    Compiled::new([source]).fill(name, variables)
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
    /// The variable without which it is nothing.
    guard: Option<&'a str>,
    compiled: OnceLock<Result<Template, PromptError>>,
}

impl Piece<'_> {
    fn template(&self, name: &'static str) -> Result<&Template, PromptError> {
        let compiled = self.compiled.get_or_init(|| {
            compile(self.source)
                .map_err(|error| unparsed(name, self.source, &error).moved(self.line))
        });
        compiled.as_ref().map_err(Clone::clone)
    }

    /// Whether it renders to nothing. A variable that is not there is for the engine to tell of.
    fn is_off(&self, variables: &Context) -> bool {
        let value = self.guard.and_then(|guard| variables.data().get(guard));
        value.is_some_and(|value| !value.is_truthy(false))
    }
}

impl<'a> Compiled<'a> {
    fn new(pieces: impl IntoIterator<Item = &'a str>) -> Self {
        let mut engine = Handlebars::new();
        engine.set_strict_mode(true);
        engine.register_escape_fn(handlebars::no_escape);
        let mut line = 0;
        let piece = |source: &'a str| {
            let begins = line;
            line += source.lines().count();
            Piece {
                source,
                line: begins,
                guard: guard(source),
                compiled: OnceLock::new(),
            }
        };
        let pieces = pieces.into_iter().map(piece).collect();
        Self { engine, pieces }
    }

    fn fill(&self, name: &'static str, variables: &impl Serialize) -> Result<String, PromptError> {
        // Made a value once, not once a piece.
        let variables = Context::wraps(variables).map_err(|error| unrendered(name, &error))?;
        let mut output = StringOutput::new();
        for piece in self.pieces.iter().filter(|piece| !piece.is_off(&variables)) {
            let mut state = RenderContext::new(None);
            piece
                .template(name)?
                .render(&self.engine, &variables, &mut state, &mut output)
                .map_err(|error| unrendered(name, &error).moved(piece.line))?;
        }
        let mut text = output.into_string().map_err(|error| PromptError::Render {
            name,
            line: 1,
            column: 1,
            reason: error.to_string(),
        })?;
        // A template's last line end is the file's, not the prompt's.
        text.truncate(text.trim_end_matches('\n').len());
        Ok(text)
    }
}

/// Cuts a template before every line that begins an outermost conditional block, and behind every
/// line that ends an outermost block.
fn pieces(source: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut start, mut end, mut depth) = (0, 0, 0_usize);
    for line in source.split_inclusive('\n') {
        if depth == 0 && condition(line).is_some() && start < end {
            pieces.push(&source[start..end]);
            start = end;
        }
        end += line.len();
        let closed = line.matches("{{/").count();
        depth = (depth + line.matches("{{#").count()).saturating_sub(closed);
        // A block that stands within a line ends nothing: what is around it is one sentence.
        if depth == 0 && closed > 0 && line.trim_start().starts_with("{{/") {
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

/// The condition of a piece that is one block and has nothing else to say where it does not hold.
fn guard(source: &str) -> Option<&str> {
    let variable = condition(source.lines().next()?)?;
    let mut depth = 0_usize;
    for (number, line) in source.lines().enumerate() {
        // The block is over, or goes on otherwise.
        if number > 0 && depth == 0 || depth == 1 && line.contains("{{else") {
            return None;
        }
        let (opened, closed) = (line.matches("{{#").count(), line.matches("{{/").count());
        depth = (depth + opened).saturating_sub(closed);
    }
    (depth == 0).then_some(variable)
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

    #[test]
    fn a_template_is_cut_behind_its_outermost_blocks_alone() {
        let source = "a\n{{#if x}}\n{{#if y}}\nb\n{{/if}}\n{{/if}}\nc {{#if x}}d{{/if}}\ne\n";
        assert_eq!(
            pieces(source),
            [
                "a\n",
                "{{#if x}}\n{{#if y}}\nb\n{{/if}}\n{{/if}}\n",
                "c {{#if x}}d{{/if}}\ne\n"
            ]
        );
    }

    #[test]
    fn pieces_render_what_the_whole_does() {
        let source = "a\n{{#if x}}\n- b {{n}}\n{{/if}}\n{{#if y}}\n\nc\n{{else}}\nno c\n{{/if}}\n\
            {{#each l}}\n{{this}}\n{{/each}}\n\nd {{n}}\n\n";
        let cut = pieces(source);
        assert_eq!(cut.len(), 5);
        for (x, y) in [(false, false), (false, true), (true, false), (true, true)] {
            let variables = serde_json::json!({ "x": x, "y": y, "n": 1, "l": ["e"] });
            let rendered = |pieces: &[&str]| {
                let compiled = Compiled::new(pieces.iter().copied());
                compiled.fill("t", &variables).unwrap()
            };
            assert_eq!(rendered(&cut), rendered(&[source]));
        }
    }

    #[test]
    fn a_fault_in_a_later_piece_has_its_line_of_the_whole() {
        let compiled = Compiled::new(pieces("a\n{{#if x}}\nb\n{{/if}}\nc {{gone}}\n"));
        let error = compiled
            .fill("t", &serde_json::json!({ "x": true }))
            .unwrap_err();
        assert!(
            matches!(error, PromptError::Render { line: 5, .. }),
            "{error}"
        );
    }

    #[test]
    fn a_block_whose_condition_fails_is_not_compiled_before_it_holds() {
        let compiled = Compiled::new(pieces("a\n{{#if x}}\nb {{broken\n{{/if}}\n"));
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
