// What a program finds without importing it, and how its failures are told.
import { ApiError } from "gg:core";
import { hooks, random } from "sdk:native";
import { invoke } from "sdk:wire";

// --- Failures

/** Frames of gg's own, which say nothing of a program. */
const OWN = /\((sdk:|gg[:)]|native\b)|^\s*at [^(]*\(native\)|\bsdk:/;

function frames(stack: string): string {
  const lines = stack.split("\n").filter((line) => line.trim() !== "");
  const kept = lines.filter((line) => !OWN.test(line));
  const struck = lines.length - kept.length;
  if (struck > 0) kept.push(`    … ${struck} frame${struck === 1 ? "" : "s"} of gg's own`);
  return kept.join("\n");
}

/** Values that one rendering tells of; and how deep, and how many of one object. */
const MOST_VALUES = 1000;
const MOST_DEEP = 3;
const MOST_WIDE = 100;

/** What a rendering has left to tell, and the objects it is inside of. */
interface Telling {
  left: number;
  within: object[];
}

function inspect(
  value: unknown,
  depth = 0,
  telling: Telling = { left: MOST_VALUES, within: [] },
): string {
  telling.left -= 1;
  if (typeof value === "string") return depth === 0 ? value : JSON.stringify(value);
  if (typeof value === "function") return `[function ${value.name || "without a name"}]`;
  if (typeof value === "bigint") return `${value}n`;
  if (value === null || typeof value !== "object") return String(value);
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  const array = Array.isArray(value);
  if (telling.within.includes(value)) return "[itself]";
  if (depth > MOST_DEEP || telling.left <= 0) return array ? "[…]" : "{…}";
  const keys = array ? undefined : Object.keys(value);
  const total = keys === undefined ? (value as unknown[]).length : keys.length;
  const parts: string[] = [];
  telling.within.push(value);
  while (parts.length < Math.min(total, MOST_WIDE) && telling.left > 0) {
    const key = keys === undefined ? parts.length : (keys[parts.length] ?? "");
    const part = inspect((value as Record<string | number, unknown>)[key], depth + 1, telling);
    parts.push(keys === undefined ? part : `${key}: ${part}`);
  }
  telling.within.pop();
  if (parts.length < total) parts.push(`… ${total - parts.length} more`);
  if (array) return `[${parts.join(", ")}]`;
  return parts.length === 0 ? "{}" : `{ ${parts.join(", ")} }`;
}

/** Errors of one that gathers several which are told. */
const MOST_TOLD = 5;

function rendering(value: unknown, depth = 0): string {
  if (!(value instanceof Error)) return `Uncaught ${inspect(value)}`;
  const lines = [`${value.name}: ${value.message}`];
  if (typeof value.stack === "string" && value.stack !== "") lines.push(frames(value.stack));
  const own = Object.keys(value).filter((key) => !["stack", "message", "errors"].includes(key));
  if (own.length > 0) {
    const members = value as unknown as Record<string, unknown>;
    lines.push(`{ ${own.map((key) => `${key}: ${inspect(members[key], 1)}`).join(", ")} }`);
  }
  const all = (value as { errors?: unknown }).errors;
  if (value instanceof AggregateError && Array.isArray(all) && depth < MOST_DEEP) {
    for (const one of all.slice(0, MOST_TOLD)) {
      lines.push(`one of its errors: ${rendering(one, depth + 1)}`);
    }
    if (all.length > MOST_TOLD) lines.push(`… ${all.length - MOST_TOLD} more errors`);
  }
  if (value.cause instanceof Error && depth < 4) {
    lines.push(`caused by ${rendering(value.cause, depth + 1)}`);
  }
  return lines.join("\n");
}

/** The class of a failure, by its value. */
function classify(value: unknown): string[] {
  if (value instanceof ApiError) return ["api-failure", value.code, value.operation];
  if (value instanceof ReferenceError) return ["unknown-name"];
  return ["other"];
}

/** The code module whose evaluation a failure comes from: no frame of the program is in it yet. */
function failedModule(value: unknown): string | undefined {
  if (!(value instanceof Error) || typeof value.stack !== "string") return undefined;
  if (value.stack.includes("program.js")) return undefined;
  return /\blib:([^\s:()]+)/.exec(value.stack)?.[1];
}

const told = new Set<string>();

const ofEngine = (globalThis as { InternalError?: ErrorConstructor }).InternalError;

/** What a look at a thrown value gives; where its own code keeps that from being seen, something else. */
function looked<T>(look: () => T, otherwise: T): T {
  try {
    return look();
  } catch (error) {
    // What the engine itself lacks, it says: there may be no memory left to look with.
    if (ofEngine !== undefined && error instanceof ofEngine) throw error;
    return otherwise;
  }
}

hooks.report = (value) => {
  const text = looked(() => rendering(value), "Uncaught value (its own code throws when it is shown)");
  if (told.has(text)) return;
  told.add(text);
  const key = looked(() => failedModule(value), undefined);
  if (key !== undefined) invoke("feedback.report_module_error", key, text);
  const [kind, code, operation] = looked(() => classify(value), ["other"]);
  invoke("feedback.report_error", kind, code, operation, text);
};

// A program's own way to write its stack fails without taking the error with it.
const own = Object.getOwnPropertyDescriptor(Error, "prepareStackTrace");
if (own?.set !== undefined) {
  let prepare: unknown;
  Object.defineProperty(Error, "prepareStackTrace", {
    ...own,
    get: () => prepare,
    set: (value: unknown) => {
      prepare = value;
      if (typeof value !== "function") return own.set?.call(Error, undefined);
      own.set?.call(Error, (error: unknown, sites: unknown) =>
        looked<unknown>(() => value.call(Error, error, sites), undefined),
      );
    },
  });
}

const unhandled = new Map<object, unknown>();
hooks.rejected = (promise, reason) => void unhandled.set(promise, reason);
hooks.handled = (promise) => void unhandled.delete(promise);
hooks.ended = () => {
  for (const reason of unhandled.values()) hooks.report?.(reason);
};

// --- Globals

const define = (name: string, value: unknown) =>
  Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });

