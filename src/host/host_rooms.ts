/**
 * Makes the rooms of one host and joins them. Nothing has started yet.
 *
 * @module
 */
import { Callers } from "../core/values/caller.ts";
import { type CallAudit, createAudit } from "../core/audit/audit.ts";
import { callersAudit, maskedAudit } from "../core/audit/masked_audit.ts";
import { openTrails } from "../core/audit/open_trails.ts";
import type { OpenedHookFiles } from "../hooks/open_hook_files.ts";
import type { Recorder } from "../core/wire/tape/record_tape.ts";
import { createEmitter, type Emitter } from "../events/emitter.ts";
import { createHookDispatcher, type HookContext } from "../hooks/sources/plugin/fire_hook.ts";
import type { Kind } from "../hooks/kinds/types.ts";
import { settlePackages } from "../packages/install/install_ports.ts";
import type { Runtime } from "../core/ports/ports.ts";
import type { PluginCaller, Supervisor } from "../core/supervisor/types.ts";
import { printWarning } from "../core/values/printable.ts";
import { SecretMask } from "../core/values/secret_mask.ts";
import { loadTracing } from "../otel/load_tracing.ts";
import { tracedHooks } from "../otel/traced_hooks.ts";
import type { Tracing } from "../otel/types.ts";
import { compactWindow } from "./compact_window.ts";
import { CompactionLog } from "./compaction_log.ts";
import { FailedReloads } from "./failed_reloads.ts";
import { type CallPlugin, callPlugin } from "./call_plugin.ts";
import { passGate } from "./gate.ts";
import { warningLine } from "../core/project/net_rule_warnings.ts";
import { hostPlaces, noteVouched } from "./host_places.ts";
import { type HostProject, loadHostProject } from "./host_project.ts";
import { HeldConnections } from "./held_connections.ts";
import { askForLoop, type HostDesk, hostDesk } from "./host_desk.ts";
import { type HostHooks, hostHooks } from "./host_hooks.ts";
import { ownKinds } from "./own_kinds.ts";
import { HostMcpRoom } from "./host_mcp.ts";
import { type HostJobs, hostJobs } from "./host_jobs.ts";
import { hostSupervisor } from "./host_supervisor.ts";
import { type HostStorage, hostStorage } from "./host_storage.ts";
import { HostPins } from "./host_pins.ts";
import { HostPackages } from "./host_packages.ts";
import { answerKeeper, LiveRules, ruleKeeper } from "./live_rules.ts";
import { HostModel } from "./model.ts";
import type { OtherHost } from "../packages/install/settle_upgrade.ts";
import { type PluginLogs, pluginLogs } from "./plugin_logs.ts";
import type { Polling } from "./polling.ts";
import { recordProject } from "./project_record.ts";
import { Sessions } from "./sessions.ts";
import { toolPorts } from "./tool_ports.ts";
import type { Host, HostOptions } from "./types.ts";
import { watchRules } from "./watch_rules.ts";
import { type SecretWatch, watchSecrets } from "./watch_secrets.ts";

/** How a host is set up, with every path absolute and nothing left to detect. */
export interface HostCoreOptions extends HostOptions {
  readonly runtime: Runtime;
  readonly home: string;
  /** Opens the socket through which commands reach the running host. Absent: they cannot. */
  readonly openControl?: (host: Host) => Promise<ControlSocket>;
  /** Opens the hook files of the host's project. Absent: none run. */
  readonly openHookFiles?: (host: Host, warn: (message: string) => void) => Promise<OpenedHookFiles>;
  /** Returns the other hosts of this home, for an upgrade of a plugin or an approval of its tools. */
  readonly otherHosts?: (plugin: string) => Promise<readonly OtherHost[]>;
}

/** The open socket of a running host. */
export interface ControlSocket {
  /** Path of the socket's file. */
  readonly path: string;
  /** Stops listening and removes the socket's file. */
  close(): Promise<void>;
}

