//! A session under test: the window, and what the obvious bookkeeping says of it.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use context::autoload;
use context::compaction::{Answer, CompactCall, Material, apply, file_view};
use context::managed::{archive, evict, turn_header};
use context::opened::Loaded;
use context::prompts::{self, Unread};
use context::tokens;
use context::window::{
    BlockKind, Cursor, Item, NewItem, Region, Retention, Row, TurnRange, Window,
};
use vocab::band::{Band, BandTokens};
use vocab::ids::{CallId, MessageId};
use vocab::message::{Image, ImageFormat, Message, Role, ToolCall};

pub(crate) const TOOLSET: &str = r#"[{"type":"function","function":{"name":"list_dir"}}]"#;
pub(crate) const PATHS: [&str; 3] = ["src/a.rs", "b.md", "picture.png"];
pub(crate) const RENDERS: &str = "gg's own templates render";
pub(crate) const LABELS: [&str; 2] = ["plan", "chart"];

/// What one call of a turn answers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Called {
    Output,
    /// About 300 tokens of it.
    Long,
    File(usize),
    Picture,
    Skill,
}

/// A call on the window, made in the middle of a turn.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    Evict(Option<usize>),
    Archive(Vec<(u32, u32)>),
}

pub(crate) fn user(text: &str) -> Message {
    Message::User {
        text: text.into(),
        images: Vec::new(),
    }
}

pub(crate) fn picture(byte: u8) -> Image {
    Image {
        format: ImageFormat::Png,
        bytes: vec![byte; 7].into(),
        dimensions: Some((20, 20)),
    }
}

/// A session: the window, and what the obvious bookkeeping says of it.
pub(crate) struct Session {
    pub(crate) window: Window,
    pub(crate) headers: bool,
    pub(crate) turn: u32,
    /// Numbers texts and calls, so that each is the only one of its kind.
    pub(crate) next: u32,
    /// Texts of pinned items, blocks aside, each with its pictures: none may ever be lost.
    pub(crate) pinned: Vec<(String, usize)>,
    pub(crate) blocks: BTreeMap<u8, String>,
    pub(crate) before: Vec<u8>,
    pub(crate) cursor: Cursor,
    pub(crate) rows: Vec<Row>,
    pub(crate) reported: HashSet<MessageId>,
    /// Every call there was.
    pub(crate) calls: Vec<CallId>,
}

impl Session {
    pub(crate) fn open(limit: u64, files: usize, locked: bool, headers: bool) -> Self {
        let mut session = Self {
            window: Window::new(limit, TOOLSET, provider::request::Shape::Bare),
            headers,
            turn: 0,
            next: 0,
            pinned: Vec::new(),
            blocks: BTreeMap::new(),
            before: Vec::new(),
            cursor: Cursor::default(),
            rows: Vec::new(),
            reported: HashSet::new(),
            calls: Vec::new(),
        };
        session.window.set_system("You work alone.");
        session.window.push(NewItem {
            retention: Retention::Pinned,
            ..NewItem::new(Band::UserPrompt, 0, user("Build it"))
        });
        session.pinned.push(("Build it".to_owned(), 0));
        let files: Vec<_> = (0..files)
            .map(|file| Loaded {
                path: format!("spec-{file}.md").into(),
                text: session.text("specification").into(),
                region: None,
                image: (file == 1).then(|| picture(9)),
            })
            .collect();
        for item in autoload::items(files, locked) {
            if item.retention == Retention::Pinned {
                let pictures = item.message.images().len();
                session
                    .pinned
                    .push((item.message.text().to_owned(), pictures));
            }
            session.window.push(item);
        }
        session.turn = 1;
        session
    }

    pub(crate) fn text(&mut self, kind: &str) -> String {
        self.next += 1;
        format!("{kind} number {} of the session", self.next)
    }

    pub(crate) fn result(&mut self, id: &str, called: Called) {
        let (band, selector, retention) = match called {
            Called::Output | Called::Long => (Band::ToolOutput, None, Retention::Ephemeral),
            Called::File(path) => (Band::FileView, Some(PATHS[path]), Retention::Ephemeral),
            Called::Picture => (Band::FileView, Some(PATHS[2]), Retention::Ephemeral),
            Called::Skill => (Band::Skill, Some("csv"), Retention::Pinned),
        };
        let mut text = self.text(band.as_str());
        if let Called::Long = called {
            text.push_str(&" again and again".repeat(100));
        }
        if self.headers {
            text = format!("{}{text}", turn_header(self.turn, tokens::count(&text)));
        }
        if retention == Retention::Pinned {
            self.pinned.push((text.clone(), 0));
        }
        let images = match called {
            Called::Picture => vec![picture(3)],
            _ => Vec::new(),
        };
        let message = Message::Tool {
            call: id.into(),
            text: text.into(),
            images,
        };
        self.window.push(NewItem {
            retention,
            selector: selector.map(Into::into),
            region: matches!(called, Called::File(0)).then_some(Region {
                first: 1,
                last: 2,
                total: 9,
            }),
            ..NewItem::new(band, self.turn, message)
        });
    }

