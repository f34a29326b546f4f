/**
 * The host: every room of the house behind the few calls an agent loop makes.
 *
 * @module
 */
import { messageOf } from "../core/errors/host_error.ts";
import { hostCalls } from "./host_calls.ts";
import { type ControlSocket, type HostCoreOptions, type HostRooms, openRooms } from "./host_rooms.ts";
import { pluginRows } from "./plugin_rows.ts";
import { startPlugins } from "./start_plugins.ts";
import type { Host } from "./types.ts";
import { hostView } from "./view.ts";

/**
 * Loads a project and returns a host that has started nothing yet.
 *
 * @throws {HostError} `project.*`, `local.*` or `config.*` when a file of the project or the operator cannot be used.
 */
export async function createHost(options: HostCoreOptions): Promise<Host> {
  const rooms = await openRooms(options, () => host);
  const { model, failedReloads, sessions, jobs, store, audit, supervisor, emitter, tracing, chain } = rooms;
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
      model.project.agents.map(({ path, parent, plugins }) => ({
        path,
        parent,
        plugins: plugins.map(({ key }) => key),
      })),
    plugins: (agent) => pluginRows({ model, supervisor, failedReloads }, agent),
    agent: (path, run) => jobs.agent(path, run),
    get jobs() {
      return jobs.get();
    },
    hooks: chain.engine,
    openSession: ({ id } = {}) => sessions.open(id),
    session: (id) => sessions.find(id),
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

/** Returns the start and the end of a host. */
function hostLife(rooms: HostRooms, host: () => Host): Pick<Host, "start" | "stop"> {
  const { options, supervisor, storage, logs, recorder, sessions, jobs, store, audit } = rooms;
  let isLoaded = false;
  let control: ControlSocket | null = null;

  /** A host that cannot be reached from outside still does its work. */
  async function openControl(): Promise<void> {
    if (control || !options.openControl) return;
    try {
      control = await options.openControl(host());
    } catch (error) {
      rooms.warn(`Commands cannot reach this host: ${messageOf(error)}`);
    }
  }

  return {
    async start() {
      sessions.resume();
      const isFirst = !isLoaded;
      isLoaded = true;
      const [started, pending] = await Promise.all([
        startPlugins({ loaded: store.loaded, supervisor, audit, isFirst }),
        store.ask(),
        openControl(),
      ]);
      await jobs.start(); // Last: jobs that were queued before need the plugins.
      return { ...started, pending };
    },
    async stop() {
      await jobs.stop(); // First: runs under way need the plugins.
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
  };
}
