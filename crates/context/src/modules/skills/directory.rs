//! Reading a directory of skills, once, at launch (02 §10.1, R49).
//!
//! The disk is read first, whole, into a [`Listing`]; what the listing means is judged apart from
//! it, every fault at once and each with its place. gg writes nothing there.

use std::collections::BTreeMap;
use std::fs::{Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::OFlags;

use super::front_matter::{self, FrontMatterFault};
use super::{CodeFile, CodeHalf, Skill, SkillOrigin};

/// The directory that is empty where it is not there.
pub const DEFAULT_DIR: &str = ".gg/skills";

/// Bytes of a file of a skill at most. What is longer fills every window there is, and a link may
/// lead to what has no end.
const LARGEST: u64 = 1024 * 1024;

/// The prose of a skill that is a directory.
const PROSE: &str = "skill.md";

/// What stands in a directory of skills, names that begin with a dot left out. A file that is
/// none of its skills' is not read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// `<name>.md`, by name.
    pub files: BTreeMap<String, Content>,
    /// `<name>/`: the files in it, by name.
    pub directories: BTreeMap<String, BTreeMap<String, Content>>,
}

/// What a file holds, or why that is not known.
pub type Content = Result<String, Spoiled>;

/// Why a file or a directory cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Spoiled {
    /// The system says no.
    #[error("cannot be read: {0}")]
    Unreadable(String),
    /// It is a pipe, a socket or a device, or behaves like one.
    #[error("is no regular file")]
    NoFile,
    /// Its bytes are no text.
    #[error("is not UTF-8 text")]
    NotText,
    /// It is larger than any text a window could take.
    #[error("has more than {LARGEST} bytes; a skill is read whole, so it has to be shorter")]
    TooLarge,
}

impl From<io::Error> for Spoiled {
    fn from(error: io::Error) -> Self {
        Self::Unreadable(error.to_string())
    }
}

/// One value of a directory that cannot be honoured.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SkillRefusal {
    /// The directory itself.
    #[error("`{dir}` {why}")]
    Directory {
        /// As it is written.
        dir: String,
        /// What is wrong.
        why: Spoiled,
    },
    /// A file or an inner directory that cannot be read.
    #[error("`{place}` {why}")]
    Spoiled {
        /// Relative to the directory.
        place: String,
        /// What is wrong.
        why: Spoiled,
    },
    /// A head that cannot be used.
    #[error("`{place}` {why}")]
    FrontMatter {
        /// Relative to the directory.
        place: String,
        /// What is wrong.
        why: FrontMatterFault,
    },
    /// A prose skill without a text.
    #[error("`{0}` has no text after its front matter")]
    Empty(String),
    /// A directory without its prose.
    #[error("`{place}/` has no `{PROSE}`{}", instead(.found.as_deref()))]
    NoProse {
        /// The directory.
        place: String,
        /// A file that is named almost so.
        found: Option<String>,
    },
    /// A file of code without code.
    #[error("`{0}` holds no code; fill it or remove it")]
    BlankCode(String),
    /// A name two skills have.
    #[error("`{place}` names a skill `{name}`, as `{other}` does; rename one")]
    Duplicate {
        /// The later of the two.
        place: String,
        /// The earlier one.
        other: String,
        /// The name.
        name: String,
    },
}

fn instead(found: Option<&str>) -> String {
    #[derive(thiserror::Error, Debug)]
    #[error("; rename `{0}`")]
    struct Rename<'a>(&'a str);
    found
        .map(|name| Rename(name).to_string())
        .unwrap_or_default()
}

/// The skills of a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Directory {
    /// The skills, by name.
    pub skills: Vec<Arc<Skill>>,
    /// What cannot be honoured; any refuses the launch.
    pub refusals: Vec<SkillRefusal>,
}

impl Directory {
    /// Reads a directory given absolutely or relative to the workspace. Blocks on the disk.
    pub fn read(workspace: &Path, dir: &str) -> Self {
        match list(&workspace.join(dir)) {
            Ok(listing) => Self::judge(&listing),
            Err(error) if error.kind() == io::ErrorKind::NotFound && is_default(workspace, dir) => {
                Self::default()
            }
            Err(error) => Self {
                skills: Vec::new(),
                refusals: vec![SkillRefusal::Directory {
                    dir: dir.to_owned(),
                    why: error.into(),
                }],
            },
        }
    }

    /// Makes skills of a listing.
    pub fn judge(listing: &Listing) -> Self {
        let mut found = Found::default();
        for (name, content) in &listing.files {
            found.prose_file(name, content);
        }
        for (name, files) in &listing.directories {
            found.directory(name, files);
        }
        found.finish()
    }
}

/// Whether a path is the one directory that may be missing.
fn is_default(workspace: &Path, dir: &str) -> bool {
    // Components drop what changes no meaning: `./`, doubled and final slashes.
    workspace
        .join(dir)
        .components()
        .eq(workspace.join(DEFAULT_DIR).components())
}

/// Skills and refusals as they come up.
#[derive(Default)]
struct Found {
    /// By name, each with its place.
    skills: BTreeMap<Arc<str>, (String, Arc<Skill>)>,
    refusals: Vec<SkillRefusal>,
}

impl Found {
    fn prose_file(&mut self, place: &str, content: &Content) {
        let Some(skill) = self.prose(place, content, Vec::new()) else {
            return;
        };
        if skill.body.is_empty() {
            self.refusals.push(SkillRefusal::Empty(place.to_owned()));
        } else {
            self.add(place, skill);
        }
    }

