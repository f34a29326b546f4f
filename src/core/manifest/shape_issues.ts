/**
 * Checks a manifest's shape, and words the mistakes that the schema library finds.
 *
 * @module
 */
import * as v from "valibot";
import type { DocumentReport, IssueText } from "../documents/document_report.ts";
import { Fields, typeName } from "../documents/fields.ts";
import type { DocumentPath } from "../documents/places.ts";
import { ERRORS, type HostErrorCode } from "../errors/host_error.ts";
import { didYouMean } from "../values/nearest_word.ts";
import { isMap, mapOf } from "../values/plain_data.ts";
import { shown } from "../values/shown_value.ts";
import { HOOK_NAMES } from "../contract/hook_names.ts";
import { KNOB_TYPES, knobKeys } from "./knob_schema.ts";
import { itemsOf, schemasIn } from "./listed_items.ts";
import { SECRET_KEYS } from "./secret_rules.ts";
import { MANIFEST_KEYS, type ManifestInput, manifestInput, OAUTH_KEYS, TOOL_KEYS } from "./schema.ts";

/** Checks each field of `data` alone. Returns the manifest with its simple defaults, or null when something is wrong. */
export function checkShape(data: Record<string, unknown>, report: DocumentReport): ManifestInput | null {
  checkKeys(data, report);
  const lists = listsInPlaceOfMaps(data);
  const listKeys = new Set(lists.map((path) => JSON.stringify(path)));
  for (const path of lists) report.error("manifest.wrong_type", path, { message: "Expected a map, got a list" });
  const result = v.safeParse(manifestInput, data);
  for (const issue of result.issues ?? []) {
    const path = (issue.path ?? []).map(({ key }) => key as string | number);
    const isUnknownKey = issue.expected === "never";
    // Capabilities have a grammar of their own, with better words than "does not match".
    const isCapability = path[0] === "capabilities" && path.length > 1;
    const isBelowList = path.some((_, index) => listKeys.has(JSON.stringify(path.slice(0, index + 1))));
    if (!isUnknownKey && !isCapability && !isBelowList) reportIssue(issue, path, report);
  }
  return result.success ? result.output : null;
}

function reportIssue(issue: v.BaseIssue<unknown>, path: DocumentPath, report: DocumentReport): void {
  const last = issue.path?.at(-1);
  if (issue.kind === "schema" && last && !Object.hasOwn(last.input as object, last.key as string)) {
    const message = `Field ${shown(last.key)} is missing`;
    return report.error("manifest.missing_field", path, { message });
  }
  const part = last?.origin === "key" ? "key" : "value";
  if (!Object.hasOwn(ERRORS, issue.message) || isOfAnotherType(issue)) {
    const expected = TYPE_NAMES[issue.expected ?? ""] ?? issue.expected ?? "another type";
    const message = `Expected ${expected}, got ${typeName(issue.input)}`;
    const isUnquoted = issue.expected === "string" && ["number", "boolean"].includes(typeof issue.input);
    const hint = isUnquoted ? "Put it in quotes" : undefined;
    return report.error("manifest.wrong_type", path, { message, part, ...(hint && { hint }) });
  }
  const code = refinedCode(issue.message, issue.input);
  const { cause } = ERRORS[code];
  report.error(code, path, { message: `${cause}: ${shown(issue.input)}`, part, ...hintFor(code, issue) });
}

/** Whether a choice was given something that is no string at all, or a map of some kind something that is no map. */
function isOfAnotherType({ type, input, expected }: v.BaseIssue<unknown>): boolean {
  return type === "picklist" && typeof input !== "string" || type === "variant" && expected === "Object";
}

