//! One embedded template: compiled when it is first rendered, then kept.

use std::sync::OnceLock;

use handlebars::{Handlebars, RenderError, Template, TemplateError, TemplateErrorReason};
use serde::Serialize;

use super::PromptError;

/// A template of the binary.
pub(super) struct Embedded {
    pub(super) name: &'static str,
    pub(super) source: &'static str,
    engine: OnceLock<Result<Handlebars<'static>, PromptError>>,
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
            engine: OnceLock::new(),
        }
    }

    /// Compiles it, where that has not been done.
    pub(super) fn warm(&self) -> &Result<Handlebars<'static>, PromptError> {
        self.engine.get_or_init(|| {
            compile(self.source).map_err(|error| unparsed(self.name, self.source, &error))
        })
    }

    /// Renders it.
    pub(super) fn render(&self, variables: &impl Serialize) -> Result<String, PromptError> {
        match self.warm() {
            Ok(engine) => fill(engine, self.name, variables),
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
    let engine = compile(source).map_err(|error| unparsed(name, source, &error))?;
    fill(&engine, name, variables)
}

/// Parses a text, and answers what is wrong with it.
pub(super) fn parse(name: &'static str, source: &str) -> Result<(), PromptError> {
    match Template::compile(source) {
        Ok(_) => Ok(()),
        Err(error) => Err(unparsed(name, source, &error)),
    }
}

/// The name the one template of an engine goes by.
const ONLY: &str = "";

/// An engine of one template: strict, and without escaping.
fn compile(source: &str) -> Result<Handlebars<'static>, Box<TemplateError>> {
    let template = Template::compile(source)?;
    let mut engine = Handlebars::new();
    engine.set_strict_mode(true);
    engine.register_escape_fn(handlebars::no_escape);
    engine.register_template(ONLY, template);
    Ok(engine)
}

/// A template's last line end is the file's, not the prompt's.
fn fill(
    engine: &Handlebars<'_>,
    name: &'static str,
    variables: &impl Serialize,
) -> Result<String, PromptError> {
    let mut text = engine
        .render(ONLY, variables)
        .map_err(|error| unrendered(name, &error))?;
    text.truncate(text.trim_end_matches('\n').len());
    Ok(text)
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
