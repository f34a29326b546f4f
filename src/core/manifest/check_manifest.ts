/**
 * Plain data to a manifest: shape, rules, defaults.
 *
 * @module
 */
import type { DocumentReport } from "../documents/document_report.ts";
import { isMap } from "../values/plain_data.ts";
import { canonicalHook } from "../contract/hook_names.ts";
import { checkKnobs } from "./knob_rules.ts";
import type { Manifest } from "./manifest.ts";
import { checkCapabilities, checkRules } from "./manifest_rules.ts";
import { checkSchemas } from "./schema_rules.ts";
import { checkShape } from "./shape_issues.ts";
import { moveSystemOnly } from "./system_only.ts";

/** Checks everything there is to check. Returns the manifest in canonical form, or null when `report` says why not. */
export async function checkManifest(written: unknown, report: DocumentReport): Promise<Manifest | null> {
  if (!isMap(written)) {
    report.error("manifest.not_a_map", []);
    return null;
  }
  await checkSchemas(written, report);
  const data = moveSystemOnly(written, report);
  const input = checkShape(data, report);
  const capabilities = checkCapabilities(data, report);
  checkRules(data, report);
  await checkKnobs(data, report);
  if (!input || !report.isClean) return null;
  const { role, roles: listed, ...fields } = input;
  const hooks = distinct(input.hooks.map(canonicalHook));
  const roles = listed ?? (role ? [role] : hooks.length > 0 ? ["observer" as const] : []);
  return {
    ...fields,
    description: input.description.trim(),
    capabilities,
    roles: distinct(roles),
    hooks,
    methods: distinct(input.methods),
    notifications: distinct(input.notifications),
  };
}

function distinct<T>(items: readonly T[]): T[] {
  return [...new Set(items)];
}
