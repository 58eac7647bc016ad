//! What a model reads, kept as golden files, and the rules its words are written under.

mod everything;

use context::prompts::{
    self, AutoloadSection, CodeSurface, CompactionSection, ExecSection, ExitLine, MachineSection,
    ManagedSection, ModuleImport, ProgramBounds, ProgramLanguage, ProgramLibrary, PromptError,
    ReadFile, RosterLine, SubagentsSection, SystemContext,
};
use everything::{Calls, everything};
use proptest::prelude::*;
use serde_json::Value;
use vocab::operations::{EndingRole, OPERATIONS};
use vocab::tools::{
    EndingCall, ReadMode, ReadPolicy, ShellMode, ShellPolicy, ToolName, Variants, definition,
    ending_definition,
};

/// What a tool-calling agent calls by which name.
const CALLS: Calls = Calls {
    compact: "compact",
    evict: "evict_file_view",
    archive: "archive_thread",
    spawn: "spawn_subagent",
    wait: "wait_for_subagents",
    fork: "fork",
    exec: "exec",
};

fn off() -> SystemContext {
    SystemContext::new(EndingRole::Standard, 200_000)
}

fn on() -> SystemContext {
    everything(CALLS, off())
}

fn render(context: &SystemContext) -> String {
    prompts::system(context, None, None).expect("gg's own template renders")
}

/// One capability switched off in everything that is on, and the same one alone switched on.
fn sections() -> Vec<(&'static str, SystemContext, SystemContext)> {
    macro_rules! section {
        ($field:ident, $none:expr) => {{
            let (mut without, mut alone) = (on(), off());
            without.$field = $none;
            alone.$field = on().$field;
            (stringify!($field), without, alone)
        }};
    }
    vec![
        section!(read_file, None),
        section!(write_file, false),
        section!(edit_file, false),
        section!(list_dir, false),
        section!(search, false),
        section!(shell, None),
        section!(autoload, None),
        section!(tasks, None),
        section!(memories, None),
        section!(skills, None),
        section!(subagents, None),
        section!(fork, None),
        section!(exec, None),
    ]
}

#[test]
fn system_prompt_with_everything_on() {
    insta::assert_snapshot!(render(&on()));
}

#[test]
fn system_prompt_with_everything_off() {
    insta::assert_snapshot!(render(&off()));
}

#[test]
fn system_prompt_of_a_reviewer() {
    insta::assert_snapshot!(render(&SystemContext::new(EndingRole::Review, 8_000)));
}

/// The same agent, answering with programs.
fn with_programs(context: SystemContext) -> SystemContext {
    let language = ProgramLanguage {
        id: "python",
        name: "Python",
        checker: None,
    };
    let docs = ModuleImport {
        id: "docs",
        path: "gg.docs",
        import: "import gg",
    };
    let bounds = ProgramBounds::new(std::time::Duration::from_secs(1), 1);
    let mut code = CodeSurface::new(language, vec![docs], Vec::new(), bounds);
    code.library = Some(ProgramLibrary { keep: None });
    SystemContext {
        code: Some(code),
        ..context
    }
}

/// The same agent in a state with two ways out.
fn in_a_machine(context: SystemContext) -> SystemContext {
    let exit = |state: &str, description: &str, history| ExitLine {
        state: state.to_owned(),
        description: description.to_owned(),
        history,
    };
    let machine = Some(MachineSection {
        state: "plan".to_owned(),
        leave: "transition_state",
        exits: vec![
            exit("build", "When the plan stands.", false),
            exit("plan", "", true),
        ],
    });
    SystemContext { machine, ..context }
}

