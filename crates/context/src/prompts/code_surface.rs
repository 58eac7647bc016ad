//! What a code agent's prompts say of its language and of what its programs may import.
//!
//! The values come from whoever knows the arms; no name of a function is among them but those of
//! the calls that end the agent. Everything else a model finds by searching the documentation.

use std::time::Duration;

use serde::Serialize;

/// An arm and what an agent has of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CodeSurface {
    /// The language of its programs.
    pub language: ProgramLanguage,
    /// The modules in which it may call at least one function, in the order a model meets them.
    modules: Vec<ModuleImport>,
    /// The line that brings all of them into scope, where one does.
    import: Option<&'static str>,
    /// The calls that end it, spelled as its programs write them, in offered order.
    #[serde(skip)]
    pub endings: Vec<&'static str>,
    /// What bounds one of its programs.
    #[serde(flatten)]
    pub bounds: ProgramBounds,
    /// How its programs are kept, where they are.
    pub library: Option<ProgramLibrary>,
}

impl CodeSurface {
    /// What an agent has of an arm; its programs are not kept.
    pub fn new(
        language: ProgramLanguage,
        modules: Vec<ModuleImport>,
        endings: Vec<&'static str>,
        bounds: ProgramBounds,
    ) -> Self {
        let first = modules.first().map(|module| module.import);
        let import = first.filter(|line| modules.iter().all(|module| module.import == *line));
        Self {
            language,
            modules,
            import,
            endings,
            bounds,
            library: None,
        }
    }

    /// The path of a module, by gg's id; `None` where the agent may call nothing in it.
    pub fn path(&self, module: &str) -> Option<&'static str> {
        let found = self.modules.iter().find(|import| import.id == module);
        found.map(|import| import.path)
    }
}

/// The language of an agent's programs. A template chooses its segment by the id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProgramLanguage {
    /// The arm's id, as a launch document writes it.
    pub id: &'static str,
    /// Its name for people.
    pub name: &'static str,
    /// What judges a program before it runs; `null` where nothing does.
    pub checker: Option<&'static str>,
}

/// One module a program may import.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ModuleImport {
    /// Its id in gg's operations table.
    pub id: &'static str,
    /// The path the arm spells it under.
    pub path: &'static str,
    /// The line that brings it into scope.
    pub import: &'static str,
}

/// What one program may use, as a model reads it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProgramBounds {
    /// Its time in seconds.
    timeout_secs: String,
    /// Its memory, with the unit.
    max_memory: String,
}

impl ProgramBounds {
    /// The figures of a profile.
    pub fn new(timeout: Duration, max_memory_bytes: u64) -> Self {
        Self {
            timeout_secs: seconds(timeout),
            max_memory: bytes(max_memory_bytes),
        }
    }
}

/// How an agent's programs are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProgramLibrary {
    /// How many of the most recent; `null` for all of them.
    pub keep: Option<u64>,
}

/// Seconds, without a fraction where there is none.
pub(super) fn seconds(time: Duration) -> String {
    time.as_secs_f64().to_string()
}

/// Bytes in the largest unit that leaves a whole number.
pub(super) fn bytes(count: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let whole = |(size, _): &&(u64, &str)| count >= *size && count.is_multiple_of(*size);
    match UNITS.iter().find(whole) {
        Some((size, unit)) => format!("{} {unit}", count / size),
        None if count == 1 => "1 byte".to_owned(),
        None => format!("{count} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_written_as_it_was_configured() {
        let cases = [
            (268_435_456, "256 MiB"),
            (1 << 31, "2 GiB"),
            (500_000_000, "500000000 bytes"),
            (1_048_577, "1048577 bytes"),
            (1_536, "1536 bytes"),
            (2_048, "2 KiB"),
            (1, "1 byte"),
        ];
        for (count, said) in cases {
            assert_eq!(bytes(count), said);
        }
        assert_eq!(seconds(Duration::from_secs(30)), "30");
        assert_eq!(seconds(Duration::from_millis(1500)), "1.5");
    }

    #[test]
    fn a_path_is_that_of_a_module_the_agent_may_call_something_in() {
        let files = ModuleImport {
            id: "files",
            path: "gg.files",
            import: "from gg import files",
        };
        let language = ProgramLanguage {
            id: "python",
            name: "Python",
            checker: None,
        };
        let bounds = ProgramBounds::new(Duration::from_secs(1), 1);
        let surface = CodeSurface::new(language, vec![files], Vec::new(), bounds);
        assert_eq!(surface.path("files"), Some("gg.files"));
        assert_eq!(surface.path("board"), None);
    }
}
