// What the guest gives the SDK; programs cannot import it.

/** What a call came to. */
export interface Answer {
  ok?: unknown;
  error?: { operation: string; code: string; message: string };
}

/** Makes the call at a place of `operations`. */
export function call(index: number, args: unknown[]): Answer;

/** Ids of all functions of the contract. */
export const operations: string[];

/** Random bytes of the host's; 65,536 at most. */
export function random(count: number): ArrayBuffer;

/** What the guest calls when something fails. */
export const hooks: {
  report?: (value: unknown) => void;
  rejected?: (promise: object, reason: unknown) => void;
  handled?: (promise: object) => void;
  ended?: () => void;
};
