/**
 * Requests of an MCP server to its client: answered only for parts that the host offers, and a few at a time.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import { isMap } from "../values/plain_data.ts";
import type { ClientOffer, McpServerRequest } from "./peer.ts";

/** Requests of one server that may wait for their answers at once. */
export const MAX_OPEN_REQUESTS: number = 16;

/** The part of a client that each request is for. */
export const OFFER_OF: Readonly<Record<McpServerRequest["method"], ClientOffer>> = {
  "elicitation/create": "elicitation",
  "sampling/createMessage": "sampling",
  "roots/list": "roots",
};

/** Answers the requests of one server. */
export class ServerRequests {
  /** The parts that are offered: none where nobody answers. */
  readonly offers: readonly ClientOffer[];
  readonly #answer: ((request: McpServerRequest) => Promise<unknown>) | undefined;
  #open = 0;

  /** Offers `offers`; requests for them go to `answer`. */
  constructor(offers: readonly ClientOffer[] = [], answer?: (request: McpServerRequest) => Promise<unknown>) {
    this.offers = answer ? offers : [];
    this.#answer = answer;
  }

  /**
   * Answers a request.
   *
   * @throws {HostError} `protocol.method_unknown` for anything that is not offered, `protocol.params_invalid`,
   * `protocol.busy`, or why it is refused.
   */
  async take(
    method: string,
    params: unknown,
    { at, sessions, signal, key }: Pick<McpServerRequest, "at" | "sessions" | "signal" | "key">,
  ): Promise<unknown> {
    if (!this.isOffered(method)) {
      throw new HostError("protocol.method_unknown", `The host has no method "${method.slice(0, 200)}"`);
    }
    if (params !== undefined && !isMap(params)) {
      throw new HostError("protocol.params_invalid", `The params of "${method}" are no object`);
    }
    if (this.#open >= MAX_OPEN_REQUESTS) {
      throw new HostError("protocol.busy", `${MAX_OPEN_REQUESTS} requests of the server wait for answers already`);
    }
    this.#open++;
    try {
      const answer = await this.#answer!({
        method,
        params: params ?? {},
        at,
        signal,
        ...(sessions && { sessions }),
        ...(key !== undefined && { key }),
      });
      if (isMap(answer)) return answer;
      throw new HostError("protocol.internal", `The answer to "${method}" is no object`);
    } finally {
      this.#open--;
    }
  }

  /** Whether the server may ask for that. */
  isOffered(method: string): method is McpServerRequest["method"] {
    return Object.hasOwn(OFFER_OF, method) && this.offers.includes(OFFER_OF[method as McpServerRequest["method"]]);
  }
}
