/**
 * Capabilities that a manifest asks for and the operator withholds, and hosts that the operator adds to them. This is the
 * one place that changes the list: cages, storage, gatekeeper and handshake read the one that it returns.
 *
 * @module
 */
import { type Capability, parseCapability } from "./capability.ts";
import { covers } from "./capability_set.ts";
import type { Manifest, ManifestSecret } from "./manifest.ts";

/**
 * Returns the manifest as the operator granted it: without each capability that is in `withheld`, or that would give
 * the plugin one of these all the same, with the hosts of `added`, and with no secret bound to a host that it cannot
 * reach.
 */
export function grantedManifest(
  manifest: Manifest,
  withheld: readonly string[],
  added: readonly string[] = [],
): Manifest {
  const lost = withheldOf(manifest.capabilities, withheld);
  const left = manifest.capabilities.filter((one) => !lost.includes(one));
  const more = added.filter((one) => !left.some((has) => coveredBy(has, [one]).length > 0));
  if (lost.length === 0 && more.length === 0) return manifest;
  const capabilities = [...left, ...more];
  const { secrets } = manifest;
  return {
    ...manifest,
    capabilities,
    ...(lost.length > 0 && { withheld: [...manifest.withheld ?? [], ...lost] }),
    ...(more.length > 0 && { added: more }),
    ...(secrets && { secrets: reachableSecrets(secrets, capabilities) }),
  };
}

/** Returns every capability that the file of the plugin asks for, whether the operator granted it or not. */
export function askedCapabilities(
  { capabilities, withheld = [], added = [] }: Pick<Manifest, "capabilities" | "withheld" | "added">,
): string[] {
  return [...capabilities.filter((one) => !added.includes(one)), ...withheld];
}

/** Returns those of `asked` that `withheld` takes away: each that is in it, and each that covers one of it. */
export function withheldOf(asked: readonly string[], withheld: readonly string[]): string[] {
  return withheld.length === 0 ? [] : asked.filter((one) => coveredBy(one, withheld).length > 0);
}

/** Returns those of `others` that a plugin with `capability` has all the same, `capability` itself among them. */
export function coveredBy(capability: string, others: readonly string[]): string[] {
  return others.filter((other) => other === capability || gives(capability, other));
}

/** The next step for a plugin that lacks a capability because the operator withheld it. */
export function withheldHint(plugin: string, capabilities: readonly string[]): string {
  const named = capabilities.map((one) => `'${one.replaceAll("'", `'\\''`)}'`).join(" ");
  return `${capabilities.join(", ")}: withheld by the operator. Grant with kaged plugin grant ${plugin} ${named}`;
}

function gives(capability: string, other: string): boolean {
  const [grant, claim] = [parsed(capability), parsed(other)];
  if (grant === null || claim === null || isNothing(grant) || isNothing(claim)) return false;
  if (covers(grant, claim)) return true;
  // The folder of a program is mounted for reading. A plugin reads its own folder in any case.
  if (grant.kind !== "exec" || claim.kind !== "fs" || grant.path.startsWith("plugin:/")) return false;
  return covers({ kind: "fs", access: "read", path: grant.path }, claim);
}

/** `net:[]` gives nothing, so that nothing is lost with it. */
function isNothing(capability: Capability): boolean {
  return capability.kind === "net" && capability.scope === "none";
}

function parsed(text: string): Capability | null {
  const result = parseCapability(text);
  return result.ok ? result.capability : null;
}

/** A secret keeps the hosts that are left; one without any stays in the host and is put into no request. */
function reachableSecrets(
  secrets: Readonly<Record<string, ManifestSecret>>,
  capabilities: readonly string[],
): Record<string, ManifestSecret> {
  return Object.fromEntries(
    Object.entries(secrets).map(([key, secret]) => {
      const hosts = secret.hosts?.filter((host) => capabilities.some((one) => gives(one, `net:${host}`)));
      return [key, { ...secret, ...(hosts && { hosts }) }];
    }),
  );
}
