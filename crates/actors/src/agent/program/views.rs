//! Views: the only way from a program to the model (04 §7).
//!
//! A view acts on the live window at once; what the program does afterwards takes none back. What
//! was opened, replaced, closed and refused is kept for the operator, within bounds that count what
//! they drop (04 §14).

use std::sync::Arc;

use ::context::prompts;
use ::context::tokens;
use ::context::views;
use ::context::window::{Closed, NewItem, Opened, Region};
use record::event::{ContextManaged, Event, ManagedAction};
use sandbox::contract as wit;
use sandbox::host::Capped;
use sandbox::services::{Call, Views};
use serde_json::json;
use tools::{FilePolicy, FileRead, REQUEST_PICTURES, ReadFile, quoted};
use vocab::band::Band;
use vocab::failure::Failure;
use vocab::ids::MessageId;

use super::given::count;
use super::{Carried, Held, Serving, Setting};

/// View records kept of each kind.
const MAX_RECORDS: usize = 100;

/// One view, for the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::agent) struct ViewRecord {
    /// What its tokens are spent on.
    pub(in crate::agent) band: Band,
    /// What addresses it.
    pub(in crate::agent) selector: Arc<str>,
    /// Its tokens.
    pub(in crate::agent) tokens: u64,
    /// Whether it took the place of an earlier copy.
    pub(in crate::agent) replaced: bool,
    /// The message it is, of one that stands.
    pub(in crate::agent) id: Option<MessageId>,
}

/// What an agent's programs showed in the turn.
#[derive(Debug)]
pub(in crate::agent) struct Shown {
    /// Views opened, those that replaced another included.
    pub(in crate::agent) opened: Capped<ViewRecord>,
    /// Views closed.
    pub(in crate::agent) closed: Capped<ViewRecord>,
    /// Views refused: what was asked for, and why not.
    pub(in crate::agent) refused: Capped<(Arc<str>, String)>,
    /// Bytes of text bodies.
    composed: u64,
}

impl Default for Shown {
    fn default() -> Self {
        Self {
            opened: Capped::new(MAX_RECORDS),
            closed: Capped::new(MAX_RECORDS),
            refused: Capped::new(MAX_RECORDS),
            composed: 0,
        }
    }
}

impl Held {
    /// Puts a view into the window and keeps a record of it.
    pub(super) fn show(&mut self, view: NewItem) -> Result<(), Failure> {
        let band = view.band;
        let selector = view.selector.clone().unwrap_or_default();
        let tokens = tokens::of_message(&view.message);
        let view = NewItem {
            tokens: Some(tokens),
            ..view
        };
        let reworded = |text: &str| prompts::superseded_picture(text, Some(&selector));
        let opened = match self.window.open_view(view, reworded) {
            Ok(opened) => opened,
            Err(error) => return Err(self.no_text(&error)),
        };
        self.code.views.opened.push(ViewRecord {
            band,
            selector: Arc::clone(&selector),
            tokens,
            replaced: !matches!(opened, Opened::Fresh(_)),
            id: match opened {
                Opened::Fresh(id) | Opened::Replaced(id) | Opened::Superseded(id) => Some(id),
            },
        });
        Ok(())
    }

    /// A text of gg's own that does not render: a defect, of which the agent ends.
    pub(super) fn no_text(&mut self, error: &prompts::PromptError) -> Failure {
        self.code
            .defect(format!("a text of gg's own does not render: {error}"))
    }

    /// Closes the views that `of` says, tells of it, and keeps a record; how many there were.
    pub(super) fn close(&mut self, setting: &Setting, of: impl Fn(Band, &str) -> bool) -> u32 {
        const ACTIONS: [(Band, ManagedAction); 4] = [
            (Band::FileView, ManagedAction::EvictFileViews),
            (Band::TextView, ManagedAction::CloseTextViews),
            (Band::SearchResults, ManagedAction::CloseSearchViews),
            (Band::DocsView, ManagedAction::CloseDocsViews),
        ];
        let mut total = 0;
        for (band, action) in ACTIONS {
            let closed = self
                .window
                .close_views(|of_view, selector| of_view == band && of(of_view, selector));
            if closed.views.is_empty() {
                continue;
            }
            total += closed.views.len() as u64;
            for view in &closed.views {
                self.code.views.closed.push(ViewRecord {
                    band,
                    selector: Arc::clone(&view.selector),
                    tokens: view.tokens,
                    replaced: false,
                    id: None,
                });
            }
            let event = Event::ContextManaged(managed(action, &closed));
            setting.voice.say_in_turn(setting.turn, event);
        }
        count(total)
    }
}

