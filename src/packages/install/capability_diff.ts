/**
 * The difference that an upgrade makes to a plugin's capabilities.
 *
 * @module
 */

/** Capabilities that only one of two versions has. */
export interface CapabilityDiff {
  /** Of the new version alone: the operator must grant each. */
  readonly added: readonly string[];
  /** Of the old version alone. */
  readonly removed: readonly string[];
}

/** `net:[]` says that there is no network: nobody has to grant it. */
const GRANTS_NOTHING = "net:[]";

/** Returns the capabilities that let a plugin do something. */
export function grantable(capabilities: readonly string[]): string[] {
  return capabilities.filter((capability) => capability !== GRANTS_NOTHING);
}

/** Compares two lists of capabilities in canonical form. */
export function diffCapabilities(before: readonly string[], after: readonly string[]): CapabilityDiff {
  return {
    added: grantable(after).filter((capability) => !before.includes(capability)),
    removed: grantable(before).filter((capability) => !after.includes(capability)),
  };
}
