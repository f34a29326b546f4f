/**
 * The rooms of one host, joined: who hears whom, who is asked by whom. Nothing of it has started yet.
 *
 * @module
 */
import { type Audit, createAudit } from "../core/audit/audit.ts";
import { jsonlFile } from "../core/audit/jsonl_file.ts";
import { HostError } from "../core/errors/host_error.ts";
import { createEmitter, type Emitter } from "../events/emitter.ts";
import { createHookDispatcher, type HookContext } from "../hooks/sources/plugin/fire_hook.ts";
import { settlePackages } from "../packages/install/install_ports.ts";
import type { Runtime } from "../core/ports/ports.ts";
import { createSupervisor } from "../core/supervisor/supervisor.ts";
import type { Supervisor } from "../core/supervisor/types.ts";
import { type Recorder, tapeFolder } from "../core/wire/tape/recorder.ts";
import { loadTracing } from "../otel/load_tracing.ts";
import { tracedHooks } from "../otel/traced_hooks.ts";
import type { Tracing } from "../otel/types.ts";
import { type CompactionLog, compactionLog } from "./compaction_log.ts";
import { FailedReloads } from "./failed_reloads.ts";
import { callableTools } from "./callable_tools.ts";
import { type CallPlugin, callPlugin } from "./call_plugin.ts";
import { compactSession } from "./compact_session.ts";
import { passGate } from "./gate.ts";
import { loadHostProject } from "./host_project.ts";
import { type HostHooks, hostHooks } from "./host_hooks.ts";
import { type HostJobs, hostJobs } from "./host_jobs.ts";
import { hostLimits } from "./host_limits.ts";
import { type HostStorage, hostStorage } from "./host_storage.ts";
import { HostPackages } from "./host_packages.ts";
import { HostModel } from "./model.ts";
import { type PluginLogs, pluginLogs } from "./plugin_logs.ts";
import { recordProject } from "./project_record.ts";
import { registerTools } from "./register_tools.ts";
import { Sessions } from "./sessions.ts";
import type { Host, HostOptions } from "./types.ts";

/** How a host is set up, with every path absolute and nothing left to detect. */
export interface HostCoreOptions extends HostOptions {
  /** The runtime it stands on. */
  readonly runtime: Runtime;
  /** The operator's folder. */
  readonly home: string;
  /** Opens the socket through which commands reach the running host. Absent: they cannot. */
  readonly openControl?: (host: Host) => Promise<ControlSocket>;
  /** Has every host of this home take up another version of a plugin. */
  readonly notifyHosts?: (plugin: string) => void;
}

/** The open socket of a running host. */
export interface ControlSocket {
  /** Stops listening and removes the socket's file. */
  close(): Promise<void>;
}

/** What a host is made of. */
export interface HostRooms {
  /** How it was set up. */
  readonly options: HostCoreOptions;
  /** Agents, plugins and tools, as they are now. */
  readonly model: HostModel;
  /** Plugins' processes. */
  readonly supervisor: Supervisor;
  /** Plugins' tables. */
  readonly storage: HostStorage;
  /** What plugins log. */
  readonly logs: PluginLogs;
  /** What is written down. */
  readonly audit: Audit;
  /** Events for observers, where the embedder asked for them. */
  readonly emitter: Emitter | null;
  /** Spans, where the embedder asked for them. */
  readonly tracing: Tracing | null;
  /** What goes over the wire, where it is recorded. */
  readonly recorder: Recorder | null;
  /** Calls a method of an instance: for the gate, and for methods that are no tools. */
  readonly callPlugin: CallPlugin;
  /** Every hook in its order, whatever its source. */
  readonly chain: HostHooks;
  /** Open sessions. */
  readonly sessions: Sessions;
  /** Background runs. */
  readonly jobs: HostJobs;
  /** What the project lacks, and how plugins come and go. */
  readonly store: HostPackages;
  /** Reloads that failed since a plugin last came up. */
  readonly failedReloads: FailedReloads;
  /** The newest compactions. */
  readonly compactions: CompactionLog;
  /** Returns the context of work that an agent does in a session. */
  contextOf(agent: string, session: string): HookContext;
  /** Tells the embedder of trouble that ends nothing. */
  warn(message: string): void;
}

const IDLE_WINDOW_MS = 300_000;

/**
 * Loads a project and joins the rooms for it; `host` is what comes of them, for those that need it later.
 *
 * @throws {HostError} `project.*`, `local.*` or `config.*` when a file of the project or the operator cannot be used.
 */
