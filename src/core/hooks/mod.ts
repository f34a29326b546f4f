/**
 * Hooks from anywhere in one ordered chain: plugins, files, MCP tools and code.
 *
 * @example A policy, a hint and a look-on
 * ```ts
 * import assert from "node:assert/strict";
 * import { createHookEngine } from "@kaged/plugin-host/hooks";
 * import { runtime } from "@kaged/plugin-host/node";
 *
 * const hooks = createHookEngine({ clock: runtime.clock });
 * hooks.register("PreToolUse", ({ tool }) => {
 *   return tool?.name === "shell" ? { action: "block", reason: "No shell here" } : null;
 * }, { priority: 10 });
 * const event = { hook: "PreToolUse", sessionId: "ses_1", agent: "primary", tool: { name: "shell" } };
 * const { blocked, reason } = await hooks.fire(event);
 * assert.deepEqual([blocked, reason], [true, "No shell here"]);
 * ```
 *
 * @module
 */
export {
  type AsyncStorage,
  createHookEngine,
  type FiredEvent,
  type HookEngine,
  type HookEngineOptions,
  type ListedHook,
} from "./portable/engine.ts";
export type { ContextRoom, RoomText } from "./portable/context_room.ts";
export { PORTABLE_HOOKS, portableHook } from "./portable/names.ts";
export type { HookResult, HookTrace, HookTraceOutcome } from "./portable/result.ts";
export type {
  HookCallContext,
  HookEvent,
  HookHandler,
  HookOptions,
  HookProgress,
  HookRegistration,
  HookResponse,
  HookSource,
  PortableHookName,
} from "./portable/types.ts";
export {
  type Chained,
  type Collected,
  dispatchCapability,
  dispatchChain,
  dispatchCollect,
  dispatchNotify,
  dispatchSingleton,
  STOP,
} from "./dispatch/dispatch.ts";
export type { Routing } from "./dispatch/choose_one.ts";
export { fromCountdown, inOrder } from "./dispatch/order.ts";
export type {
  Answer,
  DispatchClass,
  Failure,
  HookContract,
  MaybePromise,
  Participant,
  PayloadSchema,
  SchemaVerdict,
} from "./dispatch/types.ts";
export { type ErrorRow, HostError, type HostErrorOptions } from "../errors.ts";
export type { Clock } from "../ports.ts";
export { type HookFileOptions, parseHookFile, parseMcpHookMap } from "./files/parse_hook_file.ts";
export type {
  FileHook,
  HookCommands,
  HookDialect,
  HookPlace,
  McpHook,
  McpHookMap,
  ParsedHookFile,
} from "./files/types.ts";
export type { ManifestIssue } from "../manifest/manifest.ts";
