//! The command line: every command, option and line of help.
//!
//! Only words stand here; what a command does is in its file under `commands`. A command is listed
//! when it works. `gg --config FILE` is `gg run FILE` by another spelling, with the same options.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueEnum};
use vocab::language::ProgramLanguage;

use crate::study::plan::Variable;

/// A headless coding-agent harness: one launch document in, one session of agents over a
/// workspace, the event stream on stdout.
#[derive(Debug, Parser)]
#[command(
    name = "gg",
    version,
    arg_required_else_help = true,
    args_conflicts_with_subcommands = true,
    after_help = "Exit codes of a session: 0 it ended by itself or was canceled; 1 the launch was \
                  refused, the root's model call failed, or gg has a defect; 3 an agent reached a \
                  ceiling. Every other command: 0 done, 1 not done."
)]
struct Arguments {
    /// Run the session of a launch document: the same as `gg run FILE`
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    #[command(flatten)]
    options: RunOptions,

    #[command(subcommand)]
    command: Option<Command>,
}

/// What gg was asked to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run one session; its events go to stdout as NDJSON
    ///
    /// SIGINT, SIGTERM or the launch document's cancel file end the session in an orderly way; a
    /// second signal ends it at once.
    Run(RunArgs),
    /// Say everything that is wrong with a launch document, and run nothing
    ///
    /// Prints each refusal with its place in the document and exits 1, or prints `FILE: ok` and
    /// exits 0. Creates and changes nothing.
    Check(CheckArgs),
    /// Print the JSON Schema of the launch document
    Schema,
    /// Print everything gg can offer a model, as JSON: every tool, and every call of a program
    ///
    /// Tools stand in families, each with its definition as a run sends it, what offers it and the
    /// other shapes a configuration gives it. Functions and types are those of one program
    /// language's documentation.
    Reference(ReferenceArgs),
    /// Write a launch document to start from
    ///
    /// One agent with every tool of this build. As written without options it runs at once, on a
    /// model that looks around and finishes.
    New(NewArgs),
    /// Play a built-in session: a model that is a script, with real files and real commands
    ///
    /// It writes a small browser game, runs a check that fails, mends the mistake and finishes.
    /// Needs no network and no key. Its stream stays in DIR as `telemetry.ndjson`.
    Demo(DemoArgs),
    /// Print the candidate list a model's endpoints listing yields, or why there is none
    ///
    /// A table says of each endpoint where it stands in the list or every reason why it is out;
    /// below it stands the list as `modelProviders` of a launch document. Without a candidate the
    /// exit code is 1.
    Candidates(CandidatesArgs),
    /// Show a recorded run, or one agent's window as the model saw it
    ///
    /// Without options: the agents, the tokens the providers' caches should have held beside those
    /// that were read from them, and every request that did not extend the one before. With --agent
    /// or --turn: that window by band, and what each of its items has cost so far.
    Show(ShowArgs),
    /// Prove a recorded run: say every line of its stream that breaks a rule
    ///
    /// Asks every rule that streams keep: gapless and in order, every call paired, every agent
    /// ended once, every sum equal. The stream of a killed run is checked as far as it goes. Where
    /// the run's journal lies in its workspace still, the two have to agree. Exits 0 where nothing
    /// is found.
    Verify(VerifyArgs),
    /// Run one launch document over ranges of values, and show what each came to
    ///
    /// Runs every combination of the values given, each in its own copy of the workspace. Prints a
    /// table and writes DIR/study.svg, DIR/study.json and, for each run, a folder below DIR/runs
    /// with its stream, its workspace and a result.json. The same command again runs only what has
    /// no result yet.
    Study(StudyArgs),
    /// Show how messages went between the actors of a run, from the log that `--flow` wrote
    Flow(FlowArgs),
    /// Run the first program of an agent in every program language, as a session would, here
    ///
    /// One line a language: whether programs of it can be prepared and run by this gg on this
    /// machine and what the first preparation took; where they cannot, why. Needs no network and no
    /// key. Exits 0 where all work.
    Selfcheck(SelfcheckArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
    /// Print the manual page, or write the pages of all commands into a directory
    Man(ManArgs),
}

/// `gg run`.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The launch document, as JSON
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) options: RunOptions,
}

/// The options of `gg run` and `gg --config`.
#[derive(Debug, Default, Args)]
pub(crate) struct RunOptions {
    /// Also write the stream to DIR/telemetry.ndjson; DIR is created
    #[arg(long, value_name = "DIR")]
    pub(crate) run_dir: Option<PathBuf>,

    /// Log every message between actors to FILE, for `gg flow`
    #[arg(long, value_name = "FILE")]
    pub(crate) flow: Option<PathBuf>,

    /// The replies of all `mock/` models, as JSON; without it each is a built-in script by name
    #[arg(long, value_name = "FILE")]
    pub(crate) mock_script: Option<PathBuf>,
}

impl RunOptions {
    /// The first option given, as it is written.
    fn given(&self) -> Option<&'static str> {
        [
            (self.run_dir.is_some(), "--run-dir"),
            (self.flow.is_some(), "--flow"),
            (self.mock_script.is_some(), "--mock-script"),
        ]
        .into_iter()
        .find_map(|(given, name)| given.then_some(name))
    }
}