    fn directory(&mut self, directory: &str, files: &BTreeMap<String, Content>) {
        let code = files
            .iter()
            .filter_map(|(name, content)| self.code(directory, name, content))
            .collect();
        let Some(content) = files.get(PROSE) else {
            let found = files.keys().find(|name| name.eq_ignore_ascii_case(PROSE));
            self.refusals.push(SkillRefusal::NoProse {
                place: directory.to_owned(),
                found: found.cloned(),
            });
            return;
        };
        let place = format!("{directory}/{PROSE}");
        if let Some(skill) = self.prose(&place, content, code) {
            self.add(&place, skill);
        }
    }

    fn code(&mut self, directory: &str, name: &str, content: &Content) -> Option<CodeFile> {
        let (half, extension) = code_name(name)?;
        let place = format!("{directory}/{name}");
        let text = self.text(&place, content)?;
        if text.trim().is_empty() {
            self.refusals.push(SkillRefusal::BlankCode(place));
            return None;
        }
        Some(CodeFile {
            half,
            extension: extension.to_owned(),
            text: text.into(),
        })
    }

    fn prose(&mut self, place: &str, content: &Content, code: Vec<CodeFile>) -> Option<Skill> {
        let text = self.text(place, content)?;
        match front_matter::read(text) {
            Ok(headed) => Some(Skill {
                name: headed.name.into(),
                description: headed.description.into(),
                body: headed.body.into(),
                origin: SkillOrigin::File(place.to_owned()),
                code,
            }),
            Err(why) => {
                self.refusals.push(SkillRefusal::FrontMatter {
                    place: place.to_owned(),
                    why,
                });
                None
            }
        }
    }

    fn text<'a>(&mut self, place: &str, content: &'a Content) -> Option<&'a str> {
        match content {
            Ok(text) => Some(text),
            Err(why) => {
                self.refusals.push(SkillRefusal::Spoiled {
                    place: place.to_owned(),
                    why: why.clone(),
                });
                None
            }
        }
    }

    fn add(&mut self, place: &str, skill: Skill) {
        if let Some((other, _)) = self.skills.get(&skill.name) {
            self.refusals.push(SkillRefusal::Duplicate {
                place: place.to_owned(),
                other: other.clone(),
                name: skill.name.to_string(),
            });
            return;
        }
        self.skills
            .insert(Arc::clone(&skill.name), (place.to_owned(), skill.into()));
    }

    fn finish(self) -> Directory {
        Directory {
            skills: self.skills.into_values().map(|(_, skill)| skill).collect(),
            refusals: self.refusals,
        }
    }
}

/// What a file of a skill's directory is by its name, where it is code.
fn code_name(name: &str) -> Option<(CodeHalf, &str)> {
    let (stem, extension) = name.split_once('.')?;
    let half = match stem {
        "skill" => CodeHalf::Module,
        "on-use" => CodeHalf::Script,
        _ => return None,
    };
    let plain = !extension.is_empty() && !extension.contains('.');
    // The prose, however its name is written, is no code.
    (plain && !extension.eq_ignore_ascii_case("md")).then_some((half, extension))
}

/// Reads what a directory of skills holds.
fn list(dir: &Path) -> io::Result<Listing> {
    let mut listing = Listing::default();
    for (name, path) in visible(dir)? {
        // A link counts as what it leads to.
        if path.is_dir() {
            let files = inside(&path);
            listing.directories.insert(name, files);
        } else if path.extension().is_some_and(|kind| kind == "md") {
            let content = text(&path);
            listing.files.insert(name, content);
        }
    }
    Ok(listing)
}

/// The files of a skill's directory that are of the skill. One that cannot be listed reads as one
/// whose prose cannot be.
fn inside(dir: &Path) -> BTreeMap<String, Content> {
    match visible(dir) {
        Ok(entries) => entries
            .into_iter()
            .filter(|(_, path)| !path.is_dir())
            .map(|(name, path)| {
                let wanted = name == PROSE || code_name(&name).is_some();
                let content = if wanted {
                    text(&path)
                } else {
                    Ok(String::new())
                };
                (name, content)
            })
            .collect(),
        Err(error) => BTreeMap::from([(PROSE.to_owned(), Err(error.into()))]),
    }
}

fn visible(dir: &Path) -> io::Result<Vec<(String, std::path::PathBuf)>> {
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.starts_with('.') {
            entries.push((name, entry.path()));
        }
    }
    Ok(entries)
}

fn text(path: &Path) -> Content {
    // Looked at before it is opened, since opening alone makes some devices act; then opened
    // without blocking and looked at again, since another file may stand there by then.
    regular(&std::fs::metadata(path)?)?;
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
        .open(path)?;
    regular(&file.metadata()?)?;
    let mut bytes = Vec::new();
    // Read to the bound, whatever length the system tells: it tells none of what it makes up.
    file.take(LARGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| match error.kind() {
            // `/proc/kmsg` says that it is a regular file, and waits for the kernel's next word.
            io::ErrorKind::WouldBlock => Spoiled::NoFile,
            _ => error.into(),
        })?;
    if bytes.len() as u64 > LARGEST {
        return Err(Spoiled::TooLarge);
    }
    String::from_utf8(bytes).map_err(|_| Spoiled::NotText)
}

/// A pipe or a device may keep a reader for ever.
fn regular(found: &Metadata) -> Result<(), Spoiled> {
    found.is_file().then_some(()).ok_or(Spoiled::NoFile)
}
