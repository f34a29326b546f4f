/**
 * The conversation with a server of the revisions without a handshake: every request says what the client is and can, and
 * a server that needs something of the client says so in place of a result.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import type { Clock } from "../ports/ports.ts";
import { isMap } from "../values/plain_data.ts";
import { shown } from "../values/shown_value.ts";
import type { Connection } from "../wire/connection_types.ts";
import type { McpConversation } from "./conversation.ts";
import { type InputAnswers, inputAnswers } from "./input_answers.ts";
import { Listening } from "./listening.ts";
import { META, requestMeta } from "./messages.ts";
import type { McpCallOptions, McpDefinition, McpLogLevel, McpServerInfo } from "./peer.ts";
import type { ServerRequests } from "./server_requests.ts";

/** Times that a server may ask for more before it gives its result. */
export const MAX_ROUNDS: number = 10;

/** Ports of a conversation. */
export interface ModernOptions {
  readonly connection: Connection;
  readonly info: McpServerInfo;
  readonly requests: ServerRequests;
  readonly clock: Clock;
  /** Aborts when the connection has ended. */
  readonly ended: AbortSignal;
}

/** Returns the conversation with a server that has answered `server/discover`. */
export function modernConversation(options: ModernOptions): McpConversation {
  const { connection, info, requests, ended } = options;
  let logLevel: McpLogLevel | null = null;
  const withMeta = (params: McpDefinition): McpDefinition => {
    const { _meta } = params;
    return { ...params, _meta: { ...(isMap(_meta) && _meta), ...requestMeta(requests.offers, logLevel) } };
  };
  const listening = new Listening({ ...options, withMeta });

  async function ask(method: string, params: McpDefinition, callOptions: McpCallOptions = {}): Promise<unknown> {
    let given: InputAnswers = {};
    for (let round = 0; round <= MAX_ROUNDS; round++) {
      const result = await connection.call(method, withMeta({ ...params, ...given }), callOptions);
      if (!isMap(result)) return result; // Whoever asked says what is wrong with it.
      const { resultType = "complete" } = result;
      if (resultType === "complete" || (resultType === "task" && method === "tools/call")) {
        return withoutBookkeeping(result);
      }
      if (resultType !== "input_required") throw unknownType(method, resultType);
      given = await inputAnswers(result, requests, { ended, ...callOptions });
    }
    throw new HostError(
      "mcp.too_many_rounds",
      `The server asked ${MAX_ROUNDS + 1} times for more to answer ${method}`,
      {
        data: { method, rounds: MAX_ROUNDS },
        hint: "Let the server ask for everything at once, or mend its loop",
      },
    );
  }

  return {
    info,
    ask(method, params, callOptions, end) {
      const answer = ask(method, params, callOptions);
      return end ? answer.then((result) => end.ok(result), (error) => end.failed(error)) : answer;
    },
    checkAlive: (callOptions) => connection.call("server/discover", withMeta({}), callOptions),
    subscribe: (uri) => listening.add(uri),
    unsubscribe: (uri) => listening.remove(uri),
    setLogLevel(level) {
      logLevel = level;
      return Promise.resolve();
    },
    rootsChanged() {}, // A server asks for roots with each call that needs them.
    begin: () => listening.begin(),
    onNotification: (method, params) => listening.onNotification(method, params),
    onSent(method, id) {
      if (method === "subscriptions/listen") listening.onSent(id);
    },
  };
}

/** Returns a result without what the protocol keeps for itself: that it is complete, and which server has answered. */
function withoutBookkeeping({ resultType, _meta, ...result }: Record<string, unknown>): Record<string, unknown> {
  const { [META.serverInfo]: _server, ...meta } = isMap(_meta) ? _meta : {};
  return {
    ...result,
    ...(resultType === "task" && { resultType }),
    ...(Object.keys(meta).length > 0 && { _meta: meta }),
  };
}

function unknownType(method: string, resultType: unknown): HostError {
  return new HostError("mcp.malformed", `The answer to ${method} is of the unknown type ${shown(resultType)}`, {
    data: { method, reason: "unknown resultType" },
  });
}
