/**
 * Looks after plugin processes: every plugin apart from the others, none able to hold the rest up.
 *
 * @module
 */
import { type CallAudit, createAudit } from "../audit/audit.ts";
import { maskedAudit } from "../audit/masked_audit.ts";
import { asHostError, HostError } from "../errors/host_error.ts";
import { TreeMemory } from "../files/tree_memory.ts";
import { Callers } from "../values/caller.ts";
import { SecretMask } from "../values/secret_mask.ts";
import { ReadTurns } from "../wire/read_turns.ts";
import { PluginInstance } from "./instance.ts";
import type { InstanceOptions } from "./instance_options.ts";
import { type KnownManifest, manifestBatch, PluginFolder } from "./plugin_source.ts";
import { failedCall } from "../wire/calls.ts";
import type { CallEnd } from "../wire/connection_types.ts";
import type {
  PluginCallContext,
  PluginCaller,
  PluginNotification,
  PluginSpec,
  Supervisor,
  SupervisorOptions,
} from "./types.ts";

/**
 * Returns a supervisor that looks after nothing yet. A host around it passes the audit that both write to, whose sinks
 * stand in for `options.audit`, and the mask that hides the secrets of its plugins, which learns them here.
 */
export function createSupervisor(
  options: SupervisorOptions,
  given?: CallAudit,
  secrets: SecretMask = new SecretMask(),
): Supervisor & PluginCaller {
  const { runtime, operatorId = null } = options;
  const { ids, clock } = runtime;
  const audit = given ?? maskedAudit(createAudit({ clock, sinks: options.audit ?? [] }), secrets);
  const instances = new Map<string, PluginInstance>();
  const listeners = new Set<(notification: PluginNotification) => void>();
  const callers = new Callers(runtime.callers);
  const defaults = {
    operatorId: (): string | null => callers.current?.operatorId ?? operatorId,
    requestId: (): string => callers.current?.requestId ?? ids.create("req"),
  };
  const turns = new ReadTurns({ next: runtime.next, soon: runtime.soon, monotonic: clock.monotonic });

  function find(instance: string): PluginInstance {
    const found = instances.get(instance);
    if (found) return found;
    throw new HostError("plugin.unknown", `No plugin "${instance}" is registered`, {
      data: { instance, known: [...instances.keys()] },
      hint: "Register it, or look at the list of plugins",
    });
  }

  const supervisor: Supervisor & PluginCaller = {
    ...registration(instances, {
      host: options,
      audit,
      secrets,
      turns,
      trees: new TreeMemory(runtime),
      onNotification: (notification) => listeners.forEach((listener) => quietly(() => listener(notification))),
    }),
    startAll: () => startEnabled(instances),
    start: (id) => find(id).start(),
    async ready(id) {
      await find(id).ready();
    },
    stop: (id) => find(id).stop("stopped"),
    async unregister(id) {
      await find(id).stop("stopped");
      instances.delete(id);
    },
    async stopAll() {
      await Promise.all(Array.from(instances.values(), (instance) => instance.stop("stopped")));
      await audit.flush();
    },
    async enable(id) {
      const instance = find(id);
      audit.emit("plugin.enabled", instance.subject, {});
      await instance.ready();
    },
    async disable(id, reason = "operator") {
      const instance = find(id);
      await instance.stop("disabled");
      audit.emit("plugin.disabled", instance.subject, { reason });
    },
    replace: async (id, spec) => await find(id).replace(spec),
    updateConfig: async (id, config) => await find(id).updateConfig(config),
    // Not async: one promise less on the path that every call takes.
    call(id, method, params = {}, callOptions = {}, end?: CallEnd) {
      try {
        const context = callContext(callOptions.context ?? {}, defaults);
        return find(id).call(method, params, context, callOptions, end);
      } catch (error) {
        return failedCall(asHostError(error), end);
      }
    },
    mcp: (id) => find(id).mcp(),
    wake: async (id, need) => await find(id).wake(need),
    plugins: () => [...instances.values()].map((instance) => instance.info()),
    plugin: (id) => find(id).info(),
    onAudit: (listener) => audit.on(listener),
    onNotification: (listener) => added(listeners, (notification) => listener(notification)),
    [Symbol.asyncDispose]: () => supervisor.stopAll(),
  };
  return supervisor;
}

type Ports = Pick<InstanceOptions, "host" | "audit" | "secrets" | "turns" | "trees" | "onNotification">;

