/**
 * What an agent loop asks of a host: tools, methods, hooks, a smaller window, a knob turned.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";
import type { CallOptions } from "../core/wire/connection_types.ts";
import { checkArguments } from "../core/tools/check_arguments.ts";
import { withSpan } from "../otel/tracing.ts";
import { compactWindow } from "./compact_window.ts";
import type { HostRooms } from "./host_rooms.ts";
import { callParams, methodContext } from "./method_call.ts";
import { turnKnob } from "./turn_knob.ts";
import type { CallAt, Host } from "./types.ts";

/** Calls an agent loop makes. */
export type HostCalls = Pick<Host, "tools" | "callTool" | "callMethod" | "fireHook" | "compact" | "setKnob">;

/** Returns the calls of the host that is made of `rooms`. */
export function hostCalls(rooms: HostRooms): HostCalls {
  const { options, model, supervisor, audit, emitter, tracing, hooks, harness, chain, sessions, store } = rooms;
  const { compactions, contextOf } = rooms;
  const { runtime } = options;
  const { clock, files, ids } = runtime;
  /** Calls an instance of the project: one that nobody runs just now, as between two starts, is down and not unknown. */
  const call: typeof supervisor.call = (instance, ...rest) =>
    supervisor.call(instance, ...rest).catch((error) => {
      throw error instanceof HostError && error.code === "plugin.unknown" ? notRunning(instance, error) : error;
    });
  return {
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
          return call(instance, name, callParams(args, override), { ...timing(at), context });
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
      return await call(instance, method, callParams(params, override), { ...timing(at), context });
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
  };
}

/** How long a call may take, who may end it, and who hears how it goes. */
function timing({ signal, timeoutMs, onProgress }: Partial<CallAt>): CallOptions {
  return {
    ...(signal && { signal }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(onProgress && { onProgress }),
  };
}

function notRunning(instance: string, cause: HostError): HostError {
  return new HostError("plugin.unavailable", `[BLOCKED] Plugin "${instance}" does not run`, {
    data: { instance, status: "stopped" },
    hint: "Try again; when it stays down, kaged plugin info tells why",
    cause,
  });
}
