/**
 * The door to a running host for the operator's command: its HTTP API at `<home>/run/<pid>.sock`. Who may open that
 * file needs no token.
 *
 * @module
 */
import { closeServer } from "./close_server.ts";
import type { HttpHandler } from "../core/ports/http.ts";
import type { Runtime } from "../core/ports/ports.ts";
import type { ControlSocket } from "../host/host_rooms.ts";
import type { Host } from "../host/types.ts";

/** What a control socket needs. */
export interface ControlSocketOptions {
  /** The host behind it. */
  readonly host: Host;
  /** The operator's folder. */
  readonly home: string;
  /** The runtime. */
  readonly runtime: Runtime;
}

/** Doors of this process: it may run several hosts. */
const taken = new Set<string>();

/** Opens a door. The API behind it is loaded with the first request. */
export async function openControlSocket({ host, home, runtime }: ControlSocketOptions): Promise<ControlSocket> {
  const { files, ids, clock, http } = runtime;
  const path = freePath(`${home}/run/${runtime.pid}`);
  taken.add(path);
  let app: Promise<{ readonly fetch: HttpHandler; close(): void }> | null = null;
  const handler: HttpHandler = async (request, connection) => {
    app ??= import("./create_app.ts").then(({ createApp }) => createApp({ host, token: null }));
    return await (await app).fetch(request, connection);
  };
  try {
    await files.makeDir(`${home}/run`, { recursive: true, mode: 0o700 });
    await sweepSockets(home, runtime);
    // Under another name first: what stands under the last one always answers, so that what does not is left over.
    const fresh = `${home}/run/${ids.create("door")}`;
    const server = await http.listen({ at: { path: fresh }, handler, background: true });
    await files.rename(fresh, path);
    return {
      async close() {
        await files.remove(path);
        taken.delete(path);
        (await app)?.close();
        await closeServer(server, clock);
      },
    };
  } catch (error) {
    taken.delete(path);
    throw error;
  }
}

/** What stands in `<home>/run` for a host. */
const SOCKET_NAME = /^([0-9]+)(?:-[0-9]+)?\.sock$/;

/** Removes the doors of hosts that died before they could. This process looks after its own. */
async function sweepSockets(home: string, { files, network, pid }: Runtime): Promise<void> {
  const names = (await files.list(`${home}/run`)).filter((name) => {
    const owner = SOCKET_NAME.exec(name)?.[1];
    return owner !== undefined && Number(owner) !== pid;
  });
  await Promise.all(names.map(async (name) => {
    const path = `${home}/run/${name}`;
    if (await network.isDeserted(path)) await files.remove(path);
  }));
}

function freePath(stem: string): string {
  let path = `${stem}.sock`;
  for (let count = 2; taken.has(path); count++) path = `${stem}-${count}.sock`;
  return path;
}
