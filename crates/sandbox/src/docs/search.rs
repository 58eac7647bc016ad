//! Searching the documentation: filters, ranking, one page of hits, and the view that shows it
//! (04 §8.1).

use std::collections::BTreeSet;

use vocab::failure::Failure;
use vocab::figures::grouped;
use vocab::line::quoted;

use super::{Documentation, Entry, MOST_NAME, bare, bounded, writes};
use crate::contract::{DocHit, DocSearch};

/// What an entry is.
pub use crate::contract::DocKind as EntryKind;

/// Hits of a page where nothing else is asked for.
pub const DEFAULT_HITS: u32 = 20;

/// The most hits of a page.
pub const MOST_HITS: u32 = 100;

/// Modules that the view of a search names; the rest is counted.
const MOST_NAMED: usize = 20;

/// A question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// Words to look for.
    pub query: Option<String>,
    /// Only entries of these modules, by gg's id or the arm's path.
    pub modules: Vec<String>,
    /// Only a type, and what is written with it.
    pub of_type: Option<String>,
    /// Only entries of a kind.
    pub kind: Option<EntryKind>,
    /// Hits to leave out in front.
    pub offset: u32,
    /// Hits of the page; [`DEFAULT_HITS`] where absent.
    pub limit: Option<u32>,
}

/// What a question found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// What the program gets.
    pub answer: DocSearch,
    /// What the view shows.
    pub text: String,
    /// The paths of the modules it was asked about, in its order, where it is a listing of modules
    /// alone.
    pub listed: Option<Vec<String>>,
}

impl Documentation<'_> {
    /// Answers a question.
    ///
    /// # Errors
    ///
    /// `invalid-argument` for a question that asks nothing, or for a page of no hits.
    pub fn search(&self, query: &Query) -> Result<Found, Failure> {
        let asked = Asked::of(query)?;
        let mut found: Vec<(Entry<'_>, Rank)> = Vec::new();
        for entry in self.entries() {
            if !asked.admits(*entry) {
                continue;
            }
            if let Some(rank) = asked.rank(*entry) {
                found.push((*entry, rank));
            }
        }
        if asked.words.is_empty() {
            // A listing: by kind, then by name.
            found.sort_by_key(|(entry, _)| (order(entry.kind()), entry.key()));
        } else {
            // What matches alike stays in the order of the catalogue.
            found.sort_by_key(|(_, rank)| std::cmp::Reverse(*rank));
        }
        let total = found.len();
        let start = (query.offset as usize).min(total);
        let end = start.saturating_add(asked.limit).min(total);
        let page = &found[start..end];
        let hits: Vec<DocHit> = page
            .iter()
            .map(|(entry, _)| DocHit {
                key: entry.key().to_owned(),
                kind: entry.kind(),
                module: entry.module().to_owned(),
                name: entry.name().to_owned(),
                summary: entry.summary().to_owned(),
            })
            .collect();
        let alone = asked.words.is_empty() && query.of_type.is_none() && query.kind.is_none();
        let text = shown(&asked, query, &hits, total, start);
        Ok(Found {
            text,
            listed: alone.then(|| self.paths(&query.modules)),
            answer: DocSearch {
                total: u32::try_from(total).unwrap_or(u32::MAX),
                offset: query.offset,
                hits,
            },
        })
    }

    /// The paths of some modules; what is none stays as it was asked for.
    fn paths(&self, modules: &[String]) -> Vec<String> {
        let entries = || self.entries().iter();
        modules
            .iter()
            .map(|asked| {
                let module = entries().find(|entry| {
                    let asked = asked.trim().to_lowercase();
                    entry.kind() == EntryKind::Module
                        && names_module(**entry, &|name| name == asked)
                });
                module.map_or_else(|| asked.clone(), |entry| entry.key().to_owned())
            })
            .collect()
    }
}

/// How well an entry matches: words it holds, then how near to its name.
type Rank = (usize, u32);

struct Asked<'q> {
    query: &'q Query,
    /// The modules it is about as they are compared, each once.
    modules: BTreeSet<String>,
    words: Vec<String>,
    of_type: Option<&'q str>,
    limit: usize,
}