    pub(crate) fn turn(&mut self, ahead: &[Called], act: Option<&Act>, behind: &[Called]) {
        let count = ahead.len() + usize::from(act.is_some()) + behind.len();
        let ids: Vec<_> = (0..count)
            .map(|call| format!("call-{}-{call}", self.next))
            .collect();
        let calls = ids
            .iter()
            .map(|id| ToolCall {
                id: id.as_str().into(),
                name: "read_file".to_owned(),
                arguments: format!("{{\"path\":\"{id}\"}}").into(),
            })
            .collect();
        self.calls.extend(ids.iter().map(|id| id.as_str().into()));
        let said = Message::Assistant {
            text: Some(self.text("thought").into()),
            calls,
            reasoning: None,
        };
        self.window
            .push(NewItem::new(Band::Assistant, self.turn, said));
        let mut ids = ids.iter();
        for (called, id) in ahead.iter().zip(ids.by_ref()) {
            self.result(id, *called);
        }
        if let Some(act) = act {
            match act {
                Act::Evict(path) => self.evict(*path),
                Act::Archive(ranges) => self.archive(ranges),
            }
            let id = ids.next().expect("an act has a call of its own");
            self.result(id, Called::Output);
        }
        for (called, id) in behind.iter().zip(ids) {
            self.result(id, *called);
        }
        self.turn += 1;
    }

    pub(crate) fn evict(&mut self, path: Option<usize>) {
        let (before, total) = (self.window.ids(), self.window.breakdown().1);
        let open = |window: &Window, pinned: bool| {
            let items = window.items().iter();
            items
                .filter(|item| item.band == Band::FileView && item.is_ephemeral() != pinned)
                .filter(|item| {
                    path.is_none_or(|path| item.selector.as_deref() == Some(PATHS[path]))
                })
                .count()
        };
        let (views, locked) = (open(&self.window, false), open(&self.window, true));
        let path = path.map(|path| format!("./{}", PATHS[path]));
        let evicted = evict(&mut self.window, path.as_deref(), self.headers).expect(RENDERS);
        assert_eq!(evicted.items, views);
        assert_eq!(open(&self.window, false), 0);
        assert_eq!(open(&self.window, true), locked);
        assert_eq!(
            evicted.tokens,
            total.saturating_sub(self.window.breakdown().1)
        );
        assert_eq!(evicted.first_index, first_change(&before, &self.window));
    }

    pub(crate) fn archive(&mut self, ranges: &[(u32, u32)]) {
        let ranges: Vec<TurnRange> = ranges.iter().map(|(from, to)| *from..=*to).collect();
        let asked = |turn: u32| turn != self.turn && ranges.iter().any(|it| it.contains(&turn));
        let (before, total) = (self.window.ids(), self.window.breakdown().1);
        let held: Vec<Item> = self.window.items().to_vec();
        let archived = archive(&mut self.window, &ranges, self.turn).expect(RENDERS);

        let stays =
            |item: &&Item| !item.is_ephemeral() || item.band == Band::DocsView || !asked(item.turn);
        let stored: Vec<_> = held
            .iter()
            .filter(|item| !stays(item) && item.message.role() != Role::Assistant)
            .map(|item| {
                let text = item.message.text();
                let headed = self.headers && item.message.answers().is_some() && item.turn > 0;
                let said = text.split_once("\n----\n").filter(|_| headed);
                said.map_or(text, |(_, said)| said)
            })
            .collect();
        let entries: Vec<_> = archived.entries.iter().map(|it| &*it.text).collect();
        assert_eq!(entries, stored, "only results are stored, and all of them");
        assert!(archived.entries.iter().all(|it| {
            (it.role == Role::Tool) == it.call.is_some() && it.role != Role::Assistant
        }));
        assert_eq!(
            self.window.items().len(),
            held.iter().filter(stays).count(),
            "nothing else left"
        );
        assert_eq!(archived.items, held.len() - self.window.items().len());
        for turn in 1..=self.turn {
            let of_turn = |items: &[Item]| items.iter().filter(|it| it.turn == turn).count();
            let (was, is) = (of_turn(&held), of_turn(self.window.items()));
            assert_eq!(archived.turns.contains(&turn), is < was, "{turn}");
            let missing = archived.missing.iter().any(|it| it.contains(&turn));
            assert_eq!(missing, was == 0 && asked(turn), "{turn}");
        }
        assert_eq!(
            archived.tokens,
            total.saturating_sub(self.window.breakdown().1)
        );
        assert_eq!(archived.first_index, first_change(&before, &self.window));
    }

