//! What answering with a program costs, on each language: a turn of one beside the bare engine that
//! runs the same program, and beside the interpreter that a shell would start for it; its compiler,
//! its first program, its calls, its memory, its end where it has none; and what its guest weighs.
//!
//! A turn is measured whole, as a session spends it: the model's reply taken in, the program
//! prepared, instantiated and run with one call and one view, its events written, and the next
//! request put together. The model is in the process and answers at once, so what is left of it is
//! the floor's own work: instantiating the component and running the program. Nothing is subtracted.

mod arms;
mod session;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::json;

use self::arms::{ALL, Arm, JAVASCRIPT, PYTHON, Spawned, TYPESCRIPT};
use self::session::{first_program, ground, memory, submits, wall};
use super::contestant::{Ground, binary};
use super::median;
use super::table::Row;
use crate::step::target;

/// Turns of a session that is timed.
const TURNS: u64 = 100;

/// Runs of the floor.
const RUNS: usize = 50;

/// Calls of a program whose calls are timed.
const CALLS: usize = 20_000;

/// Agents that wait while memory is looked at: few, and many.
const WAITING: (usize, usize) = (2, 18);

/// How long programs may run: long enough to be in nobody's way, and what an endless one gets.
const TIME: (f64, f64) = (30.0, 1.0);

/// Measures all of it.
pub(super) fn measure(repeats: usize) -> Result<Vec<Row>> {
    for arm in ALL {
        ensure!(
            arm.component().is_file(),
            "there is no guest for {}; `cargo xtask arms` builds it",
            arm.name
        );
        // Compiles its guest, where this machine has not yet.
        wall(arm, TIME.0, &[submits(arm.turn)])?;
    }
    let mut rows = Vec::new();
    let mut turns = Vec::new();
    for arm in ALL {
        println!("    {}", arm.name);
        let turn = turn(arm, repeats)?;
        rows.extend(beside_floors(arm, turn, repeats)?);
        turns.push(turn);
        rows.push(first(arm, repeats)?);
        rows.push(calls(arm, repeats)?);
        rows.push(overrun(arm, repeats)?);
    }
    rows.push(checked(turns[0] - turns[1], repeats)?);
    println!("    programs that wait");
    rows.extend(waiting(repeats)?);
    rows.push(carried()?);
    Ok(rows)
}

/// Milliseconds of a turn with the small program.
fn turn(arm: &Arm, repeats: usize) -> Result<f64> {
    let once = |turns: u64| {
        let step = json!({ "program": arm.turn, "repeat": turns });
        wall(arm, TIME.0, &[step])
    };
    let mut all = Vec::new();
    for _ in 0..repeats {
        let one = once(1)?;
        all.push((once(TURNS)? - one) * 1e3 / (TURNS - 1) as f64);
    }
    Ok(median(all))
}

/// That turn beside the bare engine, and beside an interpreter started anew.
fn beside_floors(arm: &Arm, turn: f64, repeats: usize) -> Result<Vec<Row>> {
    let bare = bare(arm)?;
    let mut rows = vec![Row {
        figure: format!(
            "a turn with a small program in {}, beside the bare engine",
            arm.name
        ),
        unit: "ms",
        gg: turn,
        floor: Some(bare),
        goal: "≤ 2 × floor".to_owned(),
        met: Some(turn <= 2.0 * bare),
    }];
    if let Some(spawned) = &arm.spawned {
        let floor = spawn(spawned, repeats)?;
        rows.push(Row {
            figure: format!("the same beside starting `{}`", spawned.command),
            unit: "ms",
            gg: turn,
            floor: Some(floor),
            goal: "≥ 10 × faster".to_owned(),
            met: Some(10.0 * turn <= floor),
        });
    }
    Ok(rows)
}

/// Milliseconds in which the bare engine instantiates the component and runs the program.
fn bare(arm: &Arm) -> Result<f64> {
    let ground = ground()?;
    let program = ground.path("program");
    std::fs::write(&program, arm.bare)?;
    let told = Command::new(binary("examples/bare_guest")?)
        .arg(arm.component())
        .arg(&program)
        .arg(RUNS.to_string())
        .current_dir(ground.workspace())
        .output()?;
    ensure!(
        told.status.success(),
        "the bare guest failed: {}",
        String::from_utf8_lossy(&told.stderr)
    );
    let micros = String::from_utf8_lossy(&told.stdout)
        .lines()
        .map(str::parse)
        .collect::<Result<Vec<f64>, _>>()
        .context("the bare guest said something else than figures")?;
    Ok(median(micros) / 1e3)
}

/// Milliseconds in which an interpreter is started for the small program, and ends.
fn spawn(spawned: &Spawned, repeats: usize) -> Result<f64> {
    let Spawned {
        command,
        flag,
        itself,
        source,
    } = spawned;
    let found = Command::new(command).args([flag, itself]).output()?;
    ensure!(found.status.success(), "`{command}` does not run");
    let program = String::from_utf8_lossy(&found.stdout).trim().to_owned();
    let ground = ground()?;
    timed(10 * repeats, || {
        let mut command = Command::new(&program);
        command.args([flag, source]);
        ended(&mut command, &ground)
    })
}

/// The turn with the first program of a process that finds its guest compiled.
fn first(arm: &Arm, repeats: usize) -> Result<Row> {
    let mut all = Vec::new();
    for _ in 0..3 * repeats {
        all.push(first_program(arm, TIME.0)? * 1e3);
    }
    let first = median(all);
    Ok(Row {
        figure: format!(
            "the first program of a process, {}, beyond its model's reply",
            arm.name
        ),
        unit: "ms",
        gg: first,
        floor: None,
        goal: "≤ 50 ms".to_owned(),
        met: Some(first <= 50.0),
    })
}

