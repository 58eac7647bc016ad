//! The workspace's files, as a program reads and writes them (04 §3): on its own thread, but for a
//! write that hooks stand around.

use sandbox::contract as wit;
use sandbox::services::{Call, Files};
use serde_json::json;
use tools::{EditFile, FilePolicy, FileRead, ListDir, ReadFile, Search, WriteFile, write};
use vocab::failure::Failure;
use vocab::message::ImageFormat;
use vocab::operations::Operation;

use super::given::count;
use super::{Carried, Serving, Setting, broke};

/// Why a picture that is read is not shown.
const READ_IS_NO_VIEW: &str = "a read shows nothing";

impl Serving {
    /// Reads a file without showing it; `answer` makes the call's answer of what was found.
    fn read<T>(
        &mut self,
        call: &Call,
        path: String,
        offset: Option<u32>,
        limit: Option<u32>,
        answer: impl FnOnce(&Setting, &ReadFile, FileRead) -> Result<Carried<T>, Failure>,
    ) -> Result<T, Failure> {
        let arguments = json!({ "path": path, "offset": offset, "limit": limit });
        let read = ReadFile::given(path, offset, limit);
        self.local(call, &arguments, move |_, setting| {
            let read = read?;
            let policy = FilePolicy {
                attach_images: false,
                ..setting.files
            };
            let found = tools::read(&read, &setting.place, &policy, &setting.halt)?;
            answer(setting, &read, found)
        })
    }

    /// Why a picture that is read is not shown, and what shows it.
    fn unshown(&self) -> String {
        let instead = Operation::find("views.open_file")
            .filter(|row| self.setting.offer.offers(row))
            .map(|row| self.setting.arm.spelling(row));
        match instead {
            Some(call) => format!("{READ_IS_NO_VIEW}; `{call}` opens a view of it"),
            None => READ_IS_NO_VIEW.to_owned(),
        }
    }
}

impl Setting {
    /// What was read, as a program gets it. `unshown` says why a picture is not shown.
    pub(super) fn file_read(
        &self,
        call: &ReadFile,
        found: &FileRead,
        unshown: Option<String>,
    ) -> wit::FileRead {
        match found {
            FileRead::Text(text) => wit::FileRead::Text(wit::TextRead {
                contents: self.shared.mask.apply(&text.contents).into_owned(),
                first_line: count(text.first),
                last_line: count(text.last),
                total_lines: count(text.total),
                // Less than was asked for: of a bound of gg's, not of the call.
                truncated: text.cut || call.limit.is_none() && text.last < text.total,
            }),
            FileRead::Picture(picture) => wit::FileRead::Image(wit::ImageRead {
                label: picture.path.clone(),
                format: match picture.format {
                    ImageFormat::Png => wit::ImageFormat::Png,
                    ImageFormat::Jpeg => wit::ImageFormat::Jpeg,
                    ImageFormat::Gif => wit::ImageFormat::Gif,
                    ImageFormat::Webp => wit::ImageFormat::Webp,
                },
                bytes: picture.bytes,
                shown: unshown.is_none(),
                reason: unshown,
            }),
        }
    }
}

impl Files for Serving {
    fn read_file(
        &mut self,
        call: &Call,
        path: String,
        offset: Option<u32>,
        limit: Option<u32>,
    ) -> Result<wit::FileRead, Failure> {
        let unshown = self.unshown();
        self.read(call, path, offset, limit, |setting, read, found| {
            let value = setting.file_read(read, &found, Some(unshown));
            Ok(Carried::new(value, found.into_done(&read.path).text))
        })
    }

    fn read_text_file(
        &mut self,
        call: &Call,
        path: String,
        offset: Option<u32>,
        limit: Option<u32>,
    ) -> Result<String, Failure> {
        self.read(call, path, offset, limit, |setting, read, found| {
            let contents = match &found {
                FileRead::Text(text) => setting.shared.mask.apply(&text.contents).into_owned(),
                FileRead::Picture(picture) => {
                    let what = picture.format;
                    return Err(Failure::invalid(format!(
                        "`{}` is {what}, no text",
                        read.path
                    )));
                }
            };
            Ok(Carried::new(contents, found.into_done(&read.path).text))
        })
    }

    fn write_file(&mut self, call: &Call, path: String, contents: String) -> Result<u64, Failure> {
        let arguments = json!({ "path": path, "contents": contents });
        let bytes = contents.len() as u64;
        let write = WriteFile::given(path, contents).map(tools::Call::WriteFile);
        self.write(call, &arguments, write)?;
        Ok(bytes)
    }

    fn edit_file(
        &mut self,
        call: &Call,
        path: String,
        old_string: String,
        new_string: String,
    ) -> Result<(), Failure> {
        let arguments = json!({ "path": path, "oldString": old_string, "newString": new_string });
        let edit = EditFile::given(path, old_string, new_string).map(tools::Call::EditFile);
        self.write(call, &arguments, edit)
    }

    fn list_dir(
        &mut self,
        call: &Call,
        path: Option<String>,
    ) -> Result<Vec<wit::DirEntry>, Failure> {
        let arguments = json!({ "path": path });
        let list = ListDir::given(path);
        self.local(call, &arguments, move |_, setting| {
            let entries = tools::list(&list?, &setting.place)?;
            let text = tools::listing(&entries);
            let entries = entries.into_iter().map(|entry| wit::DirEntry {
                name: entry.name,
                kind: match entry.kind {
                    tools::EntryKind::File => wit::EntryKind::File,
                    tools::EntryKind::Directory => wit::EntryKind::Directory,
                    tools::EntryKind::Other => wit::EntryKind::Other,
                },
            });
            Ok(Carried::new(entries.collect(), text))
        })
    }

    fn search(
        &mut self,
        call: &Call,
        query: String,
        path: Option<String>,
        limit: Option<u32>,
    ) -> Result<Vec<wit::SearchMatch>, Failure> {
        let arguments = json!({ "query": query, "path": path, "limit": limit });
        let search = Search::given(query, path, limit);
        self.local(call, &arguments, move |_, setting| {
            let found = tools::search(&search?, &setting.place, &setting.halt)?;
            let text = found.as_text();
            let mask = &setting.shared.mask;
            let matches = found.matches.into_iter().map(|found| wit::SearchMatch {
                path: found.path,
                line: count(found.line),
                text: mask.apply(&found.text).into_owned(),
            });
            Ok(Carried::new(matches.collect(), text))
        })
    }
}

impl Serving {
    fn write(
        &mut self,
        call: &Call,
        arguments: &serde_json::Value,
        write: Result<tools::Call, Failure>,
    ) -> Result<(), Failure> {
        if self.setting.watches_writes {
            return self.across(call, arguments, async move |turns, turn| {
                let ran = turns.write_file(turn, write?).await;
                let done = broke(turns, ran)?;
                Ok(Carried::new((), done.text))
            });
        }
        self.local(call, arguments, move |_, setting| {
            let done = write::plan(&write?, &setting.place)?.apply()?;
            Ok(Carried::new((), done.text))
        })
    }
}
