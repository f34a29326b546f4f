/**
 * The permissions of the runtime without which no plugin can be caged.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";

/** Throws `cage.no_permission` that names the flags in `missing`, unless there are none. */
export function requirePermissions(missing: readonly string[]): void {
  if (missing.length === 0) return;
  throw new HostError("cage.no_permission", `Cannot cage plugins without ${missing.join(" ")}`, {
    data: { missing },
    hint: `Start Deno with ${missing.join(" ")}; docs/embed-deno.md says what each is for`,
  });
}
