// Reflects the ECMAScript SDK: TypeDoc reads its sources, and what it says of them is written as a
// catalogue of schema 1 (05 §6) for each language named.
//
// Every word comes from a comment on the declaration it describes. The line that imports a module is
// the one thing composed here: TypeDoc does not report it.
//
// node reflect.mjs SDK OUT LANGUAGE...
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { Application, Comment, LogLevel, ReflectionKind as Kind, TSConfigReader } from "typedoc";

const [sdk, out, ...languages] = process.argv.slice(2);

/** The modules, in the order a model meets them: what `gg.ts` brings in under a name. */
const MODULES = [...readFileSync(join(sdk, "gg.ts"), "utf8").matchAll(/^export \* as (\w+) from/gm)]
  .map(([, module]) => module);

/** What becomes a type. */
const TYPES = new Set([Kind.Class, Kind.Interface, Kind.TypeAlias, Kind.Enum, Kind.Variable]);

/** Faults of the documentation; with any, nothing is written. */
const faults = [];

const catalogue = reflect(await convert());
if (faults.length > 0) {
  for (const fault of faults) console.error(`error: ${fault}`);
  process.exit(1);
}
mkdirSync(out, { recursive: true });
for (const language of languages) {
  const { schema, ...rest } = catalogue;
  const path = join(out, `${language}.signatures.json`);
  writeFileSync(path, `${JSON.stringify({ schema, language, ...rest }, null, 2)}\n`);
}

/** What TypeDoc makes of the SDK. */
async function convert() {
  const tsconfig = resolve("tsconfig.reflected.json");
  const source = resolve(sdk);
  writeFileSync(
    tsconfig,
    JSON.stringify({
      compilerOptions: {
        allowJs: true,
        module: "esnext",
        moduleResolution: "bundler",
        noEmit: true,
        skipLibCheck: true,
        strict: true,
        target: "es2022",
        lib: ["es2022"],
        types: [],
        paths: { gg: [`${source}/gg`], "gg:*": [`${source}/*`], "sdk:*": [`${source}/*`] },
      },
      include: [`${source}/**/*`],
    }),
  );
  const app = await Application.bootstrap(
    {
      blockTags: ["@operation", "@param", "@returns", "@throws", "@remarks", "@defaultValue"],
      entryPoints: MODULES.map((module) => `${source}/${module}.*`),
      excludeExternals: true,
      excludeInternal: true,
      excludePrivate: true,
      excludeNotDocumented: false,
      logLevel: LogLevel.Warn,
      name: "gg",
      modifierTags: ["@internal", "@enum", "@packageDocumentation"],
      preservedTypeAnnotationTags: ["@throws"],
      readme: "none",
      skipErrorChecking: false,
      sort: ["source-order"],
      tsconfig,
      validation: false,
    },
    [new TSConfigReader()],
  );
  const project = await app.convert();
  if (!project || app.logger.hasErrors()) process.exit(1);
  return project;
}

function reflect(project) {
  const found = new Map();
  for (const reflection of project.children ?? []) {
    found.set(basename(reflection.name).replace(/\.[jt]s$/, ""), reflection);
  }
  const modules = [];
  const functions = [];
  const types = [];
  for (const id of MODULES) {
    const module = found.get(id);
    if (!module) {
      faults.push(`the SDK has no module \`${id}\``);
      continue;
    }
    modules.push({
      id,
      path: `gg.${id}`,
      ...prose(module.comment, `module \`${id}\``),
      import: `import { ${id} } from "gg";`,
    });
    for (const child of declared(module)) {
      if (child.kind === Kind.Function) functions.push(fn(id, child));
      else if (TYPES.has(child.kind)) types.push(...type(id, child, functions));
      else if (child.kind !== Kind.Reference) {
        faults.push(`\`gg.${id}.${child.name}\` is neither a function nor a type`);
      }
    }
  }
  return { schema: 1, source: "sdks/ecmascript/sdk, by TypeDoc", modules, functions, types };
}

/** What a module declares; a constant and the type of its values, of one name, are one type. */
function declared(module) {
  const children = module.children ?? [];
  const constants = new Set(
    children.filter((child) => child.kind === Kind.Variable).map((child) => child.name),
  );
  return children.filter((child) => {
    if (child.kind === Kind.TypeAlias && constants.has(child.name)) return false;
    return !(child.kind === Kind.Namespace);
  });
}

