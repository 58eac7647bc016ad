// How the SDK reaches gg. Programs cannot import this module.
import { call, operations } from "sdk:native";

const index = new Map(operations.map((operation, at) => [operation, at]));

/** A call that failed. */
export class ApiError extends Error {
  /** @param {{ operation: string, code: string, message: string }} failure */
  constructor({ operation, code, message }) {
    super(message);
    this.operation = operation;
    this.code = code;
  }

  get name() {
    return "ApiError";
  }

  toJSON() {
    return { operation: this.operation, code: this.code, message: this.message };
  }
}

/** Makes a call of the contract; throws what it failed with. */
export function invoke(operation, ...args) {
  const answer = call(index.get(operation), args);
  if (answer.error) throw new ApiError(answer.error);
  return answer.ok;
}

/** The failure of a call whose arguments have a wrong shape. */
export function invalid(operation, message) {
  return new ApiError({ operation: operation.split(".")[1], code: "invalid-argument", message });
}

/** The options of a call: an object with no other members than it knows. */
export function optional(operation, options, ...known) {
  if (options === undefined) return {};
  if (options === null || typeof options !== "object" || Array.isArray(options)) {
    throw invalid(operation, `the options are no object; expected { ${known.join(", ")} }`);
  }
  for (const name of Object.keys(options)) {
    if (!known.includes(name)) {
      throw invalid(operation, `there is no option \`${name}\`; expected ${known.join(", ")}`);
    }
  }
  return options;
}

/** The one argument of a call that takes an object with the members it knows. */
export function fields(operation, value, ...known) {
  if (value === undefined) throw invalid(operation, `expected { ${known.join(", ")} }`);
  return optional(operation, value, ...known);
}

/** Checks a count: a whole number that is not negative, where there is one. */
export function whole(operation, name, value) {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0 || value > 0xffffffff) {
    throw invalid(operation, `\`${name}\` is ${String(value)}; expected a whole number, 0 or more`);
  }
  return value;
}

/** Checks that a text is one. */
export function text(operation, name, value) {
  if (typeof value !== "string") {
    throw invalid(operation, `\`${name}\` is ${typeof value}; expected a string`);
  }
  return value;
}

/** Checks that a list is one. */
export function list(operation, name, value) {
  if (!Array.isArray(value)) {
    throw invalid(operation, `\`${name}\` is no array; expected one`);
  }
  return value;
}

/** A field of an update: left out keeps, null takes away. */
export function edit(value) {
  if (value === undefined) return { tag: "keep" };
  if (value === null) return { tag: "clear" };
  return { tag: "set", value };
}

/** What was read: of kind `text` or `image`. */
export function read(answer) {
  return Object.assign({ kind: answer.tag }, answer.value);
}

const names = new WeakMap();

/** Gives the functions of a module the names that the documentation knows them by. */
export function publish(module, functions) {
  for (const [name, value] of Object.entries(functions)) names.set(value, `gg.${module}.${name}`);
}

/** The name of a function that gg published. */
export const nameOf = (value) => names.get(value);
