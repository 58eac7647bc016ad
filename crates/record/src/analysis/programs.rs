//! What each agent's programs came to.

use serde::Deserialize;
use vocab::ids::AgentId;

use crate::lines::Line;

/// The programs of a stream, by agent, in order of their first one.
#[derive(Debug, Default)]
pub struct Programs(Vec<ProgramFacts>);

/// One agent's programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramFacts {
    /// Whose.
    pub agent: AgentId,
    /// The language they are written in, where the stream says.
    pub language: Option<String>,
    /// Programs submitted.
    pub submitted: u64,
    /// Those that failed.
    pub failed: u64,
    /// Calls they made.
    pub calls: u64,
    /// Calls that failed, the program having caught that or not.
    pub failed_calls: u64,
    /// Calls whose documentation was not in view.
    pub undocumented: u64,
    /// Milliseconds of their own, time in calls left out.
    pub own_ms: u64,
    /// Milliseconds of preparing them.
    pub compile_ms: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Surface {
    #[serde(default)]
    program_language: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Execution {
    ok: bool,
    #[serde(default)]
    api_calls: u64,
    #[serde(default)]
    duration_ms: u64,
    #[serde(default)]
    compile_ms: u64,
    #[serde(default)]
    undocumented_calls: Undocumented,
}

#[derive(Default, Deserialize)]
struct Undocumented {
    #[serde(default)]
    calls: u64,
}

#[derive(Deserialize)]
pub(super) struct Called {
    ok: bool,
}

impl Programs {
    /// Every agent that submitted any, or could have.
    pub fn iter(&self) -> impl Iterator<Item = &ProgramFacts> {
        self.0.iter()
    }

    pub(super) fn surfaced(&mut self, line: &Line, fields: Surface) {
        if fields.program_language.is_some()
            && let Some(facts) = self.of(line)
        {
            facts.language = fields.program_language;
        }
    }

    pub(super) fn ran(&mut self, line: &Line, fields: &Execution) {
        if let Some(facts) = self.of(line) {
            facts.submitted += 1;
            facts.failed += u64::from(!fields.ok);
            facts.calls = facts.calls.saturating_add(fields.api_calls);
            facts.own_ms = facts.own_ms.saturating_add(fields.duration_ms);
            facts.compile_ms = facts.compile_ms.saturating_add(fields.compile_ms);
            let undocumented = fields.undocumented_calls.calls;
            facts.undocumented = facts.undocumented.saturating_add(undocumented);
        }
    }

    pub(super) fn called(&mut self, line: &Line, fields: &Called) {
        if let Some(facts) = self.of(line) {
            facts.failed_calls += u64::from(!fields.ok);
        }
    }

    fn of(&mut self, line: &Line) -> Option<&mut ProgramFacts> {
        let id = line.agent.as_ref()?;
        let known = self.0.iter().position(|it| it.agent == *id);
        let place = known.unwrap_or_else(|| {
            self.0.push(ProgramFacts {
                agent: id.clone(),
                language: None,
                submitted: 0,
                failed: 0,
                calls: 0,
                failed_calls: 0,
                undocumented: 0,
                own_ms: 0,
                compile_ms: 0,
            });
            self.0.len() - 1
        });
        self.0.get_mut(place)
    }
}

#[cfg(test)]
mod tests {
    use crate::analysis::Analysis;

    #[test]
    fn programs_sum_by_agent() {
        let stream = concat!(
            r#"{"type":"agent_surface","seq":0,"sessionId":"s","agentId":"root","programLanguage":"python"}"#,
            "\n",
            r#"{"type":"api_result","seq":1,"sessionId":"s","agentId":"root","callId":"a.1","operation":"files.read_file","ok":false,"failure":"not-found"}"#,
            "\n",
            r#"{"type":"code_execution","seq":2,"sessionId":"s","agentId":"root","callId":"a","ok":false,"error":"x","toolCalls":1,"apiCalls":1,"durationMs":7}"#,
            "\n",
            r#"{"type":"code_execution","seq":3,"sessionId":"s","agentId":"root","callId":"b","ok":true,"toolCalls":0,"durationMs":5,"compileMs":2,"undocumentedCalls":{"calls":3,"operations":{}}}"#,
            "\n",
        );
        let analysis = Analysis::read(stream.as_bytes()).unwrap();
        let facts: Vec<_> = analysis.programs.iter().collect();
        assert_eq!(facts.len(), 1);
        assert_eq!(facts[0].language.as_deref(), Some("python"));
        assert_eq!((facts[0].submitted, facts[0].failed), (2, 1));
        assert_eq!((facts[0].calls, facts[0].failed_calls), (1, 1));
        assert_eq!((facts[0].own_ms, facts[0].compile_ms), (12, 2));
        assert_eq!(facts[0].undocumented, 3);
    }
}
