/**
 * Requests to the hosts that run under a home, through their sockets: of commands, and of another host.
 *
 * @module
 */
import { type LiveHost, liveHosts, type LiveHostsOptions } from "../adapters/shared/live_hosts.ts";
import { HostError, isErrorCode } from "../core/errors/host_error.ts";
import { isOfAnother, type OtherHost } from "../packages/install/settle_upgrade.ts";
import type { Answers, HostInfo, Instance, Plugin } from "./answers.ts";
import type { Problem } from "./problem.ts";
import type { PluginOrder } from "./routes/plugin_routes.ts";

/** A plugin as one running host has it. */
export interface PluginInHost extends Pick<HostInfo, "project">, Pick<Plugin, "instances"> {
  readonly host: LiveHost;
  /** Open sessions of the host, whether they use the plugin or not. */
  readonly sessions: number;
}

const UP: readonly string[] = ["running", "resting", "spawning", "crashed"];

/** Whether any instance has a process, or will have one without a command of the operator. */
export function isUp({ instances }: Pick<Plugin, "instances">): boolean {
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

/** An instance as one running host has it. */
export interface RunningInstance extends Instance {
  /** Id of the host's project. */
  readonly project: string;
}

/** Returns the instances of every plugin in every running host, by plugin. */
export async function runningInstances(home: string): Promise<Map<string, RunningInstance[]>> {
  const hosts = await Promise.all((await liveHosts(home)).map(async (host) => {
    const [about, list] = await Promise.all([get(host, "GET /api/v1/host"), everyInstance(host)]);
    return about ? list.map((one) => ({ ...one, project: about.project.id })) : [];
  }));
  return Map.groupBy(hosts.flat(), ({ plugin }) => plugin);
}

/** Returns the instances of one host, page by page. */
async function everyInstance(host: LiveHost): Promise<Instance[]> {
  const found: Instance[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const query: string = cursor === "" ? "" : `&cursor=${cursor}`;
    const page: Answers["GET /api/v1/plugins"] | null = await get(
      host,
      "GET /api/v1/plugins",
      "",
      `?limit=1000${query}`,
    );
    found.push(...page?.plugins ?? []);
    cursor = page?.next ?? null;
  }
  return found;
}

/** Sends an order to every running host. Hosts without the plugin are not counted. */
export async function notifyHosts(
  home: string,
  plugin: string,
  order: PluginOrder,
): Promise<Notified> {
  const answers = await Promise.all((await liveHosts(home)).map((host) => orderOf(host, plugin, order)));
  const known = answers.filter((failure) => failure === null || !isOfAnother(failure));
  return { notified: known.length, failures: known.filter((failure) => failure !== null) };
}

/** Sends an order to one host; returns why it was not carried out, or null. */
async function orderOf(
  host: LiveHost,
  plugin: string,
  order: PluginOrder,
): Promise<HostError | null> {
  const path = `/api/v1/plugins/${encodeURIComponent(plugin)}/${order}`;
  // A host that ended meanwhile runs nothing any more.
  return await send(host, path, { method: "POST" }).catch(() => null);
}

/** Returns the running hosts of a home, for an upgrade of a plugin; those whose sockets are in `except` are left out. */
export async function upgradeHosts(
  home: string,
  plugin: string,
  options: Pick<LiveHostsOptions, "except"> = {},
): Promise<OtherHost[]> {
  return await Promise.all((await liveHosts(home, options)).map(async (host) => {
    const found = await get(host, "GET /api/v1/plugins/{name}", plugin);
    const wasUp = found !== null && isUp(found);
    return { wasUp, isWanted: wasUp, order: (order) => orderOf(host, plugin, order) };
  }));
}

/** The answers of running hosts to an order. */
export interface Notified {
  /** How many hosts have the plugin. */
  readonly notified: number;
  readonly failures: readonly HostError[];
}

/** A knob, and the value to set. */
export interface HostKnobTurn {
  readonly plugin: string;
  readonly knob: string;
  readonly agent: string;
  readonly value: unknown;
}

/**
 * Has a running host of a project turn a knob; returns false when no host runs the project.
 *
 * @throws {HostError} the host's answer.
 */
export async function turnInHost(
  home: string,
  { dir }: { readonly dir: string },
  { plugin, knob, agent, value }: HostKnobTurn,
): Promise<boolean> {
  const host = (await hostsWith(home, plugin)).find(({ project }) => project.dir === dir)?.host;
  if (!host) return false;
  const failure = await send(host, `/api/v1/plugins/${plugin}/knobs/${encodeURIComponent(knob)}`, {
    method: "PUT",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ agent, value }),
  });
  if (failure) throw failure;
  return true;
}

async function get<K extends keyof Answers>(
  host: LiveHost,
  route: K,
  plugin = "",
  query = "",
): Promise<Answers[K] | null> {
  const path = route.split(" ")[1]!.replace("{name}", encodeURIComponent(plugin)) + query;
  const response = await host.request(new Request(`http://kaged${path}`)).catch(() => null);
  if (response?.ok) return await response.json();
  await response?.body?.cancel();
  return null;
}

/** Sends a request that changes something; returns why the host refused it, or null. Rejects when it cannot be asked. */
async function send(host: LiveHost, path: string, init: RequestInit): Promise<HostError | null> {
  const response = await host.request(new Request(`http://kaged${path}`, init));
  const answer: Problem | object = await response.json();
  if (!("code" in answer)) return null;
  return problemError(answer);
}

/** The error that a host answered with. */
export function problemError({ code, detail, hint, data }: Problem): HostError {
  // A host of another version may have codes that this one does not know.
  return new HostError(isErrorCode(code) ? code : "host.internal", detail, {
    ...(hint !== undefined && { hint }),
    ...(data !== undefined && { data }),
  });
}
