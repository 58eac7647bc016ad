//! Commands that are really run. Times are ceilings, generous ones: what is asserted is order and
//! outcome.

use std::fs;
use std::future::pending;
use std::path::Path;

use tempfile::TempDir;
use tokio::time::{Instant, sleep, timeout};
use vocab::tools::ShellMode;

use super::*;

const OFFLOAD: ShellPolicy = ShellPolicy {
    mode: ShellMode::Offload,
    max_lines: 250,
    max_chars: 4096,
};

struct Rig {
    folder: TempDir,
    runner: Runner,
}

impl Rig {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        // A key of its own, so that tests beside this one are no kin.
        let run = RoutingKey::from(folder.path().to_str().unwrap());
        let runner = Runner::with(&run, folder.path().join("spool"), 4 << 20);
        fs::create_dir(folder.path().join("work")).unwrap();
        Self { folder, runner }
    }

    fn work(&self) -> std::path::PathBuf {
        self.folder.path().join("work")
    }

    fn request(&self, command: &str) -> Request {
        Request {
            command: command.into(),
            script: None,
            place: Place::at(self.work()),
            timeout: Duration::from_secs(60),
            time_left: None,
            policy: Some(OFFLOAD),
        }
    }

    async fn run(&self, command: &str) -> Outcome {
        self.runner.run(self.request(command), pending()).await
    }

    async fn result(&self, command: &str) -> String {
        self.run(command).await.result().unwrap()
    }

    /// The files of the runner's commands, in order; a pair made ahead among them until the runner
    /// was told that no more commands come.
    fn spooled(&self) -> Vec<(String, Vec<u8>)> {
        let mut files: Vec<_> = fs::read_dir(self.folder.path().join("spool"))
            .unwrap()
            .map(|entry| entry.unwrap())
            .map(|entry| {
                (
                    entry.file_name().into_string().unwrap(),
                    fs::read(entry.path()).unwrap(),
                )
            })
            .collect();
        files.sort();
        files
    }
}

/// Waits for what a command left behind to be so.
async fn until(what: &str, mut so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !so() {
        assert!(
            begun.elapsed() < Duration::from_secs(20),
            "never so: {what}"
        );
        sleep(Duration::from_millis(10)).await;
    }
}

fn lives(pid: &str) -> bool {
    match fs::read_to_string(Path::new("/proc").join(pid.trim()).join("stat")) {
        Ok(stat) => !stat.rsplit_once(") ").unwrap().1.starts_with(['Z', 'X']),
        Err(_) => false,
    }
}

#[tokio::test]
async fn a_result_is_the_code_and_the_output() {
    let rig = Rig::new();
    assert_eq!(
        rig.result("echo a; echo b >&2; exit 3").await,
        "exit code: 3\na\nb\n"
    );
    assert_eq!(rig.result("true").await, "exit code: 0\n(no output)");
    assert_eq!(rig.result("kill -9 $$").await, "exit code: -1\n(no output)");
    assert_eq!(
        rig.result("pwd").await,
        format!("exit code: 0\n{}\n", rig.work().display())
    );
}

/// Quick commands and slow ones, of which some fill a pipe before anybody watches it.
#[tokio::test]
async fn streams_stand_in_the_order_in_which_they_were_written() {
    let rig = Rig::new();
    for pause in ["", "sleep 0.01;", "sleep 0.1;"] {
        let command = format!("echo a; {pause} echo b >&2; sleep 0.01; echo c");
        assert_eq!(rig.result(&command).await, "exit code: 0\na\nb\nc\n");
    }
    let written: u64 = (1..=40_000_u32)
        .map(|number| u64::from(number.ilog10()) + 2)
        .sum();
    let outcome = rig.run("seq 40000; echo done >&2").await;
    assert_eq!(outcome.exit_code, 0);
    assert!(outcome.record.stdout.ends_with("39999\n40000\n"));
    assert_eq!(outcome.record.stdout.len(), 16_384);
    assert_eq!(outcome.record.stdout_dropped, written - 16_384);
    assert!(
        outcome.output.contains("40000\ndone\n"),
        "{}",
        outcome.output
    );
}