const print =
  (level: string) =>
  (...values: unknown[]) => {
    for (const line of values.map((value) => inspect(value)).join(" ").split("\n")) {
      invoke("feedback.log", level, line);
    }
  };

define("console", {
  debug: print("debug"),
  log: print("info"),
  info: print("info"),
  warn: print("warn"),
  error: print("error"),
});

for (const name of [
  "setTimeout",
  "setInterval",
  "clearTimeout",
  "clearInterval",
  "requestAnimationFrame",
  "fetch",
]) {
  const absent = () => {
    throw new ReferenceError(`${name} is not defined: a program runs to its end without waiting`);
  };
  define(name, absent);
}

define(
  "TextEncoder",
  class TextEncoder {
    get encoding() {
      return "utf-8";
    }

    encode(text = "") {
      const bytes: number[] = [];
      for (const character of String(text)) {
        let code = character.codePointAt(0) ?? 0xfffd;
        if (code >= 0xd800 && code <= 0xdfff) code = 0xfffd;
        if (code < 0x80) bytes.push(code);
        else if (code < 0x800) bytes.push(0xc0 | (code >> 6), 0x80 | (code & 63));
        else if (code < 0x10000) {
          bytes.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
        } else {
          bytes.push(
            0xf0 | (code >> 18),
            0x80 | ((code >> 12) & 63),
            0x80 | ((code >> 6) & 63),
            0x80 | (code & 63),
          );
        }
      }
      return new Uint8Array(bytes);
    }
  },
);

