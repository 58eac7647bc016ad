//! A board: a hundred independent issues of one turn each, on the mock model, beside the git
//! commands they come to in a shell loop; and how long its actors' handlers take, since git must
//! hold none of them up.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::contestant::{Ground, binary};
use super::table::Row;
use super::{flow, median};

/// Issues of a session; the shell loop has as many.
const ISSUES: usize = 100;

/// Agents at once.
const CAP: usize = 16;

/// What `board::git` runs for an issue, one after another.
const LOOP: &str = include_str!("../../../crates/board/examples/git_cost.sh");

/// A repository of a few hundred files.
const WORKSPACE: &str = "git init -q -b main . && git config user.name a && git config user.email \
                         a@b && for d in $(seq 20); do mkdir d$d; for f in $(seq 20); do echo $d \
                         $f >d$d/f$f; done; done; git add -A; git commit -qm first; mkdir ../sh";

/// What one contestant took an issue, milliseconds.
struct Took {
    wall: f64,
    processors: f64,
}

/// The rows of a board.
pub(super) fn measure(repeats: usize) -> Result<Vec<Row>> {
    let (mut ours, mut floor) = (Vec::new(), Vec::new());
    let (mut longest, mut with_others, mut elsewhere) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..repeats {
        let (took, handled) = session()?;
        ours.push(took);
        longest.push(handled.board);
        with_others.push(handled.board_with_others);
        elsewhere.push(handled.elsewhere);
        floor.push(shell_loop()?);
    }
    let of = |all: &[Took], which: fn(&Took) -> f64| median(all.iter().map(which).collect());
    let row = |figure: String, which: fn(&Took) -> f64| {
        let (gg, floor) = (of(&ours, which), of(&floor, which));
        Row {
            figure,
            unit: "ms",
            gg,
            floor: Some(floor),
            goal: "≤ 1.3 × floor".to_owned(),
            met: Some(gg <= 1.3 * floor),
        }
    };
    let (longest, elsewhere) = (median(longest), median(elsewhere));
    Ok(vec![
        row(
            format!("an issue of one turn, {ISSUES} of them at cap {CAP}, over all"),
            |took| took.wall,
        ),
        row(
            "the same, by what processors spent, git's own included".to_owned(),
            |took| took.processors,
        ),
        Row {
            figure: "longest message in a handler of the board's actors, itself".to_owned(),
            unit: "ms",
            gg: longest,
            // What handlers take that have nothing to do with git.
            floor: Some(elsewhere),
            goal: "≤ 1 ms".to_owned(),
            met: Some(longest <= 1.0),
        },
        Row {
            figure: "the same, with what another thread had the processor meanwhile".to_owned(),
            unit: "ms",
            gg: median(with_others),
            floor: None,
            goal: String::new(),
            met: None,
        },
    ])
}

/// The longest that handlers took in a session, milliseconds.
struct Handled {
    /// Those of the board, its issues and its git.
    board: f64,
    /// The same, with the time in which the processor ran another thread in their place.
    board_with_others: f64,
    /// Those of every other actor.
    elsewhere: f64,
}

/// A session of gg's.
fn session() -> Result<(Took, Handled)> {
    let ground = ground()?;
    let (document, script, flow) = (
        ground.path("launch.json"),
        ground.path("script.json"),
        ground.path("flow.ndjson"),
    );
    std::fs::write(&document, launch(&ground.workspace()).to_string())?;
    std::fs::write(&script, self::script().to_string())?;
    let mut command = Command::new(binary("gg")?);
    command
        .arg("run")
        .arg(&document)
        .arg("--mock-script")
        .arg(&script)
        .arg("--flow")
        .arg(&flow);
    let took = timed(command, &ground)?;
    let line = "git rev-list --count --first-parent HEAD";
    let merged = Command::new("sh")
        .args(["-c", line])
        .current_dir(ground.workspace())
        .output()?;
    let merged = String::from_utf8_lossy(&merged.stdout).trim().to_owned();
    ensure!(
        merged == (ISSUES + 1).to_string(),
        "{merged} commits on the first parents' line where {} were expected",
        ISSUES + 1
    );
    Ok((took, longest_handled(&flow)?))
}

fn shell_loop() -> Result<Took> {
    let ground = ground()?;
    let mut command = Command::new("sh");
    command.args(["-c", LOOP]).current_dir(ground.workspace());
    timed(command, &ground)
}

fn ground() -> Result<Ground> {
    let ground = Ground::new()?;
    let made = Command::new("sh")
        .args(["-c", WORKSPACE])
        .current_dir(ground.workspace())
        .status()?;
    ensure!(made.success(), "the repository cannot be made: {made}");
    Ok(ground)
}

