/**
 * Names that become parts of paths and keys: checked before any store sees them.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";

const ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;
const SCOPE = /^[A-Za-z0-9][A-Za-z0-9._@:|+-]{0,127}$/;
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** Throws `jobs.id_invalid` unless `id` can be the id of a job and `scopeId` that of a scope. */
export function checkAddress(id: string, scopeId?: string): void {
  check("A job id", id, ID, "Use the id that starting the job returned");
  checkScope(scopeId);
}

/** Throws `jobs.id_invalid` unless `scopeId` can name a scope. */
export function checkScope(scopeId?: string): void {
  if (scopeId === undefined) return;
  check("A scope", scopeId, SCOPE, "Use letters, digits and . _ @ : | + -, starting with a letter or digit");
}

/** Throws `jobs.id_invalid` unless `name` can name an agent or a schedule. */
export function checkName(what: string, name: string): void {
  check(what, name, NAME, "Use letters, digits and . _ -, starting with a letter or digit");
}

function check(what: string, value: string, pattern: RegExp, hint: string): void {
  if (typeof value === "string" && pattern.test(value)) return;
  const shown = JSON.stringify(value)?.slice(0, 80) ?? String(value);
  throw new HostError("jobs.id_invalid", `${what} cannot be ${shown}`, { data: { value }, hint });
}
