/**
 * Requests that failed: the server's HTTP status or the network's error as a failure of the host.
 *
 * @module
 */
import { HostError, messageOf } from "../errors/host_error.ts";
import { isMap } from "../values/plain_data.ts";
import { asUnreachable, withoutQuery } from "./direct_fetch.ts";
import type { LinkAuth } from "./link_auth.ts";

/** A failure, and how far it reaches. */
export interface SendFailure {
  readonly error: HostError;
  /** Nothing more can be sent over this link. */
  readonly isEnd: boolean;
  /** The server, or the way to it, is down: at the beginning that ends the link, and it is tried again. */
  readonly isOutage: boolean;
}

/** Longest part of a server's own words in a message. */
const SHOWN = 200;

/** Whether the server asks for a wider login (RFC 6750 §3.1). */
export function isScopeFailure(thrown: unknown): thrown is Error & { readonly requiredScope?: string } {
  return thrown instanceof Error && thrown.name === "InsufficientScopeError";
}

/** Returns the JSON-RPC error that a server gave as the body of an HTTP error; null when it gave none. */
export function answeredError(thrown: unknown): { readonly code: number; readonly message: string } | null {
  const { text } = answerOf(thrown);
  try {
    const body: unknown = JSON.parse(text ?? "");
    const error = isMap(body) && isMap(body.error) ? body.error : null;
    return typeof error?.code === "number" && typeof error.message === "string" ? error as never : null;
  } catch {
    return null;
  }
}

/** Explains what the transport threw. */
export function failureOf(
  thrown: unknown,
  { url, hasSession, auth }: { readonly url: string; readonly hasSession: boolean; readonly auth: LinkAuth },
): SendFailure {
  if (thrown instanceof HostError) {
    const isOutage = thrown.code === "plugin.unreachable";
    return { error: thrown, isEnd: !isOutage, isOutage };
  }
  const { status } = answerOf(thrown);
  if (status === 401) return { error: auth.needed("it refuses the token of the login"), isEnd: true, isOutage: false };
  if (status === undefined) {
    return { error: asUnreachable(thrown, { url, isSecure: url.startsWith("https:") }), isEnd: false, isOutage: true };
  }
  const isGone = status === 404 && hasSession;
  const what = isGone ? "has ended the session" : `answered ${status}`;
  const words = messageOf(thrown).replace(/^Error POSTing to endpoint: /, "").slice(0, SHOWN);
  const error = new HostError("plugin.unreachable", `The server at ${withoutQuery(url)} ${what}: ${words}`, {
    data: { url: withoutQuery(url), status },
    ...(status >= 300 && status < 400 && { hint: "Write the address that it points to as url, if you trust it" }),
  });
  return { error, isEnd: isGone, isOutage: status >= 500 || status === 429 };
}

function answerOf(thrown: unknown): { readonly status?: number; readonly text?: string } {
  const { status, data } = thrown as { status?: unknown; data?: unknown };
  const { status: inner, text } = isMap(data) ? data : {} as Record<string, unknown>;
  const found = typeof status === "number" ? status : inner;
  return {
    ...(typeof found === "number" && { status: found }),
    ...(typeof text === "string" && { text }),
  };
}