/// `gg check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The launch document, as JSON
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// The replies the session's `mock/` models would be given, as for `gg run`
    #[arg(long, value_name = "FILE")]
    pub(crate) mock_script: Option<PathBuf>,
}

/// `gg new`.
#[derive(Debug, Args)]
pub(crate) struct NewArgs {
    /// The document to write; refused where it exists
    #[arg(value_name = "FILE", default_value = "launch.json")]
    pub(crate) file: PathBuf,

    /// The directory the agent works in; it has to exist
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) workspace: PathBuf,

    /// The agent's model: an OpenRouter id, or `mock/test`, which answers without network or key
    #[arg(long, value_name = "ID", default_value = "mock/test")]
    pub(crate) model: String,

    /// The model's window in tokens
    #[arg(long, value_name = "TOKENS", default_value_t = 200_000,
          value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) window: u64,

    /// Who serves the model, as its endpoints listing spells it; required for a live model
    #[arg(long, value_name = "NAME")]
    pub(crate) provider: Option<String>,

    /// The quantization that provider serves, as the listing spells it
    #[arg(
        long,
        value_name = "NAME",
        default_value = "unknown",
        requires = "provider"
    )]
    pub(crate) quantization: String,

    /// The task
    #[arg(long, value_name = "TEXT")]
    pub(crate) prompt: Option<String>,
}

/// `gg demo`.
#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Where the game is written: a new or empty directory, or that of an earlier demo
    #[arg(value_name = "DIR", default_value = "gg-demo")]
    pub(crate) dir: PathBuf,
}

/// `gg candidates`.
#[derive(Debug, Args)]
pub(crate) struct CandidatesArgs {
    /// The model's id; its listing is fetched from the gateway unless --listing names a file
    #[arg(value_name = "MODEL")]
    pub(crate) model: Option<String>,

    /// A saved listing: what the gateway answers at models/MODEL/endpoints
    #[arg(long, value_name = "FILE")]
    pub(crate) listing: Option<PathBuf>,

    /// What no listing tells, as JSON by model id: developer, quantization, allow, ban, maxPrice
    #[arg(long, value_name = "FILE")]
    pub(crate) catalog: Option<PathBuf>,

    /// Recorded runs whose faults order the list: stream files or run directories
    #[arg(long, value_name = "RUN", num_args = 1..)]
    pub(crate) runs: Vec<PathBuf>,

    /// Leave out endpoints that take no reasoning setting
    #[arg(long)]
    pub(crate) reasoning: bool,

    /// Print the list alone
    #[arg(long)]
    pub(crate) json: bool,
}

/// `gg show`.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The run: its stream file, or the directory `gg run --run-dir` wrote
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,

    /// Show this agent's window; omitted, with --turn: the first agent's
    #[arg(long, value_name = "ID")]
    pub(crate) agent: Option<String>,

    /// The turn; omitted, with --agent: its last
    #[arg(long, value_name = "N")]
    pub(crate) turn: Option<u32>,

    /// Of a window: every item whole, as the model read it
    #[arg(long)]
    pub(crate) text: bool,

    /// Show the board: its issues, who worked on and judged each, and what was merged
    #[arg(long, conflicts_with_all = ["agent", "turn", "text"])]
    pub(crate) board: bool,
}

/// `gg verify`.
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// The run: its stream file, or the directory `gg run --run-dir` wrote
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,

    /// Its journal; omitted: `.gg/replay.ndjson` of its workspace, where it is the run's still
    #[arg(long, value_name = "FILE")]
    pub(crate) journal: Option<PathBuf>,
}

/// `gg study`.
#[derive(Debug, Args)]
pub(crate) struct StudyArgs {
    /// The launch document, as JSON
    #[arg(value_name = "LAUNCH")]
    pub(crate) file: PathBuf,

    /// A place in the document and the values it takes, as in
    /// `capabilitySet.limits.maxParallel=1,2,4`; given several times, every combination is run
    #[arg(long, value_name = "PATH=V1,V2,…", required = true)]
    pub(crate) vary: Vec<Variable>,

    /// Runs of each combination
    #[arg(long, value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) repeat: u32,

    /// Runs at once; with more than one, runs share the machine and their times say so
    #[arg(long, value_name = "J", default_value_t = 1,
          value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) jobs: u16,

    /// Where everything is written; created
    #[arg(long, value_name = "DIR", default_value = "gg-study")]
    pub(crate) out: PathBuf,

    /// The replies of all `mock/` models, as for `gg run`
    #[arg(long, value_name = "FILE")]
    pub(crate) mock_script: Option<PathBuf>,
}

/// `gg flow`.
#[derive(Debug, Args)]
pub(crate) struct FlowArgs {
    /// The log that `gg run --flow FILE` wrote, or a run: its stream file, or the directory
    /// `gg run --run-dir` wrote
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    /// What to make of it; omitted: a table of a log, the waits of a run
    #[arg(long, value_enum)]
    pub(crate) format: Option<FlowFormat>,