function registration(
  instances: Map<string, PluginInstance>,
  ports: Ports,
): Pick<Supervisor, "register" | "registerAll" | "exchange"> {
  const { files } = ports.host.runtime;

  function add(spec: PluginSpec, known: KnownManifest): PluginInstance {
    const instance = newInstance(spec, known, ports);
    const { instance: id } = instance.subject;
    if (instances.has(id)) {
      throw new HostError("plugin.duplicate", `Plugin instance "${id}" is registered already`, {
        data: { instance: id },
      });
    }
    instances.set(id, instance);
    return instance;
  }

  return {
    async exchange(spec) {
      const next = newInstance(spec, await manifestBatch(files)(spec), ports);
      const { instance: id } = next.subject;
      await instances.get(id)?.gone();
      if (!instances.get(id)?.isAtRest() || !next.restIfIdle()) return false;
      instances.set(id, next);
      return true;
    },
    register: async (spec) => add(spec, await manifestBatch(files)(spec)).info(),
    async registerAll(specs) {
      const reading = specs.map(manifestBatch(files));
      const read = new Map<unknown, KnownManifest | HostError>();
      await Promise.all(Array.from(new Set(reading), async (one) => read.set(one, await one.catch(asHostError))));
      return specs.map((spec, at) => {
        const known = read.get(reading[at])!;
        if (known instanceof HostError) return known;
        try {
          add(spec, known);
          return null;
        } catch (error) {
          return asHostError(error);
        }
      });
    },
  };
}

/** Returns an instance that has not started, of a plugin whose manifest was just read. */
function newInstance(
  spec: PluginSpec,
  known: KnownManifest,
  ports: Ports,
): PluginInstance {
  const { manifest, manifest: { name } } = known;
  const source = new PluginFolder(name, spec, ports, known);
  return new PluginInstance({ ...ports, source, manifest, subject: { name, instance: spec.instance ?? name } });
}

async function startEnabled(instances: ReadonlyMap<string, PluginInstance>): ReturnType<Supervisor["startAll"]> {
  const resting: string[] = [];
  const disabled: string[] = [];
  const others: [string, PluginInstance][] = [];
  for (const [id, instance] of instances) {
    if (!instance.isEnabled) disabled.push(id);
    else if (instance.restIfIdle()) resting.push(id);
    else others.push([id, instance]);
  }
  const ends = await Promise.all(others.map(async ([instance, plugin]) => {
    const error = await plugin.ready().then((rests) => rests ? "rests" as const : null, asHostError);
    return { instance, error };
  }));
  return {
    running: ends.filter(({ error }) => error === null).map(({ instance }) => instance),
    resting: [...resting, ...ends.filter(({ error }) => error === "rests").map(({ instance }) => instance)],
    failed: ends.filter((end): end is { instance: string; error: HostError } =>
      end.error !== null && end.error !== "rests"
    ),
    disabled: disabled,
  };
}

/**
 * Fills in a call context.
 *
 * @throws {HostError} `plugin.context_partial` when project, agent and session are not set or null together: that is
 * a mistake of the host, never of the plugin.
 */
export function callContext(
  given: Partial<PluginCallContext>,
  defaults: { readonly operatorId: () => string | null; readonly requestId: () => string },
): PluginCallContext {
  if (isWhole(given)) return given;
  const { project_id = null, agent_path = null, session_id = null, traceparent } = given;
  if ((project_id === null) !== (agent_path === null) || (agent_path === null) !== (session_id === null)) {
    throw new HostError("plugin.context_partial", "Cannot call a plugin with a half-set context", {
      data: { project_id, agent_path, session_id },
      hint: "Set project_id, agent_path and session_id together, or none of them",
    });
  }
  const context = {
    operator_id: given.operator_id === undefined ? defaults.operatorId() : given.operator_id,
    project_id,
    agent_path,
    session_id,
    request_id: given.request_id ?? defaults.requestId(),
  };
  return traceparent === undefined ? context : { ...context, traceparent };
}

/** Whether nothing of a context is left to fill in or to refuse: that of a tool's call, of which no copy is made. */
function isWhole(given: Partial<PluginCallContext>): given is PluginCallContext {
  return given.request_id !== undefined && given.operator_id !== undefined && typeof given.session_id === "string" &&
    typeof given.agent_path === "string" && typeof given.project_id === "string";
}

/** Adds a listener; the returned function takes it away again. */
function added<T>(listeners: Set<T>, listener: T): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

function quietly(run: () => void): void {
  try {
    run();
  } catch {
    // A listener's mistake is not the plugin's.
  }
}
