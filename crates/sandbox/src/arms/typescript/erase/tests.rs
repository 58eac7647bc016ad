//! Erased programs beside what the compiler emits of them, through the real compiler.

use std::collections::BTreeMap;
use std::path::Path;

use proptest::prelude::*;

use super::super::check::{self, Judgement};
use super::super::*;

/// The program without its types, by the tree that the compiler made of it.
fn erased(source: &str, context: &PrepareContext) -> Option<String> {
    let judged = context.preparation(&[], |workspace, shared| {
        let toolchain = Toolchain::of(shared)?;
        let project = program::lay_down(source, &[], &toolchain, workspace).unwrap();
        check::judge(&toolchain, shared, &project)
    });
    let Judgement { tree, .. } = judged.unwrap();
    super::erased(&tree.expect("the compiler's trees are understood"), source)
}

/// What the compiler emits of these files, in order, and what it says of them.
fn emissions(files: &[(String, String)], context: &PrepareContext) -> (Vec<String>, String) {
    let emitted = context.preparation(&[], |workspace, shared| {
        let toolchain = Toolchain::of(shared)?;
        let options = [
            ("allowJs", json!(true)),
            ("noEmit", json!(false)),
            ("noCheck", json!(true)),
            ("removeComments", json!(true)),
            ("outDir", json!(workspace.output())),
        ];
        let mut names = vec![toolchain.shared(BARE)];
        for (name, source) in files {
            workspace.write(name, source).unwrap();
            names.push(name.clone());
        }
        workspace
            .write("all.json", &config(&options, &names))
            .unwrap();
        let finished = toolchain.run(&["-p", "all.json"], &workspace.redirected())?;
        let folder = workspace.output();
        let read = |(name, source): &(String, String)| {
            let path = folder.join(Path::new(name).with_extension("js"));
            std::fs::read_to_string(path)
                .unwrap_or_else(|error| panic!("{error} of {source}\n{}", finished.stdout))
        };
        Ok((files.iter().map(read).collect(), finished.stdout.clone()))
    });
    emitted.unwrap()
}

/// An emission without what makes no difference: empty statements, a mark that it is a module, a last
/// comma, and brackets around one name, which the compiler leaves out where a type was asserted of it.
fn plain(emission: &str) -> String {
    let lines = emission.lines().map(|line| line.trim_end().to_owned());
    let mut text = lines
        .filter(|line| line.trim() != ";" && line != "export {};")
        .collect::<Vec<_>>()
        .join("\n")
        .replace(", }", " }");
    let named = |c: char| c.is_alphanumeric() || "_.$".contains(c);
    let mut from = 0;
    while let Some(opens) = text[from..].find('(').map(|at| from + at) {
        let inner = text[opens + 1..]
            .find(|c: char| !named(c))
            .unwrap_or_default();
        let closes = opens + 1 + inner;
        let called = text[..opens].ends_with(|c: char| (named(c) && c != '.') || c == ')');
        if inner > 0 && !called && text[closes..].starts_with(')') {
            text = format!(
                "{}{}{}",
                &text[..opens],
                &text[opens + 1..closes],
                &text[closes + 1..]
            );
        }
        from = opens + 1;
    }
    text
}

