/**
 * A host's API at an address, for a page and for programs.
 *
 * @module
 */
import { HostError, messageOf } from "../core/errors/host_error.ts";
import type { Host } from "../host/types.ts";
import type { HttpServer } from "../core/ports/http.ts";
import type { Runtime } from "../core/ports/ports.ts";
import { closeServer } from "./close_server.ts";
import { type AppOptions, createApp } from "./create_app.ts";
import { readToken } from "./token.ts";

/** Where and how a host is served. */
export interface ServeOptions extends Pick<AppOptions, "allowedHosts" | "callsPerSecond" | "mount" | "onWarning"> {
  /** The host. */
  readonly host: Host;
  /** The runtime that listens. */
  readonly runtime: Runtime;
  /** Address to listen at. Default: `127.0.0.1`, which no other machine reaches. */
  readonly hostname?: string;
  /** Port; 0 takes any that is free. Default 4717. */
  readonly port?: number;
}

/** A host that is served. */
export interface ServedHost {
  /** Where: `http://127.0.0.1:4717`. */
  readonly address: string;
  /** What a client must carry. */
  readonly token: string;
  /** Ends every stream, lets requests come to their end for two seconds, and listens no more. */
  close(): Promise<void>;
}

/** Port of the API, where nobody says another. */
export const DEFAULT_PORT: number = 4717;

/**
 * Serves a host's API and the console. The token is in `<home>/token`, made with the first start.
 *
 * @throws {HostError} `http.port_taken` or `http.listen_failed`, `host.file_unreadable` for a token that cannot be used.
 */
export async function serveHost(options: ServeOptions): Promise<ServedHost> {
  const { host, runtime, hostname = "127.0.0.1", port = DEFAULT_PORT, ...rest } = options;
  const token = await readToken(host.view.home, runtime);
  const app = createApp({ host, token, ...rest });
  let server: HttpServer;
  try {
    server = await runtime.http.listen({ at: { hostname, port }, handler: app.fetch });
  } catch (error) {
    app.close();
    throw listenError(error, hostname, port);
  }
  const name = hostname.includes(":") ? `[${hostname}]` : hostname;
  return {
    address: `http://${name}:${server.port}`,
    token,
    async close() {
      app.close();
      await closeServer(server, runtime.clock);
    },
  };
}

function listenError(error: unknown, hostname: string, port: number): HostError {
  const isTaken = (error as { code?: unknown }).code === "EADDRINUSE";
  const place = { data: { hostname, port }, cause: error };
  if (!isTaken) {
    const hint = "Use another --host or --port, or change [http] in config.toml";
    return new HostError("http.listen_failed", `Cannot listen at ${hostname} port ${port}: ${messageOf(error)}`, {
      ...place,
      hint,
    });
  }
  return new HostError("http.port_taken", `Another program listens at ${hostname} port ${port}`, {
    ...place,
    hint: "Use another --port, or --port 0 for any that is free",
  });
}