/// Calls a second, each with its two events in a file.
fn calls(arm: &Arm, repeats: usize) -> Result<Row> {
    let mut all = Vec::new();
    for _ in 0..repeats {
        let none = wall(arm, TIME.0, &[submits(&arm.calling(0))])?;
        let many = wall(arm, TIME.0, &[submits(&arm.calling(CALLS))])?;
        all.push(CALLS as f64 / (many - none));
    }
    Ok(Row {
        figure: format!("calls of a program, {}", arm.name),
        unit: "/s",
        gg: median(all),
        floor: None,
        goal: String::new(),
        met: None,
    })
}

/// How long after its time an endless loop ends; before it, where its engine stops itself.
fn overrun(arm: &Arm, repeats: usize) -> Result<Row> {
    let mut all = Vec::new();
    for _ in 0..repeats {
        let none = wall(arm, TIME.1, &[submits(arm.nothing)])?;
        let endless = wall(arm, TIME.1, &[submits(arm.endless)])?;
        all.push((endless - none - TIME.1) * 1e3);
    }
    let late = median(all);
    Ok(Row {
        figure: format!("an endless loop ends after its time, {}", arm.name),
        unit: "ms",
        gg: late,
        floor: None,
        goal: "≤ 200 ms".to_owned(),
        met: Some(late <= 200.0),
    })
}

/// The binary beside the guests it carries: were one in it twice, that would show.
fn carried() -> Result<Row> {
    let bytes = |path: &Path| -> Result<f64> { Ok(std::fs::metadata(path)?.len() as f64) };
    let guests: BTreeSet<PathBuf> = ALL.iter().map(|arm| arm.component()).collect();
    let guests: f64 = guests.iter().map(|path| bytes(path)).sum::<Result<f64>>()?;
    let all = bytes(&binary("gg")?)?;
    Ok(Row {
        figure: "the binary, beside the guests it carries".to_owned(),
        unit: "MB",
        gg: all / 1e6,
        floor: Some(guests / 1e6),
        goal: "≤ 50 MB more".to_owned(),
        met: Some(all - guests <= 50e6),
    })
}

/// What TypeScript's turn takes beyond JavaScript's, beside a compiler started anew.
fn checked(beyond: f64, repeats: usize) -> Result<Row> {
    let ground = ground()?;
    let project = json!({
        "compilerOptions": {
            "strict": true, "target": "es2022", "lib": ["es2022"], "module": "esnext",
            "moduleResolution": "bundler", "skipLibCheck": true, "types": [], "outDir": "out",
            "sourceMap": true,
        },
        "files": ["program.ts", target().join("arms/ecmascript/typescript.d.ts")],
    });
    std::fs::write(ground.workspace().join("program.ts"), TYPESCRIPT.turn)?;
    std::fs::write(
        ground.workspace().join("tsconfig.json"),
        project.to_string(),
    )?;
    let compiler = compiler()?;
    let floor = timed(5 * repeats, || {
        ended(Command::new(&compiler).args(["-p", "."]), &ground)
    })?;
    Ok(Row {
        figure: "TypeScript's check, warm, and its emission, beside `tsc` started anew".to_owned(),
        unit: "ms",
        gg: beyond,
        floor: Some(floor),
        goal: String::new(),
        met: None,
    })
}

/// The compiler that `cargo xtask arms` installed.
fn compiler() -> Result<PathBuf> {
    let scope = target().join("toolchains/typescript/node_modules/@typescript");
    let entries =
        std::fs::read_dir(&scope).with_context(|| format!("{} cannot be read", scope.display()))?;
    let mut compilers = entries.filter_map(|entry| Some(entry.ok()?.path().join("lib/tsc")));
    compilers
        .find(|path| path.is_file())
        .context("there is no TypeScript compiler; `cargo xtask arms` installs it")
}

/// Memory of an agent whose program waits in a call, beside one that waits in a tool's.
fn waiting(repeats: usize) -> Result<Vec<Row>> {
    let each = |arm: Option<&Arm>| -> Result<f64> {
        let mut all = Vec::new();
        for _ in 0..repeats {
            let (few, many) = (memory(arm, WAITING.0)?, memory(arm, WAITING.1)?);
            let grown = many.saturating_sub(few) as f64;
            all.push(grown / (WAITING.1 - WAITING.0) as f64 / (1024.0 * 1024.0));
        }
        Ok(median(all))
    };
    let floor = each(None)?;
    [&JAVASCRIPT, &PYTHON]
        .into_iter()
        .map(|arm| {
            Ok(Row {
                figure: format!(
                    "memory of an agent whose program waits, {}, beside one whose tool does",
                    arm.name
                ),
                unit: "MiB",
                gg: each(Some(arm))?,
                floor: Some(floor),
                goal: String::new(),
                met: None,
            })
        })
        .collect()
}

/// The middle of so many times something takes, in milliseconds.
fn timed(times: usize, mut once: impl FnMut() -> Result<()>) -> Result<f64> {
    let mut all = Vec::new();
    for _ in 0..times {
        let began = Instant::now();
        once()?;
        all.push(began.elapsed().as_secs_f64() * 1e3);
    }
    Ok(median(all))
}

/// Runs a command in a workspace, to a good end.
fn ended(command: &mut Command, ground: &Ground) -> Result<()> {
    let status = command
        .current_dir(ground.workspace())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()?;
    ensure!(status.success(), "a floor ended with {status}");
    Ok(())
}
