/**
 * The plugins an agent declares, as they are written.
 *
 * @module
 */
import type { HostErrorCode } from "../errors/host_error.ts";
import { canonicalHook, HOOK_NAMES } from "../contract/hook_names.ts";
import { didYouMean } from "../values/nearest_word.ts";
import { shown } from "../values/shown_value.ts";
import { type DocumentPath, type DocumentReport, formatPath } from "../documents/document_report.ts";
import type { PluginDeclaration } from "./types.ts";
import { expectKeys, expectMap, NAME, typeName } from "./values.ts";
import { rangeProblem } from "./version_range.ts";

type Data = Readonly<Record<string, unknown>>;

const KEYS: readonly string[] = ["package", "source", "version", "isolation", "hooks", "config"];
const PACKAGE = /^(?=.{1,214}$)(?:@[a-z0-9][a-z0-9._-]*\/)?[a-z0-9][a-z0-9._-]*$/;
/** A folder of the project or an address; plain http for this machine only. */
const SOURCE =
  /^(?:\.\/[^\p{C}]{1,2000}|(?:git\+)?(?:https:\/\/|http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])[:/])[\x21-\x7e]{1,2000})$/u;
const ISOLATIONS: readonly string[] = ["agent", "project"];

/** Reads the `plugins:` map of an agent, in its order. What is wrong goes to `report`. */
export async function checkDeclarations(
  agent: Data,
  at: DocumentPath,
  report: DocumentReport,
): Promise<PluginDeclaration[]> {
  const path = [...at, "plugins"];
  if (!Object.hasOwn(agent, "plugins") || agent.plugins === null) return [];
  if (Array.isArray(agent.plugins)) {
    report.error("project.wrong_type", path, {
      message: "Expected a map, got a list",
      hint: "Give each plugin a key: plugins: { memory: { package: … } }",
    });
    return [];
  }
  const declarations: PluginDeclaration[] = [];
  for (const [key, value] of Object.entries(expectMap(agent.plugins, path, report) ?? {})) {
    const below = [...path, key];
    if (!NAME.test(key)) report.error("project.invalid_plugin_key", below, { part: "key" });
    // A key with nothing under it takes part in a shared plugin and changes nothing of it.
    const fields = value === null ? {} : expectMap(value, below, report);
    if (fields) declarations.push(await declarationOf(key, fields, below, report));
  }
  return declarations;
}

async function declarationOf(
  key: string,
  fields: Data,
  path: DocumentPath,
  report: DocumentReport,
): Promise<PluginDeclaration> {
  expectKeys(fields, KEYS, path, report);
  const text = (name: string): string | undefined => {
    if (!Object.hasOwn(fields, name)) return undefined;
    const value = fields[name];
    if (typeof value === "string") return value;
    const hint = typeof value === "number" ? "Put it in quotes" : undefined;
    report.error("project.wrong_type", [...path, name], {
      message: `Expected a text, got ${typeName(value)}`,
      ...(hint && { hint }),
    });
    return undefined;
  };
  const [pkg, source, version, isolation] = ["package", "source", "version", "isolation"].map(text);
  const refuse = (code: HostErrorCode, name: string, value: string) =>
    report.error(code, [...path, name], { message: `${shown(value)} is no ${name}` });
  if (pkg !== undefined && !PACKAGE.test(pkg)) refuse("project.invalid_package", "package", pkg);
  if (source !== undefined && !SOURCE.test(source)) refuse("project.invalid_source", "source", source);
  if (version !== undefined && await rangeProblem(version)) refuse("project.invalid_version", "version", version);
  if (isolation !== undefined && !ISOLATIONS.includes(isolation)) {
    const hint = didYouMean(isolation, ISOLATIONS, "Write isolation: agent or isolation: project");
    report.error("project.invalid_value", [...path, "isolation"], {
      message: `${shown(isolation)} is no isolation`,
      hint,
    });
  }
  const hooks = hooksOf(fields, path, report);
  const config = Object.hasOwn(fields, "config") && fields.config !== null
    ? expectMap(fields.config, [...path, "config"], report)
    : null;
  return {
    key,
    ...(pkg !== undefined && { package: pkg }),
    ...(source !== undefined && { source }),
    ...(version !== undefined && { version }),
    ...(isolation !== undefined && { isolation: isolation as "agent" | "project" }),
    ...(hooks && { hooks }),
    ...(config && { config }),
    at: { ...report.placeOf(path, "key"), path: formatPath(path) },
  };
}

/** Returns the hooks a declaration lists by their canonical names, or null when it lists none. */
function hooksOf(fields: Data, path: DocumentPath, report: DocumentReport): string[] | null {
  if (!Object.hasOwn(fields, "hooks") || fields.hooks === null) return null;
  const { hooks } = fields;
  if (!Array.isArray(hooks)) {
    const message = `Expected a list, got ${typeName(hooks)}`;
    report.error("project.wrong_type", [...path, "hooks"], { message, hint: "Write hooks: [ … ]" });
    return null;
  }
  const found = new Set<string>();
  hooks.forEach((hook: unknown, index) => {
    const name = typeof hook === "string" ? canonicalHook(hook) : null;
    if (name !== null && HOOK_NAMES.includes(name)) return void found.add(name);
    const hint = didYouMean(String(hook), HOOK_NAMES, `Hooks: ${HOOK_NAMES.join(", ")}`);
    report.error("project.unknown_hook", [...path, "hooks", index], { message: `${shown(hook)} is no hook`, hint });
  });
  return [...found];
}
