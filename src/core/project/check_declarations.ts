/**
 * The `plugins:` map of an agent, as it is written.
 *
 * @module
 */
import { canonicalHook, HOOK_NAMES } from "../contract/hook_names.ts";
import { formatPath } from "../documents/document_report.ts";
import { type Fields, LIST, TEXT } from "../documents/fields.ts";
import { didYouMean } from "../values/nearest_word.ts";
import { defined } from "../values/plain_data.ts";
import { shown } from "../values/shown_value.ts";
import { START_KEYS, startSettings } from "./start_settings.ts";
import type { PluginDeclaration } from "./types.ts";
import { rangeProblem } from "./version_range.ts";

/** Names of subagents and keys of plugins: no dots or slashes, which agent paths and instance ids are joined by. */
export const NAME: RegExp = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

const KEYS: readonly string[] = ["package", "source", "version", "isolation", "hooks", "config", ...START_KEYS];
const PACKAGE = /^(?=.{1,214}$)(?:@[a-z0-9][a-z0-9._-]*\/)?[a-z0-9][a-z0-9._-]*$/;
/** A folder of the project or an address; plain http for this machine only. */
const SOURCE =
  /^(?:\.\/[^\p{C}]{1,2000}|(?:git\+)?(?:https:\/\/|http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])[:/])[\x21-\x7e]{1,2000})$/u;

/** Reads the plugins an agent declares, in their order. Mistakes go to the report of the file. */
export async function checkDeclarations(agent: Fields): Promise<PluginDeclaration[]> {
  const plugins = agent.fields("plugins", { hint: "Give each plugin a key: plugins: { memory: { package: … } }" });
  const declarations: PluginDeclaration[] = [];
  for (const key of Object.keys(plugins.data)) {
    if (!NAME.test(key)) plugins.error("invalid_plugin_key", key, { part: "key" });
    // A key with nothing under it takes part in a shared plugin and changes nothing of it.
    const fields = plugins.fields(key);
    if (fields.isMap) declarations.push(await declarationOf(key, fields));
  }
  return declarations;
}

async function declarationOf(key: string, fields: Fields): Promise<PluginDeclaration> {
  fields.expectKeys(KEYS);
  const [pkg, source, version] = ["package", "source", "version"].map((name) => fields.get(name, TEXT));
  const refuse = (name: string, value: string): void =>
    fields.error(`invalid_${name}`, name, { message: `${shown(value)} is no ${name}` });
  if (pkg !== undefined && !PACKAGE.test(pkg)) refuse("package", pkg);
  if (source !== undefined && !SOURCE.test(source)) refuse("source", source);
  if (version !== undefined && await rangeProblem(version)) refuse("version", version);
  const isolation = fields.choice("isolation", ["agent", "project"]);
  const starts = startSettings(fields);
  const config = fields.fields("config");
  const hasConfig = config.isMap && (fields.data.config ?? null) !== null;
  return {
    key,
    ...defined({ package: pkg, source, version, isolation, hooks: hooksOf(fields) }),
    ...starts,
    ...(hasConfig && { config: config.data }),
    at: { ...fields.report.placeOf(fields.path, "key"), path: formatPath(fields.path) },
  };
}

/** Returns the hooks a declaration lists by their canonical names; undefined when it lists none. */
function hooksOf(fields: Fields): string[] | undefined {
  if (fields.data.hooks === null) return undefined;
  const hooks = fields.get("hooks", LIST, { hint: "Write hooks: [ … ]" });
  if (!hooks) return undefined;
  const found = new Set<string>();
  hooks.forEach((hook, index) => {
    const name = typeof hook === "string" ? canonicalHook(hook) : null;
    if (name !== null && HOOK_NAMES.includes(name)) return void found.add(name);
    fields.report.error("project.unknown_hook", [...fields.at("hooks"), index], {
      message: `${shown(hook)} is no hook`,
      hint: didYouMean(String(hook), HOOK_NAMES, `Hooks: ${HOOK_NAMES.join(", ")}`),
    });
  });
  return [...found];
}
