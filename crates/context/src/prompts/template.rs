//! One embedded template: compiled when it is first rendered, then kept.
//!
//! It is compiled in pieces, each up to the end of an outermost block: the parser looks up the
//! place of every token from the start of its text, so that the time of one text grows with the
//! square of its length, and the system prompt's is on the way to the first request.

use std::sync::OnceLock;

use handlebars::{Context, Handlebars, RenderError, Template, TemplateError, TemplateErrorReason};
use serde::Serialize;

use super::PromptError;

/// A template of the binary.
pub(super) struct Embedded {
    pub(super) name: &'static str,
    pub(super) source: &'static str,
    compiled: OnceLock<Result<Compiled, PromptError>>,
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

    /// Compiles it, where that has not been done.
    pub(super) fn warm(&self) -> &Result<Compiled, PromptError> {
        self.compiled
            .get_or_init(|| Compiled::new(self.name, pieces(self.source)))
    }

    /// Renders it.
    pub(super) fn render(&self, variables: &impl Serialize) -> Result<String, PromptError> {
        match self.warm() {
            Ok(compiled) => compiled.fill(self.name, variables),
            Err(error) => Err(error.clone()),
        }
    }
}

/// Renders a text that is no template of the binary.
pub(super) fn render_once(
    name: &'static str,
    source: &str,
    variables: &impl Serialize,
) -> Result<String, PromptError> {
    Compiled::new(name, [source])?.fill(name, variables)
}

/// Parses a text, and answers what is wrong with it.
pub(super) fn parse(name: &'static str, source: &str) -> Result<(), PromptError> {
    match Template::compile(source) {
        Ok(_) => Ok(()),
        Err(error) => Err(unparsed(name, source, &error)),
    }
}

/// A template ready to be rendered, strictly and without escaping.
#[derive(Debug)]
pub(super) struct Compiled {
    /// Its pieces go by their places.
    engine: Handlebars<'static>,
    /// The line each piece begins on, from 0.
    lines: Vec<usize>,
}

impl Compiled {
    fn new<'a>(
        name: &'static str,
        pieces: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, PromptError> {
        let mut engine = Handlebars::new();
        engine.set_strict_mode(true);
        engine.register_escape_fn(handlebars::no_escape);
        let mut lines = Vec::new();
        let mut line = 0;
        for (place, piece) in pieces.into_iter().enumerate() {
            let template = Template::compile(piece)
                .map_err(|error| unparsed(name, piece, &error).moved(line))?;
            engine.register_template(&place.to_string(), template);
            lines.push(line);
            line += piece.lines().count();
        }
        Ok(Self { engine, lines })
    }

    fn fill(&self, name: &'static str, variables: &impl Serialize) -> Result<String, PromptError> {
        // Made a value once, not once a piece.
        let variables = Context::wraps(variables).map_err(|error| unrendered(name, &error))?;
        let mut text = String::new();
        for (place, line) in self.lines.iter().enumerate() {
            let piece = self
                .engine
                .render_with_context(&place.to_string(), &variables)
                .map_err(|error| unrendered(name, &error).moved(*line))?;
            text.push_str(&piece);
        }
        // A template's last line end is the file's, not the prompt's.
        text.truncate(text.trim_end_matches('\n').len());
        Ok(text)
    }
}

/// Cuts a template behind every line that ends an outermost block.
fn pieces(source: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut start, mut end, mut depth) = (0, 0, 0_usize);
    for line in source.split_inclusive('\n') {
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
                "a\n{{#if x}}\n{{#if y}}\nb\n{{/if}}\n{{/if}}\n",
                "c {{#if x}}d{{/if}}\ne\n"
            ]
        );
    }

    #[test]
    fn pieces_render_what_the_whole_does() {
        let source = "a\n{{#if x}}\n- b {{n}}\n{{/if}}\n{{#if y}}\n\nc\n{{/if}}\n\nd {{n}}\n\n";
        let cut = pieces(source);
        assert_eq!(cut.len(), 3);
        for (x, y) in [(false, false), (false, true), (true, false), (true, true)] {
            let variables = serde_json::json!({ "x": x, "y": y, "n": 1 });
            let rendered = |pieces: &[&str]| {
                let compiled = Compiled::new("t", pieces.iter().copied()).unwrap();
                compiled.fill("t", &variables).unwrap()
            };
            assert_eq!(rendered(&cut), rendered(&[source]));
        }
    }

    #[test]
    fn a_fault_in_a_later_piece_has_its_line_of_the_whole() {
        let compiled =
            Compiled::new("t", pieces("a\n{{#if x}}\nb\n{{/if}}\nc {{gone}}\n")).unwrap();
        let error = compiled
            .fill("t", &serde_json::json!({ "x": true }))
            .unwrap_err();
        assert!(
            matches!(error, PromptError::Render { line: 5, .. }),
            "{error}"
        );
    }
}