export async function openRooms(options: HostCoreOptions, host: () => Host): Promise<HostRooms> {
  const { runtime, home, operatorId = null, idleWindowMs = IDLE_WINDOW_MS } = options;
  const { clock, ids, files } = runtime;
  const tracing = await loadTracing(options.tracing);
  const dir = await projectDir(options.project, runtime);
  const places = { dir, home, plugins: options.plugins ?? {}, runtime };
  await settlePackages({ runtime, home, audit: { emit() {} } });
  const loaded = await loadHostProject(places);
  const { id: projectId } = loaded.resolved;
  await recordProject(loaded.resolved, home, runtime);

  const audit = createAudit({ clock, sinks: options.audit ?? [await auditFile()] });
  const model = new HostModel(loaded.resolved);
  const emitter = options.events ? createEmitter({ ...options.events, clock, onError: tellOfListener }) : null;
  const storage = hostStorage({ runtime, home, operator: loaded.operator });
  const logs = pluginLogs({ home, runtime });
  const compactions = compactionLog();
  const onFailure = ({ code, message }: HostError): void => warn(`Recording has ended [${code}]: ${message}`);
  const recorder = options.record === undefined ? null : tapeFolder({ dir: options.record, runtime, onFailure });
  const supervisor = createSupervisor({
    runtime,
    home,
    operatorId,
    ...hostLimits(options.limits, loaded.operator),
    storageAvailable: storage.isAvailable,
    onRequest: storage.handle,
    onTools: (plugin) => registerTools(plugin, model, audit),
    logLevel: loaded.operator.logLevel,
    runtimes: loaded.operator.runtimes,
    ...(recorder && { tap: recorder.tap }),
    onLog(line) {
      logs.write(line);
      options.onLog?.(line);
    },
  }, audit);
  const dispatcher = createHookDispatcher({
    call: supervisor.call,
    audit,
    clock,
    onFired({ plugin }, { hook, context: { agent_path, session_id } }, { ok, durationMs: duration, ...rest }) {
      const outcome = ok ? "ok" : "reason" in rest && rest.reason === "timeout" ? "timeout" : "failed";
      const at = { agentName: agent_path, conversationId: session_id };
      emitter?.emit("hook:execute", { ...at, plugin, hook, outcome, duration });
    },
  });
  const hooks = tracedHooks(dispatcher, tracing);
  const checkSession = (session: string): void => void sessions.find(session);
  const isGatedTool = (tool: string, agent: string): boolean => model.isGatedTool(tool, agent);
  const agents = (): typeof model.project.agents => model.project.agents;
  const hookPorts = { agents, hooks, audit, contextOf, checkSession, clock, isGatedTool };
  const chain = hostHooks(hookPorts, runtime, options.hooks);
  const toPlugin = callPlugin(supervisor);
  const gate = { engine: chain.engine, callPlugin: toPlugin, audit, emitter, tracing, clock, contextOf };
  const compaction = { options, runtime, model, audit, emitter, tracing, hooks, chain, compactions, contextOf };
  const sessions: Sessions = new Sessions({
    onStart: chain.onStart,
    onEnd: chain.onEnd,
    onIdle: chain.onIdle,
    tools: (agent) => callableTools(agent, { model, supervisor }),
    findTool: (name, agent) => model.tool(name, agent),
    pass: (call) => passGate(call, gate),
    compact: (request) => compactSession(request, compaction),
    clock,
    ids,
    idleWindowMs,
  });
  const jobs = hostJobs({
    options: { ...options.jobs, ...(options.waitUntil && { waitUntil: options.waitUntil }) },
    path: `${home}/jobs-${projectId}.db`,
    runtime,
    host,
    openedSession: (id) => sessions.has(id) ? sessions.find(id) : null,
    checkAgent: (path) => void model.agent(path),
    events: emitter,
    tracing,
    warn,
  });
  const failedReloads = new FailedReloads();
  const store = new HostPackages({
    places,
    loaded,
    model,
    supervisor,
    storage,
    failedReloads,
    onAdopted: chain.refresh,
    ports: { runtime, home, audit },
    ...(options.notifyHosts && { notifyHosts: options.notifyHosts }),
  });

  async function auditFile(): Promise<ReturnType<typeof jsonlFile>> {
    await files.makeDir(`${home}/audit`, { recursive: true, mode: 0o700 });
    return jsonlFile({ path: `${home}/audit/${projectId}.jsonl`, files, clock });
  }

  function tellOfListener({ event, kind, error }: { event: string; kind: string; error: unknown }): void {
    warn(`A listener of "${event}" ${kind === "failed" ? "failed" : `missed it (${kind})`}: ${String(error)}`);
  }

  function warn(message: string): void {
    (options.onWarning ?? console.error)(message);
  }

  /** The context of work an agent does; its session must be open. */
  function contextOf(agent: string, session: string): HookContext {
    return {
      operator_id: operatorId,
      project_id: projectId,
      agent_path: model.agent(agent).path,
      session_id: session,
      request_id: ids.create("req"),
    };
  }

  return {
    options,
    model,
    supervisor,
    storage,
    logs,
    audit,
    emitter,
    tracing,
    recorder,
    callPlugin: toPlugin,
    chain,
    sessions,
    jobs,
    store,
    failedReloads,
    compactions,
    contextOf,
    warn,
  };
}

async function projectDir(path: string, { files }: Runtime): Promise<string> {
  try {
    return await files.realPath(path);
  } catch (cause) {
    throw new HostError("project.missing", `The folder "${path}" does not exist`, {
      data: { dir: path },
      hint: 'Name a folder that holds project.yaml; "primary: {}" is a whole one',
      cause,
    });
  }
}
