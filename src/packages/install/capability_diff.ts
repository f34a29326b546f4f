/**
 * What an upgrade adds to a plugin's capabilities, and what it takes away.
 *
 * @module
 */

/** Capabilities before and after. */
export interface CapabilityDiff {
  /** New ones: each needs a yes. */
  readonly added: readonly string[];
  /** Those it gives up. */
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
