/**
 * Kinds of one's own in a host: which plugins implement them, and their hooks dispatched.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";
import type { Supervisor } from "../core/supervisor/types.ts";
import { didYouMean } from "../core/values/nearest_word.ts";
import type { Participant } from "../hooks/dispatch/types.ts";
import { dispatchHook } from "../hooks/kinds/dispatch_kind.ts";
import type { HostKind, HostKinds, Kind, KindAt, KindHook, KindPlugin } from "../hooks/kinds/types.ts";
import type { HostModel } from "./model.ts";
import { fittingKind } from "./own_kinds.ts";
import type { Host } from "./types.ts";

/** The rooms around the kinds. */
interface KindPorts extends Pick<Host, "callMethod"> {
  readonly kinds: readonly Kind[];
  readonly model: HostModel;
  readonly supervisor: Pick<Supervisor, "plugins">;
  warn(message: string): void;
}

/** Returns the kinds of a host. */
export function hostKinds({ kinds, model, supervisor, callMethod, warn }: KindPorts): HostKinds {
  const list = (agent: string): HostKind[] => {
    const live = new Map(supervisor.plugins().map((info) => [info.instance, info]));
    const implementing = model.agent(agent).plugins.flatMap(({ plugin, instance, manifest }) =>
      Object.entries(manifest.kinds ?? {}).map(([name, version]) => {
        const { kind, reason } = fittingKind(kinds, name, version);
        const { status = "stopped", methods = [] } = live.get(instance) ?? {};
        const isDown = status === "failed" || status === "disabled";
        const hooks = (kind?.hooks ?? []).filter(({ wireMethod }) =>
          wireMethod !== null && (status !== "running" || methods.includes(wireMethod))
        );
        const unavailable = reason ?? (isDown ? `The plugin is ${status}` : null);
        const row: KindPlugin = {
          plugin,
          version,
          hooks: unavailable === null ? hooks.map((hook) => hook.name) : [],
          unavailable,
        };
        return { kind, row };
      })
    );
    return kinds.map((kind) => ({
      ...kind,
      plugins: implementing.filter((one) => one.kind === kind).map(({ row }) => row),
    }));
  };

  const participants: HostKinds["participants"] = (name, hookName, at) => {
    const kind = kindNamed(list(at.agent), name, at.major);
    const hook = hookNamed(kind, hookName);
    const able = kind.plugins.filter(({ hooks }) => hooks.includes(hookName));
    return { contract: hook, participants: able.map(({ plugin }) => participant(plugin, hook, at)) };
  };

  function participant(plugin: string, { wireMethod, timeoutMs }: KindHook, at: KindAt): Participant {
    const { weigh, major: _, ...call } = at;
    const limit = at.timeoutMs ?? timeoutMs;
    return {
      ...weigh?.(plugin),
      name: plugin,
      call: async (input) => {
        const options = { ...call, ...(limit !== null && { timeoutMs: limit }) };
        return await callMethod(plugin, wireMethod!, input as Readonly<Record<string, unknown>>, options) ?? null;
      },
    };
  }

  return {
    list,
    participants,
    async dispatch(kind, hook, input, at) {
      const { plugin, capability, bestEffort, onFailure, ...rest } = at;
      const { contract, participants: able } = participants(kind, hook, rest);
      return await dispatchHook(contract, able, input, {
        ...(plugin !== undefined && { plugin }),
        ...(capability !== undefined && { capability }),
        ...(bestEffort !== undefined && { bestEffort }),
        onFailure: onFailure ?? (({ name, error }) => warn(`"${name}" failed at ${kind}.${hook}: ${String(error)}`)),
      });
    },
  };
}

/** Returns a kind in the major version wanted, or its newest. Throws `hook.unknown_kind`. */
function kindNamed(kinds: readonly HostKind[], name: string, major: number | undefined): HostKind {
  const versions = kinds.filter(({ kind }) => kind === name);
  const found = major === undefined
    ? versions.at(-1)
    : versions.find(({ version }) => Number(version.split(".")[0]) === major);
  if (found) return found;
  const known = [...new Set(kinds.map(({ kind }) => kind))];
  const which = versions.length === 0 ? `kind "${name}"` : `version ${major} of "${name}"`;
  const hint = versions.length > 0
    ? `Versions: ${versions.map(({ version }) => version).join(", ")}`
    : didYouMean(name, known, known.length > 0 ? `Kinds: ${known.join(", ")}` : "Name a hookspec in project.yaml");
  throw new HostError("hook.unknown_kind", `No hookspec has the ${which}`, { data: { kind: name, known }, hint });
}

/** Returns a hook of a kind. Throws `hook.unknown`. */
function hookNamed({ kind, hooks }: Kind, name: string): KindHook {
  const found = hooks.find((hook) => hook.name === name);
  if (found) return found;
  const known = hooks.map((hook) => hook.name);
  throw new HostError("hook.unknown", `Kind "${kind}" has no hook "${name}"`, {
    data: { kind, hook: name, known },
    hint: didYouMean(name, known, `Its hooks: ${known.join(", ")}`),
  });
}
