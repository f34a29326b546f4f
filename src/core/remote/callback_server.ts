/**
 * The place on this machine that a browser is sent back to after a login (RFC 8252 §7.3): it takes one answer, and only
 * the one that carries the state of this login.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import type { HttpServer } from "../ports/http.ts";
import type { Runtime } from "../ports/ports.ts";

/** The answer of an authorization server. */
export interface CallbackAnswer {
  readonly code: string;
  /** The server that says to have answered (RFC 9207); undefined where it does not say. */
  readonly iss: string | undefined;
}

/** A place that waits for its answer. */
export interface CallbackServer extends AsyncDisposable {
  readonly redirectUrl: string;
  /** Resolves with the answer to a login of that state. Rejects with `mcp.login_failed` when it is a refusal. */
  answer(state: string): Promise<CallbackAnswer>;
}

const PATH = "/callback";
/** Longest part of a server's own words in a message. */
const SHOWN = 200;

/** Listens on loopback, at `port` or at any that is free. Rejects with the system's error. */
export async function callbackServer({ http }: Runtime, port: number): Promise<CallbackServer> {
  const settled = Promise.withResolvers<CallbackAnswer>();
  settled.promise.catch(() => {}); // Whoever waits for it hears of it.
  let expected: string | null = null;
  const server: HttpServer = await http.listen({
    at: { hostname: "127.0.0.1", port },
    handler: (request) => {
      const { pathname, searchParams } = new URL(request.url);
      const isOurs = request.method === "GET" && pathname === PATH && expected !== null &&
        searchParams.getAll("state").join() === expected;
      if (!isOurs) return Promise.resolve(page(404, "This is no answer to a login that kaged waits for."));
      const outcome = read(searchParams);
      if (outcome instanceof HostError) settled.reject(outcome);
      else settled.resolve(outcome);
      return Promise.resolve(
        outcome instanceof HostError
          ? page(400, "The login was refused. The command that started it says why.")
          : page(200, "The login goes on in the command that started it. You may close this page."),
      );
    },
  });
  return {
    redirectUrl: `http://127.0.0.1:${server.port}${PATH}`,
    answer(state) {
      expected = state;
      return settled.promise;
    },
    async [Symbol.asyncDispose]() {
      await server.stop();
    },
  };
}

function read(params: URLSearchParams): CallbackAnswer | HostError {
  const error = params.get("error");
  const code = params.get("code");
  if (error === null && code !== null && code !== "") return { code, iss: params.get("iss") ?? undefined };
  const said = params.get("error_description") ?? "";
  const words = `${error ?? "no code"}${said === "" ? "" : `: ${said}`}`.replace(/[^\x20-\x7e]/g, "?").slice(0, SHOWN);
  return new HostError("mcp.login_failed", `The authorization server refused the login: ${words}`);
}

/** The address of the page holds the code, so that nothing may keep it or send it on. */
function page(status: number, text: string): Response {
  return new Response(`<!DOCTYPE html><meta charset="utf-8"><title>kaged</title><p>${text}</p>\n`, {
    status,
    headers: {
      "Content-Type": "text/html; charset=utf-8",
      "Cache-Control": "no-store",
      "Referrer-Policy": "no-referrer",
      "Content-Security-Policy": "default-src 'none'",
      "Connection": "close",
    },
  });
}