/** The rooms of one host. */
export interface HostRooms {
  readonly options: HostCoreOptions;
  /** Agents, plugins and tools, as they are now. */
  readonly model: HostModel;
  /** Tools of installed MCP servers, held to those that the operator agreed to. */
  readonly pins: HostPins;
  readonly supervisor: Supervisor & PluginCaller;
  readonly storage: HostStorage;
  readonly logs: PluginLogs;
  readonly audit: CallAudit;
  /** The secrets of plugins, hidden wherever people read: it learns them with each config. */
  readonly secrets: SecretMask;
  /** Events for observers, where the embedder asked for them. */
  readonly emitter: Emitter | null;
  /** Spans, where the embedder asked for them. */
  readonly tracing: Tracing | null;
  /** Writes tapes, where the embedder asked for them. */
  readonly recorder: Recorder | null;
  /** Calls a method of an instance: for the gate, and for methods that are no tools. */
  readonly callPlugin: CallPlugin;
  /** Every hook in its order, whatever its source. */
  readonly chain: HostHooks;
  readonly sessions: Sessions;
  /** Calls that wait for a person. */
  readonly desk: HostDesk;
  /** The rules on tools, as they are now. */
  readonly rules: LiveRules;
  /** Resources, prompts and the other parts of MCP servers. */
  readonly mcp: HostMcpRoom;
  readonly jobs: HostJobs;
  /** Plugins that the project lacks, and those that come and go. */
  readonly store: HostPackages;
  /** Looks for secrets that change while the host runs. */
  readonly secretWatch: SecretWatch;
  /** Takes up rules on tools as the operator's file changes. */
  readonly ruleWatch: Polling;
  /** Reloads that failed since a plugin last came up. */
  readonly failedReloads: FailedReloads;
  readonly compactions: CompactionLog;
  /** Returns the context of work that an agent does in a session. */
  contextOf(agent: string, session: string): HookContext;
  /** Kinds that hookspecs describe. */
  readonly kinds: readonly Kind[];
  /** Reports trouble that ends nothing to the embedder. */
  warn(message: string): void;
}

const IDLE_WINDOW_MS = 300_000;

/**
 * Loads a project and joins the rooms for it; `host` returns the host that is made of them.
 *
 * @throws {HostError} `project.*`, `local.*` or `config.*` when a file of the project or the operator cannot be used.
 */
export async function openRooms(options: HostCoreOptions, host: () => Host): Promise<HostRooms> {
  const { runtime, home } = options;
  const { clock } = runtime;
  const places = await hostPlaces(options);
  await settlePackages({ runtime, home, audit: { emit() {} } });
  const loaded = await loadHostProject(places);
  const { id: projectId } = loaded.resolved;
  await recordProject(loaded.resolved, home, runtime);
  const ground = await layGround(options, loaded, await loadTracing(options.tracing));
  const { model, pins, audit, tracing, warn } = ground;
  await noteVouched(loaded.resolved.instances, { places, audit, warn });
  const { rules, desk, ruleWatch } = openDesk(ground, () => jobs, () => store);
  const held = new HeldConnections({ ...ground, rules, desk, clock, packages: () => store });
  const mcp: HostMcpRoom = new HostMcpRoom({
    ...ground,
    ...options.mcp,
    rules,
    desk,
    clock,
    supervisor: {
      mcp: (instance) => supervisor.mcp(instance),
      wake: (instance, need) => supervisor.wake(instance, need),
      plugins: () => supervisor.plugins(),
    },
    sessions: () => sessions,
  });
  const watched = { ...ground, desk, rules, mcp, ...hostSupervisor({ ...ground, held, mcp }) };
  const called = { ...watched, ...openCalls(watched) };
  const { chain, sessions, supervisor, storage, emitter } = called;
  const jobs: HostJobs = hostJobs({
    options: { ...options.jobs, ...(options.waitUntil && { waitUntil: options.waitUntil }) },
    path: `${home}/jobs-${projectId}.db`,
    runtime,
    host,
    openedSession: (id) => sessions.has(id) ? sessions.find(id) : null,
    openSession: (id) => sessions.open(id),
    desk,
    checkAgent: (path) => void model.agent(path),
    events: emitter,
    tracing,
    warn,
  });
  const failedReloads = new FailedReloads();
  const store: HostPackages = new HostPackages({
    places,
    loaded,
    model,
    pins,
    supervisor,
    storage,
    failedReloads,
    audit,
    warn,
    onAdopted({ project }) {
      // The operator's rules may have changed since the files were read: their own watch has them.
      rules.replace(rules.operator, project);
      chain.refresh();
      secretWatch.begin();
    },
    ports: { runtime, home, audit },
    ...(options.otherHosts && { otherHosts: options.otherHosts }),
  });
  const secretWatch = watchSecrets({
    home,
    runtime,
    instances: () => model.project.instances,
    reread: (plugin) => store.reread(plugin),
    warn,
  });
  return { ...called, jobs, store, secretWatch, ruleWatch, failedReloads };
}

