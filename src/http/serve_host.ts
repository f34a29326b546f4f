/**
 * Serves the API and the console of a host at an address.
 *
 * @module
 */
import { HostError, messageOf } from "../core/errors/host_error.ts";
import type { HttpHandler, HttpServer } from "../core/ports/http.ts";
import type { Runtime } from "../core/ports/ports.ts";
import { closeServer } from "./close_server.ts";
import { type AppOptions, createApp } from "./create_app.ts";
import { readToken } from "./token.ts";

/** Options of {@link serveHost}. */
export interface ServeOptions extends Omit<AppOptions, "token"> {
  /** The runtime that listens, from `detectRuntime()`. */
  readonly runtime: Runtime;
  /** Address to listen at. Default: `127.0.0.1`, which no other machine reaches. */
  readonly hostname?: string;
  /** Port, or 0 for any free one. Default 4717. */
  readonly port?: number;
}

/** The running server of a host. */
export interface ServedHost {
  /** Such as `http://127.0.0.1:4717`. */
  readonly address: string;
  /** Clients send it as `Authorization: Bearer <token>`. */
  readonly token: string;
  /** Stops listening and ends every stream; other requests have two seconds to finish. */
  close(): Promise<void>;
}

/** Port of the API unless the operator chooses another. */
export const DEFAULT_PORT: number = 4717;

/**
 * Serves the API and the console of a host. The token is in `<home>/token`; the first start makes it.
 *
 * @throws {HostError} `http.port_taken` or `http.listen_failed`, `host.file_unreadable` for a token that cannot be used.
 */
export async function serveHost(options: ServeOptions): Promise<ServedHost> {
  const { host, runtime, hostname = "127.0.0.1", port = DEFAULT_PORT, ...rest } = options;
  const token = await readToken(host.view.home, runtime);
  const app = createApp({ host, token, ...rest });
  const { address, server } = await listenAt({ hostname, port, handler: app.fetch, runtime }).catch((error) => {
    app.close();
    throw error;
  });
  return {
    address,
    token,
    async close() {
      app.close();
      await closeServer(server, runtime.clock);
    },
  };
}

/** Listens at an address. Throws `http.port_taken` or `http.listen_failed`. */
export async function listenAt(
  { hostname, port, handler, runtime }: {
    readonly hostname: string;
    readonly port: number;
    readonly handler: HttpHandler;
    readonly runtime: Pick<Runtime, "http">;
  },
): Promise<{ readonly address: string; readonly server: HttpServer }> {
  try {
    const server = await runtime.http.listen({ at: { hostname, port }, handler });
    const name = hostname.includes(":") ? `[${hostname}]` : hostname;
    return { address: `http://${name}:${server.port}`, server };
  } catch (error) {
    throw listenError(error, hostname, port);
  }
}

function listenError(error: unknown, hostname: string, port: number): HostError {
  const place = { data: { hostname, port }, cause: error };
  if ((error as { code?: unknown }).code === "EADDRINUSE") {
    const hint = "Use another --port, or --port 0 for any that is free";
    return new HostError("http.port_taken", `Another program listens at ${hostname} port ${port}`, { ...place, hint });
  }
  const hint = "Use another --host or --port, or change [http] in config.toml";
  const message = `Cannot listen at ${hostname} port ${port}: ${messageOf(error)}`;
  return new HostError("http.listen_failed", message, { ...place, hint });
}
