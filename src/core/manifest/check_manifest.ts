/**
 * Plain data to a manifest: shape, rules, defaults.
 *
 * @module
 */
import type { DocumentReport } from "../documents/document_report.ts";
import { defined, isMap } from "../values/plain_data.ts";
import { canonicalHook } from "../contract/hook_names.ts";
import { checkKnobs } from "./knob_rules.ts";
import { schemasIn } from "./listed_items.ts";
import type { Manifest } from "./manifest.ts";
import { checkCapabilities, checkRules } from "./manifest_rules.ts";
import { checkRemote, remoteCapabilities } from "./remote_rules.ts";
import { checkSecrets } from "./secret_rules.ts";
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
  const asked = checkCapabilities(data, report);
  const remote = checkRemote(data, report);
  const capabilities = remote ? remoteCapabilities(data, asked, remote, report) : asked;
  const secrets = checkSecrets(data, { capabilities, remote }, report);
  checkRules(data, report);
  await checkKnobs(data, report);
  if (!input || !report.isClean) return null;
  const { role, roles: listed, secrets: _, ...fields } = input;
  const hooks = distinct(input.hooks.map(canonicalHook));
  const roles = listed ?? (role ? [role] : hooks.length > 0 ? ["observer" as const] : []);
  return {
    ...fields,
    description: input.description.trim(),
    command: input.command ?? [],
    ...(remote && { url: remote.url }),
    capabilities,
    ...defined({ secrets }),
    roles: distinct(roles),
    hooks,
    methods: distinct(input.methods),
    notifications: distinct(input.notifications),
  };
}

/**
 * Checks every JSON Schema of a manifest: the host runs them, and does not trust their author. The library behind the
 * check loads only when there is one.
 */
async function checkSchemas(data: Record<string, unknown>, report: DocumentReport): Promise<void> {
  for (const [schema, path] of schemasIn(data)) {
    if (!isMap(schema)) continue;
    const { schemaProblems } = await import("../schema/schema_problems.ts");
    for (const { path: below, message, hint } of await schemaProblems(schema)) {
      report.error("manifest.invalid_schema", [...path, ...below], { message, hint });
    }
  }
}

function distinct<T>(items: readonly T[]): T[] {
  return [...new Set(items)];
}
