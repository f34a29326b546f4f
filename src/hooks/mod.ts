/**
 * Hooks from anywhere in one ordered chain: plugins, files, MCP tools and code.
 *
 * @example A policy, a hint and a look-on
 * ```ts
 * import assert from "node:assert/strict";
 * import { createHookEngine } from "@kaged/plugin-host/hooks";
 *
 * const hooks = createHookEngine();
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
  createHookEngine,
  fileNotes,
  type FileNotesOptions,
  gatherEvidence,
  loadHookFiles,
  readTrust,
  trustHookFile,
} from "./own_ports.ts";
export type { FiredEvent, FireOptions, HookEngine, HookEngineOptions } from "./engine/engine.ts";
export type { ListedHook } from "./engine/entry.ts";
export type { ContextRoom, RoomText } from "./engine/context_room.ts";
export { PORTABLE_HOOKS, portableHook } from "./engine/names.ts";
export type { AskedStep, AskVerdict } from "./engine/asks.ts";
export type { HookAsk, HookResult, HookTrace, HookTraceOutcome } from "./engine/result.ts";
export type {
  Budget,
  HookCallContext,
  HookCallEvent,
  HookEvent,
  HookHandler,
  HookMoment,
  HookOptions,
  HookProgress,
  HookQuestion,
  HookRegistration,
  HookResponse,
  HookSource,
  PortableHookName,
} from "./engine/types.ts";
export {
  type AgentHooks,
  agentHooks,
  type AgentHooksAt,
  type CompactionStep,
  type HookDetails,
  type StepResult,
  type SubagentStep,
  type ToolCall,
} from "./agent/agent_hooks.ts";
export type { BudgetThresholds } from "./agent/budget_crossings.ts";
export { type Rotated, rotateSession, type Rotation } from "./agent/rotate_session.ts";
export { type Anchor, anchorCheck, type AnchorCheckOptions } from "./sources/builtin/anchor_check.ts";
export { budgetGuard, type BudgetGuardOptions } from "./sources/builtin/budget_guard.ts";
export type { BuiltinOptions } from "./sources/builtin/builtin_options.ts";
export { type ErrorAlert, errorAlerts, type ErrorAlertsOptions } from "./sources/builtin/error_alerts.ts";
export {
  type ErrorKnowledge,
  errorKnowledge,
  type ErrorKnowledgeOptions,
  type KnownError,
  type LearnedFix,
} from "./sources/builtin/error_knowledge.ts";
export { errorSignature } from "./sources/builtin/error_signature.ts";
export { handoff, type HandoffOptions } from "./sources/builtin/handoff.ts";
export { loopDetector, type LoopDetectorOptions } from "./sources/builtin/loop_detector.ts";
export { memoryNotes, type Notes } from "./sources/builtin/notes.ts";
export { type RedactedJson, type RedactedText, redactJson, redactText } from "./sources/builtin/redact.ts";
export { secretRedactor, type SecretRedactorOptions } from "./sources/builtin/secret_redactor.ts";
export { type HookMetric, telemetry, type TelemetryOptions } from "./sources/builtin/telemetry.ts";
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
export type { DispatchOptions } from "./kinds/dispatch_kind.ts";
export type { HostKind, HostKinds, Kind, KindAt, KindHook, KindPlugin } from "./kinds/types.ts";
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
export { type ErrorRow, HostError, type HostErrorCode, type HostErrorOptions } from "../core/errors/host_error.ts";
export type { AsyncStorage, Clock, Exit, FileInfo, Files, Ids, Runtime } from "../core/ports/ports.ts";
export { type HookFileOptions, parseHookFile } from "./files/parse_hook_file.ts";
export type {
  HookFiles,
  LeftOutHook,
  LoadedHook,
  LoadedHookFile,
  LoadHookFilesOptions,
} from "./files/load_hook_files.ts";
export type { HeldHookFile } from "./files/held_gates.ts";
export type { CoveredFile, HookEvidence } from "./files/hook_evidence.ts";
export {
  type TrustedFile,
  type TrustRecord,
  trustRecord,
  type TrustState,
  trustState,
  type TrustStore,
} from "./files/trust_store.ts";
export { hookFileRegistrations, type RegistrationOptions, type TrustedHook } from "./sources/command/command_hooks.ts";
export type { CommandEnd, CommandRun, RunCommand } from "./sources/command/types.ts";
export type { HookSettings } from "../core/project/hook_settings.ts";
export type {
  FileHook,
  HookAction,
  HookCommands,
  HookDialect,
  HookGate,
  HookPlace,
  McpHook,
  McpServerEntry,
  ParsedHookFile,
  UnusedHook,
} from "./files/types.ts";
export type { DocumentIssue } from "../core/documents/document_report.ts";