#[test]
fn what_is_said_of_the_state_of_a_machine() {
    let prompt = render(&in_a_machine(off()));
    // Everything else is said as it is to whoever stands in none.
    let outside = render(&off());
    let said: Vec<_> = prompt
        .lines()
        .filter(|line| line.is_empty() || !outside.lines().any(|other| other == *line))
        .collect();
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn what_is_left_of_a_picture() {
    insta::assert_snapshot!(prompts::picture_removed("a.png: image/png").unwrap());
}

#[test]
fn answer_to_a_reply_without_a_call() {
    let answers: Vec<_> = [EndingRole::Standard, EndingRole::Review]
        .map(|role| prompts::missing_call(EndingCall::of_role(role)).unwrap())
        .into();
    insta::assert_snapshot!(answers.join("\n"));
}

#[test]
fn a_capability_contributes_its_lines_and_off_not_a_byte() {
    let (everything, nothing) = (render(&on()), render(&off()));
    for (name, without, alone) in sections() {
        let alone = render(&alone);
        let (shorter, longer): (Vec<_>, Vec<_>) =
            (nothing.lines().collect(), alone.lines().collect());
        let place = shorter
            .iter()
            .zip(&longer)
            .take_while(|(shorter, longer)| shorter == longer)
            .count();
        let added = &longer[place..][..longer.len() - shorter.len()];
        assert!(!added.is_empty(), "{name}");
        assert_eq!(longer[place + added.len()..], shorter[place..], "{name}");
        let mut expected: Vec<_> = everything.lines().collect();
        let place = expected
            .windows(added.len())
            .position(|lines| lines == added)
            .expect(name);
        expected.drain(place..place + added.len());
        assert_eq!(
            render(&without).lines().collect::<Vec<_>>(),
            expected,
            "{name}"
        );
    }
}

/// Where the agent can free its window, or compaction does, the line that says nothing ever leaves
/// it says so no more: that is all that differs besides their own lines.
#[test]
fn what_frees_a_window_contributes_its_line_and_takes_back_that_nothing_leaves() {
    let nothing = render(&off());
    let forever = " and nothing ever leaves it";
    assert!(nothing.contains(forever));
    let mut cases = Vec::new();
    for compaction in compactions() {
        let mut context = off();
        context.compaction = Some(compaction);
        cases.push(context);
    }
    for (evict, archive) in [(true, false), (false, true), (true, true)] {
        let mut context = off();
        context.managed = Some(ManagedSection {
            evict: evict.then_some("evict_file_view"),
            archive: archive.then_some("archive_thread"),
        });
        cases.push(context);
    }
    let mut added = Vec::new();
    for context in cases {
        let text = render(&context);
        let base = nothing.replace(forever, "");
        let lines: Vec<_> = text.lines().filter(|line| !base.contains(line)).collect();
        assert_eq!(lines.len(), 1, "{text}");
        assert_eq!(text.replace(&format!("{}\n", lines[0]), ""), base);
        added.push(lines[0].to_owned());
    }
    for locked in [true, false] {
        let mut context = off();
        context.autoload = Some(AutoloadSection { locked });
        let text = render(&context);
        let line = text.lines().find(|line| !nothing.contains(line)).unwrap();
        added.push(line.to_owned());
    }
    insta::assert_snapshot!(added.join("\n"));
}

fn compactions() -> [CompactionSection; 4] {
    let none = CompactionSection::default();
    [
        CompactionSection {
            prose: true,
            ..none
        },
        CompactionSection {
            compact: Some("compact"),
            ..none
        },
        CompactionSection {
            memories: true,
            ..none
        },
        CompactionSection {
            handoff: true,
            ..none
        },
    ]
}

#[test]
fn what_is_said_of_the_window_besides() {
    let texts = [
        prompts::handoff_system(),
        prompts::handoff_instruction(None),
        prompts::handoff_instruction(Some("compact")),
        prompts::evicted_view(Some("src/a.rs")),
        prompts::evicted_view(None),
        prompts::superseded_picture("File: a.png", Some("a.png")),
        prompts::superseded_picture("a picture", None),
        prompts::repetition_notice("shell", 3, false),
        prompts::repetition_notice("shell", 6, true),
    ];
    let texts: Vec<_> = texts.into_iter().map(Result::unwrap).collect();
    insta::assert_snapshot!(texts.join("\n\n====\n\n"));
}

#[test]
fn a_line_that_stands_for_a_view_is_one_line() {
    for name in [None, Some("src/a.rs")] {
        let stub = prompts::evicted_view(name).unwrap();
        assert_eq!(stub.lines().count(), 1);
    }
}

#[test]
fn the_values_a_run_configured_are_interpolated() {
    assert!(render(&SystemContext::new(EndingRole::Standard, 123_457)).contains("123457"));
}

#[test]
fn only_a_blind_model_is_told_that_pictures_are_described() {
    let mut context = on();
    assert!(render(&context).contains("Pictures cannot be shown to you"));
    context.read_file = Some(ReadFile {
        line_cap: None,
        blind: false,
    });
    assert!(!render(&context).to_lowercase().contains("picture"));
}

#[test]
fn each_role_is_told_its_own_ending_calls_alone() {
    for (role, other) in [
        (EndingRole::Standard, EndingRole::Review),
        (EndingRole::Review, EndingRole::Standard),
    ] {
        let system = render(&SystemContext::new(role, 1));
        let answer = prompts::missing_call(EndingCall::of_role(role)).unwrap();
        for text in [system, answer] {
            for call in EndingCall::of_role(role) {
                assert!(text.contains(&format!("`{call}`")), "{text}");
            }
            for call in EndingCall::of_role(other) {
                assert!(!text.contains(call.as_str()), "{text}");
            }
        }
    }
}

#[test]
fn custom_instructions_stand_ahead_as_they_are_written() {
    let instructions = "Use {{tabs}} & \"quotes\" <b>.\n";
    let text = prompts::system(&on(), Some(instructions), None).unwrap();
    let rest = text
        .strip_prefix("Use {{tabs}} & \"quotes\" <b>.\n\n")
        .unwrap();
    assert_eq!(rest, render(&on()));
    assert_eq!(prompts::system(&on(), Some(" \n"), None).unwrap(), rest);
}

#[test]
fn an_override_replaces_the_template_and_may_reference_the_same_context() {
    let source = "Lines: {{shell.maxLines}} & {{#if search}}search{{/if}}{{#if review}}no{{/if}}\n";
    assert_eq!(prompts::check_override(source), Ok(()));
    let text = prompts::system(&on(), None, Some(source)).unwrap();
    assert_eq!(text, "Lines: 250 & search");
    let text = prompts::system(&on(), Some("First."), Some(source)).unwrap();
    assert_eq!(text, "First.\n\nLines: 250 & search");
}

#[test]
fn gg_s_own_template_is_an_override_that_changes_nothing() {
    let (_, source) = prompts::templates().next().unwrap();
    for context in [on(), off()] {
        assert_eq!(
            prompts::system(&context, None, Some(source)).unwrap(),
            render(&context)
        );
    }
}

#[test]
fn an_override_that_does_not_parse_is_told_where() {
    let told: Vec<_> = [
        "fine\nthen {{#if shell}} open",
        "{{/if}}",
        "a {{ b",
        "{{#if a}}{{/each}}",
    ]
    .map(|source| prompts::check_override(source).unwrap_err())
    .into();
    insta::assert_snapshot!(told.join("\n\n"));
}

#[test]
fn an_override_that_asks_for_what_is_not_there_parses_and_fails_to_render() {
    let source = "one\n{{workspaceDir}}";
    assert_eq!(prompts::check_override(source), Ok(()));
    let error = prompts::system(&on(), None, Some(source)).unwrap_err();
    assert!(
        matches!(error, PromptError::Render { line: 2, .. }),
        "{error:?}"
    );
    assert!(error.to_string().contains("workspaceDir"), "{error}");
}

#[test]
fn a_first_request_with_every_tool_stays_small() {
    let variants = Variants {
        read: Some(ReadPolicy {
            mode: ReadMode::DefaultCap,
            line_cap: 250,
        }),
        shell: Some(ShellPolicy {
            mode: ShellMode::Offload,
            max_lines: 250,
            max_chars: 4096,
        }),
        ..Variants::default()
    };
    let tools = ToolName::ALL
        .iter()
        .filter_map(|tool| definition(*tool, variants));
    let endings = EndingCall::of_role(EndingRole::Standard)
        .iter()
        .map(|call| ending_definition(*call));
    let schemas: usize = tools
        .chain(endings)
        .map(|tool| {
            tool.name.len() + tool.description.len() + tool.parameters.to_string().len() + 80
        })
        .sum();
    let prompt = render(&SystemContext {
        tasks: None,
        memories: None,
        skills: None,
        subagents: None,
        fork: None,
        exec: None,
        ..on()
    })
    .len();
    assert!(prompt < 2_500, "{prompt}");
    assert!(prompt + schemas < 7_500, "{prompt} + {schemas}");
}

#[test]
fn a_roster_says_of_each_what_there_is_to_say() {
    let mut context = off();
    context.subagents = Some(SubagentsSection {
        spawn: "spawn_subagent",
        wait: None,
        roster: vec![RosterLine {
            slug: "mason".to_owned(),
            name: "Mason".to_owned(),
            description: String::new(),
        }],
    });
    let text = render(&context);
    assert!(
        text.ends_with("they have to report.\n\n- `mason` (Mason)"),
        "{text}"
    );
}

#[test]
fn who_it_may_become_is_listed_once() {
    let mut context = off();
    context.exec = on().exec;
    assert!(render(&context).ends_with("\n\n- `mason` (Mason) — Builds"));
    context.exec = Some(ExecSection {
        call: "exec",
        roster: Vec::new(),
    });
    assert!(render(&context).ends_with("It is one of those above."));
}

#[test]
fn every_name_a_template_asks_for_is_one_the_context_carries() {
    let mut context = serde_json::to_value(with_programs(in_a_machine(on()))).unwrap();
    for name in ["this", "text"] {
        context[name] = Value::Null;
    }
    // What the template goes over one by one.
    let line = context["skills"]["catalogue"][0].clone();
    for (name, value) in line.as_object().unwrap() {
        context[name] = value.clone();
    }
    let line = context["subagents"]["roster"][0].clone();
    for (name, value) in line.as_object().unwrap() {
        context[name] = value.clone();
    }
    for list in ["/machine/exits/0", "/code/modules/0"] {
        let line = context.pointer(list).expect(list).clone();
        for (name, value) in line.as_object().unwrap() {
            context[name] = value.clone();
        }
    }
    // The other templates are rendered in every branch by tests of their own.
    let whole = [
        "system_tool_calling",
        "system_code",
        "missing_call",
        "picture_removed",
    ];
    let templates = prompts::templates().filter(|(name, _)| whole.contains(name));
    for (name, source) in templates {
        for expression in expressions(source) {
            let words = expression.split_whitespace();
            for path in words
                .map(|word| word.trim_end_matches(')'))
                .filter(|word| is_path(word))
            {
                let pointer = format!("/{}", path.replace('.', "/"));
                assert!(
                    context.pointer(&pointer).is_some(),
                    "{name}: {{{{{expression}}}}}"
                );
            }
        }
    }
}

/// Spelled for the arm an agent has, a call's name is a value of the context: a template that held
/// it would say it to an agent that does not have the call.
#[test]
fn no_template_holds_the_name_of_a_tool() {
    for (name, source) in prompts::templates() {
        for tool in ToolName::ALL {
            assert!(!source.contains(&format!("`{tool}`")), "{name}: {tool}");
        }
    }
}

fn expressions(source: &str) -> impl Iterator<Item = &str> {
    let opened = source.split("{{").skip(1);
    opened.filter_map(|rest| rest.split_once("}}").map(|(inside, _)| inside))
}

fn is_path(word: &str) -> bool {
    word != "else" && word.starts_with(|first: char| first.is_ascii_lowercase())
}

#[test]
fn no_template_names_a_catalogued_call() {
    for (name, source) in prompts::templates() {
        for row in OPERATIONS {
            assert!(!source.contains(row.id), "{name} names {}", row.id);
        }
    }
}

#[test]
fn every_template_of_the_folder_is_embedded() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../templates");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    let mut embedded: Vec<_> = prompts::templates()
        .map(|(name, _)| format!("{name}.hbs"))
        .collect();
    files.sort();
    embedded.sort();
    assert_eq!(files, embedded);
}