/// Erases what can be, and has the compiler emit both what was written and what was left of it; how
/// many of them parse, and agree.
fn agree(sources: &[String], context: &PrepareContext) -> usize {
    let mut files = Vec::new();
    let mut left = BTreeMap::new();
    for (at, source) in sources.iter().enumerate() {
        if let Some(erased) = erased(source, context) {
            assert_eq!(erased.lines().count(), source.lines().count());
            for (erased, written) in erased.lines().zip(source.lines()) {
                let units = |line: &str| line.encode_utf16().count();
                assert_eq!(units(erased), units(written), "{written}");
            }
            files.push((format!("written{at}.ts"), source.clone()));
            files.push((format!("erased{at}.js"), erased.clone()));
            left.insert(at, erased);
        }
    }
    let (emissions, said) = emissions(&files, context);
    let refused = |name: String| said.lines().any(|line| line.starts_with(&name));
    let mut agreed = 0;
    for (both, (at, erased)) in emissions.chunks(2).zip(&left) {
        let source = &sources[*at];
        // What does not parse runs nowhere.
        if refused(format!("written{at}.ts(")) {
            continue;
        }
        agreed += 1;
        assert!(
            !refused(format!("erased{at}.js(")),
            "{said}{source}\n---\n{erased}"
        );
        assert_eq!(plain(&both[0]), plain(&both[1]), "{source}\n---\n{erased}");
    }
    agreed
}

/// Programs whose types can be blanked out.
const ERASED: &[&str] = &[
    "import { files, views } from \"gg\";\nconst text: string = files.readTextFile(\"a\");\nviews.openText(\"a\", text);",
    "import { Row, rows as all, type Other } from \"gg\";\nconst one: Row = all();",
    "import { A, B, c } from \"gg\";\nimport D, { E } from \"gg\";\nimport F, { G } from \"gg\";\nimport * as H from \"gg\";\nimport * as I from \"gg\";\nimport \"gg\";\nimport {} from \"gg\";\nc(D, G); I.H; ({ A: 1, F() {} }); A: for (;;) break A; let { B: x } = I;",
    "import A, * as B from \"gg\";\nimport C, * as D from \"gg\";\nA; D;",
    "export const a: number = 1;\nexport type { B } from \"gg\";\nexport * from \"gg\";\nexport default function f(): void;\nexport default function f(x?: number): void {}",
    "export {};\nexport default {} as object;",
    "interface A { a: 1 }\ntype B<T> = T extends infer U ? U : never;\ndeclare const c: A;\ndeclare function d(): void;\ndeclare class E { f: B<1>; }\ndeclare enum F { G }\ndeclare namespace H { const i: 1; }\ndeclare module \"j\" {}\ndeclare global { var k: 1; }",
    "let a\ninterface B {}\n(a)",
    "let a = b\ntype C = 1\n[a]",
    "const f = (a: number, b?: string): { x: number } => ({ x: a });",
    "const f = (\n  a: number,\n): {\n  x: number;\n} => ({ x: a });",
    "const f = async (a: number): Promise<\n  Map<string, // one\n    number>\n> => new Map<string, number>();",
    "const f = <T,>(x: T) => x, g = async <T extends U>(x: T): Promise<T> => x, h = function <T>(this: T, x: T): x is T { return true; };",
    "function f(this: Window, ...rest: string[]): asserts rest {}\nfunction g(this: Window) {}\nfunction h<T>(x: T, { a, b }: { a: 1; b: 2 } = y, [c]: [1] = z): void {}",
    "x as any; x satisfies any as T; x!; x!.y!.z!(); x![0]!; f<T>(x); new Map<string, T[]>(); new A<T>; tag<T>`a${b as c}d`; f<T>; a?.b!.c; a?.<T>(b);",
    "const a = <const>[1, 2], b = <T>f<U>(<V>c), d = -<number>e;",
    "for (const a of b as number[]) {}\nfor (let i: number = 0 as number; i < (n as number); i++) {}\nfor (const k in o as {}) {}",
    "try {} catch (error: unknown) { throw <Error>error; }",
    "if (x as any) { y } else z!;\nwhile (a! < b!) {}\nswitch (a as T) { case b as U: break; }",
    "const n = (a as number) * 2 + (b as number), m = a as number + 1, o = c! / d!, p = a + b as any == c, q = a as T || b as U, r = a ? b as T : c as U;",
    "const o = { m<T>(x: T): T { return x; }, get g(): number { return 1; }, set s(v: number) {}, async *a<T>(): AsyncGenerator<T> {}, [k as string]: v as T, ...(r as {}) };",
    "class A<T> extends B<T> implements C, D<T> { a: T; b?: T = 1; c!: T; static d: T; static readonly e: T = 1; private f = 1; protected static g() {} public async h<U>(x: U): Promise<U> { return x; } readonly [i]: T; #j: T; declare k: T; [key: string]: unknown; constructor(); constructor(x?: T) { super(); } l?(): void; m(): void; m(x?: T) {} override n(): T { return 1; } static { let o: T; } get p(): T { return 1; } private set q(v: T) {} }",
    "abstract class A { abstract a: number; abstract b(): void; abstract get c(): number; protected abstract d?: string; e: number = 1 }",
    "class A {\n  a = 1\n  private [b] = 2\n  public *c() {}\n  readonly d\n  static e: any\n  f: any\n  *g() {}\n  h?: any\n  [i]: any\n}",
    "const C = class<T> extends (B as any)<T> implements D { x?: T };\nexport default abstract class {}",
    "let é: \"é😀\" = \"é😀\", ü: \"😀\"; é as \"😀\"; f(/* 😀 */ ü as any, é!);",
    "const a = b as unknown as {\r\n  c: number;\r\n};\r\nd();",
    "label: for (const a of b) { if (a as any) continue label; }",
    "const { a, b: { c } }: T = d, [e, , f = 1 as any]: U = g;",
    "let x: typeof import(\"gg\"), y: import(\"gg\").A, z = import(\"gg\") as Promise<any>, w = import.meta as any;",
    "f(async (x: number) => { await (x as any); }, function* (): Generator<number> { yield x as number; });",
    "// <T>\nconst a /* : b */ : /* c */ number /* d */ = 1; // as any\nf</* > */ T /* > */>(x);",
    "const t = `${(a as any)} ${b!} ${`${c as T}`}`, r = /a<b>:c/ as RegExp, s = \"x as y\" as string;",
    "",
];

