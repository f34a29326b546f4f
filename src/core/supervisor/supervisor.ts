/**
 * Looks after plugin processes: every plugin apart from the others, none able to hold the rest up.
 *
 * @module
 */
import { type Audit, createAudit } from "../audit/audit.ts";
import { maskedAudit } from "../audit/masked_audit.ts";
import { asHostError, HostError } from "../errors/host_error.ts";
import { Callers } from "../values/caller.ts";
import { SecretMask } from "../values/secret_mask.ts";
import { PluginInstance } from "./instance.ts";
import type { InstanceOptions } from "./instance_options.ts";
import { manifestReader, pluginSource } from "./plugin_source.ts";
import type { PluginCallContext, PluginNotification, PluginSpec, Supervisor, SupervisorOptions } from "./types.ts";

/**
 * Returns a supervisor that looks after nothing yet. A host around it passes the audit that both write to, whose sinks
 * stand in for `options.audit`, and the mask that hides the secrets of its plugins, which learns them here.
 */
export function createSupervisor(
  options: SupervisorOptions,
  given?: Audit,
  secrets: SecretMask = new SecretMask(),
): Supervisor {
  const { runtime, operatorId = null } = options;
  const { ids, clock } = runtime;
  const audit = given ?? maskedAudit(createAudit({ clock, sinks: options.audit ?? [] }), secrets);
  const instances = new Map<string, PluginInstance>();
  const listeners = new Set<(notification: PluginNotification) => void>();
  const callers = new Callers(runtime.callers);
  const requestId = (): string => callers.current?.requestId ?? ids.create("req");

  function find(instance: string): PluginInstance {
    const found = instances.get(instance);
    if (found) return found;
    throw new HostError("plugin.unknown", `No plugin "${instance}" is registered`, {
      data: { instance, known: [...instances.keys()] },
      hint: "Register it, or look at the list of plugins",
    });
  }

  const supervisor: Supervisor = {
    async register(spec) {
      const onNotification = (notification: PluginNotification): void =>
        listeners.forEach((listener) => quietly(() => listener(notification)));
      const instance = await newInstance(spec, { host: options, audit, secrets, onNotification });
      const { instance: id } = instance.subject;
      if (instances.has(id)) {
        throw new HostError("plugin.duplicate", `Plugin instance "${id}" is registered already`, {
          data: { instance: id },
        });
      }
      instances.set(id, instance);
      return instance.info();
    },
    startAll: () => startEnabled(instances),
    start: (id) => find(id).start(),
    stop: (id) => find(id).stop("stopped"),
    async unregister(id) {
      await find(id).stop("stopped");
      instances.delete(id);
    },
    async stopAll() {
      await Promise.all([...instances.values()].map((instance) => instance.stop("stopped")));
      await audit.flush();
    },
    async enable(id) {
      const instance = find(id);
      audit.emit("plugin.enabled", instance.subject, {});
      await instance.start();
    },
    async disable(id, reason = "operator") {
      const instance = find(id);
      await instance.stop("disabled");
      audit.emit("plugin.disabled", instance.subject, { reason });
    },
    replace: async (id, spec) => await find(id).replace(spec),
    updateConfig: async (id, config) => await find(id).updateConfig(config),
    // Not async: one promise less on the path that every call takes.
    call(id, method, params = {}, callOptions = {}) {
      try {
        const context = callContext(callOptions.context ?? {}, {
          operatorId: callers.current?.operatorId ?? operatorId,
          requestId,
        });
        return find(id).call(method, params, context, callOptions);
      } catch (error) {
        return Promise.reject(asHostError(error));
      }
    },
    mcp: (id) => find(id).mcp(),
    plugins: () => [...instances.values()].map((instance) => instance.info()),
    plugin: (id) => find(id).info(),
    onAudit: (listener) => audit.on(listener),
    onNotification: (listener) => added(listeners, (notification) => listener(notification)),
    [Symbol.asyncDispose]: () => supervisor.stopAll(),
  };
  return supervisor;
}

/** Reads the manifest of a plugin and returns an instance of it that has not started. */
async function newInstance(
  spec: PluginSpec,
  { host, ...ports }: Pick<InstanceOptions, "host" | "audit" | "secrets" | "onNotification">,
): Promise<PluginInstance> {
  const readManifest = manifestReader(spec, host.runtime.files);
  const manifest = await readManifest();
  const { name } = manifest;
  const subject = { name, instance: spec.instance ?? name };
  return new PluginInstance({
    ...ports,
    host,
    source: pluginSource(name, spec, host, readManifest),
    manifest,
    subject,
  });
}

async function startEnabled(instances: ReadonlyMap<string, PluginInstance>): ReturnType<Supervisor["startAll"]> {
  const enabled = [...instances].filter(([, instance]) => instance.isEnabled);
  const ends = await Promise.all(enabled.map(async ([instance, plugin]) => {
    const error = await plugin.start().then(() => null, asHostError);
    return { instance, error };
  }));
  return {
    running: ends.filter(({ error }) => error === null).map(({ instance }) => instance),
    failed: ends.filter((end): end is { instance: string; error: HostError } => end.error !== null),
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
  defaults: { readonly operatorId: string | null; readonly requestId: () => string },
): PluginCallContext {
  const { project_id = null, agent_path = null, session_id = null, traceparent } = given;
  if ((project_id === null) !== (agent_path === null) || (agent_path === null) !== (session_id === null)) {
    throw new HostError("plugin.context_partial", "Cannot call a plugin with a half-set context", {
      data: { project_id, agent_path, session_id },
      hint: "Set project_id, agent_path and session_id together, or none of them",
    });
  }
  return {
    operator_id: given.operator_id === undefined ? defaults.operatorId : given.operator_id,
    project_id,
    agent_path,
    session_id,
    request_id: given.request_id ?? defaults.requestId(),
    ...(traceparent === undefined ? {} : { traceparent }),
  };
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
