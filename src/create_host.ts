/**
 * The host as an embedder makes it: on the runtime the program runs on.
 *
 * @module
 */
import { resolve } from "node:path";
import { detectRuntime } from "./adapters/default.ts";
import { requirePermissions } from "./core/cage/require_permissions.ts";
import { checkHome, homeFolder } from "./core/files/home.ts";
import type { Runtime } from "./core/ports/ports.ts";
import type { ControlSocket, HostCoreOptions } from "./host/host_rooms.ts";
import type { Host, HostOptions } from "./host/types.ts";

/**
 * Loads a project and returns its host: agents, their plugins, hooks, tools and compaction. Nothing runs before
 * {@link Host.start}. Relative paths are taken from the folder the program was started in.
 *
 * @example An agent loop around a host
 * ```ts
 * import { createHost } from "@kaged/plugin-host";
 *
 * await using host = await createHost({ project: "./my-project" });
 * await host.start();
 * const session = host.openSession();
 * const { systemPrompt } = await session.start("You are a helpful agent.");
 * session.record({ role: "user", content: "What do you know of me?" });
 * console.log(systemPrompt, host.tools("primary"));
 * ```
 * @throws {HostError} `host.option_invalid` for an option that there is not, or that cannot have its value; `project.*`, `local.*` or `config.*` when a file of the project or the operator cannot be used;
 * `cage.no_permission` on a Deno without the permissions that the host needs.
 */
export async function createHost(options: HostOptions): Promise<Host> {
  const { checkHostOptions } = await import("./host/host_options.ts");
  checkHostOptions(options);
  const runtime = withJs(options.runtime ?? await detectRuntime(), options.js);
  requirePermissions(runtime.missingPermissions(options.home ?? null)); // First: the environment is one of them.
  const home = homeFolder(options.home === undefined ? undefined : resolve(options.home), runtime.env);
  requirePermissions(runtime.missingPermissions(home));
  const plugins = Object.entries(options.plugins ?? {}).map(([pkg, dir]) => [pkg, resolve(dir)]);
  const folder = typeof options.pluginsFrom === "object" ? options.pluginsFrom?.folder : undefined;
  await runtime.files.makeDir(home, { recursive: true, mode: 0o700 });
  const realHome = await runtime.files.realPath(home);
  await checkHome(realHome, runtime);
  const { createHost: createOn } = await import("./host/create_host.ts"); // Most of the package: for who asks.
  let ownSocket: string | null = null;
  const open = async (host: Host): Promise<ControlSocket> => {
    const socket = await openControl(host, runtime);
    ownSocket = socket.path;
    return socket;
  };
  return await createOn({
    ...options,
    runtime,
    home: realHome,
    ...(options.control !== false && { openControl: open }),
    ...(options.hookFiles && { openHookFiles: hookFilesOf(options.hookFiles, runtime) }),
    // Hosts of other projects may run the version before, and would take the new files for tampered ones.
    async otherHosts(plugin) {
      const { upgradeHosts } = await import("./http/running_hosts.ts");
      return await upgradeHosts(realHome, plugin, { except: new Set(ownSocket === null ? [] : [ownSocket]) });
    },
    project: resolve(options.project),
    plugins: Object.fromEntries(plugins),
    ...(folder !== undefined && { pluginsFrom: { folder: resolve(folder) } }),
    ...(options.hookspecs && { hookspecs: options.hookspecs.map((dir) => resolve(dir)) }),
    ...(options.record !== undefined && { record: resolve(options.record) }),
  });
}

/** The runtime, with JavaScript files started by the program at `js` unless another is named for a start. */
function withJs(runtime: Runtime, js: string | undefined): Runtime {
  if (js === undefined) return runtime;
  const path = resolve(js);
  return { ...runtime, scripts: (other = path) => runtime.scripts(other) };
}

/** Returns the opener of the hook files of a host's project. */
function hookFilesOf(
  given: NonNullable<HostOptions["hookFiles"]>,
  runtime: Runtime,
): NonNullable<HostCoreOptions["openHookFiles"]> {
  return async ({ view: { home, project: { dir } } }, warn) => {
    const { openHookFiles } = await import("./hooks/open_hook_files.ts");
    const own = given === true || given === false ? {} : given;
    return await openHookFiles({ runtime, dir, home, onBroken: (_, { message }) => warn(message), ...own });
  };
}

async function openControl(host: Host, runtime: Runtime): Promise<ControlSocket> {
  const { openControlSocket } = await import("./http/control_socket.ts");
  return await openControlSocket(host, runtime);
}
