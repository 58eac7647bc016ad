//! The documentation, as a program reaches it (04 §8): searches and pages become views, on the
//! program's own thread.
//!
//! Always true: what is found and what opens is what the agent is offered, and the code it loaded; a
//! page that stands as it is is not shown again.

use std::collections::BTreeSet;
use std::sync::Arc;

use ::context::views;
use ::context::window::Window;
use config::profile::Profile;
use sandbox::arms::Arm;
use sandbox::catalogue::{self, Catalogue};
use sandbox::contract as wit;
use sandbox::docs::{Documentation, Loaded, Page, PageTypes, Query};
use sandbox::services::{self, Call};
use tools::Faults;
use vocab::band::Band;
use vocab::failure::Failure;
use vocab::operations::Operation;

use super::{Held, Serving, Setting};

/// What addresses the view of a search. The opening's is addressed by the modules it lists.
const SEARCH: &str = "search results";

/// What an agent's documentation views came to.
#[derive(Debug, Default)]
pub(in crate::agent) struct Docs {
    /// Types that a function's page brings along.
    types: PageTypes,
    /// Code the agent loaded, as its pages show it.
    loaded: Vec<Loaded>,
    /// Pages in the window when the turn began.
    standing: BTreeSet<Arc<str>>,
    /// Whether the program that runs is gg's own, which has read nothing and need not.
    opening: bool,
}

impl Docs {
    /// Of a new agent.
    pub(super) fn of(profile: &Profile) -> Self {
        let chosen = profile.programs().map(|policy| policy.doc_view_types);
        Self {
            types: chosen.map_or(PageTypes::default(), |chosen| PageTypes {
                returned: chosen.r#return,
                parameters: chosen.parameters,
                errors: chosen.errors,
            }),
            ..Self::default()
        }
    }

    /// A turn begins: which pages stand in the window is what its calls are measured by. The
    /// `opening` is gg's own program.
    pub(in crate::agent) fn begin(&mut self, window: &mut Window, opening: bool) {
        self.opening = opening;
        let pages = window
            .open_views()
            .filter(|item| item.band == Band::DocsView);
        self.standing = pages.filter_map(|item| item.selector.clone()).collect();
    }

    /// The code the agent has loaded now; it is found and opens from here on.
    pub(in crate::agent) fn hold(&mut self, loaded: Vec<Loaded>) {
        self.loaded = loaded;
    }

    /// Whether a page of an operation stood in the window before the turn began, or none is needed.
    pub(super) fn documented(&self, arm: &dyn Arm, operation: &'static Operation) -> bool {
        let Ok(catalogue) = catalogue::of(arm.language()) else {
            return true;
        };
        let standing = self.standing.iter().map(|key| &**key);
        self.opening || sandbox::docs::documented(catalogue, operation, standing)
    }
}

impl Held {
    /// The catalogue of the language. A launch of a language without one is refused, so that its
    /// absence here is gg's defect.
    fn catalogue(&mut self, setting: &Setting) -> Result<&'static Catalogue, Failure> {
        catalogue::of(setting.arm.language()).map_err(|absent| self.code.defect(absent.to_string()))
    }

    /// Shows pages; one that stands already is left as it is, but for loaded code that was revised.
    fn show_pages(&mut self, setting: &Setting, pages: Vec<Page>) -> Result<(), Failure> {
        for page in pages {
            let text = setting.shared.mask.apply(&page.text);
            let view = views::documentation(&page.key, &text, setting.turn);
            let view = view.map_err(|error| self.no_text(&error))?;
            let standing = self.window.live_view(Band::DocsView, &page.key);
            let stays = standing
                .is_some_and(|live| !page.revisable || live.message.text() == view.message.text());
            if !stays {
                self.show(view)?;
            }
        }
        Ok(())
    }

    /// Shows the pages of what a module that was loaded exports.
    pub(in crate::agent) fn show_code(
        &mut self,
        setting: &Setting,
        key: &str,
    ) -> Result<(), Failure> {
        let catalogue = self.catalogue(setting)?;
        let docs = Documentation::new(
            catalogue,
            &setting.offer.of_its_agent(),
            &self.code.docs.loaded,
        );
        let module = self
            .code
            .docs
            .loaded
            .iter()
            .find(|module| module.key == key);
        let functions = module.into_iter().flat_map(|module| {
            let exports = module.exports.iter().zip(&module.names);
            exports
                .filter(|(export, _)| export.function)
                .map(|(_, name)| name)
        });
        let mut pages = Vec::new();
        for name in functions {
            pages.extend(docs.open(name, self.code.docs.types)?);
        }
        self.show_pages(setting, pages)
    }
}

impl services::Docs for Serving {
    fn search(
        &mut self,
        _: &Call,
        query: Option<String>,
        modules: Option<Vec<String>>,
        of_type: Option<String>,
        kind: Option<wit::DocKind>,
        offset: Option<u32>,
        limit: Option<u32>,
    ) -> Result<wit::DocSearch, Failure> {
        let (held, setting) = self.held()?;
        let catalogue = held.catalogue(setting)?;
        let state = &held.code.docs;
        let query = Query {
            query,
            modules: modules.unwrap_or_default(),
            of_type,
            kind,
            offset: offset.unwrap_or_default(),
            limit,
        };
        let docs = Documentation::new(catalogue, &setting.offer.of_its_agent(), &state.loaded);
        let found = docs.search(&query)?;
        let listed = found.listed.filter(|_| state.opening);
        let selector = listed.map_or_else(|| SEARCH.to_owned(), |paths| paths.join(", "));
        let text = setting.shared.mask.apply(&found.text);
        let view = views::search(&selector, &text, setting.turn);
        let view = view.map_err(|error| held.no_text(&error))?;
        held.show(view)?;
        Ok(found.answer)
    }

    fn close(&mut self, _: &Call, key: String) -> Result<u32, Failure> {
        if key.trim().is_empty() {
            return Err(Failure::invalid(
                "`key` is blank; expected the name of a page",
            ));
        }
        let mut faults = Faults::default();
        faults.bounded("key", &key);
        faults.judge()?;
        let (held, setting) = self.held()?;
        let catalogue = held.catalogue(setting)?;
        let docs = Documentation::new(
            catalogue,
            &setting.offer.of_its_agent(),
            &held.code.docs.loaded,
        );
        // A page may outlive what it is of: then it is closed by the name it stands under.
        let name = docs
            .resolve(&key)
            .map_or(key, |entry| entry.key().to_owned());
        Ok(held.close(setting, |band, page| band == Band::DocsView && page == name))
    }

    fn close_all(&mut self, _: &Call) -> Result<u32, Failure> {
        let (held, setting) = self.held()?;
        Ok(held.close(setting, |band, _| band == Band::DocsView))
    }
}

impl Serving {
    /// Shows a page of the documentation: what `views.open_docs_view` does.
    pub(super) fn open_page(&mut self, _: &Call, target: &str) -> Result<(), Failure> {
        let (held, setting) = self.held()?;
        let catalogue = held.catalogue(setting)?;
        let state = &held.code.docs;
        let docs = Documentation::new(catalogue, &setting.offer.of_its_agent(), &state.loaded);
        let pages = docs.open(target, state.types)?;
        held.show_pages(setting, pages)
    }
}
