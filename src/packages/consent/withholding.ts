/**
 * Grants of less than a plugin asks for: which capabilities an answer of the operator leaves it without.
 *
 * @module
 */
import { HostError } from "../../core/errors/host_error.ts";
import type { Manifest } from "../../core/manifest/manifest.ts";
import { coveredBy, withheldOf } from "../../core/manifest/withheld.ts";
import type { CapabilityDescription } from "./describe_capability.ts";
import { isExposure } from "./describe_secret.ts";

/** The operator's answer about the capabilities of one plugin. */
export interface GrantAnswer {
  /** Capabilities that are granted by name; one that was withheld before comes back by it. */
  readonly granted: readonly string[];
  /** Capabilities that are withheld by name. */
  readonly withhold?: readonly string[];
}

/** Returns the capabilities that let a plugin do something: `net:[]` says that there is no network. */
export function grantable(capabilities: readonly string[]): string[] {
  return capabilities.filter((capability) => capability !== "net:[]");
}

/**
 * Returns every capability that stays withheld after an answer, which goes into the record: those that were withheld
 * before and that no grant names or covers, those of the answer, and those of the plugin that cover one of them.
 *
 * @throws {HostError} `install.capability_unknown` for a capability that the plugin does not ask for, or
 * `install.withhold_granted` for one that is granted as well.
 */
export function withheldAfter(
  { name, capabilities }: Pick<Manifest, "name" | "capabilities">,
  { granted, withhold = [] }: GrantAnswer,
  before: readonly string[],
): string[] {
  const asked = grantable(capabilities);
  requireAsked(name, withhold, asked);
  const named = granted.filter((one) => asked.includes(one));
  requireOneAnswer(name, named, withhold);
  const back = new Set(named.flatMap((one) => coveredBy(one, before)));
  const kept = [...before.filter((one) => !back.has(one)), ...withhold];
  return [...new Set([...kept, ...withheldOf(asked, kept)])];
}

/** Returns the hosts of `added`, granted beyond the manifest, that are left when `withhold` is taken away by name. */
export function addedAfter(added: readonly string[], withhold: readonly string[] = []): string[] {
  return added.filter((one) => coveredBy(one, withhold).length === 0);
}

/** Returns those of `added` that an answer neither grants nor withholds. */
export function unanswered(added: readonly string[], { granted, withhold = [] }: GrantAnswer): string[] {
  const refused = withheldOf(added.filter((one) => !isExposure(one)), withhold);
  return added.filter((one) => !granted.includes(one) && !refused.includes(one));
}

/** Returns a description that also warns of each capability that comes back with this one. */
export function withWithheld(description: CapabilityDescription, withheld: readonly string[]): CapabilityDescription {
  const { capability, danger } = description;
  const back = coveredBy(capability, withheld).filter((one) => one !== capability);
  const parts = withheld.filter((one) => one !== capability && coveredBy(one, [capability]).length > 0);
  const warnings = [
    ...(danger === null ? [] : [danger]),
    ...(back.length > 0 ? [`It covers ${back.join(", ")}, which you withheld`] : []),
    ...(back.length === 0 && parts.length > 0 ? [`It is a part of ${parts.join(", ")}, which you withheld`] : []),
  ];
  return { ...description, danger: warnings.length > 0 ? warnings.join(". ") : null };
}

function requireAsked(plugin: string, withhold: readonly string[], asked: readonly string[]): void {
  const unknown = withhold.filter((one) => !asked.includes(one));
  if (unknown.length === 0) return;
  const message = `Cannot withhold ${unknown.join(", ")}: "${plugin}" does not ask for ${
    unknown.length > 1 ? "them" : "it"
  }`;
  const exposure = "A secret is not handed over while it is not set: kaged secret unset";
  const list = asked.length > 0 ? `It asks for ${asked.join(", ")}` : "It asks for nothing";
  throw new HostError("install.capability_unknown", message, {
    data: { plugin, unknown, asked },
    hint: unknown.every(isExposure) ? exposure : list,
  });
}

function requireOneAnswer(plugin: string, granted: readonly string[], withhold: readonly string[]): void {
  for (const one of granted) {
    const [both] = coveredBy(one, withhold);
    if (both === undefined) continue;
    const why = both === one ? "it is granted too" : `${one} is granted, which covers it`;
    throw new HostError("install.withhold_granted", `Cannot withhold ${both} from "${plugin}": ${why}`, {
      data: { plugin, granted: one, withheld: both },
      hint: both === one ? "Name it once" : `Withhold ${one} as well, or grant both`,
    });
  }
}
