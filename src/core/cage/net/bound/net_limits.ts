/**
 * The operator's limits on the requests of one cage: methods, paths, and bytes within a minute.
 *
 * @module
 */
import type { Clock } from "../../../ports/ports.ts";
import type { NetLimit } from "../bound_secret.ts";
import type { Field } from "../request_head.ts";
import { isPathAllowed } from "./path_rules.ts";
import { type HostPort, refusedRequest } from "./refused.ts";

const MINUTE_MS = 60_000;

/** Room for the bytes of one request and its answer. */
export interface Allowance {
  /** Counts bytes of the plugin. Throws a `RequestFailure` when they are too many for this minute. */
  up(bytes: number): void;
  /** Counts bytes of the server, likewise. */
  down(bytes: number): void;
}

/** A request as rules see it; the path with its query. */
export interface AskedRequest {
  readonly method: string;
  readonly path: string;
  readonly fields: readonly Field[];
}

/** Fields by which some servers take another method or another path than the request line has. */
const OTHER_METHOD = /^x-(?:http-)?method(?:-override)?$/i;
const OTHER_PATH = /^x-(?:original|rewrite)-ur[il]$/i;

/** The limits of one cage, and the bytes that went over since each minute began. */
export class NetLimits {
  readonly #rules: readonly Rule[];

  constructor(limits: readonly NetLimit[], clock: Pick<Clock, "monotonic">) {
    this.#rules = limits.map((limit) => ({
      limit,
      up: new Meter(limit.upBytesPerMinute, clock),
      down: new Meter(limit.downBytesPerMinute, clock),
    }));
  }

  /**
   * Returns the room of the first rule that allows a request; without a rule for the host there is no limit. Throws a
   * `RequestFailure` when there are rules for the host and none allows it.
   */
  judge(request: AskedRequest, target: HostPort): Allowance {
    const rules = this.#rules.filter(({ limit }) => limit.host === target.host && limit.port === target.port);
    if (rules.length === 0) return UNLIMITED;
    const has = (field: RegExp): boolean => request.fields.some(([name]) => field.test(name));
    if (has(OTHER_METHOD) && rules.every(({ limit }) => limit.methods)) throw refusedRequest(request, target, "method");
    if (has(OTHER_PATH) && rules.every(({ limit }) => limit.paths)) throw refusedRequest(request, target, "path");
    const byMethod = rules.filter(({ limit: { methods } }) => methods === null || methods.includes(request.method));
    if (byMethod.length === 0) throw refusedRequest(request, target, "method");
    const rule = byMethod.find(({ limit: { paths } }) => paths === null || isPathAllowed(request.path, paths));
    if (!rule) throw refusedRequest(request, target, "path");
    const take = (meter: Meter, bytes: number, reason: "up-limit" | "down-limit"): void => {
      if (!meter.take(bytes)) throw refusedRequest(request, target, reason);
    };
    return { up: (bytes) => take(rule.up, bytes, "up-limit"), down: (bytes) => take(rule.down, bytes, "down-limit") };
  }
}

interface Rule {
  readonly limit: NetLimit;
  readonly up: Meter;
  readonly down: Meter;
}

const UNLIMITED: Allowance = { up: () => {}, down: () => {} };

/** Counts bytes within a minute, which begins with the first of them. */
class Meter {
  readonly #perMinute: number | null;
  readonly #clock: Pick<Clock, "monotonic">;
  #beganMs = -Infinity;
  #used = 0;

  constructor(perMinute: number | null, clock: Pick<Clock, "monotonic">) {
    this.#perMinute = perMinute;
    this.#clock = clock;
  }

  /** Whether so many bytes may still pass; those that may not are not counted. */
  take(bytes: number): boolean {
    if (this.#perMinute === null) return true;
    const nowMs = this.#clock.monotonic();
    if (nowMs - this.#beganMs >= MINUTE_MS) [this.#beganMs, this.#used] = [nowMs, 0];
    if (this.#used + bytes > this.#perMinute) return false;
    this.#used += bytes;
    return true;
  }
}