fn managed(action: ManagedAction, closed: &Closed) -> ContextManaged {
    let mut selectors: Vec<&str> = closed.views.iter().map(|view| &*view.selector).collect();
    selectors.dedup();
    ContextManaged {
        action,
        reclaimed_tokens: closed.tokens,
        items: closed.views.len() as u64,
        detail: selectors.join(", "),
        first_index: closed.first_index.map(|index| index as u64),
    }
}

impl Serving {
    /// Keeps a record of a view that was refused.
    fn judged<T>(&mut self, selector: &str, outcome: Result<T, Failure>) -> Result<T, Failure> {
        if let Err(failure) = &outcome
            && let Some(held) = &mut self.held
        {
            let refused = (quoted(selector).into(), failure.to_string());
            held.code.views.refused.push(refused);
        }
        outcome
    }
}

/// Reads a file and shows what was read.
fn open_file(
    held: &mut Held,
    setting: &Setting,
    read: &ReadFile,
    max_line_chars: Option<u32>,
) -> Result<Carried<wit::FileRead>, Failure> {
    views::judge_line_chars(max_line_chars)?;
    let policy = FilePolicy {
        picture_room: REQUEST_PICTURES.saturating_sub(held.window.picture_bytes()),
        ..setting.files
    };
    let found = tools::read(read, &setting.place, &policy, &setting.halt)?;
    let (lines, paged, body, image) = match &found {
        FileRead::Text(text) => {
            let region = Region {
                first: text.first,
                last: text.last,
                total: text.total,
            };
            let body = setting.shared.mask.apply(&text.contents);
            let body = match max_line_chars {
                Some(chars) => views::cut_lines(&body, chars),
                None => body.into_owned(),
            };
            views::judge_file(&body)?;
            (
                Some(region).filter(|_| text.total > 0),
                !text.is_whole(),
                body,
                None,
            )
        }
        FileRead::Picture(picture) => (
            None,
            false,
            picture.described(),
            picture.attached.clone().ok(),
        ),
    };
    let unshown = match &found {
        FileRead::Picture(picture) => picture.attached.as_ref().err().map(|why| (*why).to_owned()),
        FileRead::Text(_) => None,
    };
    let view = views::file(&read.path, lines, paged, &body, image, setting.turn);
    let view = view.map_err(|error| held.no_text(&error))?;
    held.show(view)?;
    let value = setting.file_read(read, &found, unshown);
    let done = found.into_done(&read.path);
    Ok(Carried {
        value,
        text: done.text,
        images: done.images,
    })
}

impl Views for Serving {
    fn open_file(
        &mut self,
        call: &Call,
        path: String,
        offset: Option<u32>,
        limit: Option<u32>,
        max_line_chars: Option<u32>,
    ) -> Result<wit::FileRead, Failure> {
        let arguments = json!({ "path": path, "offset": offset, "limit": limit });
        let read = ReadFile::given(path.clone(), offset, limit);
        let outcome = self.local(call, &arguments, move |held, setting| {
            open_file(held, setting, &read?, max_line_chars)
        });
        self.judged(&path, outcome)
    }

    fn open_text(&mut self, _: &Call, label: String, body: String) -> Result<(), Failure> {
        let (held, setting) = self.held()?;
        let mask = &setting.shared.mask;
        let outcome = views::judge_text(&label, &body, held.code.views.composed).and_then(|()| {
            held.code.views.composed += body.len() as u64;
            let view = views::text(&mask.apply(&label), &mask.apply(&body), setting.turn);
            let view = view.map_err(|error| held.no_text(&error))?;
            held.show(view)
        });
        self.judged(&label, outcome)
    }

    fn open_docs_view(&mut self, call: &Call, target: String) -> Result<(), Failure> {
        let outcome = self.open_page(call, &target);
        self.judged(&target, outcome)
    }

    fn close(&mut self, _: &Call, selector: String) -> Result<u32, Failure> {
        if selector.is_empty() {
            return Err(Failure::invalid(
                "`selector` is empty; expected the path or the label a view was opened under",
            ));
        }
        let (held, setting) = self.held()?;
        Ok(held.close(setting, |band, name| {
            band != Band::DocsView && name == selector
        }))
    }

    fn current(&mut self, _: &Call) -> Result<Vec<wit::OpenView>, Failure> {
        let (held, _) = self.held()?;
        let view = |item: &::context::window::Item| wit::OpenView {
            kind: match item.band {
                Band::FileView => wit::ViewKind::File,
                Band::DocsView => wit::ViewKind::Documentation,
                _ => wit::ViewKind::Text,
            },
            selector: item.selector.as_deref().unwrap_or_default().to_owned(),
            tokens: count(item.tokens().unwrap_or_default()),
            region: item.region.map(|region| wit::LineRegion {
                first: count(region.first),
                last: count(region.last),
            }),
        };
        // What is pinned is not the agent's to close.
        let closable = held.window.open_views().filter(|item| item.is_ephemeral());
        Ok(closable.map(view).collect())
    }
}