#[tokio::test]
async fn both_streams_of_every_command_are_on_disk() {
    let rig = Rig::new();
    rig.run("echo out; echo err >&2").await;
    rig.run("true").await;
    rig.runner.end_all(GRACE).await;
    let files = rig.spooled();
    let contents: Vec<_> = files.iter().map(|(_, contents)| &contents[..]).collect();
    assert_eq!(contents, [&b"err\n"[..], b"out\n", b"", b""]);
    assert!(
        files[0]
            .0
            .starts_with(&format!("cmd-{}-", std::process::id())),
        "{}",
        files[0].0
    );
    // Without offloading there are none.
    let inline = ShellPolicy {
        mode: ShellMode::Inline,
        ..OFFLOAD
    };
    rig.runner
        .run(
            Request {
                policy: Some(inline),
                ..rig.request("echo x")
            },
            pending(),
        )
        .await;
    rig.runner
        .run(
            Request {
                policy: None,
                ..rig.request("echo x")
            },
            pending(),
        )
        .await;
    rig.runner.end_all(GRACE).await;
    assert_eq!(rig.spooled().len(), 4);
}

#[tokio::test]
async fn a_record_holds_each_stream_before_the_policy() {
    let rig = Rig::new();
    let mut request = rig.request("seq 20000; echo err >&2; exit 7");
    request.place.cwd = rig.work().join("sub");
    fs::create_dir(&request.place.cwd).unwrap();
    let record = rig.runner.run(request, pending()).await.record;
    assert_eq!((record.cwd.as_str(), record.exit_code), ("sub", 7));
    assert_eq!(record.stdout.chars().count(), 16_384);
    assert!(record.stdout.ends_with("19999\n20000\n"));
    let whole: usize = (1..=20_000)
        .map(|number: u32| number.to_string().len() + 1)
        .sum();
    assert_eq!(record.stdout_dropped, whole as u64 - 16_384);
    assert_eq!(
        (record.stderr.as_str(), record.stderr_dropped),
        ("err\n", 0)
    );
}

#[tokio::test]
async fn a_command_sees_the_mark_and_no_credential() {
    let rig = Rig::new();
    let run = rig.folder.path().display();
    assert_eq!(
        rig.result("echo $GG_RUN; echo ${OPENROUTER_API_KEY-none}")
            .await,
        format!("exit code: 0\n{run}\nnone\n")
    );
}

#[tokio::test]
async fn there_is_no_input() {
    let rig = Rig::new();
    assert_eq!(rig.result("cat").await, "exit code: 0\n(no output)");
    assert_eq!(rig.result("read x").await, "exit code: 1\n(no output)");
}

#[tokio::test]
async fn what_runs_in_the_background_lives_on() {
    let rig = Rig::new();
    for command in [
        "(sleep 3; echo late; sleep 300) & echo $! >pid; echo done",
        "(exec >&-; sleep 3; echo late >&2; sleep 300) & echo $! >pid; echo done",
    ] {
        let outcome = timeout(Duration::from_secs(30), rig.run(command))
            .await
            .unwrap();
        assert_eq!(outcome.result().unwrap(), "exit code: 0\ndone\n");
        let pid = fs::read_to_string(rig.work().join("pid")).unwrap();
        assert!(lives(&pid));
        // Writing into a pipe nobody asked about does not end it, and its output is kept.
        let last = || {
            rig.spooled()
                .into_iter()
                .any(|(_, contents)| contents.ends_with(b"late\n"))
        };
        until("late output on disk", last).await;
        assert!(lives(&pid));
        assert_eq!(rig.result("echo next").await, "exit code: 0\nnext\n");
        let leftovers = rig.runner.end_all(GRACE).await;
        assert_eq!(leftovers.len(), 1);
        assert_eq!(
            (&*leftovers[0].command, leftovers[0].killed),
            (command, false)
        );
        until("the background process is gone", || !lives(&pid)).await;
        fs::remove_dir_all(rig.folder.path().join("spool")).unwrap();
    }
}

#[tokio::test]
async fn a_timeout_kills_the_group_and_shows_what_there_was() {
    let rig = Rig::new();
    let command = "mkfifo p; (echo $$ >pid; while :; do echo x; sleep 1; done) > p & cat p";
    let request = Request {
        timeout: Duration::from_millis(2500),
        ..rig.request(command)
    };
    let outcome = timeout(Duration::from_secs(30), rig.runner.run(request, pending()))
        .await
        .unwrap();
    assert_eq!(outcome.exit_code, -1);
    let failure = outcome.result().unwrap_err();
    assert_eq!(failure.class, FailureClass::LimitExceeded);
    assert!(
        failure
            .message
            .starts_with("timed out after 2.5 s and was killed\nx\n"),
        "{failure}"
    );
    assert!(outcome.record.stdout.starts_with("x\n"));
    let pid = fs::read_to_string(rig.work().join("pid")).unwrap();
    until("the group is gone", || !lives(&pid)).await;
    assert_eq!(rig.runner.end_all(GRACE).await, []);
}

