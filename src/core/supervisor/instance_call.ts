/**
 * One call of a plugin instance: audited at its start and its end, its failure explained by the grants that were lacking.
 *
 * @module
 */
import type { AuditedCall } from "../audit/call_lines.ts";
import { jsonInner } from "../values/quoted_text.ts";
import type { CallEnd } from "../wire/connection_types.ts";
import type { InstanceAudit } from "./instance_audit.ts";
import type { CallStart, NetWatch } from "./net_watch.ts";
import type { PluginCallContext } from "./types.ts";

/**
 * A call that has begun. One object serves as its record for the audit, as the start that its failure is explained by, and
 * as the end of its promise.
 */
export class InstanceCall implements AuditedCall, CallEnd, CallStart {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly context: PluginCallContext;
  readonly lines: number;
  readonly refusals: number;
  readonly idText: string;
  readonly startedMs: number;
  readonly #isHeard: boolean;
  readonly #audit: InstanceAudit;
  readonly #net: NetWatch;
  readonly #end: CallEnd | undefined;

  /** Audits the start. `end` has the last word, once the end is audited. */
  constructor(
    method: string,
    params: Readonly<Record<string, unknown>>,
    context: PluginCallContext,
    audit: InstanceAudit,
    net: NetWatch,
    end: CallEnd | undefined,
  ) {
    this.method = method;
    this.params = params;
    this.context = context;
    this.lines = net.lines;
    this.refusals = net.refusals;
    this.#isHeard = audit.hears(method);
    this.idText = this.#isHeard ? jsonInner(context.request_id) : "";
    this.startedMs = this.#isHeard ? audit.nowMs : 0;
    this.#audit = audit;
    this.#net = net;
    this.#end = end;
    if (this.#isHeard) audit.called(this);
  }

  ok(result: unknown): unknown {
    if (this.#isHeard) this.#audit.returned(this, true);
    return this.#end === undefined ? result : this.#end.ok(result);
  }

  failed(thrown: unknown): unknown {
    const error = this.#net.hinted(thrown, this);
    if (this.#isHeard) this.#audit.returned(this, false);
    if (this.#end !== undefined) return this.#end.failed(error);
    throw error;
  }
}
