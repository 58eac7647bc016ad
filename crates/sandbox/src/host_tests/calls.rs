//! What passes between a guest and the services: calls, reports, panics.

use super::*;

#[test]
fn a_call_is_opened_dispatched_and_closed() {
    let fake = Fake::default();
    let execution = ended(program(&component(OPEN_TEXT, "", SHOW)), fake.clone());
    assert_eq!(execution.fault, None);
    assert_eq!(
        fake.lines(),
        [
            "open views.open_text",
            "views.open_text(\"hello\", \"he\")",
            "close views.open_text ok"
        ]
    );
    assert_eq!((execution.calls.made, execution.calls.dispatched), (1, 0));
    assert_eq!(execution.calls.undocumented["views.open_text"], 1);
}

#[test]
fn a_call_that_is_not_granted_is_closed_and_on_the_roster() {
    let finish =
        r#"(import "test-cabinet:gg/session" "finish" (func $finish (param i32 i32 i32)))"#;
    let bytes = component(
        finish,
        "",
        "(call $finish (i32.const 2048) (i32.const 5) (i32.const 4096))",
    );
    let fake = Fake::default();
    let execution = ended(
        Program {
            offer: nothing(EndingRole::Review),
            ..program(&bytes)
        },
        fake.clone(),
    );
    assert_eq!(execution.fault, None);
    assert_eq!(
        fake.lines(),
        ["open session.finish", "close session.finish unavailable"]
    );
    assert_eq!(execution.calls.refused.items.len(), 1);
    assert_eq!(
        execution.calls.refused.items[0].message,
        "`gg.session.finish` is not available. Use `gg.session.approve` or \
         `gg.session.request_changes` instead."
    );
    let (class, _) = execution.calls.ended.items[0].failure.clone().unwrap();
    assert_eq!(class, FailureClass::Unavailable);
    assert!(execution.calls.undocumented.is_empty());
}

#[test]
fn a_spent_clock_and_a_pending_compaction_refuse_what_would_be_dispatched() {
    let imports = format!(
        r#"{OPEN_TEXT} (import "test-cabinet:gg/skills" "read-skill"
            (func $read (param i32 i32 i32)))"#
    );
    let body = format!("{SHOW} (call $read (i32.const 2048) (i32.const 5) (i32.const 4096))");
    let bytes = component(&imports, "", &body);
    let closed = |fake: Fake| {
        ended(program(&bytes), fake.clone());
        let lines = fake.lines();
        let closed = lines.iter().filter(|line| line.starts_with("close"));
        closed.cloned().collect::<Vec<_>>()
    };
    let spent = closed(Fake {
        clock_spent: true,
        ..Fake::default()
    });
    assert_eq!(
        spent,
        [
            "close views.open_text ok",
            "close skills.read_skill limit-exceeded"
        ]
    );
    let pending = closed(Fake {
        pending: Some("a compaction waits".to_owned()),
        ..Fake::default()
    });
    assert_eq!(
        pending,
        [
            "close views.open_text ok",
            "close skills.read_skill refused"
        ]
    );
}

#[test]
fn a_text_past_the_host_s_bound_ends_the_program_and_is_never_copied() {
    let body = "(drop (memory.grow (i32.const 900)))
        (call $open (i32.const 2048) (i32.const 5) (i32.const 0) (i32.const 58000000)
            (i32.const 4096))";
    let fake = Fake::default();
    let execution = ended(program(&component(OPEN_TEXT, "", body)), fake.clone());
    let fault = execution.fault.unwrap();
    assert_eq!(fault.error_type(), Some(ErrorType::SandboxTrap));
    assert_eq!(fake.lines(), Vec::<String>::new());
    assert_eq!(run("", "", "").fault, None);
}

#[test]
fn each_distinct_report_is_kept_once() {
    let one = "(call $report (i32.const 1) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0)
        (i32.const 0) (i32.const 2048) (i32.const 5))";
    let execution = run(REPORT, "", &one.repeat(3));
    let Some(Fault::Reported(reports)) = &execution.fault else {
        panic!("{:?}", execution.fault);
    };
    assert_eq!(reports.len(), 1);
    assert_eq!(reports[0].rendering, "hello");
    assert_eq!(
        execution.fault.unwrap().error_type(),
        Some(ErrorType::ProgramUnknownName)
    );
}

#[test]
fn a_panic_behind_a_call_closes_the_channel() {
    let fake = Fake::default();
    // A poisoned lock makes the fake panic at its next call.
    let seen = fake.seen.clone();
    let poisoned = std::thread::spawn(move || {
        let _held = seen.lock().unwrap();
        std::panic::resume_unwind(Box::new("asked for"));
    });
    assert!(poisoned.join().is_err());
    let bytes = component(OPEN_TEXT, "", SHOW);
    let execution = start(program(&bytes), Box::new(fake), Stop::default()).unwrap();
    assert!(execution.blocking_recv().is_err());
}

#[test]
fn many_programs_at_once_each_meet_their_own_services() {
    let bytes = component(OPEN_TEXT, "", SHOW);
    let guest = Guest::load(&bytes, None).unwrap();
    let fakes: Vec<_> = (0..16).map(|_| Fake::default()).collect();
    let running: Vec<_> = fakes
        .iter()
        .map(|fake| {
            let program = Program {
                guest: guest.clone(),
                ..program(&bytes)
            };
            start(program, Box::new(fake.clone()), Stop::default()).unwrap()
        })
        .collect();
    for execution in running {
        assert_eq!(execution.blocking_recv().unwrap().fault, None);
    }
    for fake in &fakes {
        assert_eq!(fake.lines().len(), 3);
    }
}
