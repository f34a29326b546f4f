/**
 * Reports of the gatekeeper, for the audit.
 *
 * @module
 */
import type { Clock } from "../../ports/ports.ts";
import type { RefusalReason, RefusalSource } from "./judge_target.ts";

/** Why a placeholder, or a request with it, did not go on; in a word that is stable. */
export type MisuseReason =
  /** The secret is bound to other hosts than this. */
  | "other-host"
  /** The connection is plain HTTP, to another machine. */
  | "not-encrypted"
  /** It stands where no secret is put: in the method, the path, the user part of a URL or the name of a field. */
  | "wrong-place"
  /** The body is of a type in which replacing bytes would break it. */
  | "content-type"
  /** The body is larger than is searched: the server saw the placeholder. */
  | "too-large"
  /** It went out in a WebSocket frame, where no secret is put: the server saw the placeholder. */
  | "web-socket"
  /** The operator has set no value for it. */
  | "no-value"
  /** The value holds characters that cannot stand in a field. */
  | "unfit-value";

/** Why a request to a bound host was refused; in a word that is stable. */
export type RequestRefusal =
  /** A rule of the operator leaves the method out. */
  | "method"
  /** A rule of the operator leaves the path out, or it can be read in two ways. */
  | "path"
  /** More bytes were sent within a minute than a rule allows. */
  | "up-limit"
  /** More bytes were received within a minute than a rule allows. */
  | "down-limit"
  /** Its Host is not the host that the connection was opened to. */
  | "other-host";

/** A doing of a plugin on the network; each different one is reported once a minute. */
export type NetEvent =
  | { readonly kind: "opened"; readonly host: string; readonly port: number }
  | {
    readonly kind: "refused";
    readonly host: string;
    /** 0 where none was named, as in a lookup. */
    readonly port: number;
    readonly reason: RefusalReason;
    /** How it was seen; absent for a connection that the gatekeeper refused. */
    readonly source?: RefusalSource;
  }
  | {
    readonly kind: "secret_misused";
    /** The secret's key in the manifest. */
    readonly name: string;
    readonly host: string;
    readonly port: number;
    readonly reason: MisuseReason;
  }
  | {
    readonly kind: "request_refused";
    readonly host: string;
    readonly port: number;
    readonly method: string;
    /** Without its query, and cut where it is long. */
    readonly path: string;
    readonly reason: RequestRefusal;
  };

/** A host that was refused. */
export type NetRefusal = Extract<NetEvent, { kind: "refused" }>;

/** Everything that was refused: a host, a request, a secret. */
export type NetDenial = Exclude<NetEvent, { kind: "opened" }>;

/** Where reports go. */
export interface ReportOptions {
  readonly clock: Clock;
  /** Receives each different event once a minute. */
  readonly onNet: (event: NetEvent) => void;
  /** Receives every refusal, however often it comes. */
  readonly onRefused?: ((refusal: NetDenial) => void) | undefined;
}

const MINUTE_MS = 60_000;
/** Different events of one kind passed on within a minute: a plugin may ask for a new host with each request. */
const MAX_EVENTS = 100;

/**
 * Returns a function that passes each different event on once a minute, and at most {@link MAX_EVENTS} of a kind and
 * source: no plugin can hide a misused secret behind hosts that it asks for in vain, nor a connection behind lookups.
 */
export function onceAMinute({ clock, onNet, onRefused }: ReportOptions): (event: NetEvent) => void {
  const ofKind = new Map<string, Map<string, number>>();
  return (event) => {
    if (event.kind !== "opened") onRefused?.(event);
    const kind = `${event.kind} ${"source" in event ? event.source : ""}`;
    const passedAtMs = ofKind.get(kind) ?? new Map<string, number>();
    ofKind.set(kind, passedAtMs);
    const key = Object.values(event).join(" ");
    const nowMs = clock.monotonic();
    // In the order in which they were passed on: the oldest come first.
    for (const [old, atMs] of passedAtMs) {
      if (nowMs - atMs < MINUTE_MS) break;
      passedAtMs.delete(old);
    }
    if (passedAtMs.has(key) || passedAtMs.size >= MAX_EVENTS) return;
    passedAtMs.set(key, nowMs);
    onNet(event);
  };
}
