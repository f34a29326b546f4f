/**
 * The host: every room of the house behind the few calls an agent loop makes.
 *
 * @module
 */
import { createAudit } from "../audit/audit.ts";
import { jsonlFile } from "../audit/jsonl_file.ts";
import { HostError, messageOf } from "../errors.ts";
import { createEmitter } from "../events/emitter.ts";
import { createHookDispatcher, type HookContext } from "../hooks/fire_hook.ts";
import { settleStore } from "../install/install_ports.ts";
import type { Runtime } from "../ports.ts";
import type { CallOptions } from "../protocol/connection_types.ts";
import { createSupervisor } from "../supervisor/supervisor.ts";
import { tapeFolder } from "../tape/recorder.ts";
import { checkArguments } from "../tools/check_arguments.ts";
import { loadTracing } from "../tracing/load_tracing.ts";
import { tracedHooks } from "../tracing/traced_hooks.ts";
import { withSpan } from "../tracing/tracing.ts";
import { compactWindow } from "./compact_window.ts";
import { compactionLog } from "./compaction_log.ts";
import { type ControlSocket, openControlSocket } from "./control_socket.ts";
import { createHarness } from "./harness.ts";
import { loadHostProject } from "./host_project.ts";
import { hostHooks } from "./host_hooks.ts";
import { hostJobs } from "./host_jobs.ts";
import { FailedReloads } from "./failed_reloads.ts";
import { hostLimits } from "./host_limits.ts";
import { hostStorage } from "./host_storage.ts";
import { HostStore } from "./host_store.ts";
import { callParams, methodContext } from "./method_call.ts";
import { HostModel, PRIMARY } from "./model.ts";
import { pluginLogs } from "./plugin_logs.ts";
import { pluginRows } from "./plugin_rows.ts";
import { recordProject } from "./project_record.ts";
import { registerTools } from "./register_tools.ts";
import { Sessions } from "./sessions.ts";
import { startPlugins } from "./start_plugins.ts";
import { turnKnob } from "./turn_knob.ts";
import type { CallAt, Host, HostOptions } from "./types.ts";
import { hostView } from "./view.ts";

/** How a host is set up, with every path absolute and nothing left to detect. */
export interface HostCoreOptions extends HostOptions {
  /** The runtime it stands on. */
  readonly runtime: Runtime;
  /** The operator's folder. */
  readonly home: string;
  /** Has every host of this home take up another version of a plugin. */
  readonly tellHosts?: (plugin: string) => void;
}

const IDLE_WINDOW_MS = 300_000;

/**
 * Loads a project and returns a host that has started nothing yet.
 *
 * @throws {HostError} `project.*`, `local.*` or `config.*` when a file of the project or the operator cannot be used.
 */