#[tokio::test]
async fn the_runs_time_clamps_a_commands_own() {
    let rig = Rig::new();
    let request = Request {
        time_left: Some(Duration::from_millis(100)),
        ..rig.request("sleep 300")
    };
    let failure = rig
        .runner
        .run(request, pending())
        .await
        .result()
        .unwrap_err();
    assert_eq!(failure.class, FailureClass::LimitExceeded);
    assert_eq!(
        failure.message,
        "killed, since the run's time is spent\n(no output)"
    );
}

#[tokio::test]
async fn a_stop_asks_the_group_to_end() {
    let rig = Rig::new();
    let command = "trap 'echo bye; exit 0' TERM; echo up; sleep 300 & wait";
    let (stop, stopped) = oneshot::channel::<()>();
    let run = rig
        .runner
        .run(rig.request(command), async { drop(stopped.await) });
    let stopping = async {
        until("it is up", || rig.spooled_text().contains("up\n")).await;
        stop.send(()).unwrap();
    };
    let (outcome, ()) = tokio::join!(run, stopping);
    assert_eq!((outcome.end.clone(), outcome.exit_code), (End::Stopped, -1));
    assert_eq!(
        outcome.result().unwrap_err().message,
        "stopped, since the run is ending\nup\nbye\n"
    );
}

#[tokio::test]
async fn a_stop_kills_what_does_not_listen() {
    let rig = Rig::new();
    let command = "trap '' TERM; echo $$ >pid; echo up; while :; do sleep 1; done";
    let (stop, stopped) = oneshot::channel::<()>();
    let run = rig
        .runner
        .run(rig.request(command), async { drop(stopped.await) });
    let stopping = async {
        until("it is up", || rig.spooled_text().contains("up\n")).await;
        stop.send(()).unwrap();
    };
    let (outcome, ()) = timeout(Duration::from_secs(30), async {
        tokio::join!(run, stopping)
    })
    .await
    .unwrap();
    assert_eq!(outcome.end, End::Stopped);
    let pid = fs::read_to_string(rig.work().join("pid")).unwrap();
    assert!(!lives(&pid));
}

#[tokio::test]
async fn a_command_runs_before_its_outcome_is_awaited() {
    let rig = Rig::new();
    let outcome = rig.runner.run(rig.request("echo a; : >ran"), pending());
    until("it ran", || rig.work().join("ran").exists()).await;
    assert_eq!(outcome.await.result().unwrap(), "exit code: 0\na\n");
}

#[tokio::test]
async fn an_asker_that_is_gone_stops_its_command() {
    let rig = Rig::new();
    let command = "echo $$ >pid; exec sleep 300";
    let asked = timeout(Duration::from_millis(500), rig.run(command)).await;
    assert!(asked.is_err());
    let pid = fs::read_to_string(rig.work().join("pid")).unwrap();
    until("the command is gone", || !lives(&pid)).await;
}

#[tokio::test]
async fn the_end_of_a_run_kills_what_does_not_listen() {
    let rig = Rig::new();
    // It says that it does not listen before it is asked.
    let command = "(trap '' TERM; : >deaf; while :; do sleep 1; done) >/dev/null 2>&1 & echo $! >pid; \
                   until [ -e deaf ]; do sleep 0.01; done";
    rig.run(command).await;
    let pid = fs::read_to_string(rig.work().join("pid")).unwrap();
    let leftovers = rig.runner.end_all(Duration::from_millis(100)).await;
    assert!(leftovers[0].killed);
    until("it is gone", || !lives(&pid)).await;
    assert_eq!(rig.runner.end_all(GRACE).await, []);
}

#[tokio::test]
async fn a_second_signal_kills_at_once() {
    let rig = Rig::new();
    let run = rig.run("trap '' TERM; echo $$ >pid; while :; do sleep 1; done");
    let killing = async {
        until("it is up", || {
            fs::read_to_string(rig.work().join("pid")).is_ok_and(|pid| !pid.is_empty())
        })
        .await;
        rig.runner.kill_all();
    };
    let (outcome, ()) = tokio::join!(run, killing);
    assert_eq!((outcome.end, outcome.exit_code), (End::Exited, -1));
}