#[test]
fn every_variable_of_an_override_is_documented_and_no_other() {
    let guide = include_str!("../../../docs/launch-document.md");
    let (_, table) = guide
        .split_once("<!-- variables of SystemContext -->")
        .expect("the guide lists what a template may reference");
    let rows = table
        .lines()
        .skip_while(|line| !line.starts_with("| `"))
        .take_while(|line| line.starts_with("| `"));
    let (mut names, mut members) = (Vec::new(), Vec::new());
    for row in rows {
        let mut cells = row.split(" | ").map(|cell| {
            let words: Vec<_> = cell.split('`').skip(1).step_by(2).collect();
            words
        });
        names.extend(cells.next().unwrap());
        members.extend(cells.flatten());
    }
    let mut context = serde_json::to_value(with_programs(in_a_machine(on()))).unwrap();
    // Of each list one, as the table names its members.
    let exits = context["machine"]["exits"].as_array_mut().unwrap();
    exits.truncate(1);
    let carried = context.as_object().unwrap();
    let mut expected: Vec<_> = carried.keys().map(String::as_str).collect();
    let mut inner = Vec::new();
    carried.values().for_each(|value| keys(value, &mut inner));
    for list in [&mut names, &mut members, &mut expected, &mut inner] {
        list.sort_unstable();
    }
    assert_eq!(names, expected);
    assert_eq!(members, inner);
}

