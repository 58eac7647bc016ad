/**
 * How calls fail, and the types that several modules share.
 *
 * @packageDocumentation
 */

/**
 * Why a call failed: the value of `ApiError.code`.
 * @enum
 */
export const ErrorCode = {
  /** An argument has a wrong shape or value. */
  InvalidArgument: "invalid-argument",
  /** What is named does not exist. */
  NotFound: "not-found",
  /** It contradicts what is there. */
  Conflict: "conflict",
  /** It would pass a limit. */
  LimitExceeded: "limit-exceeded",
  /** The operating system refused it. */
  IoError: "io-error",
  /** The call is not available here. */
  Unavailable: "unavailable",
  /** It may not be done now. */
  Refused: "refused",
  /** Anything else. */
  Other: "other",
} as const;
export type ErrorCode = (typeof ErrorCode)[keyof typeof ErrorCode];

/**
 * A call that failed.
 */
export class ApiError extends Error {
  /** The operation that failed, as `read_file`. */
  readonly operation: string;
  /** Why. */
  readonly code: ErrorCode;

  /** @internal */
  constructor(failure: { operation: string; code: string; message: string }) {
    super(failure.message);
    this.operation = failure.operation;
    this.code = failure.code as ErrorCode;
  }

  /** @internal */
  override get name(): string {
    return "ApiError";
  }

  /** @internal */
  toJSON(): { operation: string; code: ErrorCode; message: string } {
    return { operation: this.operation, code: this.code, message: this.message };
  }
}
Object.freeze(ErrorCode);

/**
 * A picture's format.
 * @enum
 */
export const ImageFormat = {
  /** PNG. */
  Png: "png",
  /** JPEG. */
  Jpeg: "jpeg",
  /** GIF. */
  Gif: "gif",
  /** WebP. */
  Webp: "webp",
} as const;
export type ImageFormat = (typeof ImageFormat)[keyof typeof ImageFormat];
Object.freeze(ImageFormat);

/**
 * Lines of a file that holds text.
 */
export interface TextRead {
  /** Tells it apart from a picture. */
  kind: "text";
  /** The lines read. */
  contents: string;
  /** The first line read, from 1. */
  firstLine: number;
  /** The last line read. */
  lastLine: number;
  /** How many lines the file has. */
  totalLines: number;
  /** Whether a bound of gg's left lines out at the end; a `limit` of the call is none. */
  truncated: boolean;
}

/**
 * A file that holds a picture.
 */
export interface ImageRead {
  /** Tells it apart from text. */
  kind: "image";
  /** What it is called in the conversation. */
  label: string;
  /** Its format. */
  format: ImageFormat;
  /** Its size in bytes. */
  bytes: number;
  /** Whether the picture is shown. */
  shown: boolean;
  /** Why it is not shown. */
  reason?: string;
}

/**
 * What a file holds: text or a picture, by `kind`.
 */
export type FileRead = TextRead | ImageRead;
