//! A call on memories as a program makes it: its values, judged as a model's JSON is.

use tools::Faults;
use vocab::failure::Failure;
use vocab::knowledge::MemoryStrategy;

use super::call::{check_name, described};
use super::{MemoryCall, MemoryCode};

impl MemoryCall {
    /// `write_memory` and `create_memory`.
    ///
    /// # Errors
    ///
    /// `invalid-argument`, every fault named at once.
    pub fn create(
        name: String,
        description: Option<String>,
        body: String,
        code: MemoryCode,
        strategy: MemoryStrategy,
    ) -> Result<Self, Failure> {
        let mut faults = Faults::default();
        faults.filled("name", &name);
        check_name(&name, &mut faults);
        let description = description_of(description, strategy, &mut faults);
        faults.filled("body", &body);
        faults.judge()?;
        Ok(Self::Create {
            name,
            description,
            body,
            code,
        })
    }

    /// `update_memory`; the code it had is replaced too, where none is given by none.
    ///
    /// # Errors
    ///
    /// `invalid-argument`, every fault named at once.
    pub fn replace(
        name: String,
        description: Option<String>,
        body: String,
        code: MemoryCode,
        strategy: MemoryStrategy,
    ) -> Result<Self, Failure> {
        let mut faults = Faults::default();
        faults.filled("name", &name);
        let description = description_of(description, strategy, &mut faults);
        faults.filled("body", &body);
        faults.judge()?;
        Ok(Self::Replace {
            name,
            description,
            body,
            code: Some(code),
        })
    }

    /// `edit_memory`.
    ///
    /// # Errors
    ///
    /// `invalid-argument`, every fault named at once.
    pub fn edit(name: String, old: String, new: String) -> Result<Self, Failure> {
        let mut faults = Faults::default();
        faults.filled("name", &name);
        faults.replacement(&old, &new);
        faults.judge()?;
        Ok(Self::Edit { name, old, new })
    }

    /// `read_memory`.
    ///
    /// # Errors
    ///
    /// `invalid-argument` for a blank name.
    pub fn read(name: String) -> Result<Self, Failure> {
        named(name).map(|name| Self::Read { name })
    }

    /// `delete_memory`.
    ///
    /// # Errors
    ///
    /// `invalid-argument` for a blank name.
    pub fn delete(name: String) -> Result<Self, Failure> {
        named(name).map(|name| Self::Delete { name })
    }

    /// `search_memories`.
    ///
    /// # Errors
    ///
    /// `invalid-argument` for no keyword, or a blank one.
    pub fn search(keywords: Vec<String>) -> Result<Self, Failure> {
        let mut faults = Faults::default();
        faults.filled_list("keywords", &keywords);
        faults.judge()?;
        Ok(Self::Search { keywords })
    }
}

fn named(name: String) -> Result<String, Failure> {
    let mut faults = Faults::default();
    faults.filled("name", &name);
    faults.judge().map(|()| name)
}

/// A description has to be there where the window shows it.
fn description_of(
    text: Option<String>,
    strategy: MemoryStrategy,
    faults: &mut Faults,
) -> Option<String> {
    let Some(text) = text else {
        if strategy.describes() {
            faults.push("`description` is missing");
        }
        return None;
    };
    if strategy.describes() {
        faults.filled("description", &text);
    }
    described(&text, faults)
}

#[cfg(test)]
mod tests {
    use vocab::tools::ToolName as T;

    use super::super::parse;
    use super::*;

    const NONE: MemoryCode = MemoryCode {
        language: None,
        module: None,
        on_use: None,
    };

    fn text(text: &str) -> String {
        text.to_owned()
    }

    #[test]
    fn values_and_json_come_to_the_same_call() {
        use MemoryStrategy as S;
        let json = r#"{"name":"a","description":" d ","body":"b"}"#;
        let create = |strategy| {
            let description = Some(text(" d "));
            MemoryCall::create(text("a"), description, text("b"), NONE, strategy)
        };
        assert_eq!(
            create(S::Scratchpad),
            parse(T::WriteMemory, json, S::Scratchpad)
        );
        assert_eq!(
            create(S::Markdown),
            parse(T::CreateMemory, json, S::Markdown)
        );
        let replaced =
            MemoryCall::replace(text("a"), Some(text(" d ")), text("b"), NONE, S::Scratchpad);
        let MemoryCall::Replace { code, .. } = replaced.clone().unwrap() else {
            panic!("{replaced:?}");
        };
        assert_eq!(code, Some(NONE), "what a program leaves out is cleared");
        let kept = parse(T::UpdateMemory, json, S::Scratchpad).unwrap();
        let MemoryCall::Replace {
            name,
            description,
            body,
            code: None,
        } = kept
        else {
            panic!("{kept:?}");
        };
        let expected = MemoryCall::Replace {
            name,
            description,
            body,
            code,
        };
        assert_eq!(replaced, Ok(expected));
        assert_eq!(
            MemoryCall::create(text("a"), None, text("b"), NONE, S::KeywordSearch),
            parse(
                T::CreateMemory,
                r#"{"name":"a","body":"b"}"#,
                S::KeywordSearch
            )
        );
        assert_eq!(
            MemoryCall::edit(text("a"), text("x"), String::new()),
            parse(
                T::EditMemory,
                r#"{"name":"a","oldString":"x","newString":""}"#,
                S::Markdown
            )
        );
        assert_eq!(
            MemoryCall::search(vec![text("x")]),
            parse(T::SearchMemories, r#"{"keywords":["x"]}"#, S::KeywordSearch)
        );
        let named = r#"{"name":"a"}"#;
        let read = parse(T::ReadMemory, named, S::Markdown);
        assert_eq!(MemoryCall::read(text("a")), read);
        let delete = parse(T::DeleteMemory, named, S::Scratchpad);
        assert_eq!(MemoryCall::delete(text("a")), delete);
    }

    #[test]
    fn every_fault_is_named() {
        let told = MemoryCall::create(text("a b"), None, text(" "), NONE, MemoryStrategy::Markdown);
        let told = told.unwrap_err().message;
        for part in [
            "`name` is \"a b\"",
            "`description` is missing",
            "`body` is blank",
        ] {
            assert!(told.contains(part), "{told}");
        }
        let two_lines = Some(text("a\nb"));
        let told = MemoryCall::replace(
            text(" "),
            two_lines,
            text("b"),
            NONE,
            MemoryStrategy::KeywordSearch,
        );
        let told = told.unwrap_err().message;
        for part in ["`name` is blank", "`description` has a line break"] {
            assert!(told.contains(part), "{told}");
        }
        assert!(MemoryCall::edit(text("a"), text("x"), text("x")).is_err());
        assert!(MemoryCall::search(Vec::new()).is_err());
        assert!(MemoryCall::search(vec![text(" ")]).is_err());
        assert!(MemoryCall::read(text(" ")).is_err());
        assert!(MemoryCall::delete(String::new()).is_err());
    }
}
