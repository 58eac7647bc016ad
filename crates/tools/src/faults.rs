//! What is found wrong with a call's arguments, whether a model wrote them as JSON or a program gave
//! them as values.
//!
//! Always true: one kind of fault is told in one sentence, however the argument came.

use vocab::failure::Failure;

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
    }

    /// The same of a text that may be left out.
    pub fn optional_filled(&mut self, key: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.filled(key, text);
        }
    }

    /// A list none of whose texts is blank.
    pub fn list(&mut self, key: &str, items: &[String]) {
        for (place, item) in items.iter().enumerate() {
            if item.trim().is_empty() {
                self.push(format!("`{key}[{place}]` is blank"));
            }
        }
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
}
