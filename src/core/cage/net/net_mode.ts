/**
 * How much of the network a cage has.
 *
 * @module
 */
import type { Capability } from "../../manifest/capability.ts";

/** A network rule of the manifest. */
export type NetRule = Extract<Capability, { kind: "net" }>;

/** A rule that names one host. */
export type HostRule = Extract<NetRule, { scope: "host" }>;

/**
 * `none`: an empty network of its own. `gated`: the same, with a way to the gatekeeper. `all`: the host's network. Unix
 * sockets may be opened in a gated cage only: its relay needs them.
 */
export type NetMode = "none" | "gated" | "all";

/** Returns the mode that the rules ask for. */
export function netMode(rules: readonly NetRule[]): NetMode {
  if (rules.some(({ scope }) => scope === "all")) return "all";
  return rules.some(({ scope }) => scope === "host") ? "gated" : "none";
}

/** Returns the rules that name a host. */
export function hostRules(rules: readonly NetRule[]): HostRule[] {
  return rules.filter((rule): rule is HostRule => rule.scope === "host");
}
