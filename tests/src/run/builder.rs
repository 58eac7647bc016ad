//! What a run is given.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::{Run, Running, binary, fragile_binary};
use crate::gateway::{Gateway, Responder};
use crate::launch::Launch;

/// The credential every run is given; it may stand nowhere afterwards.
pub const CREDENTIAL: &str = "sk-or-v1-8c1f0e5a-not-a-real-key";

/// Puts a run together.
#[must_use]
pub struct Builder {
    pub(super) launch: Launch,
    pub(super) document: Option<Vec<u8>>,
    pub(super) gateway: Option<Gateway>,
    pub(super) workspace: PathBuf,
    pub(super) folder: tempfile::TempDir,
    pub(super) checks: Checks,
    credential: Option<String>,
    base_url: Option<String>,
    arguments: Vec<OsString>,
    wrapper: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    fragile: bool,
}

/// What is looked at after the run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Checks {
    pub(super) rules: bool,
    pub(super) census: bool,
}

impl Builder {
    pub(super) fn new() -> Self {
        let folder = tempfile::Builder::new()
            .prefix("gg-test-")
            .tempdir()
            .expect("a temporary folder can be made");
        // As gg reports it: some systems reach their temporary folder through a link.
        let root = folder.path().canonicalize().expect("the folder is there");
        let workspace = root.join("workspace");
        std::fs::create_dir(&workspace).expect("the folder can be written");
        Self {
            launch: Launch::live(),
            document: None,
            gateway: None,
            workspace,
            folder,
            checks: Checks {
                rules: true,
                census: true,
            },
            credential: Some(CREDENTIAL.to_owned()),
            base_url: None,
            arguments: Vec::new(),
            wrapper: Vec::new(),
            environment: Vec::new(),
            fragile: false,
        }
    }

    /// Serves the run from a strict gateway.
    pub fn answers(self, responder: impl Responder) -> Self {
        self.gateway(Gateway::start(responder))
    }

    /// Serves the run from this gateway.
    pub fn gateway(mut self, gateway: Gateway) -> Self {
        self.gateway = Some(gateway);
        self
    }

    /// Points the run at a base URL, whatever stands there.
    pub fn base_url(mut self, url: &str) -> Self {
        self.base_url = Some(url.to_owned());
        self
    }

    /// Replaces the launch document.
    pub fn launch(mut self, launch: Launch) -> Self {
        self.launch = launch;
        self
    }

    /// Changes the launch document.
    pub fn with(mut self, change: impl FnOnce(Launch) -> Launch) -> Self {
        self.launch = change(self.launch);
        self
    }

    /// Replaces the launch document by bytes, good or not; nothing is filled in.
    pub fn document(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.document = Some(bytes.into());
        self
    }

    /// Puts a file into the workspace.
    pub fn file(self, path: &str, contents: impl AsRef<[u8]>) -> Self {
        let path = self.workspace.join(path);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).expect("the workspace can be written");
        }
        std::fs::write(path, contents).expect("the workspace can be written");
        self
    }

    /// Changes the workspace before the run.
    pub fn prepare(self, change: impl FnOnce(&std::path::Path)) -> Self {
        change(&self.workspace);
        self
    }

    /// Where the run will work.
    pub fn workspace(&self) -> &std::path::Path {
        &self.workspace
    }

    /// The folder around workspace and document.
    pub fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    /// Adds arguments behind `gg run FILE`.
    pub fn arguments<S: Into<OsString>>(mut self, more: impl IntoIterator<Item = S>) -> Self {
        self.arguments.extend(more.into_iter().map(Into::into));
        self
    }

    /// Answers mock models from a script.
    pub fn mock_script(self, script: &Value) -> Self {
        let path = self.folder.path().join("script.json");
        std::fs::write(&path, script.to_string()).expect("the folder can be written");
        self.arguments([OsString::from("--mock-script"), path.into()])
    }

    /// Starts gg through another program, which is given its command line at the end of its own.
    pub fn through<S: Into<OsString>>(mut self, wrapper: impl IntoIterator<Item = S>) -> Self {
        self.wrapper = wrapper.into_iter().map(Into::into).collect();
        self
    }

    /// Sets a variable of gg's environment.
    pub fn environment(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Runs a gg that panics at a place: `turn@3` as the place `turn` is passed for the third time.
    pub fn tripping(mut self, place: &str) -> Self {
        self.fragile = true;
        self.environment("GG_TRIP", place)
    }

    /// Gives it no credential.
    pub fn without_credential(mut self) -> Self {
        self.credential = None;
        self
    }

    /// Leaves the ordering rules of the stream unchecked (a killed run, a stream that is no one's
    /// business here).
    pub fn without_rules(mut self) -> Self {
        self.checks.rules = false;
        self
    }

    /// Accepts that processes of the run outlive it (it is killed).
    pub fn without_census(mut self) -> Self {
        self.checks.census = false;
        self
    }

    /// Starts gg and waits for its end.
    pub fn run(self) -> Run {
        self.start().finish()
    }

    /// Starts gg.
    pub fn start(mut self) -> Running {
        let document = self.folder.path().join("launch.json");
        let bytes = self.document.take().unwrap_or_else(|| {
            let mut launch = self.launch.json().clone();
            if launch.get("workspaceDir").is_none() {
                launch["workspaceDir"] = Value::String(self.workspace.display().to_string());
            }
            serde_json::to_vec_pretty(&launch).expect("a JSON value can be written")
        });
        std::fs::write(&document, bytes).expect("the folder can be written");

        let mut line: Vec<OsString> = std::mem::take(&mut self.wrapper);
        let gg = if self.fragile {
            fragile_binary()
        } else {
            binary()
        };
        line.push(gg.into());
        line.push("run".into());
        line.push(document.into());
        line.append(&mut self.arguments);
        let mut command = Command::new(&line[0]);
        command
            .args(&line[1..])
            .env_remove("OPENROUTER_API_KEY")
            .env_remove("OPENROUTER_BASE_URL")
            .env_remove("RUST_LOG")
            .env_remove("GG_RUN")
            .env_remove("GG_TRIP")
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let url = self
            .base_url
            .take()
            .or_else(|| self.gateway.as_ref().map(Gateway::url));
        if let Some(url) = url {
            command.env("OPENROUTER_BASE_URL", url);
        }
        if let Some(credential) = &self.credential {
            command.env("OPENROUTER_API_KEY", credential);
        }
        command.envs(self.environment.drain(..));
        Running::spawn(command, self)
    }
}