/** Returns the code that names the collision of a forbidden name. */
function refinedCode(code: string, input: unknown): HostErrorCode {
  const name = String(input);
  if (code === "manifest.invalid_env_name" && name.startsWith("LD_")) return "manifest.forbidden_env_name";
  if (code === "manifest.invalid_env_name" && name.startsWith("KAGED_")) return "manifest.reserved_env_name";
  const isReserved = /^(?:(?:kaged|system)\.|config\.update$|projects\.(?:de)?activated$)/.test(name);
  return code === "manifest.invalid_method_name" && isReserved
    ? "manifest.reserved_method_name"
    : code as HostErrorCode; // The schema has rows of the table as messages.
}

function hintFor(code: string, issue: v.BaseIssue<unknown>): Pick<IssueText, "hint"> {
  const { requirement } = issue as { requirement?: unknown };
  if (code === "manifest.unknown_hook") {
    return { hint: didYouMean(String(issue.input), HOOK_NAMES, `Hooks: ${HOOK_NAMES.join(", ")}`) };
  }
  if (code === "manifest.unknown_knob_type") {
    return { hint: didYouMean(String(issue.input), KNOB_TYPES, `Knob types: ${KNOB_TYPES.join(", ")}`) };
  }
  if (code === "manifest.unknown_runtime") return { hint: runtimeHint(String(issue.input)) };
  if (code === "manifest.out_of_range" && issue.type === "min_value") return { hint: `Use at least ${requirement}` };
  if (code === "manifest.out_of_range" && issue.type === "max_value") return { hint: `Use at most ${requirement}` };
  return {};
}

/** A runtime of other hosts cannot be caged here. */
function runtimeHint(name: string): string {
  if (name === "in_process") return "A plugin runs in a process of its own: write kaged_stdio, or leave it out";
  return didYouMean(name, ["kaged_stdio", "mcp_stdio", "mcp_http"], "Runtimes: kaged_stdio, mcp_stdio, mcp_http");
}

/** Reports every key that is not known, and those that JavaScript objects would confuse with their own. */
function checkKeys(data: Record<string, unknown>, report: DocumentReport): void {
  new Fields(data, [], report).expectKeys(MANIFEST_KEYS);
  for (const [tool, path] of itemsOf(data, "tools")) {
    if (isMap(tool)) new Fields(tool, path, report).expectKeys(TOOL_KEYS);
  }
  if (isMap(data.oauth)) new Fields(data.oauth, ["oauth"], report).expectKeys(OAUTH_KEYS);
  for (const field of ["env", "headers", "knobs", "secrets"]) {
    for (const [name, value] of Object.entries(mapOf(data, field))) {
      const isReserved = name === "constructor" || name === "prototype";
      if (isReserved) report.error("manifest.forbidden_key", [field, name], { part: "key" });
      const keys = field === "knobs" && isMap(value) ? knobKeys(value.type) : null;
      if (keys) new Fields(value, [field, name], report).expectKeys(keys);
      if (field === "secrets" && isMap(value)) new Fields(value, [field, name], report).expectKeys(SECRET_KEYS);
    }
  }
}

/** The schema library takes a list for a map: here are the places where one stands. */
function listsInPlaceOfMaps(data: Record<string, unknown>): DocumentPath[] {
  const places: [unknown, DocumentPath][] = [
    [data.env, ["env"]],
    [data.headers, ["headers"]],
    [data.oauth, ["oauth"]],
    [data.knobs, ["knobs"]],
    [data.secrets, ["secrets"]],
    ...Object.entries(mapOf(data, "secrets")).map(([name, secret]): [unknown, DocumentPath] => {
      return [secret, ["secrets", name]];
    }),
    ...itemsOf(data, "tools"),
    ...schemasIn(data),
  ];
  for (const [name, knob] of Object.entries(mapOf(data, "knobs"))) {
    places.push([knob, ["knobs", name]]);
    if (isMap(knob)) places.push([knob.labels, ["knobs", name, "labels"]]);
  }
  return places.filter(([value]) => Array.isArray(value)).map(([, path]) => path);
}

/** Types in the words of {@link typeName}. */
const TYPE_NAMES: Readonly<Record<string, string>> = {
  Object: "a map",
  Array: "a list",
  string: "a text",
  number: "a number",
  boolean: "true or false",
};