/** The code point at a place and its length; what is no UTF-8 is U+FFFD, as the standard has it. */
function decodeAt(bytes: Uint8Array, at: number): [number, number] {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return [first, 1];
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return [0xfffd, 1];
  let code = first & (0x7f >> length);
  for (let next = 1; next < length; next += 1) {
    const byte = bytes[at + next];
    const low = next > 1 ? 0x80 : first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
    const high = next > 1 ? 0xbf : first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
    if (byte === undefined || byte < low || byte > high) return [0xfffd, next];
    code = (code << 6) | (byte & 63);
  }
  return [code, length];
}

define(
  "TextDecoder",
  class TextDecoder {
    #fatal: boolean;

    constructor(label = "utf-8", { fatal = false } = {}) {
      if (!/^utf-?8$/i.test(label)) throw new RangeError(`there is no decoder for ${label}`);
      this.#fatal = fatal;
    }

    get encoding() {
      return "utf-8";
    }

    decode(input: ArrayBuffer | ArrayBufferView = new Uint8Array()) {
      const bytes = ArrayBuffer.isView(input)
        ? new Uint8Array(input.buffer, input.byteOffset, input.byteLength)
        : new Uint8Array(input);
      let text = "";
      for (let at = 0; at < bytes.length; ) {
        const [code, length] = decodeAt(bytes, at);
        const replaced = code === 0xfffd && !(length === 3 && bytes[at] === 0xef);
        if (replaced && this.#fatal) throw new TypeError("the bytes are no UTF-8");
        if (at > 0 || code !== 0xfeff) text += String.fromCodePoint(code);
        at += length;
      }
      return text;
    }
  },
);

function cloned(value: unknown, seen: Map<object, unknown>): unknown {
  if (typeof value === "function" || typeof value === "symbol") {
    throw new TypeError(`${String(value)} cannot be cloned`);
  }
  if (value === null || typeof value !== "object") return value;
  if (seen.has(value)) return seen.get(value);
  const keep = <T>(copy: T): T => {
    seen.set(value, copy);
    return copy;
  };
  if (value instanceof Date) return keep(new Date(value));
  if (value instanceof RegExp) return keep(new RegExp(value.source, value.flags));
  if (value instanceof ArrayBuffer) return keep(value.slice(0));
  if (ArrayBuffer.isView(value)) {
    const buffer = value.buffer.slice(value.byteOffset, value.byteOffset + value.byteLength);
    const Kind = value.constructor as new (buffer: ArrayBufferLike) => unknown;
    return keep(new Kind(buffer));
  }
  if (value instanceof Map) {
    const copy = keep(new Map<unknown, unknown>());
    for (const [key, item] of value) copy.set(cloned(key, seen), cloned(item, seen));
    return copy;
  }
  if (value instanceof Set) {
    const copy = keep(new Set<unknown>());
    for (const item of value) copy.add(cloned(item, seen));
    return copy;
  }
  if (value instanceof Error) {
    const copy = keep(new Error(value.message));
    copy.name = value.name;
    return copy;
  }
  const from = value as Record<string, unknown>;
  const copy = keep((Array.isArray(value) ? [] : {}) as Record<string, unknown>);
  for (const key of Object.keys(from)) copy[key] = cloned(from[key], seen);
  return copy;
}

define("structuredClone", (value: unknown) => cloned(value, new Map()));

/** The most bytes one call gives, as the standard has it. */
const QUOTA = 65_536;

const getRandomValues = <T extends ArrayBufferView>(array: T): T => {
  const whole = ArrayBuffer.isView(array) && !/^(Float|DataView)/.test(array.constructor.name);
  if (!whole) throw new TypeError("expected a typed array of whole numbers");
  if (array.byteLength > QUOTA) {
    throw new RangeError(`${array.byteLength} bytes are more than the ${QUOTA} of one call`);
  }
  const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
  bytes.set(new Uint8Array(random(array.byteLength)));
  return array;
};

define("crypto", {
  getRandomValues,
  randomUUID: () => {
    const bytes = getRandomValues(new Uint8Array(16));
    bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
    bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
    const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
  },
});
