/**
 * Questions about a list of capabilities.
 *
 * @module
 */
import { type Capability, parseCapability } from "./capability.ts";

/** Returns the access a plugin has to its storage: writing implies reading. */
export function storageAccess(capabilities: readonly string[]): "none" | "read" | "write" {
  const granted = capabilities.flatMap(parsed).filter((capability) => capability.kind === "storage");
  if (granted.length === 0) return "none";
  return granted.some(({ access }) => access === "write") ? "write" : "read";
}

/** Returns the claims that no declared capability covers, and those that are no capabilities at all. */
export function excessCapabilities(claimed: readonly unknown[], declared: readonly string[]): unknown[] {
  const grants = declared.flatMap(parsed);
  return claimed.filter((claim) => {
    const result = parseCapability(claim);
    return !result.ok ||
      !grants.concat({ kind: "net", scope: "none" }).some((grant) => covers(grant, result.capability));
  });
}

/** Whether a plugin with `grant` also has `claim`. */
export function covers(grant: Capability, claim: Capability): boolean {
  switch (claim.kind) {
    case "fs":
      if (grant.kind !== "fs" || !reaches(grant.path, claim.path)) return false;
      return grant.access === "write" || claim.access === "read";
    case "exec":
      return grant.kind === "exec" && grant.binary === claim.binary && reaches(grant.path, claim.path);
    case "storage":
      return grant.kind === "storage" && (grant.access === "write" || claim.access === "read");
    case "net":
      if (grant.kind !== "net") return false;
      if (claim.scope === "none" || grant.scope === "all") return true;
      if (claim.scope !== "host" || grant.scope !== "host") return false;
      return grant.host === claim.host && (grant.port === "*" || grant.port === claim.port);
  }
}

/** Whether `path` is `parent` or below it; both are canonical. */
function reaches(parent: string, path: string): boolean {
  return path === parent || path.startsWith(parent.endsWith("/") ? parent : `${parent}/`);
}

function parsed(text: string): Capability[] {
  const result = parseCapability(text);
  return result.ok ? [result.capability] : [];
}
