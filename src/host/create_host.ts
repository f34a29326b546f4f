/**
 * The host: every room of the house behind the few calls an agent loop makes.
 *
 * @module
 */
import { PRIMARY } from "../core/contract/hook_names.ts";
import { HostError } from "../core/errors/host_error.ts";
import { callParams } from "./call_plugin.ts";
import type { GatedTool } from "./gate_call.ts";
import { hostKinds } from "./host_kinds.ts";
import { hostLife } from "./host_life.ts";
import { type HostCoreOptions, type HostRooms, openRooms } from "./host_rooms.ts";
import { callableTools, type HostModel } from "./model.ts";
import { pluginRows } from "./plugin_rows.ts";
import { tieSession } from "./session_host.ts";
import { turnKnob } from "./turn_knob.ts";
import type { CallAt, Host } from "./types.ts";
import { hostView } from "./view.ts";

/**
 * Loads a project and returns a host that has started nothing yet.
 *
 * @throws {HostError} `project.*`, `local.*` or `config.*` when a file of the project or the operator cannot be used.
 */
export async function createHost(options: HostCoreOptions): Promise<Host> {
  const rooms = await openRooms(options, () => host);
  const { model, pins, failedReloads, sessions, jobs, store, audit, supervisor, emitter, tracing, chain } = rooms;
  const host: Host = {
    ...hostCalls(rooms),
    ...hostLife(rooms, () => host),
    view: hostView({
      ...rooms,
      home: options.home,
      runtime: options.runtime,
      sessions: () => sessions.ids(),
      jobs: () => jobs.current,
    }),
    agents: () =>
      model.project.agents.map(({ path, parent }) => ({
        path,
        parent,
        plugins: pluginRows({ model, supervisor, failedReloads }, path).flatMap(({ key }) => key ?? []),
      })),
    plugins: (agent) => pluginRows({ model, supervisor, failedReloads }, agent),
    agent: (path, run) => jobs.agent(path, run),
    get jobs() {
      return jobs.get();
    },
    approvals: rooms.desk.approvals,
    mcp: rooms.mcp,
    resources: (agent) => rooms.mcp.resources(agent),
    prompts: (agent) => rooms.mcp.prompts(agent),
    hooks: chain.engine,
    kinds: hostKinds({ ...rooms, callMethod: (...call) => host.callMethod(...call) }),
    openSession: ({ id, ...options } = {}) => tieSession(sessions.open(id, options), host),
    session: (id) => tieSession(sessions.find(id), host),
    consents: () => store.consents(),
    approve: (id, answer = {}) => store.approve(id, answer),
    decline: (id) => store.decline(id),
    askAgain: (id) => store.askAgain(id),
    enable: (plugin) => store.enable(plugin),
    disable: (plugin) => store.disable(plugin),
    reload: (plugin) => store.reload(plugin),
    reread: (plugin) => store.reread(plugin),
    restart: (plugin) => store.restart(plugin),
    async approveTools(plugin, tools) {
      await pins.approve(plugin, tools);
      const others = await options.otherHosts?.(plugin) ?? [];
      await Promise.all(others.map((other) => other.order("repin")));
    },
    repin: (plugin) => pins.renew(plugin),
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

/** Calls an agent loop makes. */
type HostCalls = Pick<Host, "tools" | "callTool" | "callMethod" | "fireHook" | "compact" | "setKnob">;

/** Returns the calls of the host that is made of `rooms`. */
function hostCalls(rooms: HostRooms): HostCalls {
  const { options, model, supervisor, audit, tracing, callPlugin, chain, sessions, store, contextOf } = rooms;
  const { files, ids } = options.runtime;
  return {
    tools: (agent) => callableTools(agent, rooms),
    async callTool(name, args, at) {
      const { session: id, ...options } = at;
      const session = sessions.find(id);
      return (await session.call(session.find(name, at.agent), args, options, { outputOnly: true })).output;
    },
    async callMethod(plugin, method, params = {}, at = {}) {
      const { session: id, agent: named, onContext, ...options } = at;
      const open = id === undefined ? null : sessions.find(id);
      const chosen = model.chooseInstance(plugin, named);
      const { instance, agents } = chosen;
      const { agent, override } = methodContext(model, instance, at);
      const toolAgent = agent ?? (agents.includes(PRIMARY) ? PRIMARY : agents[0] ?? PRIMARY);
      const tool = await toolNamed(() => model.toolOf(chosen, method, toolAgent), () => {
        return callPlugin(instance, "ping", {}, options);
      });
      if (tool) {
        const session = open ?? sessions.open();
        try {
          const how = { ...options, agent: toolAgent, ...(onContext && { onContext }) };
          return (await session.call(tool, params, how, { outputOnly: true })).output;
        } finally {
          if (!open) await session.close();
        }
      }
      const known = agent === null || id === undefined ? {} : contextOf(agent, id);
      const context = { ...known, ...tracing?.carrier() };
      return await callPlugin(instance, method, callParams(params, override), { ...options, context });
    },
    async fireHook(hook, params, at) {
      sessions.find(at.session);
      return await chain.fire(hook, params, contextOf(at.agent, at.session));
    },
    compact: async ({ session, ...request }) => await sessions.find(session).compact(request),
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
  };
}

/** A plugin that is down fails the call as such: an MCP server, for one, has no tools before it runs. */
async function toolNamed(find: () => GatedTool | null, ping: () => Promise<unknown>): Promise<GatedTool | null> {
  try {
    return find();
  } catch (error) {
    await ping();
    throw error;
  }
}

/** The agent a call is made for, and its own part of a shared config. */
interface MethodContext {
  /** Agent path, or null for a call of the host itself. */
  readonly agent: string | null;
  /** Sent as `_config`; null when nothing is. */
  readonly override: Readonly<Record<string, unknown>> | null;
}

/**
 * Returns for which agent an instance is called: the one named, else the primary's when a session is given.
 *
 * @throws {HostError} `host.misuse` when a session is given and the primary does not have the plugin.
 */
function methodContext(
  model: HostModel,
  instance: string,
  { agent, session }: Pick<Partial<CallAt>, "agent" | "session">,
): MethodContext {
  if (agent === undefined && session === undefined) return { agent: null, override: null };
  const path = agent ?? PRIMARY;
  const plugin = model.agent(path).plugins.find((one) => one.instance === instance);
  const serves = model.project.instances.find((one) => one.instance === instance)?.agents ?? [];
  if (!plugin && serves.length > 0) {
    throw new HostError("host.misuse", `It is not known which agent calls "${instance}"`, {
      data: { instance, agents: serves },
      hint: `Name the agent: ${serves.join(", ")}`,
    });
  }
  return { agent: path, override: plugin?.override ?? null };
}
