//! Programs and modules in TypeScript, through the real compiler.

use super::*;
use crate::arms::of;
use crate::prepare::Band;
use crate::prepare::daemon::Daemon;

fn arm() -> &'static dyn Arm {
    of(ProgramLanguage::Typescript)
}

fn prepared(source: &str) -> Result<Prepared, PrepareError> {
    arm().prepare_program(source, &[], &PrepareContext::default())
}

fn refused(source: &str) -> String {
    match prepared(source) {
        Err(PrepareError::Rejected {
            band: Band::Compile,
            diagnostics,
        }) => diagnostics,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_program_is_checked_against_ggs_own_declarations() {
    let fine = prepared(
        "import { files, views, docs, type ApiError, core } from \"gg\";
import { IssueStatus } from \"gg:board\";
enum Color { Red, Green }
interface Row { path: string; lines: number }
const rows: Row[] = files.listDir().map((entry) => ({ path: entry.name, lines: 1 }));
for (const row of rows) views.openText(row.path, `${row.lines} ${Color.Red}`);
docs.search({ query: \"x\", kind: docs.DocKind.Type });
const read = files.readFile(\"a\", { offset: 1 });
if (read.kind === \"text\") console.log(read.contents, IssueStatus.Open);
await Promise.resolve();
try { files.editFile(\"a\", \"b\", \"c\"); } catch (error) {
  if (error instanceof core.ApiError) console.log((error as ApiError).code);
}
",
    )
    .unwrap();
    assert!(!fine.source.contains("interface"), "{}", fine.source);
    assert!(!fine.source.contains("sourceMappingURL"), "{}", fine.source);
    assert!(fine.source.contains("import { files"), "{}", fine.source);
}

#[test]
fn what_does_not_check_is_told_in_the_compilers_words_at_its_place() {
    let check = |source: &str, expected: &str| {
        assert_eq!(refused(source), expected, "{source}");
    };
    check(
        "const a: number = \"x\";",
        "program.ts(1,7): error TS2322: Type 'string' is not assignable to type 'number'.",
    );
    check(
        "import { files } from \"gg\";\nfiles.readFil(\"a\");",
        "program.ts(2,7): error TS2551: Property 'readFil' does not exist on type 'typeof \
         import(\"gg:files\")'. Did you mean 'readFile'?",
    );
    check(
        "files.readFile(\"a\");",
        "program.ts(1,1): error TS2304: Cannot find name 'files'.",
    );
    check(
        "let = ;",
        "program.ts(1,7): error TS1109: Expression expected.",
    );
    for (source, part) in [
        ("setTimeout(() => {}, 1);", "'setTimeout'"),
        ("fetch(\"x\");", "'fetch'"),
        ("document.title;", "'document'"),
        ("process.exit(1);", "'process'"),
        ("exit(1);", "'exit'"),
        ("import fs from \"fs\";", "'fs'"),
        ("import \"sdk:wire\";", "'sdk:wire'"),
        ("import * as x from \"lib:nothing\";", "'lib:nothing'"),
        (
            "function f(x) { return x; }",
            "implicitly has an 'any' type",
        ),
        ("[1].toSorted();", "toSorted"),
        ("using a = null;", "Cannot find global type 'Disposable'"),
    ] {
        let told = refused(source);
        assert!(told.contains(part), "{part} is not in {told}");
    }
}

#[test]
fn what_a_text_refers_to_is_not_there_and_widens_no_check() {
    let folder = tempfile::tempdir().unwrap();
    let beside = folder.path().join("beside.d.ts");
    std::fs::write(&beside, "declare const beside: number;").unwrap();
    let beside = beside.display();
    let references = format!(
        "/// <reference lib=\"dom\" />\n/// <reference types=\"node\" />\n\
         /// <reference path=\"{beside}\" />\n"
    );
    for (name, source) in [
        ("document", "document.title;".to_owned()),
        ("process", "process.exit(1);".to_owned()),
        ("beside", "beside + 1;".to_owned()),
    ] {
        let told = refused(&format!("{references}{source}"));
        let expected = "program.ts(4,1): error TS";
        assert!(told.starts_with(expected) && told.contains(name), "{told}");
    }
    let imported = refused(&format!("import {{ a }} from \"{beside}\";"));
    assert!(imported.contains("Cannot find module"), "{imported}");
    // By themselves they harm nothing, as comments do.
    let fine = prepared(&format!("{references}console.log(1);")).unwrap();
    assert!(fine.source.contains("console.log(1);"));
    let context = PrepareContext::default();
    let module = format!("{references}export const at = () => location.href;");
    let told = arm().prepare_module(&module, "k", &context);
    assert!(
        matches!(told, Err(PrepareError::Rejected { .. })),
        "{told:?}"
    );
}

#[test]
fn the_rest_of_many_diagnostics_is_counted() {
    let lines: Vec<_> = (0..11)
        .map(|n| format!("const a{n}: number = \"\";\n"))
        .collect();
    let source = lines.concat();
    let told = refused(&source);
    assert_eq!(told.lines().count(), 9);
    assert!(told.ends_with("\n… 3 more diagnostics"), "{told}");
}

#[test]
fn one_context_serves_program_after_program() {
    let context = PrepareContext::default();
    let arm = arm();
    for round in 0..3 {
        let fine = format!("const a: number = {round};\nconsole.log(a);");
        let prepared = arm.prepare_program(&fine, &[], &context).unwrap();
        assert!(
            prepared
                .source
                .contains(&format!("= {round};\nconsole.log(a);"))
        );
        let broken = format!("const a: string = {round};");
        assert!(arm.prepare_program(&broken, &[], &context).is_err());
    }
}

#[test]
fn a_module_is_built_once_and_typed_for_every_program() {
    let context = PrepareContext::default();
    let arm = arm();
    let source = "import { files } from \"gg\";
/** Doubles. */
export function twice(x: number): number { return 2 * x; }
export type Row = { cells: string[] };
export const rows = (path: string): Row[] => [{ cells: [files.readTextFile(path)] }];";
    let module = arm.prepare_module(source, "csvTools", &context).unwrap();
    let names: Vec<_> = module.exports.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["twice", "Row", "rows"]);
    assert_eq!(module.exports[0].comment, "Doubles.");
    assert_eq!(
        module.exports[0].declaration,
        "function twice(x: number): number"
    );
    assert_eq!(module.exports[2].returns, ["Row"]);
    let modules = [module.module];
    let program = |body: &str| {
        let source = format!("import * as csvTools from \"lib:csvTools\";\n{body}");
        arm.prepare_program(&source, &modules, &context)
    };
    let prepared = program("const n: number = csvTools.twice(2); console.log(n);").unwrap();
    assert!(prepared.modules[0].source.contains("return 2 * x"));
    let told = program("csvTools.twice(\"2\");").unwrap_err().to_string();
    assert!(told.starts_with("program.ts(2,16): error TS2345"), "{told}");
    assert_eq!(context.module_builds(), 1);
    arm.prepare_module(source, "csvTools", &context).unwrap();
    assert_eq!(context.module_builds(), 1);
}

#[test]
fn a_module_that_does_not_check_is_its_authors_to_mend() {
    let context = PrepareContext::default();
    let told = arm().prepare_module("\nexport const a: number = \"\";", "k", &context);
    let PrepareError::Rejected { band, diagnostics } = told.unwrap_err() else {
        panic!("it is refused");
    };
    assert_eq!(band, Band::Compile);
    assert!(
        diagnostics.starts_with("k.ts(2,14): error TS2322"),
        "{diagnostics}"
    );
}

#[test]
fn a_module_that_has_to_be_built_again_and_is_refused_is_no_fault_of_the_program() {
    let modules = [CodeModule {
        key: "k".to_owned(),
        source: "export const a: number = \"\";".to_owned(),
    }];
    let told = arm().prepare_program("", &modules, &PrepareContext::default());
    let PrepareError::Lowering { binding, message } = told.unwrap_err() else {
        panic!("it is gg's");
    };
    assert_eq!(binding, "k");
    assert!(message.contains("TS2322"), "{message}");
}

#[test]
fn places_of_a_runtime_lead_back_to_the_program() {
    let prepared = prepared(
        "interface A { a: number }\n\nenum E { A }\nconst f = (x: A): never => {\n  throw new \
         Error(String(x.a + E.A));\n};\nf({ a: 1 });",
    )
    .unwrap();
    let line = prepared
        .source
        .lines()
        .position(|line| line.contains("throw new Error"));
    let text = format!("Error: 1\n    at f (program.js:{}:11)", line.unwrap() + 1);
    assert_eq!(
        prepared.locations.original(&text),
        "Error: 1\n    at f (program.ts:5:9)"
    );
}

#[test]
fn a_warm_compiler_that_was_ended_is_replaced() {
    let context = PrepareContext::default();
    arm().warm_prepare(&context).unwrap();
    context
        .preparation(&[], |_, shared| {
            let toolchain = Toolchain::of(shared)?;
            let pool = shared.pool(toolchain.compiler);
            let mut lent = pool.checkout(|| unreachable!("one is warm"))?;
            lent.daemon().child().kill().unwrap();
            lent.daemon().child().wait().unwrap();
            lent.give_back();
            Ok(())
        })
        .unwrap();
    let source = "console.log(1);";
    assert!(arm().prepare_program(source, &[], &context).is_ok());
}

#[test]
fn code_in_javascript_is_typed_by_what_can_be_read_out_of_it_and_held_to_nothing() {
    let (arm, context) = (arm(), PrepareContext::default());
    let source = "/** Doubles.
 * @param {number} x
 */
export function twice(x) { return x + x; }
export function pick(rows, at) { return rows[at]; }
";
    let module = arm.prepare_module_file("js", source, "k", &context);
    let module = module.unwrap();
    let declared: Vec<_> = module.exports.iter().map(|it| &*it.declaration).collect();
    assert_eq!(
        declared,
        [
            "function twice(x: number): number",
            "function pick(rows: any, at: any): any"
        ]
    );
    let loaded = [module.module];
    let program = |body: &str| {
        let source = format!("import * as k from \"lib:k\";\n{body}");
        arm.prepare_program(&source, &loaded, &context)
    };
    let prepared = program("console.log(k.twice(1).toFixed(), k.pick([1], 0));").unwrap();
    assert!(prepared.modules[0].source.contains("x + x"));
    assert!(
        program("k.twice(\"1\");").is_err(),
        "its types hold its users"
    );
    assert_eq!(context.module_builds(), 1);
    // Its build is gone: it is made again as what it was.
    std::fs::remove_dir_all(context.tree().unwrap().join("work/modules/k")).unwrap();
    program("k.pick(1, 2);").unwrap();
    assert_eq!(context.module_builds(), 2);
    for (broken, told) in [
        ("export const a = ;", "TS1109"),
        ("let a: number;", "TS8010"),
    ] {
        match arm.prepare_module_file("js", broken, "other", &context) {
            Err(PrepareError::Rejected { diagnostics, .. }) => {
                assert!(diagnostics.starts_with("other.js(1,") && diagnostics.contains(told));
            }
            other => panic!("{other:?}"),
        }
    }
    let strict = arm.prepare_module(source, "k", &PrepareContext::default());
    assert!(
        strict.is_err(),
        "the same in a file of TypeScript is held to it"
    );
    let script = "const id = (x) => x;\nid(1);\n";
    let prepared = arm.prepare_script_file("js", script, &loaded, &context);
    assert_eq!(prepared.unwrap().source, script);
    assert!(
        arm.prepare_script_file("ts", script, &[], &context)
            .is_err()
    );
}

#[test]
fn a_text_that_the_compiler_dies_of_is_its_authors_to_mend_unless_it_dies_of_any() {
    let died = || Err::<(), _>(PrepareError::Toolchain("it hangs".to_owned()));
    let Err(PrepareError::Rejected { band, diagnostics }) = super::judged(died(), || Ok(())) else {
        panic!("it was not refused");
    };
    assert_eq!(band, Band::Compile);
    assert!(diagnostics.contains("no verdict"), "{diagnostics}");
    assert_eq!(super::judged(died(), died), died());
    let never = || -> Result<(), PrepareError> { panic!("nothing is to be probed") };
    assert_eq!(super::judged(Ok(7), never), Ok(7));
    let refused = || PrepareError::Rejected {
        band: Band::Compile,
        diagnostics: "no".to_owned(),
    };
    assert_eq!(
        super::judged(Err::<(), _>(refused()), never),
        Err(refused())
    );
    super::probe(&PrepareContext::default()).unwrap();
}

/// What is prepared of a program that says its number, which its types leave as it stands.
fn says(number: usize, context: &PrepareContext) -> Result<String, PrepareError> {
    let source = format!("const a: number = {number};\nconsole.log(a);");
    let prepared = arm().prepare_program(&source, &[], context);
    prepared.map(|prepared| prepared.source)
}

/// What [`says`] comes to.
fn said(number: usize) -> String {
    format!("const a         = {number};\nconsole.log(a);")
}

/// Does something with each warm compiler that is there.
fn with_warm(context: &PrepareContext, mut with: impl FnMut(&mut Daemon)) {
    let kept = context.preparation(&[], |_, shared| {
        let pool = shared.pool(Toolchain::of(shared)?.compiler);
        let mut lent = pool.checkout(|| unreachable!("one is warm"))?;
        with(lent.daemon());
        lent.give_back();
        Ok(())
    });
    kept.unwrap();
}

#[test]
fn a_program_is_judged_anew_behind_one_that_was_refused_or_gone() {
    let context = PrepareContext::default();
    let broken = |body: &str| arm().prepare_program(body, &[], &context).unwrap_err();
    assert_eq!(says(1, &context), Ok(said(1)));
    broken("const a: string = 1;");
    assert_eq!(says(2, &context), Ok(said(2)));
    broken("let = ;");
    assert_eq!(says(3, &context), Ok(said(3)));
    assert_eq!(says(3, &context), Ok(said(3)), "the same again");
    // Another agent's, of the same names, on the same compilers.
    let beside = context.beside();
    assert!(
        arm()
            .prepare_program("const a: string = 1;", &[], &beside)
            .is_err()
    );
    assert_eq!(says(4, &context), Ok(said(4)));
    drop(beside);
    assert_eq!(says(5, &context), Ok(said(5)), "its folder is no more");
    let another = context.beside();
    assert_eq!(says(6, &another), Ok(said(6)));
    assert_eq!(says(7, &context), Ok(said(7)));
}

#[test]
fn agents_with_modules_of_one_name_are_each_held_to_their_own() {
    let one = PrepareContext::default();
    let other = one.beside();
    let module = |source: &str, context: &PrepareContext| {
        arm().prepare_module(source, "k", context).unwrap().module
    };
    let numbers = [module("export const a: number = 1;", &one)];
    let words = [module("export const a: string = \"\";", &other)];
    let takes = |of: &str, modules: &[CodeModule], context: &PrepareContext| {
        let source = format!("import {{ a }} from \"lib:k\";\nconst b: {of} = a;\nconsole.log(b);");
        arm().prepare_program(&source, modules, context).is_ok()
    };
    for _ in 0..2 {
        assert!(takes("number", &numbers, &one));
        assert!(takes("string", &words, &other));
        assert!(!takes("string", &numbers, &one));
        assert!(!takes("number", &words, &other));
        assert!(!takes("number", &[], &one), "it was let go of");
    }
    // It is loaded again, as another.
    let words = [module("export const a: string = \"\";", &one)];
    assert!(takes("string", &words, &one));
    assert!(!takes("number", &words, &one));
}

#[test]
fn many_agents_on_few_compilers_each_have_their_own_program() {
    let first = PrepareContext::default();
    std::thread::scope(|scope| {
        for agent in 0..8 {
            let context = first.beside();
            scope.spawn(move || {
                for round in 0..6 {
                    let number = 100 * agent + round;
                    assert_eq!(says(number, &context), Ok(said(number)));
                    let broken = format!("const a: string = {number};");
                    assert!(arm().prepare_program(&broken, &[], &context).is_err());
                }
            });
        }
    });
}

#[test]
fn a_compiler_that_did_not_do_what_it_owed_is_replaced() {
    let context = PrepareContext::default();
    assert_eq!(says(1, &context), Ok(said(1)));
    let mut owing = None;
    with_warm(&context, |daemon| {
        let nothing = json!({ "snapshot": 123_456 });
        daemon.owe("release", nothing).unwrap();
        owing = Some(daemon.child().id());
    });
    assert_eq!(says(2, &context), Ok(said(2)));
    with_warm(&context, |daemon| {
        assert_ne!(Some(daemon.child().id()), owing);
        // It ends behind its verdict, with what it owes.
        daemon.child().kill().unwrap();
        daemon.child().wait().unwrap();
    });
    assert_eq!(says(3, &context), Ok(said(3)));
}

#[test]
fn a_program_too_large_for_its_tree_is_emitted() {
    let source = format!("const a: number = 1;\n// {}\n", "x".repeat(64 << 10));
    let prepared = prepared(&source).unwrap();
    assert!(prepared.source.starts_with("const a = 1;"));
}
