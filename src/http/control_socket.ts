/**
 * The HTTP API of a running host at `<home>/run/<pid>.sock`, for the operator's command. It needs no token: the modes of
 * the file let in this user alone.
 *
 * @module
 */
import { closeServer } from "./close_server.ts";
import type { HttpHandler } from "../core/ports/http.ts";
import type { Runtime } from "../core/ports/ports.ts";
import type { ControlSocket } from "../host/host_rooms.ts";
import type { Host } from "../host/types.ts";

/** Sockets of this process, which may run several hosts. */
const taken = new Set<string>();

/** Opens the socket. The API is loaded with the first request, so that hosts without one start faster. */
export async function openControlSocket(host: Host, runtime: Runtime): Promise<ControlSocket> {
  const { files, ids, clock, http } = runtime;
  const { home } = host.view;
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
    // Listen under another name first: a socket that has its final name always answers, so one that does not answer is
    // left over from a host that died.
    const fresh = `${home}/run/${ids.create("socket")}`;
    const server = await http.listen({ at: { path: fresh }, handler, background: true });
    await files.rename(fresh, path);
    return {
      path,
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

const SOCKET_NAME = /^([0-9]+)(?:-[0-9]+)?\.sock$/;

/** Removes the sockets of hosts that died. Those of this process are left alone: it removes them itself. */
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
