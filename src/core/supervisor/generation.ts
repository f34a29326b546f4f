/**
 * One process of an instance, with what it was started from and what it told of itself. An instance has one that serves,
 * and, around a reload, one that gets ready and one that finishes its calls.
 *
 * @module
 */
import type { Audit, AuditSubject } from "../audit/audit.ts";
import type { OpenCage } from "../cage/cage.ts";
import type { NetEvent } from "../cage/net/gatekeeper.ts";
import { HostError } from "../errors/host_error.ts";
import type { Manifest } from "../manifest/manifest.ts";
import type { McpTool } from "../mcp/mcp_tool.ts";
import type { IncomingRequest } from "../wire/connection_types.ts";
import { verifyTree } from "../files/verify_tree.ts";
import { auditNet } from "./audit_net.ts";
import { cageRequest } from "./cage_request.ts";
import type { PluginProfile } from "./dialect.ts";
import { type PluginProcess, spawnPlugin } from "./plugin_process.ts";
import type { PluginSpec, SupervisorOptions } from "./types.ts";
import type { WireTap } from "../wire/wire_tap.ts";

/** A process and what belongs to it alone. */
export interface Generation {
  /** The process. */
  readonly live: PluginProcess;
  /** The manifest its cage was built from: what it may do is decided by this one, whatever comes later. */
  readonly manifest: Manifest;
  /** What it told of itself; null before its handshake is complete, and once it is being stopped. */
  profile: PluginProfile | null;
}

/** What is run. */
export interface GenerationSource {
  /** The plugin, with its folder, its hash and its config. */
  readonly spec: PluginSpec;
  /** Reads its manifest. */
  readonly readManifest: () => Promise<Manifest>;
}

/** What a process is started with, whichever files it runs. */
export interface GenerationPorts {
  /** How the supervisor is set up. */
  readonly host: SupervisorOptions;
  /** Builds cages. */
  readonly openCage: OpenCage;
  /** Where audit events go. */
  readonly audit: Audit;
  /** Whom they are about. */
  readonly subject: AuditSubject;
  /** Hears notifications. */
  readonly onNotification: (method: string, params: unknown) => void;
  /** Answers a request of the process. */
  readonly onRequest: (manifest: Manifest, request: IncomingRequest) => unknown;
  /** Hears that a running MCP server has other tools now. */
  readonly onTools: (generation: Generation, tools: readonly McpTool[]) => void;
  /** Returns who listens to its wire, or null. */
  readonly tap: (manifest: Manifest) => WireTap | null;
  /** Throws when the process is no longer wanted. */
  readonly checkWanted: () => void;
}

/** Checks the files, builds the cage and starts the process; its handshake is still to come. */
export async function spawnGeneration(
  { spec, readManifest }: GenerationSource,
  ports: GenerationPorts,
): Promise<Generation> {
  const { host, openCage, audit, subject, checkWanted } = ports;
  const { runtime } = host;
  if (spec.hash !== undefined) await verifyTree(subject.name, spec.dir, spec.hash, runtime.files);
  const manifest = await readManifest();
  const onNet = (event: NetEvent): void => auditNet(event, audit, subject);
  const cage = await openCage({ ...cageRequest(manifest, spec, host), onNet }, runtime);
  try {
    checkWanted();
  } catch (error) {
    await cage.close();
    throw error;
  }
  const live = await spawnPlugin({
    runtime,
    cage,
    manifest,
    audit,
    subject,
    onLog: (line) => host.onLog?.({ plugin: subject.name, instance: subject.instance, line }),
    onNotification: ports.onNotification,
    onRequest: (request) => ports.onRequest(manifest, request),
    onTools: (tools) => ports.onTools(generation, tools),
    tap: ports.tap(manifest),
  });
  const generation: Generation = { live, manifest, profile: null };
  return generation;
}

/** What a plugin's request gets where the host has nothing to answer it with. */
export function unknownRequest({ method }: IncomingRequest): HostError {
  return new HostError("protocol.method_unknown", `The host has no method "${method}"`);
}
