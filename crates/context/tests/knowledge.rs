//! What a model is told of tasks, memories and skills, kept as golden files: each section alone,
//! each block, each notice; and that what is off leaves nothing.

use context::modules::memories::{MemoryCall, MemoryPolicy, MemoryStore, parse as parse_memory};
use context::modules::skills::{Catalogue, CodeFile, CodeHalf, Skill, SkillOrigin};
use context::modules::tasks::{TaskList, TaskPolicy, parse as parse_task};
use context::prompts::{self, MemoriesSection, SkillsSection, SystemContext, TasksSection};
use vocab::ids::AgentId;
use vocab::knowledge::{MemoryLimits, MemoryStrategy, TaskMode};
use vocab::operations::EndingRole;
use vocab::tools::{ToolName, Variants, definition};

const LIMITS: MemoryLimits = MemoryLimits {
    max_count: 64,
    max_len_per_memory: 4_096,
    max_total_len: 65_536,
    max_len_index: 16_384,
    max_len_description: 256,
    max_results: 25,
};

const fn policy(strategy: MemoryStrategy) -> MemoryPolicy {
    MemoryPolicy {
        strategy,
        limits: LIMITS,
    }
}

fn off() -> SystemContext {
    SystemContext::new(EndingRole::Standard, 200_000)
}

/// What a section adds to the prompt of an agent that has nothing.
fn section(context: &SystemContext) -> String {
    let render = |context| prompts::system(context, None, None).expect("gg's own template renders");
    let (nothing, with) = (render(&off()), render(context));
    let (nothing, with): (Vec<_>, Vec<_>) = (nothing.lines().collect(), with.lines().collect());
    let place = nothing
        .iter()
        .zip(&with)
        .take_while(|(a, b)| a == b)
        .count();
    let added = with.len() - nothing.len();
    assert_eq!(with[place + added..], nothing[place..]);
    with[place..place + added].join("\n")
}

fn tasks_section(max_tasks: u64) -> String {
    section(&SystemContext {
        tasks: Some(TasksSection::of(TaskPolicy {
            mode: TaskMode::Simple,
            max_tasks,
        })),
        ..off()
    })
}

fn memories_section(strategy: MemoryStrategy, writable: bool, linked: bool) -> String {
    section(&SystemContext {
        memories: Some(MemoriesSection::of(policy(strategy), writable, linked)),
        ..off()
    })
}

#[test]
fn section_of_tasks() {
    insta::assert_snapshot!([tasks_section(100), tasks_section(0)].join("\n\n"));
}

#[test]
fn section_of_memories() {
    let sections: Vec<_> = MemoryStrategy::ALL
        .iter()
        .flat_map(|strategy| {
            [(true, false), (true, true), (false, true)]
                .map(|(writable, linked)| memories_section(*strategy, writable, linked))
        })
        .collect();
    insta::assert_snapshot!(sections.join("\n\n"));
}

#[test]
fn section_of_memories_without_limits() {
    let unlimited = MemoryPolicy {
        strategy: MemoryStrategy::Scratchpad,
        limits: MemoryLimits::default(),
    };
    insta::assert_snapshot!(section(&SystemContext {
        memories: Some(MemoriesSection::of(unlimited, true, false)),
        ..off()
    }));
}

fn skill(name: &str, halves: &[CodeHalf]) -> std::sync::Arc<Skill> {
    let code = |half: &CodeHalf| CodeFile {
        half: *half,
        extension: "py".to_owned(),
        text: "x = 1".into(),
    };
    std::sync::Arc::new(Skill {
        name: name.into(),
        description: format!("About {name}").into(),
        body: "Text.".into(),
        origin: SkillOrigin::File(format!("{name}.md")),
        code: halves.iter().map(code).collect(),
    })
}

fn skills_section(catalogue: &Catalogue) -> String {
    section(&SystemContext {
        skills: SkillsSection::of(catalogue),
        ..off()
    })
}

#[test]
fn section_of_skills() {
    use CodeHalf::{Module, Script};
    let prose = Catalogue::new(&[skill("b", &[]), skill("a", &[])], []);
    let code = Catalogue::new(
        &[
            skill("both", &[Module, Script]),
            skill("module", &[Module]),
            skill("plain", &[]),
            skill("script", &[Script]),
        ],
        [],
    );
    insta::assert_snapshot!([skills_section(&prose), skills_section(&code)].join("\n\n"));
}

#[test]
fn an_empty_catalogue_leaves_no_word() {
    assert_eq!(skills_section(&Catalogue::default()), "");
}

#[test]
fn what_does_not_apply_is_not_said() {
    let all = memories_section(MemoryStrategy::Markdown, true, false);
    for figure in ["64", "65536", "25 "] {
        assert!(!all.contains(figure), "{all}");
    }
    let reader = memories_section(MemoryStrategy::Markdown, false, true);
    assert!(
        !reader.contains("4096") && reader.contains("another agent's"),
        "{reader}"
    );
}

#[test]
fn no_section_names_a_call() {
    let said = [
        tasks_section(100),
        memories_section(MemoryStrategy::Scratchpad, true, true),
        memories_section(MemoryStrategy::Markdown, true, true),
        memories_section(MemoryStrategy::KeywordSearch, true, true),
        skills_section(&Catalogue::new(&[skill("a", &[])], [])),
    ];
    for said in said {
        for tool in ToolName::ALL
            .iter()
            .filter(|tool| tool.as_str().contains('_'))
        {
            assert!(!said.contains(tool.as_str()), "{said}");
        }
    }
}

