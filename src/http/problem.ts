/**
 * Failures as `application/problem+json` (RFC 9457).
 *
 * @module
 */
import { ERRORS, HostError } from "../core/errors/host_error.ts";

/** A failure as it is sent. */
export interface Problem {
  /** Names the failure in the error table's document. */
  readonly type: string;
  /** Its cause, the same for every failure of the code. */
  readonly title: string;
  /** HTTP status. */
  readonly status: number;
  /** What could not be done, for a person. */
  readonly detail: string;
  /** Code of the error table. */
  readonly code: string;
  /** The next step. */
  readonly hint?: string;
  /** Facts for a program. */
  readonly data?: unknown;
}

/** Seconds after which a busy plugin is worth another try. */
const RETRY_SEC = 1;

/** Returns a failure as it is sent. Of what is no {@link HostError} nothing is told: it was not written for others. */
export function problemOf(thrown: unknown): Problem {
  const error = thrown instanceof HostError
    ? thrown
    : new HostError("host.internal", "The host could not answer this request", { hint: "See the host's own output" });
  const { code, http: status, message: detail, hint, data } = error;
  return {
    type: `urn:kaged:error:${code}`,
    title: ERRORS[code]!.cause,
    status,
    detail,
    code,
    ...(hint !== undefined && { hint }),
    ...(data !== undefined && { data }),
  };
}

/** Returns a failure as a response; one that passes by itself says when to try again. */
export function problemResponse(thrown: unknown, headers: Readonly<Record<string, string>> = {}): Response {
  const problem = problemOf(thrown);
  const retry = thrown instanceof HostError && thrown.rpc === -32005 ? { "Retry-After": `${RETRY_SEC}` } : {};
  return new Response(JSON.stringify(problem), {
    status: problem.status,
    headers: { "Content-Type": "application/problem+json", ...retry, ...headers },
  });
}
