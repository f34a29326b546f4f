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
export { createHookEngine, type FiredEvent, type HookEngine, type HookEngineOptions } from "./portable/engine.ts";
export type { ListedHook } from "./portable/entry.ts";
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
  type AgentHooks,
  agentHooks,
  type AgentHooksAt,
  type Budget,
  type CompactionStep,
  type HookDetails,
  type StepResult,
  type SubagentStep,
  type ToolCall,
} from "./agent/agent_hooks.ts";
export type { BudgetThresholds } from "./agent/budget_crossings.ts";
export { type Rotated, rotateSession, type Rotation } from "./agent/rotate_session.ts";
export { type Anchor, anchorCheck, type AnchorCheckOptions } from "./builtin/anchor_check.ts";
export { budgetGuard, type BudgetGuardOptions } from "./builtin/budget_guard.ts";
export type { BuiltinOptions } from "./builtin/builtin_options.ts";
export { type ErrorAlert, errorAlerts, type ErrorAlertsOptions } from "./builtin/error_alerts.ts";
export {
  type ErrorKnowledge,
  errorKnowledge,
  type ErrorKnowledgeOptions,
  type KnownError,
} from "./builtin/error_knowledge.ts";
export { errorSignature } from "./builtin/error_signature.ts";
export { handoff, type HandoffOptions } from "./builtin/handoff.ts";
export { loopDetector, type LoopDetectorOptions } from "./builtin/loop_detector.ts";
export { fileNotes, type FileNotesOptions, memoryNotes, type Notes } from "./builtin/notes.ts";
export { type RedactedJson, type RedactedText, redactJson, redactText } from "./builtin/redact.ts";
export { secretRedactor, type SecretRedactorOptions } from "./builtin/secret_redactor.ts";
export { type HookMetric, telemetry, type TelemetryOptions } from "./builtin/telemetry.ts";
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
export type { AsyncStorage, Clock, Exit, FileInfo, Files, Ids } from "../ports.ts";
export { type HookFileOptions, parseHookFile } from "./files/parse_hook_file.ts";
export {
  type HookFiles,
  type LeftOutHook,
  type LoadedHook,
  type LoadedHookFile,
  loadHookFiles,
  type LoadHookFilesOptions,
} from "./files/load_hook_files.ts";
export { type CoveredFile, gatherEvidence, type HookEvidence } from "./files/hook_evidence.ts";
export {
  readTrust,
  type TrustedFile,
  trustHookFile,
  type TrustRecord,
  trustRecord,
  type TrustState,
  trustState,
  type TrustStore,
} from "./files/trust_store.ts";
export { hookFileRegistrations, type RegistrationOptions, type TrustedHook } from "./command/registrations.ts";
export type { CommandEnd, CommandRun, RunCommand } from "./command/types.ts";
export type { HookSettings } from "../project/hook_settings.ts";
export type {
  FileHook,
  HookCommands,
  HookDialect,
  HookPlace,
  McpHook,
  McpServerEntry,
  ParsedHookFile,
} from "./files/types.ts";
export type { ManifestIssue } from "../manifest/manifest.ts";
