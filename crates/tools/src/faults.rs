//! What is found wrong with a call's arguments, whether a model wrote them as JSON or a program gave
//! them as values.
//!
//! Always true: one kind of fault is told in one sentence, however the argument came.

use vocab::failure::Failure;
use vocab::figures::grouped;

/// Bytes of a text that another agent, the window or a store is given: what a whole window of a
/// large model holds, and little enough to be counted, kept and sent between two ticks of a clock.
pub const MOST_TEXT: usize = 1024 * 1024;

/// Bytes of everything else: a name, an id, a path, a title, a question. No system takes a longer
/// path.
pub const MOST_NAME: usize = 4096;

/// Items of a list.
pub const MOST_ITEMS: usize = 1000;

/// The arguments that are texts; every other is a name.
const TEXTS: [&str; 12] = [
    "prompt",
    "message",
    "note",
    "summary",
    "description",
    "body",
    "inScope",
    "outOfScope",
    "completionCriteria",
    "command",
    "items",
    "code",
];

/// Faults of one call, in the order they were found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults(Vec<String>);

impl Faults {
    /// Adds a fault, as a part of a sentence.
    pub fn push(&mut self, fault: impl Into<String>) {
        self.0.push(fault.into());
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A text that holds more than blanks.
    pub fn filled(&mut self, key: &str, text: &str) {
        if text.trim().is_empty() {
            self.push(format!("`{key}` is blank"));
        }
        self.bounded(key, text);
    }

    /// A text of any content that is no longer than its kind may be.
    pub fn bounded(&mut self, key: &str, text: &str) {
        let most = if TEXTS.contains(&key) {
            MOST_TEXT
        } else {
            MOST_NAME
        };
        if text.len() > most {
            self.push(format!(
                "`{key}` holds {} bytes; at most {} are taken",
                grouped(text.len() as u64),
                grouped(most as u64)
            ));
        }
    }

    /// The same of a text that may be left out.
    pub fn optional_bounded(&mut self, key: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.bounded(key, text);
        }
    }

    /// A path that leads somewhere.
    pub fn path(&mut self, key: &str, path: &str) {
        if path.is_empty() {
            self.push(format!("`{key}` is empty"));
        }
        self.bounded(key, path);
    }

    /// The same of a text that may be left out.
    pub fn optional_filled(&mut self, key: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.filled(key, text);
        }
    }

    /// A list none of whose texts is blank.
    pub fn list(&mut self, key: &str, items: &[String]) {
        if !self.few(key, items.len()) {
            return;
        }
        for (place, item) in items.iter().enumerate() {
            if item.trim().is_empty() {
                self.push(format!("`{key}[{place}]` is blank"));
            }
            if item.len() > MOST_NAME {
                self.push(format!(
                    "`{key}[{place}]` holds {} bytes; at most {} are taken",
                    grouped(item.len() as u64),
                    grouped(MOST_NAME as u64)
                ));
            }
        }
    }

    /// Whether a list holds no more than a call takes.
    pub(crate) fn few(&mut self, key: &str, items: usize) -> bool {
        if items > MOST_ITEMS {
            self.push(format!(
                "`{key}` holds {} items; at most {} are taken",
                grouped(items as u64),
                grouped(MOST_ITEMS as u64)
            ));
        }
        items <= MOST_ITEMS
    }

    /// The same of a list that holds at least one.
    pub fn filled_list(&mut self, key: &str, items: &[String]) {
        if items.is_empty() {
            self.push(format!("`{key}` is empty; give at least one"));
        }
        self.list(key, items);
    }

    /// `oldString`, which is not empty, and `newString`, which is another text.
    pub fn replacement(&mut self, old: &str, new: &str) {
        if old.is_empty() {
            self.push("`oldString` is empty; give the text to replace");
        } else if old == new {
            self.push("`oldString` and `newString` are equal");
        }
    }

    /// A whole range, both ends included, that counts from 1.
    pub fn range(&mut self, key: &str, place: usize, (from, to): (u64, u64)) {
        if from == 0 {
            self.push(format!(
                "`{key}[{place}]` is [{from},{to}]; expected a pair of whole numbers, 1 or more"
            ));
        } else if from > to {
            self.push(format!(
                "`{key}[{place}]` runs backwards, from {from} to {to}"
            ));
        }
    }

    /// All of them in one sentence.
    pub fn sentence(&self) -> String {
        self.0.join("; ")
    }

    /// Judges a call.
    ///
    /// # Errors
    ///
    /// `invalid-argument`, every fault named at once.
    pub fn judge(self) -> Result<(), Failure> {
        if self.is_empty() {
            return Ok(());
        }
        Err(Failure::invalid(self.sentence()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_is_named_in_one_sentence() {
        let mut faults = Faults::default();
        faults.filled("name", "ok");
        faults.filled("title", " \n");
        faults.optional_filled("note", None);
        faults.filled_list("keywords", &[]);
        faults.list("files", &["a".to_owned(), String::new()]);
        faults.replacement("a", "a");
        faults.replacement("", "");
        faults.range("ranges", 0, (1, 1));
        faults.range("ranges", 1, (3, 1));
        faults.range("ranges", 2, (0, 1));
        let failure = faults.judge().unwrap_err();
        assert_eq!(
            failure.message,
            "`title` is blank; `keywords` is empty; give at least one; `files[1]` is blank; \
             `oldString` and `newString` are equal; `oldString` is empty; give the text to \
             replace; `ranges[1]` runs backwards, from 3 to 1; `ranges[2]` is [0,1]; expected a \
             pair of whole numbers, 1 or more"
        );
        assert_eq!(Faults::default().judge(), Ok(()));
    }

    #[test]
    fn a_text_a_name_and_a_list_are_bounded_each_by_its_kind() {
        let mut faults = Faults::default();
        faults.filled("prompt", &"x".repeat(MOST_TEXT));
        faults.filled("query", &"x".repeat(MOST_NAME));
        faults.list("ids", &vec!["x".to_owned(); MOST_ITEMS]);
        assert_eq!(faults, Faults::default());
        faults.filled("prompt", &"x".repeat(MOST_TEXT + 1));
        faults.filled("query", &"x".repeat(MOST_NAME + 1));
        faults.path("path", &"x".repeat(MOST_NAME + 1));
        faults.list("ids", &vec![String::new(); MOST_ITEMS + 1]);
        faults.list("ids", &["x".repeat(MOST_NAME + 1)]);
        assert_eq!(
            faults.sentence(),
            "`prompt` holds 1,048,577 bytes; at most 1,048,576 are taken; `query` holds 4,097 \
             bytes; at most 4,096 are taken; `path` holds 4,097 bytes; at most 4,096 are taken; \
             `ids` holds 1,001 items; at most 1,000 are taken; `ids[0]` holds 4,097 bytes; at most \
             4,096 are taken"
        );
    }
}