#[test]
fn what_is_off_is_offered_in_no_call() {
    for tool in ToolName::ALL {
        use vocab::capability::CapabilityId as C;
        if let Some(C::Tasks | C::Memories | C::Skills) = tool.capability() {
            assert_eq!(definition(*tool, Variants::default()), None, "{tool}");
        }
    }
}

#[test]
fn definitions_of_the_calls_on_knowledge() {
    use ToolName as T;
    let mut told = Vec::new();
    let mut tell = |variants: Variants<'_>, tools: &[ToolName]| {
        for tool in tools {
            let definition = definition(*tool, variants).unwrap();
            told.push(format!(
                "{}: {}\n{:#}",
                definition.name, definition.description, definition.parameters
            ));
        }
    };
    for mode in TaskMode::ALL {
        let variants = Variants {
            tasks: Some(*mode),
            ..Variants::default()
        };
        tell(variants, &[T::AddTask, T::UpdateTask]);
    }
    let variants = Variants {
        tasks: Some(TaskMode::Simple),
        skills: true,
        ..Variants::default()
    };
    tell(
        variants,
        &[
            T::SetBlockedBy,
            T::CompleteTask,
            T::RemoveTask,
            T::ReadSkill,
        ],
    );
    for strategy in MemoryStrategy::ALL {
        let variants = Variants {
            memories: Some(*strategy),
            ..Variants::default()
        };
        tell(variants, strategy.calls());
    }
    insta::assert_snapshot!(told.join("\n\n"));
}

#[test]
fn block_of_tasks() {
    let mut list = TaskList::new(TaskPolicy {
        mode: TaskMode::Issues,
        max_tasks: 0,
    });
    let sections = r#""inScope":"the reader","outOfScope":"the writer\nand its tests","completionCriteria":"cargo test passes""#;
    for (tool, arguments) in [
        (
            ToolName::AddTask,
            format!(r#"{{"id":"read","title":"Read {{{{x}}}} & <y>",{sections}}}"#),
        ),
        (
            ToolName::AddTask,
            format!(r#"{{"id":"parse","title":"Parse","description":"first\n\nthen",{sections}}}"#),
        ),
        (
            ToolName::AddTask,
            format!(r#"{{"id":"join","title":"Join",{sections}}}"#),
        ),
        (
            ToolName::AddTask,
            format!(r#"{{"id":"ship","title":"Ship",{sections}}}"#),
        ),
        (
            ToolName::SetBlockedBy,
            r#"{"id":"join","blockedBy":["read","parse"]}"#.to_owned(),
        ),
        (
            ToolName::SetBlockedBy,
            r#"{"id":"ship","blockedBy":["join","parse","read"]}"#.to_owned(),
        ),
        (ToolName::CompleteTask, r#"{"id":"read"}"#.to_owned()),
    ] {
        let call = parse_task(tool, &arguments, TaskMode::Issues).unwrap();
        list.apply(call).unwrap();
    }
    insta::assert_snapshot!(list.block().unwrap().unwrap());
}

#[test]
fn block_of_simple_tasks() {
    let mut list = TaskList::new(TaskPolicy {
        mode: TaskMode::Simple,
        max_tasks: 0,
    });
    for id in ["a", "b"] {
        let arguments = format!(r#"{{"id":"{id}","title":"Title of {id}"}}"#);
        let call = parse_task(ToolName::AddTask, &arguments, TaskMode::Simple).unwrap();
        list.apply(call).unwrap();
    }
    insta::assert_snapshot!(list.block().unwrap().unwrap());
}

fn store(strategy: MemoryStrategy) -> MemoryStore {
    let mut store = MemoryStore::new(policy(strategy));
    store.attach(AgentId::from("a"), true);
    store.attach(AgentId::from("b"), true);
    store
}

fn fill(store: &mut MemoryStore) {
    let tool = store.policy().strategy.calls()[0];
    for arguments in [
        r#"{"name":"build","description":"How to build","body":"cargo build\n\nthen & <wait>"}"#,
        r#"{"name":"api","description":"Where the API is","body":"{{src}}/api.rs"}"#,
    ] {
        let call = parse_memory(tool, arguments, store.policy().strategy).expect("a good call");
        store.apply(&AgentId::from("a"), call).expect("a good call");
    }
}

#[test]
fn blocks_of_memories() {
    let blocks = [MemoryStrategy::Scratchpad, MemoryStrategy::Markdown].map(|strategy| {
        let mut store = store(strategy);
        fill(&mut store);
        store.block().unwrap().unwrap()
    });
    insta::assert_snapshot!(blocks.join("\n\n=====\n\n"));
}

#[test]
fn notices_of_linked_memories() {
    let mut notices = Vec::new();
    for strategy in MemoryStrategy::ALL {
        let mut store = store(*strategy);
        let told = |store: &mut MemoryStore| {
            let news = store.take_news(&AgentId::from("b"));
            news.notice(*strategy, Some("read_memory")).unwrap()
        };
        assert_eq!(told(&mut store), None);
        fill(&mut store);
        notices.extend(told(&mut store));
        let delete = MemoryCall::Delete {
            name: "build".to_owned(),
        };
        store.apply(&AgentId::from("a"), delete).unwrap();
        notices.extend(told(&mut store));
    }
    insta::assert_snapshot!(notices.join("\n\n=====\n\n"));
}
