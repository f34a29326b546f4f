/**
 * What commands ask of the hosts that run under a home, through their sockets.
 *
 * @module
 */
import { type LiveHost, liveHosts, type LiveHostsOptions } from "../adapters/shared/live_hosts.ts";
import { HostError, isErrorCode } from "../core/errors/host_error.ts";
import type { Answers, Failure, HostInfo, Plugin } from "../http/answers.ts";
import type { Problem } from "../http/problem.ts";

/** A plugin as one running host has it. */
export interface PluginInHost extends Pick<HostInfo, "project">, Pick<Plugin, "instances"> {
  readonly host: LiveHost;
  /** Number of open sessions. */
  readonly sessions: number;
}

const UP: readonly string[] = ["running", "spawning", "crashed"];

/** Whether any instance has a process, or will have one by itself. */
export function isUp({ instances }: PluginInHost): boolean {
  return instances.some(({ state }) => UP.includes(state));
}

/** Returns the running hosts that have a plugin; those whose sockets are in `except` are not asked. */
export async function hostsWith(
  home: string,
  plugin: string,
  options: Pick<LiveHostsOptions, "except"> = {},
): Promise<PluginInHost[]> {
  const hosts = await Promise.all((await liveHosts(home, options)).map(async (host) => {
    const [about, found] = await Promise.all([
      get(host, "GET /api/v1/host"),
      get(host, "GET /api/v1/plugins/{name}", plugin),
    ]);
    if (!about || !found) return [];
    return [{ host, project: about.project, sessions: about.sessions.count, instances: found.instances }];
  }));
  return hosts.flat();
}

/** States of every plugin in every running host: plugin → states of its instances. */
export async function runningStates(home: string): Promise<Map<string, string[]>> {
  const states = new Map<string, string[]>();
  for (const host of await liveHosts(home)) {
    const { plugins } = await get(host, "GET /api/v1/plugins") ?? { plugins: [] };
    for (const { plugin, state } of plugins) states.set(plugin, [...states.get(plugin) ?? [], state]);
  }
  return states;
}

/** What a host can be told about a plugin. */
export type HostOrder = "enable" | "disable" | "reload";

/**
 * Tells every running host; `onRunning` is called first when the plugin runs in one of them. A host that has no such
 * plugin, or no longer, has nothing to do.
 */
export async function tellHosts(
  home: string,
  plugin: string,
  order: HostOrder,
  { onRunning }: { onRunning?(): void } = {},
): Promise<{ readonly told: number; readonly failures: readonly Failure[] }> {
  if (onRunning && (await hostsWith(home, plugin)).some(isUp)) onRunning();
  const path = `/api/v1/plugins/${encodeURIComponent(plugin)}/${order}`;
  const answers = await Promise.all((await liveHosts(home)).map((host) => post(host, path)));
  const known = answers.filter((answer) => answer?.code !== "plugin.unknown");
  return { told: known.length, failures: known.filter((answer) => answer !== null) };
}

async function get<K extends keyof Answers>(host: LiveHost, route: K, plugin = ""): Promise<Answers[K] | null> {
  const path = route.split(" ")[1]!.replace("{name}", encodeURIComponent(plugin));
  const response = await host.request(new Request(`http://kaged${path}`)).catch(() => null);
  if (response?.ok) return await response.json();
  await response?.body?.cancel();
  return null;
}

/** Sends an order; returns why it was not done, or null. */
async function post(host: LiveHost, path: string): Promise<Failure | null> {
  const request = new Request(`http://kaged${path}`, { method: "POST" });
  const response = await host.request(request).catch(() => null); // It ended meanwhile: nothing of it runs.
  if (response === null) return null;
  const answer: Problem | Plugin = await response.json();
  if (!("code" in answer)) return null;
  const { code, detail: message, hint } = answer;
  return { code, message, ...(hint !== undefined && { hint }) };
}

/** A knob to turn. */
export interface HostKnobTurn {
  /** The plugin. */
  readonly plugin: string;
  /** The knob. */
  readonly knob: string;
  /** Agent path. */
  readonly agent: string;
  /** The new value. */
  readonly value: unknown;
}

/**
 * Has a running host of a project turn a knob; false when no host runs the project.
 *
 * @throws {HostError} what the host answered.
 */
export async function turnInHost(
  home: string,
  { dir }: { readonly dir: string },
  turn: HostKnobTurn,
): Promise<boolean> {
  const { plugin, knob, agent, value } = turn;
  const host = (await hostsWith(home, plugin)).find(({ project }) => project.dir === dir)?.host;
  if (!host) return false;
  const response = await host.request(
    new Request(`http://kaged/api/v1/plugins/${plugin}/knobs/${encodeURIComponent(knob)}`, {
      method: "PUT",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ agent, value }),
    }),
  );
  const answer: Problem | Answers["PUT /api/v1/plugins/{name}/knobs/{knob}"] = await response.json();
  if (!("code" in answer)) return true;
  const { code, detail, hint, data } = answer;
  throw new HostError(isErrorCode(code) ? code : "host.internal", detail, {
    ...(hint !== undefined && { hint }),
    ...(data !== undefined && { data }),
  });
}
