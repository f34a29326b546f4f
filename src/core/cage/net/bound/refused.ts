/**
 * Failures of one request to a bound host, each with the answer that the plugin gets.
 *
 * @module
 */
import { shownHost } from "../judge_target.ts";
import type { MisuseReason, NetEvent, RequestRefusal } from "../net_event.ts";

/** Status codes with which the gatekeeper answers in the place of a server. */
export type RefusalStatus = 400 | 403 | 431 | 502 | 503;

/** A place on the network. */
export interface HostPort {
  readonly host: string;
  readonly port: number;
}

/** Ends a request: thrown where the reason is found, answered where the connection is. */
export class RequestFailure extends Error {
  readonly status: RefusalStatus;
  /** For the audit; null where no rule was broken. */
  readonly event: NetEvent | null;

  constructor(status: RefusalStatus, message: string, event: NetEvent | null = null) {
    super(message);
    this.status = status;
    this.event = event;
  }
}

/** Returns the failure of a request that is misread, or whose other side is at fault. */
export const failed = (status: RefusalStatus, reason: string, advice: string): RequestFailure =>
  new RequestFailure(status, `${reason}: ${advice}`);

/** Returns the failure of a request that carries a placeholder where it must not be. */
export function misused(name: string, { host, port }: HostPort, reason: MisuseReason): RequestFailure {
  const event: NetEvent = { kind: "secret_misused", name, host, port, reason };
  return new RequestFailure(403, `secret-misused: ${MISUSE_ADVICE[reason](name, `${host}:${port}`)}`, event);
}

/** Returns the failure of a request that the operator's rules leave out. */
export function refusedRequest(
  request: { readonly method: string; readonly path: string },
  { host, port }: HostPort,
  reason: RequestRefusal,
): RequestFailure {
  const path = shownHost(request.path.split("?", 1)[0] ?? "");
  const event: NetEvent = { kind: "request_refused", host, port, method: shownHost(request.method), path, reason };
  return new RequestFailure(403, `${reason}: ${REFUSAL_ADVICE[reason](event.method, `${host}:${port}`)}`, event);
}

/** Returns the next step after a request that was held back, for the operator; it names no value and no query. */
export function adviceOf(event: Extract<NetEvent, { kind: "secret_misused" | "request_refused" }>): string {
  const target = event.host === "" ? "this target" : `${event.host}:${event.port}`;
  if (event.kind === "secret_misused") return MISUSE_ADVICE[event.reason](event.name, target);
  const { method, path, reason } = event;
  const asked = `${method} ${path} was refused`;
  const advice = REFUSAL_ADVICE[reason](method, target);
  return reason === "other-host" ? `${asked}: ${advice}` : `${asked}: ${advice}; see [[net_rules]] in config.toml`;
}

const MISUSE_ADVICE: Readonly<Record<MisuseReason, (name: string, target: string) => string>> = {
  "other-host": (name, target) => `the secret ${name} is not bound to ${target}; list it under hosts of the secret`,
  "not-encrypted": (name, target) => `the secret ${name} goes to ${target} over TLS only; use https`,
  "wrong-place": (name) => `the secret ${name} may stand in the value of a field, in the query and in the body`,
  "content-type": (name) => `the secret ${name} is put into JSON, forms and text; name the type of the body`,
  "web-socket": (name) => `the secret ${name} is not put into WebSocket frames`,
  "too-large": (name) => `the secret ${name} is not put into bodies of more than 1 MiB`,
  "no-value": (name) => `the secret ${name} has no value; the operator sets it with kaged secret set`,
  "unfit-value": (name) => `the value of the secret ${name} holds a line break or a NUL`,
};

const REFUSAL_ADVICE: Readonly<Record<RequestRefusal, (method: string, target: string) => string>> = {
  "method": (method, target) => `a net_rule of the operator does not allow ${method} at ${target}`,
  "path": (_method, target) => `a net_rule of the operator does not allow this path at ${target}`,
  "up-limit": (_method, target) => `a net_rule of the operator limits what is sent to ${target} within a minute`,
  "down-limit": (_method, target) => `a net_rule of the operator limits what ${target} answers within a minute`,
  "other-host": (_method, target) => `this connection is to ${target}; open another for another Host`,
};
