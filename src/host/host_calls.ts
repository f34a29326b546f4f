/**
 * The calls that an agent loop makes: tools, methods, hooks, a smaller window, a knob turned.
 *
 * @module
 */
import { PRIMARY } from "../core/contract/hook_names.ts";
import { callableTools } from "./callable_tools.ts";
import type { GatedTool } from "./gate_types.ts";
import type { HostRooms } from "./host_rooms.ts";
import { callParams, methodContext } from "./method_call.ts";
import { turnKnob } from "./turn_knob.ts";
import type { Host } from "./types.ts";

/** Calls an agent loop makes. */
export type HostCalls = Pick<Host, "tools" | "callTool" | "callMethod" | "fireHook" | "compact" | "setKnob">;

/** Returns the calls of the host that is made of `rooms`. */
export function hostCalls(rooms: HostRooms): HostCalls {
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
