//! Streams read from a file: whole, killed, damaged, and files that are no stream.

use super::*;

fn recorded(bytes: &[u8]) -> Report {
    read(bytes).unwrap()
}

fn rules_broken(report: &Report) -> Vec<&'static str> {
    report.violations.iter().map(|it| it.rule).collect()
}

#[test]
fn a_whole_stream_says_what_was_checked_and_how_it_ended() {
    let lines = good();
    let report = recorded(text(&lines).as_bytes());
    assert_eq!(report.violations, []);
    assert_eq!(report.ending, Ending::Finished);
    let of = |kind: &str| lines.iter().filter(|line| line["type"] == kind).count() as u64;
    assert_eq!(
        report.counts,
        Counts {
            lines: lines.len() as u64,
            events: lines.len() as u64,
            unknown: 1,
            agents: of("agent_spawned"),
            exchanges: of("prompt"),
            calls: of("tool_call") + of("api_call"),
        }
    );
    assert_eq!(
        report.run.session.as_deref(),
        lines[0]["sessionId"].as_str()
    );
    let last = lines.last().unwrap();
    let ended = report.run.ended.unwrap();
    assert_eq!(Some(ended.0.as_str()), last["status"].as_str());
    assert_eq!(Some(ended.1), last["exitCode"].as_u64());
}

#[test]
fn a_stream_without_its_end_is_a_killed_one_wherever_it_stops() {
    let good = text(&good());
    let whole = good.len() - 1;
    for cut in (1..whole).step_by(53) {
        let report = recorded(&good.as_bytes()[..cut]);
        let has_line = good[..cut].contains('\n');
        assert_eq!(report.ending, Ending::Killed, "cut at {cut}");
        let broken = rules_broken(&report);
        assert_eq!(
            broken,
            if has_line {
                vec![]
            } else {
                vec![rule::FIRST_LINE]
            }
        );
    }
}

#[test]
fn what_stands_behind_an_end_is_found() {
    let good = text(&good());
    let report = recorded(format!("{good}half a li").as_bytes());
    assert_eq!(report.ending, Ending::Finished);
    assert_eq!(rules_broken(&report), [rule::FRAMING]);
}

#[test]
fn bytes_that_are_no_text_are_one_bad_line() {
    let mut bytes = text(&good()).into_bytes();
    let second = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    bytes.splice(second..second, *b"\xff\xfe\n");
    let report = recorded(&bytes);
    let first = &report.violations[0];
    assert_eq!((first.line, first.rule), (2, rule::FRAMING));
    assert_eq!(report.counts.lines, report.counts.events + 1);
}

#[test]
fn a_line_longer_than_any_is_passed_over_and_the_next_one_is_read() {
    let good = text(&good());
    let (first, rest) = good.split_once('\n').unwrap();
    let long = "x".repeat(crate::stream::LINE_CEILING_BYTES * 4);
    let report = recorded(format!("{first}\n{long}\n{rest}").as_bytes());
    let broken = &report.violations[0];
    assert_eq!((broken.line, broken.rule), (2, rule::FRAMING));
    assert!(broken.message.contains("was not read"), "{broken}");
    assert_eq!(report.counts.events, report.counts.lines - 1);
}

#[test]
fn a_file_that_is_no_stream_names_no_session_and_fills_no_memory() {
    let noise = "no stream\n".repeat(KEPT + 50);
    let report = recorded(noise.as_bytes());
    assert_eq!(report.run, RunFacts::default());
    assert_eq!(report.violations.len(), KEPT);
    assert_eq!(
        report.broken(),
        report.violations.len() as u64 + report.left_out
    );
    assert!(report.left_out >= 50);
}

#[test]
fn every_rule_has_a_place_in_the_list() {
    let source = include_str!("../../rules.rs");
    assert_eq!(
        source.matches("pub(super) const ").count() - 1,
        names().len()
    );
}

proptest::proptest! {
    #[test]
    fn a_file_and_a_text_are_judged_alike(place in 0usize..100_000, byte in 0u8..128) {
        let mut bytes = text(&good()).into_bytes();
        let place = place % bytes.len();
        bytes[place] = byte;
        let report = recorded(&bytes);
        let told = check_with(std::str::from_utf8(&bytes).unwrap(), report.ending);
        proptest::prop_assert_eq!(report.violations, told);
    }
}