/// Programs that the compiler is to emit.
const EMITTED: &[&str] = &[
    "enum A { B }",
    "const enum A { B }",
    "namespace A { export const b = 1; }",
    "class A { constructor(private b: number) {} }",
    "class A { constructor(readonly b = 1) {} }",
    "@a class B {}",
    "class A { @b c() {} }",
    "class A { accessor b = 1; }",
    "import A = B.C;",
    "export { a, b };",
    "export { a } from \"gg\";",
    "interface A {}\nexport default A;",
    "using a = b;",
    "async () => { await using a = b; };",
    "import { A } from \"gg\";\nfunction f(A: number) { return A; }",
    "import { \\u0041 } from \"gg\";\nA;",
    "import { A, type B } from \"gg\";\nimport { A } from \"gg\";\nA;",
    "x as any\n(y)",
    "x as any\n[y]",
    "x satisfies any\n`y`",
    "f<T>\n[x]",
    "x as any\n/y/.test(z)",
    "a - b as any as number + c",
    "-x as number ** 2",
    "() => <T>{ a: 1 }",
    "<T>function () {}",
    "return_(<\nT>x)",
    "const f = <\nT,>(x: T) => x;",
    "class A {\n  get: number\n  b() {}\n}",
    "\u{feff}const a: number = 1;",
];

#[test]
fn what_is_erased_is_what_the_compiler_would_emit() {
    let sources: Vec<String> = ERASED.iter().map(|&source| source.to_owned()).collect();
    let context = PrepareContext::default();
    for source in &sources {
        assert!(erased(source, &context).is_some(), "{source}");
    }
    assert_eq!(agree(&sources, &context), sources.len());
}

#[test]
fn what_stands_for_code_or_would_come_to_mean_another_is_left_to_the_compiler() {
    let context = PrepareContext::default();
    for source in EMITTED {
        assert_eq!(erased(source, &context), None, "{source}");
    }
}

