/**
 * Explains a failed call of a plugin by what it was refused on the network: the grants that it lacked, the rules of the
 * operator and the secrets that held a request back.
 *
 * @module
 */
import { adviceOf } from "./net/bound/refused.ts";
import type { NetDenial } from "./net/net_event.ts";
import { hostRules, netMode, type NetRule, RELAY_PORT, standInNames, standIns } from "./net/net_parts.ts";
import { grantHint as withheldHint, type WithheldGrants, withheldRules } from "./withheld_grant.ts";
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
  /** Everything that the gatekeeper refused in that time. */
  readonly refused: readonly NetDenial[];
  /** Capabilities that the operator withheld. Default: none. */
  readonly withheld?: WithheldGrants | null;
}

export interface Explanation {
  /** The next step; null where nothing shows that the network had a part in it. */
  readonly hint: string | null;
  /** Hosts that were not granted and that only the plugin's own text names: the gatekeeper has not heard of them. */
  readonly unseen: readonly WantedHost[];
}

/** Grants in one hint at most, and other refusals. */
const MAX_NAMED = 5;
const MAX_DENIED = 2;

export function explainFailure(trace: FailureTrace): Explanation {
  const { rules, text, args = "", stderr, isSilent, refused, withheld = null } = trace;
  const mode = netMode(rules);
  if (mode === "all") return { hint: null, unseen: [] };
  const isUnreached = saysUnreached(text);
  const named = wantedHosts(isUnreached || isSilent ? [text, ...stderr] : [text])
    .map((wanted) => ofTheCage(asAsked(wanted, args), mode === "gated" ? rules : []))
    .filter((wanted) => wanted !== null);
  const lacking = named.filter((wanted) => !isGranted(wanted, rules));
  const seen = refused.flatMap((one): WantedHost[] => {
    if (one.kind !== "refused" || one.reason !== "not-allowed") return [];
    return [asAsked({ host: one.host, port: one.port === 0 ? null : one.port }, args)];
  });
  const unseen = lacking.filter(({ host, port }) =>
    !seen.some((one) => one.host === host && (one.port === null || port === null || one.port === port))
  ).slice(0, MAX_NAMED);
  const wanted = [...seen, ...lacking];
  const held = withheldRules(withheld);
  const isWanted = (rule: NetRule): boolean => rule.scope === "all" || wanted.some((host) => isGranted(host, [rule]));
  const ofOperator = wanted.length > 0 ? withheldHint(withheld, held.filter(isWanted)) : null;
  const hints = [ofOperator ?? grantHint(wanted), ...deniedHints(refused)].filter((hint) => hint !== null);
  if (hints.length > 0) return { hint: hints.join("; "), unseen };
  const isLost = mode === "none" && isUnreached;
  return {
    hint: (isLost ? withheldHint(withheld, held) : null) ?? otherHint({ named, rules, refused, isLost }),
    unseen,
  };
}

/** The hint that names grants; a host whose port one text names and another does not is named once. */
function grantHint(lacking: readonly WantedHost[]): string | null {
  const whole = lacking.filter(({ host, port }) =>
    port !== null || !lacking.some((other) => other.host === host && other.port !== null)
  );
  const grants = [...new Set(whole.map(grantOf))].slice(0, MAX_NAMED);
  if (grants.length === 0) return null;
  const [are, them] = grants.length === 1 ? ["is", "it"] : ["are", "them"];
  return `${grants.join(", ")} ${are} not granted: add ${them} to capabilities in kaged-plugin.yaml`;
}

/** The hints of requests that a rule of the operator or a secret held back, the newest last. */
function deniedHints(refused: readonly NetDenial[]): string[] {
  const advice = refused.flatMap((one) => one.kind === "refused" ? [] : [adviceOf(one)]);
  return [...new Set(advice)].slice(-MAX_DENIED);
}

/** The hint where no grant was lacking. */
function otherHint({ named, rules, refused, isLost }: {
  readonly named: readonly WantedHost[];
  readonly rules: readonly NetRule[];
  readonly refused: readonly NetDenial[];
  /** Whether a plugin without any grant could not reach somebody. */
  readonly isLost: boolean;
}): string | null {
  const inside = refused.find((one) => one.kind === "refused" && one.reason === "resolves-to-private");
  if (inside) return `${inside.host} leads to a private address: grant that address itself where it is meant`;
  const whole = named.find(({ host }) => hostRules(rules).some((rule) => rule.host === host && rule.port === "*"));
  if (whole) {
    return `net:${whole.host}:* is for clients that heed HTTPS_PROXY: add ${grantOf(whole)}, which needs none`;
  }
  return isLost ? "The plugin has no network grant: add net:<host>:<port> to capabilities in kaged-plugin.yaml" : null;
}

/** Returns the capability for a host; a port that nobody named stays open in it. */
export function grantOf({ host, port }: WantedHost): string {
  return `net:${host}:${port ?? "<port>"}`;
}

/**
 * Returns a host as it was meant. In a gated cage a loopback address stands for a granted name, and the proxy for no
 * host at all: null.
 */
function ofTheCage({ host, port }: WantedHost, gated: readonly NetRule[]): WantedHost | null {
  if (gated.length === 0 || !host.startsWith("127.")) return { host, port };
  if (host === "127.0.0.1") return port === RELAY_PORT ? null : { host, port };
  const names = Object.entries(standInNames(standIns(gated, true)));
  const name = names.find(([, address]) => address === host)?.[0];
  return name === undefined ? null : { host: name, port };
}

/** Whether a rule grants a host; where the port is not known, on any port. */
export function isGranted({ host, port }: WantedHost, rules: readonly NetRule[]): boolean {
  return hostRules(rules).some((rule) =>
    rule.host === host && (port === null || rule.port === "*" || rule.port === port)
  );
}