/** A call a program can write. */
function fn(module, reflection, receiver) {
  const of = receiver ? `${receiver}.${reflection.name}` : `gg.${module}.${reflection.name}`;
  const signatures = reflection.signatures ?? [];
  const comment = signatures.find((signature) => signature.comment)?.comment;
  const said = prose(comment, `function \`${of}\``);
  const returned = tag(comment, "@returns");
  const written = { returns: new Set(), types: new Set(), throws: new Set() };
  for (const signature of signatures) {
    names(signature.type, written.returns);
    for (const parameter of signature.parameters ?? []) names(parameter.type, written.types);
  }
  const thrown = (comment?.blockTags ?? []).filter((block) => block.tag === "@throws");
  for (const block of thrown) throws(block, of, written.throws);
  const returns = signatures.some((signature) => !isVoid(signature.type));
  if (returns && !returned) faults.push(`function \`${of}\`: what it returns is not documented`);
  if (!returns && returned) faults.push(`function \`${of}\`: it returns nothing, and says what`);
  const detail = [
    said.detail,
    returned && `Returns: ${returned}`,
    ...thrown.map((block) => `Fails: ${thrownText(block)}`),
  ];
  const operation = tag(comment, "@operation") ?? `${module}.${snake(reflection.name)}`;
  const alias = receiver !== undefined;
  return {
    operation,
    module,
    kind: receiver ? "method" : "function",
    ...(receiver && { receiver }),
    name: reflection.name,
    fqn: of,
    brief: said.brief,
    ...optional("detail", detail.filter(Boolean).join("\n\n")),
    signatures: signatures.map((signature) => ({
      text: `${reflection.name}(${(signature.parameters ?? []).map(parameterText).join(", ")}): ${print(signature.type)}`,
      arguments: (signature.parameters ?? []).map((parameter) => argument(parameter, of)),
    })),
    returns: [...written.returns],
    types: [...written.types],
    throws: [...written.throws],
    ...(alias && { aliasOf: canonical(operation) }),
  };
}

/** The function that binds an operation canonically, by the rule that names it. */
function canonical(operation) {
  const [module, key] = operation.split(".");
  return `gg.${module}.${camel(key)}`;
}

/** A type, and the functions that hang off it. */
function type(module, reflection, functions) {
  const fqn = `gg.${module}.${reflection.name}`;
  const of = `type \`${fqn}\``;
  const body = shape(reflection);
  const methods = (reflection.children ?? [])
    .filter((child) => child.kind === Kind.Method && tag(child.signatures?.[0]?.comment, "@operation"))
    .map((child) => fn(module, child, fqn));
  functions.push(...methods);
  const members = body.map((member) => {
    const comment = member.comment ?? member.signatures?.[0]?.comment ?? member.getSignature?.comment;
    const description = text(comment?.summary);
    if (!description) faults.push(`${of}: member \`${member.name}\` is not documented`);
    return { name: member.name, description };
  });
  return [
    {
      fqn,
      module,
      declaration: declaration(reflection, body),
      ...prose(reflection.comment, of),
      members,
      ...(methods.length > 0 && { functions: methods.map((method) => method.fqn) }),
    },
  ];
}

/** The members of a type that a program reads. */
function shape(reflection) {
  const inner = reflection.type?.type === "reflection" ? reflection.type.declaration.children : [];
  return (reflection.children ?? inner ?? []).filter(
    (child) =>
      child.kind !== Kind.Constructor &&
      !(child.kind === Kind.Method && tag(child.signatures?.[0]?.comment, "@operation")) &&
      !child.inheritedFrom,
  );
}

function declaration(reflection, members) {
  const { name } = reflection;
  const lines = members.map((member) => `  ${memberText(member, reflection.kind)}\n`).join("");
  switch (reflection.kind) {
    case Kind.Enum:
      return `enum ${name} {\n${lines}}`;
    case Kind.Variable:
      return `enum ${name} {\n${lines}}`;
    case Kind.Interface:
    case Kind.Class: {
      const word = reflection.kind === Kind.Class ? "class" : "interface";
      const parents = (reflection.extendedTypes ?? []).map(print);
      const extended = parents.length > 0 ? ` extends ${parents.join(", ")}` : "";
      return `${word} ${name}${extended} {\n${lines}}`;
    }
    default:
      return members.length > 0
        ? `interface ${name} {\n${lines}}`
        : `type ${name} = ${print(reflection.type)}`;
  }
}

function memberText(member, kind) {
  if (kind === Kind.Enum || kind === Kind.Variable) {
    return member.type ? `${member.name} = ${print(member.type)},` : `${member.name},`;
  }
  if (member.signatures) {
    const [signature] = member.signatures;
    const parameters = (signature.parameters ?? []).map(parameterText).join(", ");
    return `${member.name}(${parameters}): ${print(signature.type)};`;
  }
  const of = member.type ?? member.getSignature?.type;
  return `${member.name}${member.flags.isOptional ? "?" : ""}: ${print(of)};`;
}

function argument(parameter, of) {
  const fields = parameter.type?.type === "reflection" && parameter.type.declaration.children;
  return {
    name: parameter.name,
    type: print(parameter.type),
    optional: parameter.flags.isOptional || parameter.defaultValue !== undefined,
    passing: "position",
    ...optional("default", parameter.defaultValue),
    description: text(parameter.comment?.summary),
    ...(fields && {
      fields: fields.map((field) => ({
        ...argument(field, of),
        passing: "name",
        ...optional("default", tag(field.comment, "@defaultValue")),
      })),
    }),
  };
}

function parameterText(parameter) {
  const rest = parameter.flags.isRest ? "..." : "";
  const mark = parameter.flags.isOptional || parameter.defaultValue !== undefined ? "?" : "";
  return `${rest}${parameter.name}${mark}: ${print(parameter.type)}`;
}