    pub(crate) fn view(&mut self, label: usize, with_picture: bool) {
        let text = self.text("view");
        let images = if with_picture {
            vec![picture(4)]
        } else {
            Vec::new()
        };
        let view = NewItem {
            selector: Some(LABELS[label].into()),
            ..NewItem::new(
                Band::TextView,
                self.turn,
                Message::User {
                    text: text.as_str().into(),
                    images,
                },
            )
        };
        self.window
            .open_view(view, |text| {
                prompts::superseded_picture(text, Some(LABELS[label]))
            })
            .expect(RENDERS);
        let live: Vec<_> = self
            .window
            .items()
            .iter()
            .filter(|item| item.selector.as_deref() == Some(LABELS[label]))
            .map(|item| item.message.text().to_owned())
            .collect();
        assert_eq!(live, [text], "one live copy a label");
    }

    pub(crate) fn compact(&mut self, answer: u8, docs: usize, files: usize) {
        let answer = match answer {
            0 => Answer::Prose("what was done".to_owned()),
            1 => Answer::Compact(CompactCall {
                summary: "what was done".to_owned(),
                ..CompactCall::default()
            }),
            2 => Answer::Memories,
            _ => Answer::Fallback,
        };
        let turn = self.turn;
        let docs = (0..docs)
            .map(|_| NewItem::new(Band::DocsView, turn, user(&self.text("documentation"))))
            .collect::<Vec<_>>();
        let files = (0..files)
            .map(|file| {
                let text = self.text("file");
                file_view(PATHS[file], None, &text, None, turn).expect(RENDERS)
            })
            .collect::<Vec<_>>();
        let before = self.window.ids();
        let held: Vec<_> = pinned(&self.window);
        let material = Material {
            docs: docs.clone(),
            files: files.clone(),
            unread: vec![Unread {
                path: "gone".to_owned(),
                why: "no such file".to_owned(),
            }],
            memories: true,
        };
        let (bands, _) = self.window.breakdown();
        let applied = apply(&mut self.window, &answer, material, turn).expect(RENDERS);
        assert_eq!(applied.restarted.before, bands);
        assert_eq!(applied.restarted.after, self.window.breakdown().0);
        assert_eq!(
            applied.restarted.first_index,
            first_change(&before, &self.window)
        );
        assert!(self.window.signal().is_none());

        // Pinned items in their order, blocks last, then docs, files and the summary.
        let items = self.window.items();
        let count = held.len();
        let (kept, fresh) = items.split_at(count);
        assert!(kept.iter().all(|item| !item.is_ephemeral()));
        let is_block = |item: &Item| matches!(item.band, Band::TaskList | Band::Memory);
        let (mut expected, blocks): (Vec<_>, Vec<_>) =
            held.into_iter().partition(|(item, _)| !is_block(item));
        let mut blocks: Vec<_> = blocks;
        blocks.sort_by_key(|(item, _)| item.band == Band::Memory);
        expected.extend(blocks);
        for (item, (was, text)) in kept.iter().zip(&expected) {
            assert_eq!((item.band, item.turn), (was.band, was.turn));
            assert!(item.message.text().ends_with(text.as_str()));
            assert_eq!(item.message.role(), Role::User);
        }
        let bands: Vec<_> = fresh.iter().map(|item| item.band).collect();
        let mut wanted = vec![Band::DocsView; docs.len()];
        wanted.extend(vec![Band::FileView; files.len()]);
        wanted.push(Band::History);
        assert_eq!(bands, wanted);
        assert!(fresh.iter().all(|it| it.is_ephemeral() && it.turn == turn));
    }

    /// What a boundary does before a request leaves, and all that must hold of it.
    pub(crate) fn request(&mut self) {
        let act = self.window.take_rewritten();
        let now = self.window.request_thread().to_vec();
        assert!(
            act.is_some() || now.starts_with(&self.before),
            "no act, and yet the prefix broke"
        );
        self.before = now;
        strictly_paired(&self.window);

        let delta = self.window.since(self.cursor);
        assert!(delta.keep <= self.rows.len());
        self.cursor = delta.cursor;
        self.rows.truncate(delta.keep);
        self.rows.extend(delta.rows);
        let rows = self.rows.iter();
        let rows: Vec<_> = rows
            .map(|row| (row.id, row.band, row.retention, row.turn, row.region))
            .collect();
        let of = |item: &Item| (item.id, item.band, item.retention, item.turn, item.region);
        let system = self.window.system().into_iter();
        let held: Vec<_> = system.chain(self.window.items()).map(of).collect();
        assert_eq!(rows, held, "a reader of deltas holds the window's rows");

        for logged in self.window.unlogged() {
            assert!(self.reported.insert(logged.id), "reported twice");
        }
        for id in self.window.ids() {
            assert!(self.reported.contains(&id), "sent and never reported");
        }
    }

