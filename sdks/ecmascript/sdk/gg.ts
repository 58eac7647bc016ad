// What a program can call: every module of gg's, in the order a model meets them.
export * as files from "gg:files";
export * as shell from "gg:shell";
export * as board from "gg:board";
export * as tasks from "gg:tasks";
export * as memories from "gg:memories";
export * as docs from "gg:docs";
export * as views from "gg:views";
export * as context from "gg:context";
export * as delegation from "gg:delegation";
export * as skills from "gg:skills";
export * as programs from "gg:programs";
export * as session from "gg:session";
export * as core from "gg:core";
export { ApiError, ErrorCode } from "gg:core";