#[tokio::test]
async fn a_missing_working_directory_is_named_and_heals() {
    let rig = Rig::new();
    fs::remove_dir(rig.work()).unwrap();
    let failure = rig.run("ls").await.result().unwrap_err();
    assert_eq!(failure.class, FailureClass::IoError);
    let work = rig.work();
    assert_eq!(
        failure.message,
        format!(
            "the command could not start: the working directory `{}` does not exist",
            work.display()
        )
    );
    fs::create_dir(&work).unwrap();
    assert_eq!(rig.result("ls").await, "exit code: 0\n(no output)");
}

#[tokio::test]
async fn a_command_too_long_says_what_to_do() {
    let rig = Rig::new();
    let failure = rig
        .run(&format!("# {}", "x".repeat(200_000)))
        .await
        .result()
        .unwrap_err();
    assert_eq!(failure.class, FailureClass::IoError);
    assert!(
        failure
            .message
            .ends_with("too long (200002 bytes); write it to a file and run that")
    );
}

#[tokio::test]
async fn bad_bytes_are_marked_in_text_and_kept_on_disk() {
    let rig = Rig::new();
    assert_eq!(
        rig.result(r"printf 'a\377b\360\237'").await,
        "exit code: 0\na\u{fffd}b\u{fffd}"
    );
    assert!(
        rig.spooled()
            .iter()
            .any(|(_, contents)| contents == b"a\xffb\xf0\x9f")
    );
    let noise = rig.run("head -c 4096 /dev/urandom").await;
    assert_eq!(
        rig.spooled()
            .into_iter()
            .map(|(_, contents)| contents.len())
            .max(),
        Some(4096)
    );
    assert!(noise.record.stdout.contains('\u{fffd}'));
}

#[tokio::test]
async fn a_flood_is_read_in_bounded_memory() {
    let peak = || {
        let status = fs::read_to_string("/proc/self/status").unwrap();
        let line = status
            .lines()
            .find(|line| line.starts_with("VmHWM:"))
            .unwrap();
        line.split_whitespace()
            .nth(1)
            .unwrap()
            .parse::<u64>()
            .unwrap()
    };
    let rig = Rig::new();
    rig.run("true").await;
    let before = peak();
    // One line of 150 MB, then many short ones.
    let outcome = rig
        .run("head -c 150000000 /dev/zero; echo; yes | head -c 50000000")
        .await;
    assert!(
        peak() - before < 64 * 1024,
        "peak rose by {} KiB",
        peak() - before
    );
    assert!(outcome.output.starts_with("y\ny\n"));
    let capped = format!(
        ".stdout (the first {} of 200000001 bytes)\n  25000001 lines; line length p50 1, p95 1, p99 \
         1\n  longest lines: 150000000 chars @ 1, 1 @ 2, 1 @ 3, 1 @ 4, 1 @ 5\n",
        4 << 20
    );
    assert!(
        outcome.output.contains(&capped),
        "{}",
        &outcome.output[outcome.output.len() - 400..]
    );
    assert_eq!(
        rig.spooled()
            .into_iter()
            .map(|(_, contents)| contents.len())
            .max(),
        Some(4 << 20)
    );
}

#[tokio::test]
async fn files_that_cannot_be_written_are_a_reason_and_no_failure() {
    let rig = Rig::new();
    fs::write(rig.folder.path().join("spool"), "in the way").unwrap();
    let result = rig.result("echo a").await;
    assert!(
        result.starts_with("exit code: 0\na\n[Output is not kept on disk: cannot write "),
        "{result}"
    );
    assert!(result.ends_with(".stdout: Not a directory]"), "{result}");
}

#[tokio::test]
async fn many_commands_run_beside_each_other() {
    let rig = Rig::new();
    let all = futures(40, |at| rig.result_of(at)).await;
    for (at, result) in all.into_iter().enumerate() {
        assert_eq!(result, format!("exit code: 0\n{at}\n"));
    }
}

#[test]
fn a_runner_needs_no_runtime_of_the_asker() {
    let rig = Rig::new();
    assert_eq!(poll_by_hand(rig.result("echo a")), "exit code: 0\na\n");
}

impl Rig {
    fn spooled_text(&self) -> String {
        if !self.folder.path().join("spool").exists() {
            return String::new();
        }
        self.spooled()
            .iter()
            .map(|(_, contents)| String::from_utf8_lossy(contents).into_owned())
            .collect()
    }

