/**
 * Finds the capability that the operator withheld in the failure of a plugin which lacked it, so that the error names
 * the way to grant it.
 *
 * @module
 */
import { type Capability, formatCapability, readCapabilities } from "../manifest/capability.ts";
import type { Manifest } from "../manifest/manifest.ts";
import { withheldHint } from "../manifest/withheld.ts";
import type { CagePlaces } from "./cage.ts";
import type { NetRule } from "./net/net_parts.ts";
import { absolutePath } from "./wanted_paths.ts";

/** The capabilities that a plugin runs without. */
export interface WithheldGrants {
  /** The plugin's name, for the command that grants. */
  readonly plugin: string;
  readonly capabilities: readonly Capability[];
  /** Folders that its paths lead to. */
  readonly places: CagePlaces;
}

/** Returns the capabilities that a plugin runs without; null where nothing was withheld. */
export function withheldGrants({ name, withheld = [] }: Manifest, places: CagePlaces): WithheldGrants | null {
  return withheld.length === 0 ? null : { plugin: name, capabilities: readCapabilities(withheld), places };
}

/** Returns the network rules among them. */
export function withheldRules(withheld: WithheldGrants | null): NetRule[] {
  return withheld?.capabilities.filter((one): one is NetRule => one.kind === "net") ?? [];
}

/** Returns the next step for a plugin that lacked `capabilities`; null where there are none. */
export function grantHint(withheld: WithheldGrants | null, capabilities: readonly Capability[]): string | null {
  if (withheld === null || capabilities.length === 0) return null;
  return withheldHint(withheld.plugin, [...new Set(capabilities.map(formatCapability))]);
}

/** Returns the next step for a plugin that could not start `programs`; null where none of them was withheld. */
export function programHint(withheld: WithheldGrants | null, programs: readonly string[]): string | null {
  const isMeant = (one: Capability): boolean => one.kind === "exec" && programs.includes(one.binary);
  return grantHint(withheld, withheld?.capabilities.filter(isMeant) ?? []);
}

/** Returns the next step for a plugin whose failure names a path that was withheld; null where it names none. */
export function pathHint(withheld: WithheldGrants | null, text: string): string | null {
  if (withheld === null) return null;
  return grantHint(withheld, withheld.capabilities.filter((one) => "path" in one && names(text, one.path, withheld)));
}

/** Whether a text names a path or one below it. */
function names(text: string, declared: string, { places }: WithheldGrants): boolean {
  if (declared.startsWith("plugin:/") || (declared.startsWith("project:/") && places.projectDir === null)) return false;
  const { path } = absolutePath(declared, declared, places);
  for (let at = text.indexOf(path); at !== -1; at = text.indexOf(path, at + 1)) {
    // `/data` is no part of `/database`.
    if (!/[\w.-]/.test(text.charAt(at + path.length))) return true;
  }
  return false;
}