/// Every key of an object, and of those in it.
fn keys<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                found.push(key);
                keys(value, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| keys(item, found)),
        _ => {}
    }
}

proptest! {
    #[test]
    fn judging_an_override_never_panics(parts in proptest::collection::vec(
        prop_oneof![
            Just("{{"), Just("}}"), Just("{{{"), Just("}}}"), Just("#if"), Just("/if"),
            Just("else"), Just("#each"), Just("~"), Just("!--"), Just("--"), Just(">"), Just("&"),
            Just("^"), Just("@first"), Just("this"), Just("."), Just("("), Just(")"), Just("|"),
            Just("as"), Just(" "), Just("\n"), Just("\r\n"), Just("é"), Just("\\"), Just("\""),
            Just("["), Just("="), Just("{{#if a}}"), Just("{{/if}}"), Just("{{*inline \"x\"}}"),
        ], 0..24)
    ) {
        let source = parts.concat();
        if prompts::check_override(&source).is_ok() {
            // A text that parses may still ask for what is not there; either answer will do.
            let _ = prompts::system(&on(), None, Some(&source));
        }
    }
}

/// A piece of a template is compiled when it is needed: what is off in a run would hide its faults.
#[test]
fn every_template_parses_to_its_end() {
    for (name, source) in prompts::templates() {
        assert_eq!(prompts::check_override(source), Ok(()), "{name}");
    }
}
