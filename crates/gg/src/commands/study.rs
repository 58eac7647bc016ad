//! `gg study`: one launch document over ranges of values.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use actors::launch;
use anyhow::{Context as _, bail};
use provider::openrouter::Credential;
use serde_json::{Value, json};

use super::{BUILD, DONE, REFUSED, read, read_script, surroundings};
use crate::cli::StudyArgs;
use crate::output;
use crate::page::plural;
use crate::study::combine::Combination;
use crate::study::plan::{self, Variation};
use crate::study::result::{Asked, RunResult};
use crate::study::runs::{self, Fate, Means, Order, RESULT};
use crate::study::{copy, knee, plot, table};

/// Checks every variation, runs what has no result yet, and shows what all came to. Without a
/// result of every run the exit code is 1.
pub(super) fn run(args: &StudyArgs, credential: Option<Credential>) -> anyhow::Result<u8> {
    let name = args.file.display();
    let bytes =
        read(&args.file).with_context(|| format!("the launch document `{name}` cannot be read"))?;
    let document = base(&bytes).with_context(|| format!("`{name}`"))?;
    let variations = plan::variations(&document, &args.vary)
        .map_err(|faults| anyhow::anyhow!(faults.join("\ngg: ")))?;
    let refusals = refused(args, &bytes, &document, &variations)?;
    if !refusals.is_empty() {
        output::complain(refusals.trim_end());
        return Ok(REFUSED);
    }

    let out = folder(&args.out)?;
    let _lock = lock(&out)?;
    let script = args.mock_script.as_deref().map(read).transpose();
    let means = Means {
        out: out.clone(),
        jobs: usize::from(args.jobs),
        script: script.context("the mock script cannot be read")?,
        credential,
    };
    let orders = orders(&variations, args.repeat)?;
    let asked: Vec<String> = orders.iter().map(|it| it.asked.run.clone()).collect();
    let mut results: Vec<Option<RunResult>> = Vec::new();
    results.resize_with(asked.len(), || None);
    let mut done = 0;
    let was_stopped = runs::carry_out(orders, means, |place, fate| {
        done += 1;
        let (sentence, result) = told(fate);
        if let Some(sentence) = sentence {
            let (run, all) = (&asked[place], asked.len());
            output::complain(format_args!("[{done}/{all}] {run}: {sentence}"));
        }
        results[place] = result;
    })?;

    let combinations = combine(variations, args.repeat, &results);
    let knees = knee::knees(&args.vary, &combinations);
    write_study(args, &out, &combinations, &knees, &asked, &results)?;
    output::print(&table::render(&args.vary, &combinations, &knees))?;
    let missing = results.iter().filter(|it| it.is_none()).count();
    if missing > 0 {
        let left = plural(missing as u64, "run");
        let all = results.len();
        let why = if was_stopped { "stopped: " } else { "" };
        output::complain(format_args!(
            "gg: {why}{left} of {all} without a result; the same command runs only those"
        ));
        return Ok(REFUSED);
    }
    Ok(DONE)
}

/// The document as values. What only its text tells, such as a key that stands twice, is refused by
/// [`refused`].
fn base(bytes: &[u8]) -> anyhow::Result<Value> {
    config::parse_bytes(bytes)?;
    serde_json::from_slice(bytes).context("the launch document holds a number that is too large")
}

/// Every refusal of every variation, as a text; empty where there is none. One that several share
/// stands once.
fn refused(
    args: &StudyArgs,
    bytes: &[u8],
    document: &Value,
    variations: &[Variation],
) -> anyhow::Result<String> {
    let script = args.mock_script.as_deref().map(read_script).transpose()?;
    let surroundings = surroundings(script);
    let mut found = Refusals::default();
    // A key that stands twice is lost where a text becomes values, and is a refusal all the same.
    let values = config::parse(&document.to_string())?.check().refusals;
    for refusal in config::parse_bytes(bytes)?.check().refusals {
        if !values.contains(&refusal) {
            found.add(refusal.to_string(), "the document");
        }
    }
    let mut warnings: Vec<String> = Vec::new();
    for variation in variations {
        let name = &variation.label;
        let document = match config::parse(&variation.document.to_string()) {
            Ok(document) => document,
            Err(error) => {
                found.add(error.to_string(), name);
                continue;
            }
        };
        match launch::check(&document, &surroundings) {
            Ok(prepared) => {
                let source = &prepared.launch.workspace_dir;
                if let Some(obstacle) = copy::obstacle(source) {
                    found.add(format!("workspaceDir: {obstacle}"), name);
                }
                warnings.extend(prepared.warnings);
            }
            Err(refusals) => {
                for refusal in refusals {
                    found.add(refusal.to_string(), name);
                }
            }
        }
    }
    warnings.sort();
    warnings.dedup();
    for warning in warnings {
        output::complain(format_args!("warning: {warning}"));
    }
    Ok(found.report(variations.len()))
}

/// Refusals in the order they were met, each with the variations it is of.
#[derive(Default)]
struct Refusals<'a> {
    places: HashMap<String, usize>,
    all: Vec<(String, Vec<&'a str>)>,
}

/// Variations that are named behind a refusal.
const NAMED: usize = 5;

