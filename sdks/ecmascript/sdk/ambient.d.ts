// What a program finds without importing it, beside the language's own.

/** Prints lines for the operator; nothing printed is shown. */
declare const console: {
  debug(...values: unknown[]): void;
  log(...values: unknown[]): void;
  info(...values: unknown[]): void;
  warn(...values: unknown[]): void;
  error(...values: unknown[]): void;
};

/** Text as UTF-8. */
declare class TextEncoder {
  readonly encoding: string;
  encode(text?: string): Uint8Array<ArrayBuffer>;
}

/** UTF-8 as text. */
declare class TextDecoder {
  constructor(label?: string, options?: { fatal?: boolean });
  readonly encoding: string;
  decode(input?: ArrayBuffer | ArrayBufferView): string;
}

/** A deep copy. */
declare function structuredClone<T>(value: T): T;

/** Runs a function when the code that runs now has ended. */
declare function queueMicrotask(callback: () => void): void;

/** Random numbers of the host's. */
declare const crypto: {
  getRandomValues<T extends ArrayBufferView>(array: T): T;
  randomUUID(): string;
};
