//! Capabilities: what an agent can do, each with its typed params (01 §3.1).
//!
//! One file a family. A params type holds every figure as an `Option`, because a disabled
//! capability owes no completeness; while it is on, a document that passed its check holds all
//! its shape requires, and the accessors of [`Profile`](crate::profile::Profile) hand out whole
//! policies.
//!
//! What is written is judged whether a capability is on or off.

pub mod board;
pub mod delegation;
pub mod files;
pub mod knowledge;
pub mod programs;
pub mod shell;
pub mod window;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use vocab::capability::CapabilityId;
use vocab::tools::{ReadMode, ShellMode};

use crate::validate::{Fields, Shape};

/// Params of one capability: how they are spelled, and how they are judged.
pub(crate) trait Params: Sized + Default {
    /// Keys; `required` ones are required while the capability is on.
    const SHAPE: Shape;

    /// Reads what is written, refusing what is bad.
    fn read(fields: &Fields<'_>) -> Self;
}

/// A capability without implementations to choose from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
pub struct Plain<P: Default> {
    /// Whether it exists for this agent.
    pub enabled: bool,
    /// Its figures.
    #[serde(default)]
    pub params: P,
}

/// A capability with implementations to choose from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    rename_all = "camelCase",
    deny_unknown_fields,
    bound(deserialize = "A: Deserialize<'de>, P: Deserialize<'de> + Default")
)]
#[schemars(inline)]
pub struct Armed<A, P: Default> {
    /// Whether it exists for this agent.
    pub enabled: bool,
    /// Which implementation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "A")]
    pub implementation: Option<A>,
    /// Its figures.
    #[serde(default)]
    pub params: P,
}

/// A capability that has nothing to configure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoParams {}

impl Params for NoParams {
    const SHAPE: Shape = Shape {
        name: "NoParams",
        keys: &[],
        required: &[],
    };

    fn read(_: &Fields<'_>) -> Self {
        Self {}
    }
}

/// Keys of a declaration; `params` is required while it is on.
pub(crate) const DECLARATION: Shape = Shape {
    name: "Capability",
    keys: &["id", "enabled", "implementation", "params"],
    required: &["id", "enabled", "params"],
};

/// Whether a declaration names an implementation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arms {
    /// There is nothing to choose.
    None,
    /// It may.
    Optional,
    /// It must, while the capability is on.
    Required,
}

/// Reads the part of a declaration that its id decides.
trait Declared: Sized {
    type P: Params;
    fn read(fields: &Fields<'_>, enabled: bool, arms: Arms) -> Self;
}

fn params<P: Params>(fields: &Fields<'_>, enabled: bool) -> P {
    fields
        .object("params", P::SHAPE)
        .map(|params| P::read(&if enabled { params } else { params.incomplete() }))
        .unwrap_or_default()
}

impl<Q: Params> Declared for Plain<Q> {
    type P = Q;

    fn read(fields: &Fields<'_>, enabled: bool, _: Arms) -> Self {
        if fields.has("implementation") {
            fields.report.refuse_with_hint(
                &fields.at("implementation"),
                "is written, but this capability has no implementations to choose from",
                "leave the key out",
            );
        }
        Self {
            enabled,
            params: params(fields, enabled),
        }
    }
}

/// The names of a capability's implementations.
pub(crate) trait Arm: Copy + 'static {
    /// All of them.
    const ARMS: &'static [Self];

    /// The spelling of one.
    fn spelling(self) -> &'static str;
}

macro_rules! arms {
    ($($name:ty),+) => { $(
        impl Arm for $name {
            const ARMS: &'static [Self] = Self::ALL;

            fn spelling(self) -> &'static str {
                self.as_str()
            }
        }
    )+ };
}

arms!(
    ReadMode,
    ShellMode,
    knowledge::MemoryStrategy,
    window::CompactionStrategy,
    window::AutoloadMode
);

impl<A: Arm, Q: Params> Declared for Armed<A, Q> {
    type P = Q;

    fn read(fields: &Fields<'_>, enabled: bool, arms: Arms) -> Self {
        let implementation = if fields.has("implementation") {
            fields.word("implementation", A::ARMS, A::spelling)
        } else {
            if enabled && arms == Arms::Required {
                let words = A::ARMS.iter().map(|arm| arm.spelling());
                fields.report.refuse(
                    &fields.at("implementation"),
                    format!(
                        "is missing; expected one of {}",
                        crate::refusal::listed(words)
                    ),
                );
            }
            None
        };
        Self {
            enabled,
            implementation,
            params: params(fields, enabled),
        }
    }
}

