//! Built-in manuals: one for each family of calls an agent has, made of the definitions it is
//! offered (02 §10.4). Nothing in them is authored, so nothing in them can be out of date.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use vocab::grant::Offer;
use vocab::knowledge::BuiltInSkill;
use vocab::operations::{OPERATIONS, Operation};
use vocab::tools::{Definition, ToolName};

use super::{CodeFile, CodeHalf, Skill, SkillOrigin};
use crate::prompts::{self, PromptError};

/// What a manual's template may reference.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Manual<'a> {
    /// The calls of the family, in offered order.
    pub tools: Vec<ManualTool<'a>>,
}

/// A call of a manual.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ManualTool<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it does.
    pub description: &'a str,
    /// Its arguments, in the order of its schema.
    pub parameters: Vec<Parameter<'a>>,
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Parameter<'a> {
    /// Its name.
    pub name: &'a str,
    /// The JSON types it may have.
    pub types: Vec<&'a str>,
    /// Whether it has to be there.
    pub required: bool,
    /// What its schema says of it.
    pub description: Option<&'a str>,
}

/// The manuals of a tool-calling agent: of every family it has a call of and that is not withheld.
///
/// `offered` are its calls without `read_skill`, which `reads` says it is granted: that one has a
/// manual only beside another skill to read, so it is resolved last. `authored` is whether there
/// are skills besides.
pub fn manuals(
    offered: &[Definition],
    reads: Option<&Definition>,
    authored: bool,
    withheld: &BTreeMap<BuiltInSkill, bool>,
) -> Result<Vec<Skill>, PromptError> {
    let wanted = |family: &BuiltInSkill| withheld.get(family).copied().unwrap_or(true);
    let mut manuals = Vec::new();
    if reads.is_none() {
        // What nobody can read is not offered.
        return Ok(manuals);
    }
    for family in BuiltInSkill::ALL.iter().copied().filter(wanted) {
        if family != BuiltInSkill::Skills {
            manuals.extend(manual(family, offered.iter())?);
        }
    }
    if wanted(&BuiltInSkill::Skills) && (authored || !manuals.is_empty()) {
        manuals.extend(manual(BuiltInSkill::Skills, reads.into_iter())?);
    }
    Ok(manuals)
}

/// The manuals of a code agent: what is shown of a family are the pages of its calls.
#[derive(Clone, Copy, Debug)]
pub struct Families<'a> {
    /// What the agent may call.
    pub offer: &'a Offer,
    /// Families by whether they are offered; unnamed ones are.
    pub withheld: &'a BTreeMap<BuiltInSkill, bool>,
}

impl Families<'_> {
    /// The manuals, each without a text and with the script that `script` makes of its family's
    /// calls: it runs on every use, and opens their pages. `authored` is whether there are skills
    /// besides; `extension` says the script's language.
    ///
    /// The agent's `read_skill` is serviced by there being a skill, so it is asked here whether it
    /// was granted alone.
    pub fn manuals(
        &self,
        authored: bool,
        extension: &str,
        mut script: impl FnMut(&[&'static Operation]) -> String,
    ) -> Vec<Skill> {
        let reads = Operation::find(READ_SKILL).is_some_and(|row| self.offer.grant.permits(row));
        if !reads {
            // What nobody can read is not offered.
            return Vec::new();
        }
        let wanted = |family: &BuiltInSkill| self.withheld.get(family).copied().unwrap_or(true);
        let mut manuals: Vec<Skill> = Vec::new();
        for family in BuiltInSkill::ALL.iter().copied().filter(wanted) {
            let calls: Vec<_> = OPERATIONS
                .iter()
                .filter(|row| row.module() == family.module())
                .filter(|row| row.id != READ_SKILL && self.offer.offers(row))
                .collect();
            // That of the skills is resolved last: whether there is another decides it.
            if !calls.is_empty() {
                manuals.push(pages(family, extension, script(&calls)));
            }
        }
        if wanted(&BuiltInSkill::Skills) && (authored || !manuals.is_empty()) {
            let calls: Vec<_> = OPERATIONS
                .iter()
                .filter(|row| row.id == READ_SKILL)
                .collect();
            manuals.push(pages(BuiltInSkill::Skills, extension, script(&calls)));
        }
        manuals
    }
}

/// The call that reads a skill.
const READ_SKILL: &str = "skills.read_skill";

/// A manual that opens pages.
fn pages(family: BuiltInSkill, extension: &str, script: String) -> Skill {
    Skill {
        name: family.as_str().into(),
        description: family.description().into(),
        body: "".into(),
        origin: SkillOrigin::BuiltIn(family),
        code: vec![CodeFile {
            half: CodeHalf::Script,
            extension: extension.to_owned(),
            text: script.into(),
        }],
    }
}

fn manual<'a>(
    family: BuiltInSkill,
    offered: impl Iterator<Item = &'a Definition>,
) -> Result<Option<Skill>, PromptError> {
    let named = |definition: &&Definition| {
        let mut tools = family.tools().iter().map(|tool: &ToolName| tool.as_str());
        tools.any(|name| name == definition.name)
    };
    let tools: Vec<_> = offered.filter(named).map(tool).collect();
    if tools.is_empty() {
        return Ok(None);
    }
    Ok(Some(Skill {
        name: family.as_str().into(),
        description: family.description().into(),
        body: prompts::manual(&Manual { tools })?.into(),
        origin: SkillOrigin::BuiltIn(family),
        code: Vec::new(),
    }))
}

fn tool(definition: &Definition) -> ManualTool<'_> {
    let required: Vec<_> = definition.parameters["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let properties = definition.parameters["properties"].as_object();
    ManualTool {
        name: definition.name,
        description: &definition.description,
        parameters: properties
            .into_iter()
            .flatten()
            .map(|(name, schema)| Parameter {
                name,
                types: types(&schema["type"]),
                required: required.contains(&name.as_str()),
                description: schema["description"].as_str(),
            })
            .collect(),
    }
}

/// The types of a schema, of which there may be one or a list.
fn types(schema: &Value) -> Vec<&str> {
    match schema {
        Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
        other => other.as_str().into_iter().collect(),
    }
}
