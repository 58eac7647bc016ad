/**
 * How calls fail, and the types that several modules share.
 */
export { ApiError } from "sdk:wire";

/** Why a call failed: the value of `ApiError.code`. */
export const ErrorCode = Object.freeze({
  InvalidArgument: "invalid-argument",
  NotFound: "not-found",
  Conflict: "conflict",
  LimitExceeded: "limit-exceeded",
  IoError: "io-error",
  Unavailable: "unavailable",
  Refused: "refused",
  Other: "other",
});
