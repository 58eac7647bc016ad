//! One embedded template: compiled when it is first rendered, then kept.

use std::sync::OnceLock;

use handlebars::{Handlebars, RenderError, Template, TemplateError};
use serde::Serialize;

use super::PromptError;

/// A template of the binary.
pub(super) struct Embedded {
    pub(super) name: &'static str,
    pub(super) source: &'static str,
    engine: OnceLock<Handlebars<'static>>,
}

impl Embedded {
    pub(super) const fn new(name: &'static str, source: &'static str) -> Self {
        Self {
            name,
            source,
            engine: OnceLock::new(),
        }
    }

    /// Renders it.
    pub(super) fn render(&self, variables: &impl Serialize) -> Result<String, PromptError> {
        let engine = if let Some(engine) = self.engine.get() {
            engine
        } else {
            let engine = compile(self.source).map_err(|error| unparsed(self.name, &error))?;
            self.engine.get_or_init(|| engine)
        };
        fill(engine, self.name, variables)
    }
}

/// Renders a text that is no template of the binary.
pub(super) fn render_once(
    name: &'static str,
    source: &str,
    variables: &impl Serialize,
) -> Result<String, PromptError> {
    let engine = compile(source).map_err(|error| unparsed(name, &error))?;
    fill(&engine, name, variables)
}

/// Parses a text, and answers what is wrong with it.
pub(super) fn parse(name: &'static str, source: &str) -> Result<(), PromptError> {
    match Template::compile(source) {
        Ok(_) => Ok(()),
        Err(error) => Err(unparsed(name, &error)),
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

fn unparsed(name: &'static str, error: &TemplateError) -> PromptError {
    let (line, column) = error.pos().unwrap_or((1, 1));
    PromptError::Parse {
        name,
        line,
        column,
        reason: error.reason().to_string(),
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