impl<'q> Asked<'q> {
    fn of(query: &'q Query) -> Result<Self, Failure> {
        bounded("query", query.query.as_deref().unwrap_or_default())?;
        bounded("type", query.of_type.as_deref().unwrap_or_default())?;
        // Together, so that one sum bounds how many there are and how long each is.
        let named: usize = query.modules.iter().map(|name| name.len() + 1).sum();
        if named > MOST_NAME {
            return Err(Failure::invalid(format!(
                "`modules` holds {} names of {} bytes together; at most {} bytes are taken",
                grouped(query.modules.len() as u64),
                grouped(named as u64),
                grouped(MOST_NAME as u64)
            )));
        }
        let words = query.query.as_deref().map(words_of).unwrap_or_default();
        let said = query
            .query
            .as_deref()
            .is_some_and(|text| !text.trim().is_empty());
        if said && words.is_empty() {
            return Err(Failure::invalid(
                "`query` holds no word; expected letters or digits",
            ));
        }
        let of_type = query
            .of_type
            .as_deref()
            .map(str::trim)
            .filter(|name| !name.is_empty());
        if !said && query.modules.is_empty() && of_type.is_none() && query.kind.is_none() {
            return Err(Failure::invalid(
                "nothing is asked; expected a query, modules, a type or a kind",
            ));
        }
        let limit = query.limit.unwrap_or(DEFAULT_HITS).min(MOST_HITS);
        if limit == 0 {
            return Err(Failure::invalid(format!(
                "`limit` is 0; expected 1 to {MOST_HITS}"
            )));
        }
        let modules = query.modules.iter();
        let modules = modules.map(|asked| asked.trim().to_lowercase()).collect();
        Ok(Self {
            query,
            modules,
            words,
            of_type,
            limit: limit as usize,
        })
    }

    fn admits(&self, entry: Entry<'_>) -> bool {
        let module =
            self.modules.is_empty() || names_module(entry, &|name| self.modules.contains(name));
        let kind = self.query.kind.is_none_or(|kind| entry.kind() == kind);
        module && kind && self.of_type.is_none_or(|asked| is_of_type(entry, asked))
    }

    /// `None` where there are words and the entry holds none of them.
    fn rank(&self, entry: Entry<'_>) -> Option<Rank> {
        if self.words.is_empty() {
            return Some((0, 0));
        }
        let fields = [
            segments(entry.name()),
            segments(&entry.notation()),
            segments(entry.summary()),
            segments(&entry.detail()),
        ];
        let (mut matched, mut near) = (0, 0);
        for word in &self.words {
            let at = fields.iter().position(|field| holds(field, word));
            let Some(at) = at else { continue };
            matched += 1;
            near += if fields[at].concat() == *word {
                16
            } else {
                8 >> at
            };
        }
        (matched > 0).then_some((matched, near))
    }
}

/// The words of a question, each once.
fn words_of(text: &str) -> Vec<String> {
    let mut seen = BTreeSet::new();
    text.split(|c: char| !c.is_alphanumeric())
        .map(str::to_lowercase)
        .filter(|word| !word.is_empty() && seen.insert(word.clone()))
        .collect()
}

/// The words of a text, with names taken apart where their case or their marks do.
fn segments(text: &str) -> Vec<String> {
    let mut segments = Vec::new();
    let mut segment = String::new();
    let mut lower = false;
    for character in text.chars() {
        if !character.is_alphanumeric() || (character.is_uppercase() && lower) {
            segments.extend((!segment.is_empty()).then(|| std::mem::take(&mut segment)));
        }
        lower = character.is_lowercase() || character.is_numeric();
        if character.is_alphanumeric() {
            segment.extend(character.to_lowercase());
        }
    }
    segments.extend((!segment.is_empty()).then_some(segment));
    segments
}

/// Whether a word, or what it is the plural of, begins where a segment does.
fn holds(segments: &[String], word: &str) -> bool {
    let one = word.strip_suffix('s').filter(|one| one.chars().count() > 2);
    (0..segments.len()).any(|at| {
        let rest = &segments[at..];
        begins(rest, word) || one.is_some_and(|one| begins(rest, one))
    })
}