#[test]
fn the_trees_of_another_release_are_not_understood() {
    let context = PrepareContext::default();
    let judged = context.preparation(&[], |workspace, shared| {
        let toolchain = Toolchain::of(shared)?;
        let project = program::lay_down(super::TRIED_ON, &[], &toolchain, workspace).unwrap();
        check::judge(&toolchain, shared, &project)
    });
    let tree = judged.unwrap().tree.unwrap();
    assert!(super::understood(&tree));
    let nodes = u32::from_le_bytes(tree[40..44].try_into().unwrap()) as usize;
    for from in [80_u32, 140, 200, 250, 270] {
        // A kind was put in, so that all behind it count one more.
        let mut other = tree.clone();
        for node in other[nodes..].chunks_mut(28) {
            let kind = u32::from_le_bytes(node[..4].try_into().unwrap());
            if (from..u32::MAX).contains(&kind) {
                node[..4].copy_from_slice(&(kind + 1).to_le_bytes());
            }
        }
        assert!(!super::understood(&other), "{from}");
    }
    let mut other = tree.clone();
    other[3] += 1;
    assert!(!super::understood(&other));
}

/// Pieces that begin or end where a line break decides what they are.
const PIECES: &[&str] = &[
    "x as any",
    "x!",
    "f<number>",
    "x satisfies T",
    "<T>x",
    "let a: T",
    "let b = c as T",
    "var d = (e: T): T => e",
    "(y)",
    "[z].map(String)",
    "`t`",
    "+1",
    "-x",
    "/r/.test(s)",
    "interface I {}",
    "type U = 1",
    "declare let v: T",
    "function g(): void",
    "function h(a?: T): T { return a as T }",
    "class C { private p = 1 as T\n readonly [q]: T\n static s }",
    "abstract class D<T> implements I { abstract e: T\n f?: T }",
    "if (x as any) y",
    "else_!",
    "a + b as T",
    "* 2",
    "== c",
    "import { m, type n, o } from \"gg\"",
    "m as typeof o",
    "p: for (const q of r as T[]) break p",
    "export const w: T = 1",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, max_shrink_iters: 40, ..ProptestConfig::default() })]
    #[test]
    fn pieces_in_any_order_are_what_the_compiler_would_emit_or_left_to_it(
        programs in prop::collection::vec(
            prop::collection::vec((prop::sample::select(PIECES), prop::sample::select(&["\n", ";\n", "\n\n", " "][..])), 1..7),
            24,
        ),
    ) {
        let sources: Vec<String> = programs
            .iter()
            .map(|pieces| pieces.iter().flat_map(|(piece, end)| [*piece, *end]).collect())
            .collect();
        agree(&sources, &PrepareContext::default());
    }

    #[test]
    fn no_tree_makes_erasing_fail(
        nodes in prop::collection::vec(
            (prop::sample::select(&[0, 79, 122, 127, 170, 173, 175, 212, 214, 217, 220, 227, 234, 235, 236, 262, 263, 264, 265, 267, 273, 274, 276, 277, 279, 299, u32::MAX][..]),
             0..12_u32, 0..12_u32, 0..12_usize, 0..256_u32),
            1..12,
        ),
        text in "[a-z:<>()é😀\n /*]{0,9}",
    ) {
        let units = text.encode_utf16().count() as u32;
        let mut bytes = vec![0; 44];
        bytes[3] = 5;
        bytes[40] = 44;
        let root = (307, 0, units, 0, 1);
        bytes.extend([0; 28]);
        for (at, (kind, pos, end, parent, data)) in [root].into_iter().chain(nodes).enumerate() {
            let parent = if at == 0 { 0 } else { 1 + parent % at };
            for number in [kind, pos.min(end), end.max(pos), 0, parent as u32, data, 0] {
                bytes.extend(number.to_le_bytes());
            }
        }
        if let Some(erased) = super::erased(&bytes, &text) {
            prop_assert_eq!(erased.lines().count(), text.lines().count());
        }
    }
}
