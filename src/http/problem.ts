/**
 * Failures as `application/problem+json` (RFC 9457).
 *
 * @module
 */
import { ERRORS, HostError } from "../core/errors/host_error.ts";
import { isMap } from "../core/values/plain_data.ts";
import type { Failure } from "./answers.ts";

/** The body of an answer with a status of 400 or more. */
export interface Problem {
  /** `urn:kaged:error:` and the code. */
  readonly type: string;
  /** The cause, the same for every failure of the code. */
  readonly title: string;
  /** The HTTP status, once more. */
  readonly status: number;
  /** The failure in one sentence, for a person. */
  readonly detail: string;
  /** Code of the error table, for a program. */
  readonly code: string;
  /** Its number in JSON-RPC, as on the wire to plugins; the plugin's own number for an error of a plugin. */
  readonly rpc: number;
  /** The next step, for a person. */
  readonly hint?: string;
  /** Facts for a program; their shape depends on the code. */
  readonly data?: unknown;
}

/** Seconds after which a busy plugin, or one that is being restarted, is worth another try. */
const RETRY_SEC = 1;
/** Failures that may pass by themselves. */
const PASSING: ReadonlySet<string> = new Set([
  "audit.busy",
  "host.stopped",
  "jobs.store_unavailable",
  "plugin.unavailable",
  "protocol.closed",
  "protocol.timeout",
]);
/** States of a plugin that end when somebody acts, and not before. */
const LASTING: ReadonlySet<unknown> = new Set(["disabled", "failed", "stopped"]);

/** Headers of some failures. A request that was not read to its end leaves nothing to be understood on its connection. */
const HEADERS_OF: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "http.body_too_large": { Connection: "close" },
  "http.body_timeout": { Connection: "close" },
  "http.unauthorized": { "WWW-Authenticate": "Bearer" },
};

/** Returns a JSON value without what nobody may read. */
export type Hide = <T>(value: T) => T;

/** Returns a failure as it is sent. An error of another class may hold secrets: its message goes to `warn` alone. */
export function failureResponse(
  thrown: unknown,
  warn: (message: string) => void,
  hide: Hide = (value) => value,
): Response {
  if (thrown instanceof HostError) return problemResponse(thrown, {}, hide);
  warn(`A request failed: ${String((thrown as Error)?.stack ?? thrown)}`);
  const hint = "See the host's own output";
  return problemResponse(new HostError("host.internal", "The host could not answer this request", { hint }));
}

/** Returns a failure that is part of a good answer. */
export function failureJson({ code, message, hint }: HostError): Failure {
  return { code, message, ...(hint !== undefined && { hint }) };
}

/** Returns a failure as it is sent; where waiting helps, it has a `Retry-After`. */
export function problemResponse(
  error: HostError,
  headers: Readonly<Record<string, string>> = {},
  hide: Hide = (value) => value,
): Response {
  const { code, http: status, rpc, message: detail, hint, data } = error;
  const problem: Problem = {
    type: `urn:kaged:error:${code}`,
    title: ERRORS[code].cause,
    status,
    detail,
    code,
    rpc,
    ...(hint !== undefined && { hint }),
    ...(data !== undefined && { data }),
  };
  const isPassing = PASSING.has(code) && !(isMap(data) && LASTING.has(data.status));
  const retry = rpc === -32005 || isPassing ? { "Retry-After": `${RETRY_SEC}` } : {};
  return new Response(JSON.stringify(hide(problem)), {
    status,
    headers: { "Content-Type": "application/problem+json", ...retry, ...HEADERS_OF[code], ...headers },
  });
}
