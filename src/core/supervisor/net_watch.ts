/**
 * What one process of a plugin was refused on the network: refusals are counted, hosts that only its error names are
 * reported, and a call that failed for want of a grant, or of one that the operator withheld, gets the hint.
 *
 * @module
 */
import { explainFailure, type FailureTrace } from "../cage/missing_grant.ts";
import type { NetDenial, NetEvent } from "../cage/net/gatekeeper.ts";
import { onceAMinute } from "../cage/net/net_event.ts";
import { pathHint, type WithheldGrants } from "../cage/withheld_grant.ts";
import { netMode, type NetRule } from "../cage/net/net_parts.ts";
import { HostError, type HostErrorCode } from "../errors/host_error.ts";
import { readCapabilities } from "../manifest/capability.ts";
import type { Clock } from "../ports/ports.ts";
import type { PluginInfo } from "./types.ts";

/** Different refusals of a kind that are kept; the one that was repeated longest ago goes first. */
const MAX_KEPT = 100;

/** Failures that the plugin has no part in: the caller gave up, or gave params that are no JSON. */
const UNASKED: readonly HostErrorCode[] = ["protocol.cancelled", "protocol.unserializable"];
/** Failures for want of an answer; a hint that they have is about any plugin, and not about this one. */
const SILENT: readonly HostErrorCode[] = ["protocol.timeout", "initialize.timeout"];
/** Lines of a stack trace and its cause, at the end of a process. */
const LAST_LINES = 20;

/** A refusal, how often it came, and its number among all refusals when it came last. */
interface Kept {
  readonly denial: NetDenial;
  readonly count: number;
  readonly last: number;
}

/** The start of a call: its time, in lines of stderr and refusals, and its params. */
export interface CallStart {
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
  readonly clock: Clock;
  /** Receives a host that only the plugin's error names, each once a minute. */
  onNet(event: NetEvent): void;
}

/** Watches the network of one process. */
export class NetWatch {
  readonly #rules: readonly NetRule[];
  readonly #ports: NetWatchPorts;
  /** False for a plugin that has the whole network: nothing is refused there. */
  readonly #isCaged: boolean;
  /** Hosts that were refused, and apart from them what was held back of requests. */
  readonly #hosts = new Map<string, Kept>();
  readonly #requests = new Map<string, Kept>();
  readonly #report: (event: NetEvent) => void;
  /** Lines on stderr, and refusals, so far. */
  lines = 0;
  refusals = 0;

  /** Nothing has been refused yet. */
  constructor(capabilities: readonly string[], ports: NetWatchPorts) {
    this.#rules = readCapabilities(capabilities).filter((asked): asked is NetRule => asked.kind === "net");
    this.#isCaged = netMode(this.#rules) !== "all";
    this.#ports = ports;
    const { clock } = ports;
    this.#report = onceAMinute({ clock, onNet: (event) => ports.onNet(event), onRefused: (one) => this.refused(one) });
  }

  /** Counts a line of stderr. */
  line(): void {
    this.lines++;
  }

  /** Counts a refusal. */
  refused(denial: NetDenial): void {
    if (denial.host === "" && denial.kind === "refused") return; // No target that could be granted.
    const kept = denial.kind === "refused" ? this.#hosts : this.#requests;
    const key = Object.values(denial).join(" ");
    const count = (kept.get(key)?.count ?? 0) + 1;
    kept.delete(key); // Set anew, it is the newest.
    kept.set(key, { denial, count, last: ++this.refusals });
    if (kept.size > MAX_KEPT) kept.delete(kept.keys().next().value!);
  }

  /** The refusals so far, the newest last. */
  counts(): PluginInfo["net_refused"] {
    return [...this.#hosts.values()].flatMap(({ denial, count }) => {
      if (denial.kind !== "refused") return [];
      const { kind: _, ...refused } = denial;
      return [{ ...refused, count }];
    });
  }

  /** Returns the error of a call that began as `since` says, with the grants that have been lacking since then named. */
  hinted(error: unknown, since: CallStart): unknown {
    return this.#isCaged || this.#ports.withheld ? this.#hinted(error, since) : error;
  }

  /** Returns the outcome of a handshake; its failure names the grants that were lacking since the process began. */
  duringStart<T>(shaken: Promise<T>): Promise<T> {
    return shaken.catch((error) => Promise.reject(this.#hinted(error, { params: {}, lines: 0, refusals: 0 })));
  }

  /** Returns the hint for a process that has ended; null where its last lines name no host that it lacked. */
  hintOfEnd(stderr: readonly string[], { isStart }: { readonly isStart: boolean }): string | null {
    // A refusal of long ago ended no process that ran on.
    const refused = isStart ? this.#since(0) : [];
    return this.#explained({ text: "", stderr: stderr.slice(-LAST_LINES), isSilent: true, refused });
  }

  /** Everything refused after the first `refusals` ones. */
  #since(refusals: number): NetDenial[] {
    const kept = [...this.#hosts.values(), ...this.#requests.values()];
    return kept.filter(({ last }) => last > refusals).map(({ denial }) => denial);
  }

  /** Returns the hint for a failure, and reports the hosts that nothing but its text names. */
  #explained(trace: Omit<FailureTrace, "rules">): string | null {
    const { withheld = null } = this.#ports;
    const { hint: ofNetwork, unseen } = explainFailure({ ...trace, rules: this.#rules, withheld });
    for (const { host, port } of unseen) {
      this.#report({ kind: "refused", host, port: port ?? 0, reason: "not-allowed", source: "error" });
    }
    const hint = ofNetwork ?? pathHint(withheld, [trace.text, ...trace.isSilent ? trace.stderr : []].join("\n"));
    return hint && this.#ports.hide(hint);
  }

  #hinted(error: unknown, { params, lines, refusals }: CallStart): unknown {
    if (!(error instanceof HostError) || UNASKED.includes(error.code)) return error;
    const { code, message, data, rpc, cause } = error;
    const isSilent = SILENT.includes(code);
    if (error.hint !== undefined && !isSilent) return error;
    const newLines = this.lines - lines;
    const hint = this.#explained({
      text: `${message}\n${data === undefined ? "" : JSON.stringify(data)}`,
      args: JSON.stringify(params),
      stderr: newLines > 0 ? this.#ports.stderr().slice(-newLines) : [],
      isSilent,
      refused: this.#since(refusals),
    });
    if (hint === null) return error;
    return new HostError(code, message, { data, hint, rpc, ...(cause !== undefined && { cause }) });
  }
}
