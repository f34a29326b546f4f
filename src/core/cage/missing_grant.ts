/**
 * Names the network grants that a plugin lacked, for the error of the call that failed for want of them.
 *
 * @module
 */
import type { RefusalReason } from "./net/judge_target.ts";
import { hostRules, netMode, type NetRule, RELAY_PORT } from "./net/net_parts.ts";
import { grantHint, type WithheldGrants, withheldRules } from "./withheld_grant.ts";
import { asAsked, saysUnreached, type WantedHost, wantedHosts } from "./wanted_hosts.ts";

/** A failure, and all that was seen of the plugin meanwhile. */
export interface FailureTrace {
  /** Network rules of the plugin's manifest. */
  readonly rules: readonly NetRule[];
  /** Text of the error itself. */
  readonly text: string;
  /** Arguments of the call, as JSON: a URL in them completes the name of a host, and adds none. */
  readonly args?: string;
  /** Lines of stderr that came with it; they count only where the error is one of the network, or names no reason. */
  readonly stderr: readonly string[];
  /** True for an end or a silence, which have no text of the plugin's. */
  readonly isSilent: boolean;
  /** Connections that the gatekeeper refused in that time. */
  readonly refused: readonly { readonly host: string; readonly port: number; readonly reason: RefusalReason }[];
  /** Capabilities that the operator withheld. Default: none. */
  readonly withheld?: WithheldGrants | null;
}

/** Grants in one hint at most. */
const MAX_NAMED = 5;

/** Returns the next step for a plugin that lacked network grants; null where nothing shows that it did. */
export function missingGrantHint(trace: FailureTrace): string | null {
  const { rules, text, args = "", stderr, isSilent, refused, withheld = null } = trace;
  const mode = netMode(rules);
  if (mode === "all") return null;
  const isUnreached = saysUnreached(text);
  const texts = isUnreached || isSilent ? [text, ...stderr] : [text];
  const wanted: WantedHost[] = [
    ...refused.filter(({ reason }) => reason === "not-allowed"),
    ...wantedHosts(texts).map((host) => asAsked(host, args))
      .filter((host) => !isOfTheCage(host, mode === "gated") && !isGranted(host, rules)),
  ];
  const held = withheldRules(withheld);
  const isWanted = (rule: NetRule): boolean => rule.scope === "all" || wanted.some((host) => isGranted(host, [rule]));
  const hint = wanted.length > 0 ? grantHint(withheld, held.filter(isWanted)) : null;
  if (hint !== null) return hint;
  const grants = [...new Set(wanted.map(grantOf))].slice(0, MAX_NAMED);
  if (grants.length > 0) {
    const are = grants.length === 1 ? "is" : "are";
    const them = grants.length === 1 ? "it" : "them";
    return `${grants.join(", ")} ${are} not granted: add ${them} to capabilities in kaged-plugin.yaml`;
  }
  const inside = refused.find(({ reason }) => reason === "resolves-to-private");
  if (inside) return `${inside.host} leads to a private address: grant that address itself where it is meant`;
  if (mode === "gated" || !isUnreached) return null;
  return grantHint(withheld, held) ??
    "The plugin has no network grant: add net:<host>:<port> to capabilities in kaged-plugin.yaml";
}

/** Returns the capability for a host; a port that nobody named stays open in it. */
export function grantOf({ host, port }: WantedHost): string {
  return `net:${host}:${port ?? "<port>"}`;
}

/** Whether an address is the cage's own: in a gated cage the relay listens on loopback. */
function isOfTheCage({ host, port }: WantedHost, isGated: boolean): boolean {
  if (!isGated || !host.startsWith("127.")) return false;
  return host !== "127.0.0.1" || port === RELAY_PORT;
}

/** Whether a rule grants a host; where the port is not known, on any port. */
export function isGranted({ host, port }: WantedHost, rules: readonly NetRule[]): boolean {
  return hostRules(rules).some((rule) =>
    rule.host === host && (port === null || rule.port === "*" || rule.port === port)
  );
}