    /// Write to FILE instead of stdout
    #[arg(long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Of table and waits: rows of each ranking
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) top: usize,

    /// Of the diagram: messages left out at the start, in the order of handling
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) skip: usize,

    /// Of the diagram: messages shown
    #[arg(long, value_name = "N", default_value_t = 200)]
    pub(crate) limit: usize,
}

/// `gg reference`.
#[derive(Debug, Args)]
pub(crate) struct ReferenceArgs {
    /// The program language whose functions and types are printed
    #[arg(long, value_name = "ID", default_value_t = ProgramLanguage::Typescript)]
    pub(crate) language: ProgramLanguage,
}

/// What `gg flow` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FlowFormat {
    /// Of a log: the slowest and the most frequent edges and the fullest mailboxes, as text
    Table,
    /// Of a log: a Mermaid sequence diagram of a window of messages
    Mermaid,
    /// Of a log: a Chrome trace of all messages, for a trace viewer such as ui.perfetto.dev
    Trace,
    /// Of a run: who waited for whom and for a slot, as text
    Waits,
    /// Of a run: its agents over time, as an SVG picture
    Gantt,
}

/// `gg selfcheck`.
#[derive(Debug, Args)]
pub(crate) struct SelfcheckArgs {
    /// A language to check; given several times, each; omitted, all of them
    #[arg(long, value_name = "ID")]
    pub(crate) language: Vec<ProgramLanguage>,
}

/// `gg completions`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell it is for
    #[arg(value_name = "SHELL")]
    pub(crate) shell: clap_complete::Shell,
}

/// `gg man`.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Where the pages are written, one a command; omitted: the page of `gg` goes to stdout
    #[arg(value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

/// Reads a command line, program name first. The error carries help and version texts too: it
/// knows whether it belongs on stderr.
pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Command, clap::Error> {
    let Arguments {
        config,
        options,
        command,
    } = Arguments::try_parse_from(arguments)?;
    match (config, command) {
        (Some(file), _) => Ok(Command::Run(RunArgs { file, options })),
        (None, Some(command)) => Ok(command),
        (None, None) => {
            let option = options.given().unwrap_or("this");
            Err(Arguments::command().error(
                ErrorKind::MissingRequiredArgument,
                format!("{option} needs a session to run: add --config FILE"),
            ))
        }
    }
}

/// The whole command line, for completions and manual pages.
pub(crate) fn command_line() -> clap::Command {
    Arguments::command()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Command, clap::Error> {
        parse(line.split_whitespace().map(OsString::from))
    }

    fn refusal(line: &str) -> clap::Error {
        match read(line) {
            Ok(command) => panic!("`{line}` was read as {command:?}"),
            Err(error) => error,
        }
    }

    #[test]
    fn the_definition_holds_together() {
        command_line().debug_assert();
    }

    #[test]
    fn config_is_another_spelling_of_run() {
        for line in [
            "gg run a.json --run-dir r --flow f --mock-script m",
            "gg --config a.json --run-dir r --flow f --mock-script m",
            "gg --mock-script m --flow=f --run-dir=r --config=a.json",
        ] {
            let Ok(Command::Run(run)) = read(line) else {
                panic!("`{line}` is no run");
            };
            assert_eq!(run.file, PathBuf::from("a.json"));
            assert_eq!(run.options.run_dir, Some(PathBuf::from("r")));
            assert_eq!(run.options.flow, Some(PathBuf::from("f")));
            assert_eq!(run.options.mock_script, Some(PathBuf::from("m")));
        }
    }

    #[test]
    fn bad_command_lines_belong_on_stderr_and_help_does_not() {
        for line in [
            "gg",
            "gg run",
            "gg fly",
            "gg --run-dir r",
            "gg --config",
            "gg --config a.json check b.json",
            "gg run a.json b.json",
            "gg flow f --format plot",
            "gg flow f --limit -1",
            "gg new --window 0",
            "gg completions ksh",
            "gg study a.json",
            "gg study a.json --vary prompt",
            "gg study a.json --vary prompt=a --jobs 0",
        ] {
            assert!(refusal(line).use_stderr(), "{line}");
        }
        for line in ["gg --help", "gg --version", "gg run --help", "gg help flow"] {
            assert!(!refusal(line).use_stderr(), "{line}");
        }
        let message = refusal("gg --flow f").to_string();
        assert!(message.contains("--flow needs a session"), "{message}");
    }

    #[test]
    fn version_is_one_line_with_the_name_in_front() {
        let version = refusal("gg --version").to_string();
        assert_eq!(version, format!("gg {}\n", env!("CARGO_PKG_VERSION")));
    }

    #[test]
    fn help_reads_as_reviewed() {
        use std::fmt::Write as _;

        let mut text = String::new();
        let mut root = command_line();
        root.build();
        text.push_str(&root.render_long_help().to_string());
        for command in root.get_subcommands_mut() {
            if command.get_name() != "help" {
                write!(text, "\n==== {}\n\n", command.get_name()).expect("a string takes any text");
                text.push_str(&command.render_long_help().to_string());
            }
        }
        insta::assert_snapshot!(text);
    }
}
