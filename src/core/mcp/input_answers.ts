/**
 * The answers to a server that asks for more in place of a result: `input_required`.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import { isMap } from "../values/plain_data.ts";
import { shown } from "../values/shown_value.ts";
import { unlessAborted } from "../values/unless_aborted.ts";
import type { McpCallOptions, McpDefinition } from "./peer.ts";
import { MAX_OPEN_REQUESTS, type ServerRequests } from "./server_requests.ts";

/** Fields that are added to the request when it is sent again. */
export interface InputAnswers {
  readonly inputResponses?: McpDefinition;
  readonly requestState?: string;
}

/**
 * Answers everything that `result` asks for, at once.
 *
 * @throws {HostError} `mcp.malformed`, `mcp.input_refused`, `protocol.cancelled`, or why a request is refused.
 */
export async function inputAnswers(
  { inputRequests, requestState }: McpDefinition,
  requests: ServerRequests,
  options: Pick<McpCallOptions, "at" | "signal"> & { readonly ended: AbortSignal },
): Promise<InputAnswers> {
  if (requestState !== undefined && typeof requestState !== "string") throw malformed('"requestState" is no string');
  if (inputRequests === undefined && requestState === undefined) throw malformed("nothing is asked for");
  if (inputRequests !== undefined && !isMap(inputRequests)) throw malformed('"inputRequests" is no object');
  const asked = Object.entries(inputRequests ?? {});
  if (asked.length > MAX_OPEN_REQUESTS) throw malformed(`more than ${MAX_OPEN_REQUESTS} things are asked for at once`);
  return {
    ...(inputRequests !== undefined && { inputResponses: await answersTo(asked, requests, options) }),
    ...(requestState !== undefined && { requestState }),
  };
}

async function answersTo(
  asked: readonly (readonly [string, unknown])[],
  requests: ServerRequests,
  { at, signal: given, ended }: Pick<McpCallOptions, "at" | "signal"> & { readonly ended: AbortSignal },
): Promise<McpDefinition> {
  const controller = new AbortController();
  const signal = AbortSignal.any([controller.signal, ended, ...(given ? [given] : [])]);
  const answers = asked.map(async ([key, request]) => {
    const { method, params } = isMap(request) ? request : {};
    if (typeof method !== "string") throw malformed(`the request ${shown(key)} has no method`);
    if (!requests.isOffered(method)) throw refused(method);
    return [key, await requests.take(method, params, { at: at ?? null, signal, key })] as const;
  });
  try {
    return Object.fromEntries(await unlessAborted(Promise.all(answers), signal, endOf));
  } catch (error) {
    controller.abort(error); // The others need not be answered any more.
    throw error;
  }
}

/** The error of a call whose caller has given up, or whose connection has ended. */
export function endOf({ reason }: AbortSignal): HostError {
  return reason instanceof HostError
    ? reason
    : new HostError("protocol.cancelled", "The call was cancelled by its caller");
}

function malformed(reason: string): HostError {
  return new HostError("mcp.malformed", `The server asks for more in a malformed way: ${reason}`, { data: { reason } });
}

function refused(method: string): HostError {
  return new HostError("mcp.input_refused", `The server needs ${shown(method)} of its client, which is not offered`, {
    data: { method: method.slice(0, 200) },
  });
}
