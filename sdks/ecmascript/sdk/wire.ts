// How the SDK reaches gg. Programs cannot import this module.
import type { FileRead } from "gg:core";
import { ApiError } from "gg:core";
import { call, operations } from "sdk:native";

const index = new Map(operations.map((operation, at) => [operation, at]));

/** Makes a call of the contract; throws what it failed with. */
export function invoke<T = void>(operation: string, ...args: unknown[]): T {
  const answer = call(index.get(operation) ?? -1, args);
  if (answer.error) throw new ApiError(answer.error);
  return answer.ok as T;
}

/** The failure of a call whose arguments have a wrong shape. */
export function invalid(operation: string, message: string): ApiError {
  const key = operation.slice(operation.indexOf(".") + 1);
  return new ApiError({ operation: key, code: "invalid-argument", message });
}

/** The options of a call: an object with no other members than it knows. */
export function optional<T extends object>(
  operation: string,
  options: T | undefined,
  ...known: (keyof T & string)[]
): Partial<T> {
  if (options === undefined) return {};
  if (options === null || typeof options !== "object" || Array.isArray(options)) {
    throw invalid(operation, `the options are no object; expected { ${known.join(", ")} }`);
  }
  for (const name of Object.keys(options)) {
    if (!(known as string[]).includes(name)) {
      throw invalid(operation, `there is no option \`${name}\`; expected ${known.join(", ")}`);
    }
  }
  return options;
}

/** The one argument of a call that takes an object with the members it knows. */
export function fields<T extends object>(
  operation: string,
  value: T,
  ...known: (keyof T & string)[]
): Partial<T> {
  if (value === undefined) throw invalid(operation, `expected { ${known.join(", ")} }`);
  return optional(operation, value, ...known);
}

/** The largest count the contract holds. */
const MAX_COUNT = 0xffffffff;

/** Checks a count: a whole number that is not less than what counts from there, where there is one. */
export function whole(
  operation: string,
  name: string,
  value: unknown,
  least = 0,
): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "number") {
    throw invalid(
      operation,
      `\`${name}\` is ${typeof value}; expected a whole number, ${least} or more`,
    );
  }
  if (!Number.isInteger(value) || value < least) {
    throw invalid(operation, `\`${name}\` is ${value}; expected a whole number, ${least} or more`);
  }
  if (value > MAX_COUNT) {
    throw invalid(operation, `\`${name}\` is ${value}; expected ${MAX_COUNT} at most`);
  }
  return value;
}

/** Checks that a text is one. */
export function text(operation: string, name: string, value: unknown): string {
  if (typeof value !== "string") {
    throw invalid(operation, `\`${name}\` is ${typeof value}; expected a string`);
  }
  return value;
}

/** Checks a text that may be left out. */
export function optionalText(operation: string, name: string, value: unknown): string | undefined {
  return value === undefined || value === null ? undefined : text(operation, name, value);
}

/** Checks that a list is one. */
export function list<T>(operation: string, name: string, value: T[]): T[] {
  if (!Array.isArray(value)) {
    throw invalid(operation, `\`${name}\` is no array; expected one`);
  }
  return value;
}

/** Checks that a list holds texts. */
export function texts(operation: string, name: string, value: unknown): string[] {
  const items = list(operation, name, value as unknown[]);
  return items.map((item, at) => text(operation, `${name}[${at}]`, item));
}

/** Checks a list of texts that may be left out. */
export function optionalTexts(
  operation: string,
  name: string,
  value: unknown,
): string[] | undefined {
  return value === undefined || value === null ? undefined : texts(operation, name, value);
}

/** Checks the members of an object that are texts, where they are there. */
export function textual<T extends object>(
  operation: string,
  given: Partial<T>,
  ...names: (keyof T & string)[]
): void {
  for (const name of names) optionalText(operation, name, given[name]);
}

/** Checks a choice that may be left out: one of the values of an enum. */
export function choice<T extends string>(
  operation: string,
  name: string,
  kind: Record<string, T>,
  value: T | null | undefined,
): T | undefined {
  if (value === undefined || value === null) return undefined;
  const known = Object.values(kind);
  if (!known.includes(value)) {
    const found = typeof value === "string" ? `"${value}"` : typeof value;
    throw invalid(operation, `\`${name}\` is ${found}; expected ${known.join(", ")}`);
  }
  return value;
}

/** A field of an update: left out keeps, null takes away. */
export function edit(value: string | null | undefined): { tag: string; value?: string } {
  if (value === undefined) return { tag: "keep" };
  if (value === null) return { tag: "clear" };
  return { tag: "set", value };
}

/** What was read: of kind `text` or `image`. */
export function read(answer: { tag: string; value: object }): FileRead {
  return Object.assign({ kind: answer.tag }, answer.value) as FileRead;
}

const names = new WeakMap<object, string>();

/** Gives the functions of a module the names that the documentation knows them by. */
export function publish(module: string, functions: Record<string, object>): void {
  for (const [name, value] of Object.entries(functions)) names.set(value, `gg.${module}.${name}`);
}

/** The name of a function that gg published. */
export const nameOf = (value: object): string | undefined => names.get(value);