/** A type as a program writes it. */
function print(of, inner = false) {
  switch (of?.type) {
    case undefined:
      return "void";
    case "array": {
      const element = print(of.elementType, true);
      return `${element}[]`;
    }
    case "intrinsic":
      return of.name;
    case "literal":
      return JSON.stringify(of.value);
    case "optional":
      return `${print(of.elementType, true)}?`;
    case "predicate":
    case "query":
    case "indexedAccess":
      return of.toString();
    case "reference": {
      const given = (of.typeArguments ?? []).map((argument) => print(argument));
      return given.length > 0 ? `${of.name}<${given.join(", ")}>` : of.name;
    }
    case "reflection": {
      const { children, signatures } = of.declaration;
      if (signatures && !children) {
        const [signature] = signatures;
        const parameters = (signature.parameters ?? []).map(parameterText).join(", ");
        const arrow = `(${parameters}) => ${print(signature.type)}`;
        return inner ? `(${arrow})` : arrow;
      }
      const fields = (children ?? []).map((child) => memberText(child).replace(/;$/, ""));
      return fields.length > 0 ? `{ ${fields.join("; ")} }` : "{}";
    }
    case "tuple":
      return `[${of.elements.map((element) => print(element)).join(", ")}]`;
    case "namedTupleMember":
      return `${of.name}${of.isOptional ? "?" : ""}: ${print(of.element)}`;
    case "typeOperator":
      return `${of.operator} ${print(of.target, true)}`;
    case "union":
    case "intersection": {
      // `undefined` says no more than the mark of what may be left out.
      const parts = of.types.filter((part) => !(part.type === "intrinsic" && part.name === "undefined"));
      const joined = parts.map((part) => print(part, true)).join(of.type === "union" ? " | " : " & ");
      return inner && parts.length > 1 ? `(${joined})` : joined;
    }
    default:
      faults.push(`there is no notation for a type of kind ${of.type}`);
      return of.toString();
  }
}

/** Adds the full names of the SDK's types that a type is written with. */
function names(of, into) {
  switch (of?.type) {
    case "reference": {
      const fqn = resolved(of);
      if (fqn) into.add(fqn);
      for (const argument of of.typeArguments ?? []) names(argument, into);
      break;
    }
    case "array":
    case "optional":
      names(of.elementType, into);
      break;
    case "namedTupleMember":
      names(of.element, into);
      break;
    case "typeOperator":
      names(of.target, into);
      break;
    case "tuple":
      for (const element of of.elements) names(element, into);
      break;
    case "union":
    case "intersection":
      for (const part of of.types) names(part, into);
      break;
    case "reflection":
      for (const child of of.declaration.children ?? []) names(child.type, into);
      break;
    default:
  }
}

/** The full name of the type a reference points at; none for the language's own. */
function resolved(reference) {
  const target = reference.reflection;
  if (!target) {
    if (!reference.package || reference.package !== "typescript") {
      faults.push(`\`${reference.name}\` is written and declared nowhere`);
    }
    return undefined;
  }
  const module = target.parent && basename(target.parent.name).replace(/\.[jt]s$/, "");
  return `gg.${module}.${target.name}`;
}

/** `@throws {ApiError} …`: the type, and what is said of it. */
function throws(block, of, into) {
  const named = thrownType(block);
  if (named === "ApiError") into.add("gg.core.ApiError");
  else faults.push(`function \`${of}\`: \`@throws\` names no type; expected {ApiError}`);
}

function thrownType(block) {
  const said = text(block.content);
  return block.typeAnnotation?.replace(/[{}]/g, "") ?? said.match(/^\{(\w+)\}/)?.[1];
}

function thrownText(block) {
  const said = text(block.content).replace(/^\{\w+\}\s*/, "");
  return said ? `\`${thrownType(block)}\`: ${said}` : `\`${thrownType(block)}\``;
}

/** The first line of a comment, and what follows it. */
function prose(comment, of) {
  const said = text(comment?.summary);
  const remarks = tag(comment, "@remarks");
  const [first, ...rest] = said.split(/\n\s*\n/);
  if (!first.trim()) faults.push(`${of} is not documented`);
  const detail = [...rest, remarks].filter(Boolean).join("\n\n");
  return { brief: line(first), ...optional("detail", detail.trim()) };
}

function tag(comment, name) {
  const block = comment?.blockTags?.find((block) => block.tag === name);
  return block && text(block.content);
}

function text(parts) {
  return parts ? Comment.combineDisplayParts(parts).trim() : "";
}

/** A paragraph that was wrapped in a comment, on one line. */
function line(paragraph) {
  return paragraph.replace(/\s*\n\s*/g, " ").trim();
}

function isVoid(of) {
  return of?.type === "intrinsic" && (of.name === "void" || of.name === "undefined");
}

function optional(key, value) {
  return value ? { [key]: value } : {};
}

function snake(name) {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function camel(key) {
  return key.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
}
