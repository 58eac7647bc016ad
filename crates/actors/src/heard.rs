//! A telemetry of its own for tests of what is told: it is spoken to in the process and then read.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use record::journal::{Header, Journal, Recorder};
use record::mask::Mask;
use record::summary::Conclusion;
use serde_json::Value;
use vocab::outcome::EndStatus;

use crate::buffer::Buffer;
use crate::link::Link;
use crate::messages::Conclude;
use crate::telemetry::{Outputs, Telemetry, Voice};

/// See the module.
pub(crate) struct Heard {
    pub(crate) telemetry: Link<Telemetry>,
    stdout: Buffer,
    _folder: tempfile::TempDir,
}

impl Heard {
    /// Starts it.
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let header = Header {
            session_id: "s".into(),
            routing_key: "abcdefghijklmnopqrstuvwx".into(),
            capability_set: None,
            model_providers: None,
            recorder: Recorder {
                gg_version: "0".to_owned(),
                commit: None,
            },
        };
        let path = folder.path().join("replay.ndjson");
        let journal = Journal::start(&path, 1 << 20, header, Mask::default());
        let stdout = Buffer::default();
        let outputs = Outputs {
            stdout: Box::new(stdout.clone()),
            tee: None,
        };
        let telemetry = Telemetry::start("s".into(), outputs, Mask::default(), journal, None);
        Self {
            telemetry: telemetry.unwrap().0,
            stdout,
            _folder: folder,
        }
    }

    /// The voice of an agent.
    pub(crate) fn voice(&self, agent: &str) -> Voice {
        Voice {
            telemetry: self.telemetry.clone(),
            agent: Some(agent.into()),
        }
    }

    /// Ends it: every line that an agent told, in order.
    pub(crate) async fn told(self) -> Vec<Value> {
        let conclusion = Conclusion {
            status: EndStatus::Completed,
            exit_code: 0,
            limits: std::collections::BTreeMap::new(),
            limit_hit: None,
            wall_ms: 0,
            loop_abort_unpriced: 0,
            capture_bytes: 0,
            capture_stopped: None,
        };
        let conclude = Conclude {
            conclusion,
            error: None,
        };
        self.telemetry.ask(conclude).await.unwrap();
        let bytes = self.stdout.0.lock().unwrap().clone();
        let lines = String::from_utf8(bytes).unwrap();
        let lines = lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap());
        lines
            .filter(|line: &Value| line["agentId"].is_string())
            .collect()
    }
}