impl<'a> Refusals<'a> {
    fn add(&mut self, refusal: String, of: &'a str) {
        let place = *self.places.entry(refusal.clone()).or_insert_with(|| {
            self.all.push((refusal, Vec::new()));
            self.all.len() - 1
        });
        let names = &mut self.all[place].1;
        if names.last() != Some(&of) {
            names.push(of);
        }
    }

    fn report(&self, variations: usize) -> String {
        if self.all.is_empty() {
            return String::new();
        }
        let mut text = String::from("gg: no run was started, for the check refuses\n");
        for (refusal, names) in &self.all {
            let of = match names.len() {
                many if many == variations && many > 1 => "every variation".to_owned(),
                many if many > NAMED => {
                    format!("{} and {} more", names[..NAMED].join("; "), many - NAMED)
                }
                _ => names.join("; "),
            };
            writeln!(text, "{refusal}\n  in {of}").expect("a string takes any text");
        }
        text
    }
}

/// The study's folder, made where it is not there, by its absolute path.
fn folder(out: &Path) -> anyhow::Result<PathBuf> {
    let unwritten = || format!("the folder `{}` cannot be made", out.display());
    fs::create_dir_all(out).with_context(unwritten)?;
    let out = fs::canonicalize(out).with_context(unwritten)?;
    if out.to_str().is_none() {
        bail!(
            "the path of `{}` is no valid UTF-8, and a launch document is",
            out.display()
        );
    }
    Ok(out)
}

/// Holds the folder for this study alone, as long as the file is open.
fn lock(out: &Path) -> anyhow::Result<File> {
    let path = out.join("study.lock");
    let name = path.display();
    let file = File::create(&path).with_context(|| format!("`{name}` cannot be made"))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            bail!("another study is at work in `{}`", out.display())
        }
        // Where a file system has no locks, nobody can be told apart by them.
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => Ok(file),
        Err(TryLockError::Error(error)) => {
            Err(error).with_context(|| format!("`{name}` cannot be locked"))
        }
    }
}

/// All runs, every variation once before any is repeated: what drifts on a machine reaches all of
/// them alike.
fn orders(variations: &[Variation], repeat: u32) -> anyhow::Result<Vec<Order>> {
    let mut orders = Vec::new();
    for repeat in 1..=repeat {
        for variation in variations {
            let source = variation.document["workspaceDir"].as_str();
            orders.push(Order {
                asked: Asked {
                    run: format!("{}.{repeat}", variation.name),
                    variation: variation.values.clone(),
                    repeat,
                },
                document: variation.document.clone(),
                source: source
                    .context("the check has let no workspaceDir pass")?
                    .into(),
            });
        }
    }
    Ok(orders)
}

/// What is said of a run's fate, and its result where it has one.
fn told(fate: Fate) -> (Option<String>, Option<RunResult>) {
    let ended = |result: &RunResult| {
        let took = table::duration(result.makespan_ms as f64);
        format!(
            "{} in {took}, exit code {}",
            result.status, result.exit_code
        )
    };
    match fate {
        Fate::Kept(result) => (
            Some(format!("{}; it was there already", ended(&result))),
            Some(result),
        ),
        Fate::Ran(result) => (Some(ended(&result)), Some(result)),
        Fate::Stopped => (None, None),
        Fate::Failed(error) => (Some(format!("no result: {error:#}")), None),
    }
}

/// What each variation's runs come to.
fn combine(
    variations: Vec<Variation>,
    repeat: u32,
    results: &[Option<RunResult>],
) -> Vec<Combination> {
    let count = variations.len();
    let each = variations.into_iter().enumerate();
    each.map(|(at, variation)| {
        let runs = results.iter().skip(at).step_by(count);
        let own: Vec<&RunResult> = runs.flatten().collect();
        Combination::of(variation.values, variation.places, u64::from(repeat), &own)
    })
    .collect()
}

/// `study.json` and `study.svg`.
fn write_study(
    args: &StudyArgs,
    out: &Path,
    combinations: &[Combination],
    knees: &[knee::Knee],
    asked: &[String],
    results: &[Option<RunResult>],
) -> anyhow::Result<()> {
    let varied: Vec<Value> = args
        .vary
        .iter()
        .map(|it| json!({ "path": it.path.to_string(), "values": it.values }))
        .collect();
    let runs: Vec<Value> = asked
        .iter()
        .zip(results)
        .map(|(run, result)| {
            let place = format!("runs/{run}/{RESULT}");
            json!({ "run": run, "result": result.as_ref().map(|_| place) })
        })
        .collect();
    let study = json!({
        "ggVersion": BUILD.version,
        "launch": args.file.display().to_string(),
        "mockScript": args.mock_script.as_ref().map(|it| it.display().to_string()),
        "varied": varied,
        "repeat": args.repeat,
        "jobs": args.jobs,
        "combinations": combinations,
        "knees": knees,
        "runs": runs,
    });
    let mut text = serde_json::to_string_pretty(&study).context("the study cannot be written")?;
    text.push('\n');
    output::replace_file(&out.join("study.json"), text.as_bytes())?;
    let name = args.file.file_stem().unwrap_or_default().to_string_lossy();
    let repeats = plural(u64::from(args.repeat), "run");
    let title = format!("{name}: medians of {repeats} each");
    let picture = plot::render(&title, &args.vary, combinations, knees);
    output::replace_file(&out.join("study.svg"), picture.as_bytes())
}