macro_rules! capabilities {
    ($( $(#[$meta:meta])* $variant:ident($declared:ty) = $text:literal, $arms:ident; )+) => {
        /// One capability of a profile, as declared.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "id")]
        pub enum Capability {
            $( $(#[$meta])* #[serde(rename = $text)] $variant($declared), )+
        }

        impl Capability {
            /// Which one it is.
            pub const fn id(&self) -> CapabilityId {
                match self { $( Self::$variant(_) => CapabilityId::$variant, )+ }
            }

            /// Whether it exists for the agent.
            pub fn enabled(&self) -> bool {
                match self { $( Self::$variant(declared) => declared.enabled, )+ }
            }

            /// Reads the part of a declaration that its id decides.
            pub(crate) fn read(id: CapabilityId, fields: &Fields<'_>, enabled: bool) -> Self {
                match id { $(
                    CapabilityId::$variant => Self::$variant(
                        <$declared as Declared>::read(fields, enabled, Arms::$arms),
                    ),
                )+ }
            }
        }

        /// Whether a capability's declaration names an implementation.
        pub(crate) const fn arms(id: CapabilityId) -> Arms {
            match id { $( CapabilityId::$variant => Arms::$arms, )+ }
        }

        /// The keys of a capability's params.
        pub(crate) const fn params_shape(id: CapabilityId) -> Shape {
            match id { $(
                CapabilityId::$variant => <<$declared as Declared>::P as Params>::SHAPE,
            )+ }
        }
    };
}

capabilities! {
    /// Run commands.
    Shell(Armed<ShellMode, shell::ShellParams>) = "shell", Required;
    /// Read files.
    ReadFile(Armed<ReadMode, files::ReadFileParams>) = "read-file", Required;
    /// Write files.
    WriteFile(Plain<NoParams>) = "write-file", None;
    /// Edit files.
    EditFile(Plain<NoParams>) = "edit-file", None;
    /// List directories.
    ListDir(Plain<NoParams>) = "list-dir", None;
    /// Search the workspace.
    Search(Plain<NoParams>) = "search", None;
    /// A list of to-dos with edges.
    Tasks(Plain<knowledge::TasksParams>) = "tasks", None;
    /// Knowledge authored beforehand.
    Skills(Plain<knowledge::SkillsParams>) = "skills", None;
    /// Knowledge the model curates.
    Memories(Armed<knowledge::MemoryStrategy, knowledge::MemoriesParams>) = "memories", Required;
    /// Continue past the window.
    Compaction(Armed<window::CompactionStrategy, window::CompactionParams>) = "compaction", Required;
    /// Measure fullness against a narrower window.
    ContextWindowOverride(Plain<window::WindowOverrideParams>) = "context-window-override", None;
    /// Evict and archive.
    AgentManagedContext(Plain<window::ManagedContextParams>) = "agent-managed-context", None;
    /// Open on the brief's files.
    AutoloadSpecifications(Armed<window::AutoloadMode, window::AutoloadParams>)
        = "autoload-specifications", Optional;
    /// The board.
    ProjectManagement(Plain<board::BoardParams>) = "project-management", None;
    /// Spawn, wait, message.
    Subagents(Plain<delegation::SubagentsParams>) = "subagents", None;
    /// One long-lived worker per profile.
    AgentPersistence(Plain<NoParams>) = "agent-persistence", None;
    /// Become another agent.
    Exec(Plain<NoParams>) = "exec", None;
    /// Run a copy of oneself.
    Fork(Plain<NoParams>) = "fork", None;
    /// Be driven through a state table.
    Fsm(Plain<delegation::FsmParams>) = "fsm", None;
    /// Keep programs.
    ProgramLibrary(Plain<programs::ProgramLibraryParams>) = "program-library", None;
    /// Answer with programs.
    ResponsesAsCode(Plain<programs::ResponsesAsCodeParams>) = "responses-as-code", None;
    /// Close documentation views.
    DocviewClose(Plain<NoParams>) = "docview-close", None;
}