/// Whether segments, joined, begin with a word: `read` and `readfile` do in `readFile`.
fn begins(segments: &[String], mut word: &str) -> bool {
    for segment in segments {
        match word.strip_prefix(segment.as_str()) {
            Some("") => return true,
            Some(rest) => word = rest,
            None => return segment.starts_with(word),
        }
    }
    false
}

/// Whether an entry is of a module that is asked for, in small letters, by gg's id or by the path of
/// the arm.
fn names_module(entry: Entry<'_>, asked: &dyn Fn(&str) -> bool) -> bool {
    let path = match entry {
        Entry::Module(module) => Some(&module.path),
        Entry::Function(_) | Entry::Type(_) | Entry::LoadedModule(_) | Entry::Export(..) => None,
    };
    let owner = entry.key().len().checked_sub(entry.name().len());
    // The path of an entry's module is what stands before its name.
    let before = owner
        .and_then(|end| entry.key().get(..end))
        .map(|before| before.trim_end_matches([':', '.']).to_lowercase());
    asked(&entry.module().to_lowercase())
        || path.is_some_and(|path| asked(&path.to_lowercase()))
        || (entry.kind() != EntryKind::Module && before.is_some_and(|before| asked(&before)))
}

/// Whether an entry is a type, or written with it.
fn is_of_type(entry: Entry<'_>, asked: &str) -> bool {
    let same = |fqn: &str| fqn.eq_ignore_ascii_case(asked) || bare(fqn).eq_ignore_ascii_case(asked);
    match entry {
        Entry::Function(function) => {
            let throws = function.throws.iter();
            let all = function.returns.iter().chain(&function.types).chain(throws);
            all.chain(&function.receiver).any(|fqn| same(fqn))
        }
        Entry::Type(declared) => same(&declared.fqn) || writes(&declared.declaration, bare(asked)),
        Entry::Export(_, export) => {
            let all = export.returns.iter().chain(&export.parameters);
            all.chain(std::iter::once(&export.name))
                .any(|name| same(name))
        }
        Entry::Module(_) | Entry::LoadedModule(_) => false,
    }
}

const fn order(kind: EntryKind) -> u8 {
    match kind {
        EntryKind::Module => 0,
        EntryKind::Function => 1,
        EntryKind::Type => 2,
    }
}

/// The view of a page: what was asked, how much of what was found it covers, and the hits by kind.
fn shown(asked: &Asked<'_>, query: &Query, hits: &[DocHit], total: usize, start: usize) -> String {
    let mut question = Vec::new();
    if !asked.words.is_empty() {
        question.push(format!(
            "`{}`",
            quoted(query.query.as_deref().unwrap_or_default().trim())
        ));
    }
    if !query.modules.is_empty() {
        let named = query.modules.iter().take(MOST_NAMED);
        let mut named: Vec<String> = named.map(|module| quoted(module)).collect();
        let more = query.modules.len().saturating_sub(MOST_NAMED);
        named.extend((more > 0).then(|| format!("and {more} more")));
        question.push(format!("modules {}", named.join(", ")));
    }
    if let Some(of) = asked.of_type {
        question.push(format!("type {}", quoted(of)));
    }
    if let Some(kind) = query.kind {
        question.push(format!("kind {}", word(kind)));
    }
    let mut text = format!("Search: {}\n", question.join("; "));
    let covered = match (hits.len(), total) {
        (_, 0) => "Nothing found".to_owned(),
        (0, _) => format!("None of {total}: the offset is past the last"),
        (1, _) => format!("{} of {total}", start + 1),
        (some, _) => format!("{}-{} of {total}", start + 1, start + some),
    };
    text.push_str(&covered);
    text.push('\n');
    for (kind, heading) in [
        (EntryKind::Module, "Modules"),
        (EntryKind::Function, "Functions"),
        (EntryKind::Type, "Types"),
    ] {
        let mut group = hits.iter().filter(|hit| hit.kind == kind).peekable();
        if group.peek().is_none() {
            continue;
        }
        text.push_str(&format!("\n{heading}:\n"));
        for hit in group {
            text.push_str(&format!("  {}: {}\n", hit.key, hit.summary));
        }
    }
    text
}

const fn word(kind: EntryKind) -> &'static str {
    match kind {
        EntryKind::Module => "module",
        EntryKind::Function => "function",
        EntryKind::Type => "type",
    }
}