/// Runs a contestant to its end.
fn timed(mut command: Command, ground: &Ground) -> Result<Took> {
    command
        .env_remove("RUST_LOG")
        // Worktrees stand beside the workspace, on the same disk as the loop's.
        .env("TMPDIR", ground.path("."))
        .stdin(Stdio::null())
        .stdout(File::create(ground.path("stdout"))?)
        .stderr(File::create(ground.path("stderr"))?);
    let (begun, spent) = (Instant::now(), processors()?);
    let status = command.status().context("a contestant cannot be started")?;
    ensure!(
        status.success(),
        "a contestant ended with {status}: {}",
        std::fs::read_to_string(ground.path("stderr")).unwrap_or_default()
    );
    let issues = ISSUES as f64;
    Ok(Took {
        wall: begun.elapsed().as_secs_f64() * 1e3 / issues,
        processors: (processors()? - spent) / issues,
    })
}

/// Milliseconds that processors spent in processes this one has waited for, and in theirs.
fn processors() -> Result<f64> {
    // Fields 16 and 17 of proc_pid_stat(5), in hundredths of a second; the name before them may
    // hold blanks.
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let fields = stat
        .rsplit_once(')')
        .context("no name in /proc/self/stat")?;
    let fields: Vec<&str> = fields.1.split_ascii_whitespace().collect();
    let ms = |place: usize| -> Result<f64> {
        let field = fields.get(place).context("too few fields")?;
        Ok(field.parse::<f64>()? * 10.0)
    };
    Ok(ms(13)? + ms(14)?)
}

/// The longest that handlers took, by a flow log.
fn longest_handled(log: &Path) -> Result<Handled> {
    let (mut board, mut with_others, mut elsewhere) = (None, None, None);
    for line in flow::lines(log)? {
        let line = line?;
        let itself = Some(line.handled_us.saturating_sub(line.displaced_us));
        let to = line.to.unwrap_or_default();
        if to == "board" || to == "git" || to.starts_with("issue") {
            board = board.max(itself);
            with_others = with_others.max(Some(line.handled_us));
        } else {
            elsewhere = elsewhere.max(itself);
        }
    }
    let told = |longest: Option<u64>| {
        let longest = longest.context("the flow log lacks the messages of a board")?;
        anyhow::Ok(longest as f64 / 1e3)
    };
    Ok(Handled {
        board: told(board)?,
        board_with_others: told(with_others)?,
        elsewhere: told(elsewhere)?,
    })
}

fn launch(workspace: &Path) -> Value {
    let shell = json!({ "id": "shell", "enabled": true, "implementation": "inline",
        "params": { "maxLines": 20, "maxChars": 2000 } });
    let board = json!({ "id": "project-management", "enabled": true, "params": {
        "mergeAgent": "coder", "maxEpics": 0, "maxIssues": ISSUES, "maxRetries": 0 } });
    let profile = |slug: &str, capability: Value, tools: &[&str]| {
        json!({ "slug": slug, "name": slug, "modelId": "mock/bench", "operations": [],
            "capabilities": [capability], "tools": tools })
    };
    let mut lead = profile("lead", board, &["create_issue"]);
    lead["subagents"] =
        json!([{ "agentId": "coder", "description": "Works.", "scopes": ["implementer"] }]);
    json!({
        "sessionId": "bench", "workspaceDir": workspace.display().to_string(), "prompt": "File.",
        "modelWindows": { "mock/bench": 1_000_000 },
        "capabilitySet": {
            "preset": "bench",
            "limits": { "maxParallel": CAP, "replayMaxBytes": 268_435_456 },
            "agents": [lead, profile("coder", shell, &["shell"])],
        },
    })
}

fn script() -> Value {
    let issue = |number: usize| {
        json!({ "tool": "create_issue", "arguments": {
            "title": format!("part {number}"), "inScope": "a", "outOfScope": "b",
            "completionCriteria": "c", "agent": "coder" } })
    };
    let issues: Vec<Value> = (1..=ISSUES).map(issue).collect();
    // Its branch names the file, so that no two conflict.
    let work = "echo work >\"file-$(basename \"$PWD\")\"";
    json!({ "profiles": {
        "lead": [{ "calls": issues }, { "finish": "Filed." }],
        "coder": [{ "calls": [
            { "tool": "shell", "arguments": { "command": work } },
            { "tool": "finish", "arguments": { "summary": "Done." } },
        ] }],
    } })
}
