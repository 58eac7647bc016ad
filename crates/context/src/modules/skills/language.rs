//! A skill as one language is served it: of the files of code that it carries, those that programs
//! of the language can use (02 §10.1).

use super::{CodeFile, CodeHalf, Skill};

/// Code that no program of an agent can use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "skill `{name}` carries {} and nothing that programs in {language} can use; add `{}`",
    .found.iter().map(|file| format!("`{file}`")).collect::<Vec<_>>().join(", "),
    .wanted
)]
pub struct Foreign {
    /// The skill.
    pub name: String,
    /// The files it has of the half.
    pub found: Vec<String>,
    /// The language, as people call it.
    pub language: &'static str,
    /// The file that would be used first.
    pub wanted: String,
}

impl CodeHalf {
    /// Both halves.
    pub const ALL: [Self; 2] = [Self::Module, Self::Script];

    /// The name of its files, without their extension.
    pub const fn stem(self) -> &'static str {
        match self {
            Self::Module => "skill",
            Self::Script => "on-use",
        }
    }
}

impl Skill {
    /// The file of a half; the first, where there are several.
    pub fn code(&self, half: CodeHalf) -> Option<&CodeFile> {
        self.code.iter().find(|file| file.half == half)
    }

    /// The skill with one file a half at most: the one whose extension `extensions` names first.
    #[must_use]
    pub fn in_language(&self, extensions: &[&str]) -> Self {
        let chosen = CodeHalf::ALL
            .into_iter()
            .filter_map(|half| self.chosen(half, extensions));
        Self {
            code: chosen.cloned().collect(),
            ..self.clone()
        }
    }

    /// The halves it carries in other languages alone. `language` is how people call the agent's.
    pub fn foreign(&self, language: &'static str, extensions: &[&str]) -> Vec<Foreign> {
        let unused =
            |half: &CodeHalf| self.carries(*half) && self.chosen(*half, extensions).is_none();
        let told = |half: CodeHalf| Foreign {
            name: self.name.to_string(),
            found: self
                .code
                .iter()
                .filter(|file| file.half == half)
                .map(|file| format!("{}.{}", half.stem(), file.extension))
                .collect(),
            language,
            wanted: format!(
                "{}.{}",
                half.stem(),
                extensions.first().copied().unwrap_or_default()
            ),
        };
        CodeHalf::ALL.into_iter().filter(unused).map(told).collect()
    }

    fn chosen(&self, half: CodeHalf, extensions: &[&str]) -> Option<&CodeFile> {
        extensions.iter().find_map(|extension| {
            let mut files = self.code.iter();
            files.find(|file| file.half == half && file.extension == *extension)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modules::skills::SkillOrigin;

    fn skill(files: &[(CodeHalf, &str)]) -> Skill {
        Skill {
            name: "csv".into(),
            description: "d".into(),
            body: "b".into(),
            origin: SkillOrigin::File("csv/skill.md".to_owned()),
            code: files
                .iter()
                .map(|(half, extension)| CodeFile {
                    half: *half,
                    extension: (*extension).to_owned(),
                    text: format!("{} of {extension}", half.stem()).into(),
                })
                .collect(),
        }
    }

    use CodeHalf::{Module, Script};

    #[test]
    fn a_language_is_served_its_own_spelling_before_another_it_accepts() {
        let both = skill(&[
            (Module, "js"),
            (Module, "ts"),
            (Script, "js"),
            (Module, "py"),
        ]);
        let typescript = both.in_language(&["ts", "js"]);
        assert_eq!(&*typescript.code(Module).unwrap().text, "skill of ts");
        assert_eq!(&*typescript.code(Script).unwrap().text, "on-use of js");
        assert_eq!(typescript.code.len(), 2);
        let javascript = both.in_language(&["js"]);
        assert_eq!(&*javascript.code(Module).unwrap().text, "skill of js");
        assert!(both.foreign("TypeScript", &["ts", "js"]).is_empty());
    }

    #[test]
    fn a_half_in_no_language_of_the_agent_is_told_with_what_would_do() {
        let skill = skill(&[
            (Module, "py"),
            (Script, "py"),
            (Script, "rb"),
            (Module, "js"),
        ]);
        let told: Vec<_> = skill
            .foreign("TypeScript", &["ts", "js"])
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(
            told,
            [
                "skill `csv` carries `on-use.py`, `on-use.rb` and nothing that programs in \
              TypeScript can use; add `on-use.ts`"
            ]
        );
        assert!(skill.in_language(&["ts", "js"]).code(Script).is_none());
    }
}