export async function createHost(options: HostCoreOptions): Promise<Host> {
  const { runtime, home, operatorId = null, idleWindowMs = IDLE_WINDOW_MS } = options;
  const { clock, ids, files } = runtime;
  const tracing = await loadTracing(options.tracing);
  const dir = await projectDir(options.project, runtime);
  const places = { dir, home, plugins: options.plugins ?? {}, runtime };
  await settleStore({ runtime, home, audit: { emit() {} } });
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
  const harness = createHarness({ model, hooks, audit, clock });
  const checkSession = (session: string): void => void sessions.find(session);
  const chain = hostHooks({ model, hooks, harness, contextOf, checkSession, clock }, runtime, options.hooks);
  const sessions: Sessions = new Sessions({
    onStart: chain.onStart,
    onEnd: chain.onEnd,
    onIdle: (session, params) => harness.fire("on_session_idle", { ...params }, contextOf(PRIMARY, session)),
    clock,
    ids,
    idleWindowMs,
  });
  const jobs = hostJobs({
    options: { ...options.jobs, ...(options.waitUntil && { waitUntil: options.waitUntil }) },
    path: `${home}/jobs-${projectId}.db`,
    runtime,
    host: () => host,
    openedSession: (id) => sessions.has(id) ? sessions.find(id) : null,
    checkAgent: (path) => void model.agent(path),
    events: emitter,
    tracing,
    warn,
  });
  const failedReloads = new FailedReloads();
  const store = new HostStore({
    places,
    loaded,
    model,
    supervisor,
    storage,
    failedReloads,
    onAdopted: chain.refresh,
    ports: { runtime, home, audit },
    ...(options.tellHosts && { tellHosts: options.tellHosts }),
  });
  let isLoaded = false;
  let control: ControlSocket | null = null;

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

  /** A host that cannot be reached from outside still does its work. */
  async function openControl(): Promise<void> {
    if (control || options.control === false) return;
    try {
      control = await openControlSocket({ host, home, runtime });
    } catch (error) {
      warn(`Commands cannot reach this host: ${messageOf(error)}`);
    }
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

  const host: Host = {
    async start() {
      sessions.resume();
      const isFirst = !isLoaded;
      isLoaded = true;
      const [started, pending] = await Promise.all([
        startPlugins({ loaded: store.loaded, supervisor, audit, isFirst }),
        store.ask(),
        openControl(),
      ]);
      await jobs.start(); // Last: what was queued before needs the plugins.
      return { ...started, pending };
    },
    async stop() {
      await jobs.stop(); // First: what still runs needs the plugins.
      sessions.suspend();
      const closing = control?.close();
      control = null;
      await supervisor.stopAll();
      await store.close();
      await supervisor.stopAll(); // A change that was under way may have started more.
      await recorder?.flush();
      await storage.close();
      await logs.close();
      await closing;
    },
    view: hostView({
      model,
      supervisor,
      failedReloads,
      storage,
      logs,
      compactions,
      sessions: () => sessions.ids(),
      jobs: () => jobs.current,
      home,
      runtime,
    }),
    agents: () =>
      model.project.agents.map(({ path, parent, plugins }) => ({
        path,
        parent,
        plugins: plugins.map(({ key }) => key),
      })),
    plugins: (agent) => pluginRows({ model, supervisor, failedReloads }, agent),
    tools(agent) {
      const down = new Set(
        supervisor.plugins().filter(({ status }) => status === "failed" || status === "disabled")
          .map(({ instance }) => instance),
      );
      return [...model.tools(agent).values()].filter(({ owner }) => !down.has(owner.instance))
        .map(({ name, description, parameters_schema, definition, owner: { plugin } }) => {
          return { name, description, parameters_schema, plugin, ...(definition && { definition }) };
        });
    },
    agent: (path, run) => jobs.agent(path, run),
    get jobs() {
      return jobs.get();
    },
    hooks: chain.engine,
    openSession: ({ id } = {}) => sessions.open(id),
    async callTool(name, args, at) {
      const session = sessions.find(at.session);
      const tool = model.tool(name, at.agent);
      await checkArguments(tool, args);
      session.touch();
      const startedMs = clock.monotonic();
      const told = (output: unknown): void =>
        emitter?.emit("tool:execute", {
          agentName: at.agent,
          toolName: name,
          input: { ...args },
          output,
          duration: clock.monotonic() - startedMs,
          conversationId: at.session,
        });
      try {
        const { instance, override, plugin } = tool.owner;
        const facts = { name, agent: at.agent, session: at.session, attributes: { "kaged.plugin": plugin } };
        const result = await withSpan(tracing, "tool", facts, ({ carrier }) => {
          const context = { ...contextOf(at.agent, at.session), ...carrier };
          return supervisor.call(instance, name, callParams(args, override), { ...timing(at), context });
        });
        told(result ?? null);
        return result;
      } catch (error) {
        if (error instanceof HostError) told({ error: { code: error.code, message: error.message } });
        throw error;
      }
    },
    async callMethod(plugin, method, params = {}, at = {}) {
      if (at.session !== undefined) sessions.find(at.session);
      const { instance } = model.chooseInstance(plugin, at.agent);
      const { agent, override } = methodContext(model, instance, at);
      const known = agent === null || at.session === undefined ? {} : contextOf(agent, at.session);
      const context = { ...known, ...tracing?.carrier() };
      return await supervisor.call(instance, method, callParams(params, override), { ...timing(at), context });
    },
    async fireHook(hook, params, at) {
      sessions.find(at.session);
      return await harness.fire(hook, params, contextOf(at.agent, at.session));
    },
    async compact(request) {
      const session = sessions.find(request.session);
      const agent = model.agent(request.agent);
      session.touch();
      const context = contextOf(request.agent, request.session);
      const startedMs = clock.monotonic();
      const facts = { name: request.agent, agent: request.agent, session: request.session };
      const result = await withSpan(
        tracing,
        "compaction",
        facts,
        () => {
          const observe = chain.observer(context);
          return compactWindow(request, agent, context, { harness, hooks, observe, audit, runtime, options });
        },
      );
      const { by, before, after } = result;
      const timestamp = new Date(clock.now()).toISOString();
      compactions.add(agent.path, { timestamp, session_id: request.session, trigger: request.trigger }, result);
      const duration = clock.monotonic() - startedMs;
      const at = { agentName: request.agent, conversationId: request.session };
      emitter?.emit("compaction:execute", { ...at, trigger: request.trigger, by, before, after, duration });
      return result;
    },
    async setKnob(agent, key, knob, value) {
      // One change at a time: each builds on the files the one before has left.
      const instance = await store.inTurn(() =>
        turnKnob({ agent, key, knob, value }, {
          model,
          loaded: store.loaded,
          updateConfig: supervisor.updateConfig,
          files,
          ids,
        })
      );
      const name = supervisor.plugin(instance).plugin;
      audit.emit("plugin.knob_write", { name, instance }, { knob, agent_path: agent }, ids.create("req"));
    },
    consents: () => store.consents(),
    approve: (id, answer = {}) => store.approve(id, answer),
    decline: (id) => store.decline(id),
    enable: (plugin) => store.enable(plugin),
    disable: (plugin) => store.disable(plugin),
    reload: (plugin) => store.reload(plugin),
    restart: (plugin) => store.restart(plugin),
    onAudit: (listener) => audit.on(listener),
    onNotification: (listener) => supervisor.onNotification(listener),
    emit(event, data) {
      tracing?.hear(event, data);
      emitter?.emit(event, data);
    },
    on: (event, listener) => emitter ? emitter.on(event, listener) : () => {},
    [Symbol.asyncDispose]: () => host.stop(),
  };
  return host;
}

/** How long a call may take, who may end it, and who hears how it goes. */
function timing({ signal, timeoutMs, onProgress }: Partial<CallAt>): CallOptions {
  return {
    ...(signal && { signal }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(onProgress && { onProgress }),
  };
}

async function projectDir(path: string, { files }: Runtime): Promise<string> {
  try {
    return await files.realPath(path);
  } catch (cause) {
    throw new HostError("project.missing", `The folder "${path}" does not exist`, {
      data: { dir: path },
      hint: "Name the folder that holds project.yaml",
      cause,
    });
  }
}