    async fn result_of(&self, at: usize) -> String {
        self.result(&format!("sleep 0.2; echo {at}")).await
    }
}

/// Drives several futures at once, on one task.
async fn futures<F: Future>(count: usize, make: impl Fn(usize) -> F) -> Vec<F::Output> {
    let mut running: Vec<_> = (0..count).map(|at| (Box::pin(make(at)), None)).collect();
    std::future::poll_fn(move |context| {
        for (future, output) in running.iter_mut().filter(|(_, output)| output.is_none()) {
            if let std::task::Poll::Ready(done) = future.as_mut().poll(context) {
                *output = Some(done);
            }
        }
        if running.iter().all(|(_, output)| output.is_some()) {
            let outputs = running
                .iter_mut()
                .map(|(_, output)| output.take().unwrap())
                .collect();
            return std::task::Poll::Ready(outputs);
        }
        std::task::Poll::Pending
    })
    .await
}

/// Waits for a future with a thread's own parking and nothing else.
fn poll_by_hand<F: Future>(future: F) -> F::Output {
    struct Unpark(std::thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Arc::new(Unpark(std::thread::current())).into();
    let mut context = std::task::Context::from_waker(&waker);
    let mut future = std::pin::pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            std::task::Poll::Ready(output) => return output,
            std::task::Poll::Pending => std::thread::park(),
        }
    }
}

#[tokio::test]
async fn files_made_ahead_that_a_command_removes_are_made_again() {
    let rig = Rig::new();
    let long = "rm -f ../spool/*; yes | head -n 5000";
    rig.run("true").await;
    let outcome = rig.run(long).await;
    assert!(outcome.truncated, "{}", outcome.output);
    // The pair of `true` is gone with the one made ahead for `yes`; what comes next has its own.
    let outcome = rig.run("yes | head -n 5000").await;
    let path = outcome
        .output
        .lines()
        .find_map(|line| line.strip_prefix("stdout: "))
        .unwrap();
    assert_eq!(fs::read(path).unwrap().len(), 10_000);
}

impl Rig {
    /// Runs a script that is told `argument`.
    async fn script(&self, source: &str, argument: &str) -> Outcome {
        use std::os::unix::fs::PermissionsExt;

        let path = self.folder.path().join("script");
        fs::write(&path, source).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        let request = Request {
            script: Some(Script {
                path,
                names_interpreter: source.starts_with("#!"),
                argument: argument.into(),
            }),
            policy: None,
            ..self.request("script")
        };
        self.runner.run(request, pending()).await
    }
}

fn last(text: &str) -> LastLine {
    LastLine::Line(text.to_owned())
}

#[tokio::test]
async fn a_script_has_one_argument_no_input_and_a_last_line() {
    let rig = Rig::new();
    for head in ["", "#!/bin/sh\n"] {
        let source = format!("{head}cat; echo \"$#\"; pwd >&2; echo \"<$1>\"");
        let outcome = rig.script(&source, "a 'b' \"c\" $d").await;
        assert_eq!(outcome.exit_code, 0);
        assert_eq!(outcome.last_line, last("<a 'b' \"c\" $d>"));
        assert_eq!(outcome.record.stdout, "1\n<a 'b' \"c\" $d>\n");
        assert_eq!(outcome.record.stderr, format!("{}\n", rig.work().display()));
    }
}

#[tokio::test]
async fn a_script_s_stdout_is_read_whole_however_much_it_is() {
    let rig = Rig::new();
    let outcome = rig
        .script(
            "yes line | head -c 20000000; echo; echo last; echo; echo",
            "",
        )
        .await;
    assert_eq!(outcome.last_line, last("last"));
    let spool = rig.folder.path().join("spool");
    assert!(!spool.exists(), "nothing of it is kept on disk");
}

#[tokio::test]
async fn a_script_that_is_not_there_or_whose_interpreter_is_not_did_not_start() {
    let rig = Rig::new();
    let outcome = rig.script("#!/no/such/interpreter\n", "x").await;
    let End::NotStarted { why } = &outcome.end else {
        panic!("{outcome:?}");
    };
    assert_eq!(why, "the script or its interpreter is not there");
    // A command has no last line of its own.
    assert_eq!(rig.run("echo x").await.last_line, LastLine::Nothing);
}
