//! What reading a skill answers a model.

use super::SkillRead;

impl SkillRead {
    /// The text of the result. It is the skill's text where that is pinned with it.
    pub fn as_text(&self) -> String {
        let name = &self.skill.name;
        if self.skill.body.is_empty() {
            format!("skill `{name}` has no text")
        } else if self.first {
            self.skill.body.to_string()
        } else {
            format!("you have read skill `{name}` already; its text stands in your window")
        }
    }
}
