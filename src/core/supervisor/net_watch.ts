/**
 * The grants that one process of a plugin lacked: refusals of its network are counted, and a call that failed for want
 * of a grant, or of one that the operator withheld, gets the hint.
 *
 * @module
 */
import { missingGrantHint } from "../cage/missing_grant.ts";
import type { NetRefusal } from "../cage/net/gatekeeper.ts";
import { pathHint, type WithheldGrants } from "../cage/withheld_grant.ts";
import { netMode, type NetRule } from "../cage/net/net_parts.ts";
import { HostError, type HostErrorCode } from "../errors/host_error.ts";
import { readCapabilities } from "../manifest/capability.ts";
import type { PluginInfo } from "./types.ts";

/** Different refusals that are kept; the one that was repeated longest ago goes first. */
const MAX_KEPT = 100;

/** Failures that the plugin has no part in: the caller gave up, or gave params that are no JSON. */
const UNASKED: readonly HostErrorCode[] = ["protocol.cancelled", "protocol.unserializable"];
/** Failures for want of an answer; a hint that they have is about any plugin, and not about this one. */
const SILENT: readonly HostErrorCode[] = ["protocol.timeout", "initialize.timeout"];
/** Lines of a stack trace and its cause, at the end of a process. */
const LAST_LINES = 20;

/** A refusal, how often it came, and its number among all refusals when it came last. */
interface Kept extends Pick<NetRefusal, "host" | "port" | "reason"> {
  readonly count: number;
  readonly last: number;
}

/** The start of a call: its time, in lines of stderr and refusals, and its params. */
interface CallStart {
  readonly params: Readonly<Record<string, unknown>>;
  readonly lines: number;
  readonly refusals: number;
}

/** The process that is watched. */
export interface NetWatchPorts {
  /** Returns its newest lines on stderr. */
  stderr(): readonly string[];
  /** Returns a text with the operator's secrets hidden: one of them may be the name of a host. */
  hide(text: string): string;
  /** Capabilities that the operator withheld from it. Default: none. */
  readonly withheld?: WithheldGrants | null;
}

/** Watches the network of one process. */
export class NetWatch {
  readonly #rules: readonly NetRule[];
  readonly #ports: NetWatchPorts;
  /** False for a plugin that has the whole network: nothing is refused there. */
  readonly #isCaged: boolean;
  readonly #kept = new Map<string, Kept>();
  #lines = 0;
  #refusals = 0;

  /** Nothing has been refused yet. */
  constructor(capabilities: readonly string[], ports: NetWatchPorts) {
    this.#rules = readCapabilities(capabilities).filter((asked): asked is NetRule => asked.kind === "net");
    this.#isCaged = netMode(this.#rules) !== "all";
    this.#ports = ports;
  }

  /** Counts a line of stderr. */
  line(): void {
    this.#lines++;
  }

  /** Counts a refusal of the gatekeeper. */
  refused({ host, port, reason }: NetRefusal): void {
    if (port === 0) return; // No target that could be granted.
    const key = `${host} ${port} ${reason}`;
    const count = (this.#kept.get(key)?.count ?? 0) + 1;
    this.#kept.delete(key); // Set anew, it is the newest.
    this.#kept.set(key, { host, port, reason, count, last: ++this.#refusals });
    if (this.#kept.size > MAX_KEPT) this.#kept.delete(this.#kept.keys().next().value!);
  }

  /** The refusals so far, the newest last. */
  counts(): PluginInfo["net_refused"] {
    return [...this.#kept.values()].map(({ host, port, reason, count }) => ({ host, port, reason, count }));
  }

  /** Returns the answer to a call with `params`; its failure names the grants that were lacking since this moment. */
  during<T>(params: Readonly<Record<string, unknown>>, answer: Promise<T>): Promise<T> {
    if (!this.#isCaged && !this.#ports.withheld) return answer;
    const since = { params, lines: this.#lines, refusals: this.#refusals };
    return answer.catch((error) => Promise.reject(this.#hinted(error, since)));
  }

  /** Returns the outcome of a handshake; its failure names the grants that were lacking since the process began. */
  duringStart<T>(shaken: Promise<T>): Promise<T> {
    return shaken.catch((error) => Promise.reject(this.#hinted(error, { params: {}, lines: 0, refusals: 0 })));
  }

  /** Returns the hint for a process that has ended; null where its last lines name no host that it lacked. */
  hintOfEnd(stderr: readonly string[], { isStart }: { readonly isStart: boolean }): string | null {
    // A refusal of long ago ended no process that ran on.
    const refused = isStart ? [...this.#kept.values()] : [];
    const lines = stderr.slice(-LAST_LINES);
    const { withheld = null } = this.#ports;
    const trace = { rules: this.#rules, text: "", stderr: lines, isSilent: true, refused, withheld };
    return this.#hide(missingGrantHint(trace) ?? pathHint(withheld, lines.join("\n")));
  }

  #hide(hint: string | null): string | null {
    return hint && this.#ports.hide(hint);
  }

  #hinted(error: unknown, { params, lines, refusals }: CallStart): unknown {
    if (!(error instanceof HostError) || UNASKED.includes(error.code)) return error;
    const { code, message, data, rpc, cause } = error;
    const isSilent = SILENT.includes(code);
    if (error.hint !== undefined && !isSilent) return error;
    const newLines = this.#lines - lines;
    const { withheld = null } = this.#ports;
    const text = `${message}\n${data === undefined ? "" : JSON.stringify(data)}`;
    const trace = {
      rules: this.#rules,
      text,
      args: JSON.stringify(params),
      stderr: newLines > 0 ? this.#ports.stderr().slice(-newLines) : [],
      isSilent,
      refused: [...this.#kept.values()].filter(({ last }) => last > refusals),
      withheld,
    };
    const hint = this.#hide(missingGrantHint(trace) ?? pathHint(withheld, text));
    if (hint === null) return error;
    return new HostError(code, message, { data, hint, rpc, ...(cause !== undefined && { cause }) });
  }
}
