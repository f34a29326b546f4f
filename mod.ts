/**
 * Runs plugins nobody trusts: each a process in a bubblewrap cage that speaks JSON-RPC 2.0 over stdio. The same on
 * Deno, Bun and Node.
 *
 * @module
 */
export { createHost } from "./src/create_host.ts";
export type {
  CallAt,
  CompactionRequest,
  HookFired,
  HookReport,
  Host,
  HostAgentContext,
  HostOptions,
  HostPluginInfo,
  HostTool,
  Session,
  ToolCallOptions,
  ToolOutcome,
} from "./src/host/types.ts";
export type { HostHookOptions } from "./src/host/hook_types.ts";
export type { CompactionSettings, Isolation, MissingPlugin } from "./src/core/project/types.ts";
export { countTokens, type Message } from "./src/core/compaction/messages.ts";
export type { CompactionResult, Injection } from "./src/core/compaction/types.ts";
export type { TracingOption } from "./src/otel/load_tracing.ts";
export type { ApiSpan, ApiTracer, TracingApi } from "./src/otel/types.ts";
export { openHookFiles } from "./src/open_hook_files.ts";
export type { JudgedHookFile, OpenedHookFiles, OpenHookFilesOptions } from "./src/hooks/open_hook_files.ts";
export { toolAlias, toolFromAlias } from "./src/core/tools/tool_registry.ts";
export { createSupervisor, type CreateSupervisorOptions } from "./src/create_supervisor.ts";
export type {
  PluginCage,
  PluginCallContext,
  PluginCallOptions,
  PluginInfo,
  PluginLogLine,
  PluginNotification,
  PluginSpec,
  PluginStatus,
  Replacement,
  Supervisor,
  SupervisorOptions,
} from "./src/core/supervisor/types.ts";
export type { WireTap } from "./src/core/wire/wire_tap.ts";
export type { CagePlaces } from "./src/core/cage/cage.ts";
export {
  type CapabilityDescription,
  type ConsentPaths,
  describeCapability,
} from "./src/packages/consent/describe_capability.ts";
export type { ConsentAnswer, ConsentOffer, ConsentRequest } from "./src/packages/install/consent_types.ts";
export type { CageLimits, CageLimitStatus, LimitTierName } from "./src/core/cage/limits/cage_limits.ts";
export { ERRORS, HostError, type HostErrorCode } from "./src/core/errors/host_error.ts";
export type { Audit, AuditSubject } from "./src/core/audit/audit.ts";
export type { AuditBase, AuditData, AuditEvent, AuditSink, AuditType } from "./src/core/audit/events.ts";
export { type JsonlFile, jsonlFile, type JsonlFileOptions } from "./src/core/audit/jsonl_file.ts";
export type { ParsedManifest } from "./src/core/manifest/read_manifest.ts";
export { readManifest } from "./src/read_manifest.ts";
export type {
  Knob,
  Manifest,
  ManifestSecret,
  ManifestTool,
  PluginProtocol,
  PluginRole,
} from "./src/core/manifest/manifest.ts";
export type { JsonSchema } from "./src/core/schema/json_schema.ts";
export type { McpTool } from "./src/core/mcp/mcp_tool.ts";
export type { CallOptions, IncomingRequest } from "./src/core/wire/connection_types.ts";
export { createStorage, type CreateStorageOptions } from "./src/create_storage.ts";
export type { Storage, StorageClient, StorageOptions } from "./src/core/storage/storage.ts";
export type { StorageLimits } from "./src/core/storage/limits.ts";
export type { StorageReport, TableReport } from "./src/core/storage/catalogue.ts";
export { detectRuntime } from "./src/adapters/default.ts";
export type { Runtime } from "./src/core/ports/ports.ts";