/** Makes the rooms that stand on no other. */
async function layGround(options: HostCoreOptions, loaded: HostProject, tracing: Tracing | null): Promise<Ground> {
  const { runtime, home, operatorId = null } = options;
  const { clock, ids } = runtime;
  const { id: projectId } = loaded.resolved;
  const warn = (message: string): void => (options.onWarning ?? printWarning)(message);
  for (const warning of loaded.ruleWarnings) warn(warningLine(warning));
  const [model, secrets] = [new HostModel(loaded.resolved), new SecretMask()];
  const trails = openTrails({ home, project: projectId, runtime, ...loaded.operator.audit });
  const callers = new Callers(runtime.callers);
  const audit = callersAudit(maskedAudit(createAudit({ clock, sinks: options.audit ?? [trails] }), secrets), callers);
  const pins = new HostPins({ home, runtime, model, audit, warn });
  await pins.load(loaded.resolved.instances);
  const scripts: Runtime["scripts"] = (path = loaded.operator.runtimes.js) => runtime.scripts(path);
  return {
    options,
    loaded,
    model,
    pins,
    kinds: await ownKinds({ ...loaded, hookspecs: options.hookspecs ?? [], files: runtime.files, warn }),
    audit,
    secrets,
    warn,
    tracing,
    emitter: options.events
      ? createEmitter({ level: "summary", ...options.events, clock, onError: listenerWarning(warn) })
      : null,
    storage: hostStorage({ runtime: { ...runtime, scripts }, home, operator: loaded.operator }),
    logs: pluginLogs({ home, runtime }),
    compactions: new CompactionLog(),
    contextOf(agent, session) {
      const caller = callers.current;
      return {
        operator_id: caller?.operatorId ?? operatorId,
        project_id: projectId,
        agent_path: model.agent(agent).path,
        session_id: session,
        request_id: caller?.requestId ?? ids.create("req"),
      };
    },
  };
}

/** Joins the rules on tools, the watch over them, and the desk, which keeps its requests beside the jobs. */
function openDesk(
  { options, loaded, audit, secrets, warn }: Ground,
  jobs: () => HostJobs,
  packages: () => HostPackages,
): Pick<HostRooms, "rules" | "desk" | "ruleWatch"> {
  const { home, runtime, onAsk = null } = options;
  const projectId = loaded.resolved.id;
  const rules = new LiveRules(loaded.operator, loaded.project);
  const desk = hostDesk({
    projectId,
    store: () => jobs().approvals(),
    setWaiting: (id, waiting) => jobs().setWaiting(id, waiting),
    ...runtime,
    secrets,
    audit,
    keepAlways: answerKeeper(ruleKeeper(rules, { home, runtime }), packages),
    onAsk,
    warn,
  });
  const ruleWatch = watchRules({
    home,
    runtime,
    current: () => rules.operator,
    onRules(changed, change) {
      rules.replace(changed);
      const host = { name: "host", instance: projectId };
      if (change !== null) audit.emit("rules.changed", host, { change: "read", rule: change, by: "config.toml" });
    },
    warn,
  });
  return { rules, desk, ruleWatch };
}

/** The rooms that stand on no other. */
type Ground =
  & Pick<
    HostRooms,
    | "options"
    | "model"
    | "kinds"
    | "pins"
    | "audit"
    | "secrets"
    | "emitter"
    | "tracing"
    | "storage"
    | "logs"
    | "compactions"
  >
  & Pick<HostRooms, "contextOf" | "warn">
  & { readonly loaded: HostProject };

/** Joins the hook chain, the gate and the sessions: they need each other. */
function openCalls(
  ground: Ground & Pick<HostRooms, "supervisor" | "desk" | "rules" | "mcp">,
): Pick<HostRooms, "callPlugin" | "chain" | "sessions"> {
  const { options, model, supervisor, audit, emitter, tracing, desk, rules, mcp, contextOf } = ground;
  const { runtime, idleWindowMs = IDLE_WINDOW_MS } = options;
  const markers = [...ground.loaded.operator.hooks.turn_markers, ...options.hooks?.turnMarkers ?? []];
  const { clock, ids } = runtime;
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
  const chain = hostHooks(
    {
      agents: () => model.project.agents,
      hooks,
      audit,
      contextOf,
      checkSession: (session) => void sessions.find(session),
      isGatedTool: (tool, agent) => model.isGatedTool(tool, agent) || sessions.hasListed(tool, agent),
      onAsk: askForLoop(desk, rules),
      clock,
    },
    runtime,
    { ...options.hooks, turnMarkers: markers },
  );
  const toPlugin = callPlugin(supervisor);
  const noteLinks = mcp.noteLinks.bind(mcp);
  const walk = { engine: chain.engine, callPlugin: toPlugin, rules, desk, noteLinks };
  const gate = { ...walk, audit, emitter, tracing, clock, contextOf };
  const sessions: Sessions = new Sessions({
    ...chain,
    ...toolPorts(ground),
    pass: (call) => passGate(call, gate),
    compact: (request) => compactWindow(request, { ...ground, markers, hooks, chain }),
    onClosed: async (id) => void await Promise.all([desk.sessionEnded(id), mcp.sessionEnded(id)]),
    clock,
    ids,
    idleWindowMs,
  });
  return { callPlugin: toPlugin, chain, sessions };
}

const listenerWarning =
  (warn: (message: string) => void) =>
  ({ event, kind, error }: { event: string; kind: string; error: unknown }): void =>
    warn(`A listener of "${event}" ${kind === "failed" ? "failed" : `missed it (${kind})`}: ${String(error)}`);