    /// What holds after every step.
    pub(crate) fn check(&mut self) {
        let (bands, total) = self.window.breakdown();
        let mut sums = BandTokens::default();
        sums.add(Band::System, tokens::count(TOOLSET));
        let system = self.window.system().into_iter();
        let mut fixed = tokens::count(TOOLSET);
        for item in system.chain(self.window.items()) {
            let tokens = tokens::of_message(&item.message);
            assert_eq!(item.tokens(), Some(tokens));
            sums.add(item.band, tokens);
            fixed += if item.is_ephemeral() { 0 } else { tokens };
        }
        assert_eq!((bands, total), (sums, sums.total()));
        assert_eq!(self.window.pinned_tokens(), fixed);
        let items = self.window.items();
        assert_eq!(
            self.window.has_ephemeral(),
            items.iter().any(Item::is_ephemeral)
        );
        let pictures = items.iter().flat_map(|item| item.message.images());
        assert_eq!(
            self.window.picture_bytes(),
            pictures.map(Image::encoded_len).sum::<u64>()
        );
        let mut views = BTreeMap::<Arc<str>, u64>::new();
        for item in items {
            if let (Band::FileView, true, Some(path)) =
                (item.band, item.is_ephemeral(), &item.selector)
            {
                *views.entry(path.clone()).or_default() +=
                    item.tokens().expect("the window is settled");
            }
        }
        let mut views: Vec<_> = views.into_iter().collect();
        views.sort_by_key(|(_, tokens)| std::cmp::Reverse(*tokens));
        views.truncate(2);
        assert_eq!(self.window.top_file_views(2), views);

        for kind in BlockKind::ALL {
            let live = self.window.block(kind);
            assert_eq!(
                live.map(|item| item.message.text()),
                self.blocks.get(&(kind as u8)).map(String::as_str)
            );
            assert!(live.is_none_or(|item| !item.is_ephemeral()));
        }
        let blocks = self.blocks.len();
        let held = pinned(&self.window);
        assert_eq!(held.len(), self.pinned.len() + blocks);
        for (text, pictures) in &self.pinned {
            let found: Vec<_> = held.iter().filter(|(_, it)| it.ends_with(text)).collect();
            assert_eq!(found.len(), 1, "pinned and lost or doubled: {text}");
            let left = found[0].0.message.images().len();
            assert_eq!(left, *pictures);
        }
        assert!(self.window.items().iter().all(|it| it.turn <= self.turn));
        let items = self.window.items().iter();
        let held: HashSet<_> = items
            .flat_map(|item| item.message.calls())
            .map(|call| &call.id)
            .collect();
        for call in &self.calls {
            assert_eq!(self.window.has_call(call), held.contains(call), "{call:?}");
        }
        let mut answered = self
            .window
            .items()
            .iter()
            .filter_map(|it| it.message.answers());
        assert!(answered.all(|call| held.contains(call)));
    }
}

pub(crate) fn pinned(window: &Window) -> Vec<(Item, String)> {
    let items = window.items().iter().filter(|item| !item.is_ephemeral());
    items
        .map(|item| (item.clone(), item.message.text().to_owned()))
        .collect()
}

/// The first message of a request that is no longer what it was.
pub(crate) fn first_change(before: &[MessageId], window: &Window) -> Option<usize> {
    let after = window.ids();
    let same = before.iter().zip(&after).take_while(|(a, b)| a == b);
    let kept = same.count();
    let signal = usize::from(window.signal().is_some());
    (kept + signal < before.len() || kept + signal < after.len()).then_some(kept)
}

/// What the strictest server demands: each call answered, in order, before anything else is said,
/// and no answer to what was not called.
pub(crate) fn strictly_paired(window: &Window) {
    let mut open: Vec<_> = Vec::new();
    for item in window.items() {
        if let Some(call) = item.message.answers() {
            assert_eq!(open.first(), Some(call), "an answer out of place");
            open.remove(0);
            continue;
        }
        assert!(open.is_empty(), "calls without an answer: {open:?}");
        open.extend(item.message.calls().iter().map(|call| call.id.clone()));
    }
    assert!(open.is_empty(), "calls without an answer: {open:?}");
}
