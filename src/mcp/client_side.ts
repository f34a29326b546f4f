/**
 * Requests of caged MCP servers, passed on to the client of the session they work for.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";
import { isMap } from "../core/values/plain_data.ts";
import type { ClientSide, RequestOrigin } from "../host/mcp_types.ts";
import type { Question } from "./flight.ts";
import { namedForm } from "./ask_client.ts";
import { type Flights, PARKED_MS } from "./flights.ts";
import type { Json, McpServer } from "./sdk_types.ts";

/** How long a client may take to list its roots where no call of it waits for them. */
const ROOTS_MS = 10_000;

/**
 * Returns the client's side of a session. Each part is there while the client has a call in flight and takes such
 * requests: what is absent stays with the host. A client that shook hands, and is one of `connected`, lists its roots at
 * any time.
 */
export function clientSide(flights: Flights, connected: () => Iterable<McpServer>): ClientSide {
  const counter = { value: 0 };

  function part(method: Question["method"]): ((params: Json, from: RequestOrigin) => Promise<Json>) | undefined {
    if (!flights.canAsk({ method, params: {} }, { plugin: null })) return undefined;
    return async (params, { plugin, signal, key = `${plugin}-${++counter.value}` }) => {
      const shown = method === "elicitation/create" ? namedForm(params, plugin) : params;
      const answer = flights.ask({ key, method, params: shown }, { plugin }, { signal, timeout: PARKED_MS });
      if (answer) return await answer;
      throw new HostError("mcp.client_cannot", `The MCP client takes no such request of "${plugin}": ${method}`, {
        data: { plugin, method },
        hint: "Use a client that declares the capability",
      });
    };
  }

  return {
    get elicit() {
      return part("elicitation/create");
    },
    get sample() {
      return part("sampling/createMessage");
    },
    get roots() {
      const ask = part("roots/list");
      if (ask) return (from: RequestOrigin) => ask({}, from);
      const server = [...connected()].find(hasRoots);
      return server && (({ signal }: RequestOrigin) => server.listRoots({}, { signal, timeout: ROOTS_MS }));
    },
  } as ClientSide;
}

/** Whether the client of a server has roots, as far as it said so by now. */
export function hasRoots(server: McpServer): boolean {
  return isMap(server.getClientCapabilities()?.roots);
}
