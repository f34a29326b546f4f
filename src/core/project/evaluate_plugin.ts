/**
 * One plugin of one agent: does its version fit, are its hooks offered, is its config right.
 *
 * @module
 */
import type { HostError } from "../errors/host_error.ts";
import { PRIMARY_HOOKS } from "../contract/hook_names.ts";
import { MANIFEST_FILE } from "../manifest/read_manifest.ts";
import { canonicalText } from "../values/canonical_text.ts";
import { defined } from "../values/plain_data.ts";
import { shown } from "../values/shown_value.ts";
import { type CascadeEntry, type EffectiveDeclaration, failure } from "./cascade.ts";
import type { FoundPlugin } from "./locate.ts";
import { npmInstall } from "./node_modules.ts";
import { configError, type ConfigPlaces, type ConfigProblem, pluginConfig } from "./plugin_config.ts";
import { type Project, type ResolvedPlugin, stepsTo } from "./types.ts";
import { isInRange } from "./version_range.ts";

/**
 * Returns the plugin as the agent gets it, or every reason it cannot. `base` is the plugin it shares when another agent
 * declared it first; `localFile` names `local.toml` in errors.
 */
export async function evaluatePlugin(
  project: Project,
  entry: CascadeEntry,
  { declaration, found: { manifest, dir, hash, contentHash, system }, instance, base, localFile }: {
    readonly declaration: EffectiveDeclaration;
    readonly found: FoundPlugin;
    readonly instance: string;
    readonly base: ResolvedPlugin | null;
    readonly localFile: string;
  },
): Promise<ResolvedPlugin | HostError[]> {
  const { agent, declaration: { key, hooks: ownHooks } } = entry;
  const { name, version } = manifest;
  const { isolation } = declaration;
  const errors: HostError[] = [];
  for (const range of declaration.versions) {
    if (await isInRange(version, range)) continue;
    const message = `Plugin "${name}" has version ${version}, which is not in ${shown(range)}`;
    const data = { name, version, range };
    const hint = contentHash === undefined ? {} : { hint: npmInstall(declaration.package, range) };
    errors.push(
      failure(project, entry, { code: "project.version_mismatch", field: "version", message, data, ...hint }),
    );
  }
  for (const hook of declaration.hooks ?? []) {
    if (manifest.hooks.includes(hook)) continue;
    const file = `${dir}/${MANIFEST_FILE}`;
    const message = `Hook "${hook}" is not in ${file}`;
    const hint = `Hooks of "${name}": ${manifest.hooks.join(", ") || "none"}`;
    const data = { name, hook, manifest: file };
    errors.push(failure(project, entry, { code: "project.hook_not_offered", field: "hooks", message, hint, data }));
  }
  const places = configPlaces(project, entry);
  const result = await pluginConfig(manifest, { declared: declaration.config, isolation, system, places });
  if (!("config" in result)) {
    const about = { plugin: name, agent: agent.path };
    for (const problem of result) {
      const at = problem.side === "project"
        ? { file: project.file }
        : systemPlace(localFile, declaration.package, problem);
      errors.push(configError(problem, { ...about, ...at }));
    }
    return errors;
  }
  if (errors.length > 0) return errors;
  const wanted = declaration.hooks ?? manifest.hooks;
  const isLegal = (hook: string): boolean => agent.parent === null || !PRIMARY_HOOKS.includes(hook);
  const toolsOff = Object.keys(agent.tools).filter((tool) => {
    return tool.startsWith(`${name}.`) && !agent.tools[tool]!.enabled;
  });
  return {
    key,
    package: declaration.package,
    plugin: name,
    dir,
    ...defined({ hash, contentHash }),
    manifest,
    isolation,
    ...defined({ starts: declaration.starts }),
    instance,
    hooks: manifest.hooks.filter((hook) => wanted.includes(hook) && isLegal(hook)),
    illegalHooks: (ownHooks ?? []).filter((hook) => !isLegal(hook)),
    tools: manifest.tools.map((tool) => `${name}.${tool.name}`).filter((tool) => !toolsOff.includes(tool)),
    toolsOff,
    config: result.config,
    shownConfig: result.shown,
    override: base && overrideOf(result.config, base.config),
  };
}

/** A shared config is written in two places: a field stands where this agent wrote it, else where its base did. */
function configPlaces({ document: { report } }: Project, { agent, declaration, base }: CascadeEntry): ConfigPlaces {
  return (path) => {
    const [field = ""] = path;
    const isOwn = Object.hasOwn(declaration.config ?? {}, field) || !base;
    const at = isOwn ? { agent, declaration } : base;
    return report.placeOf([...stepsTo(at.agent.path, "plugins", at.declaration.key, "config"), ...path], "value");
  };
}

/** Names local.toml, and the command that sets a value where it holds nothing of the plugin yet. */
export function systemPlace(
  file: string,
  pkg: string,
  { code, errors }: ConfigProblem,
): { readonly file: string; readonly hint?: string } {
  const isAbsent = code === "project.config_invalid" && errors.every(({ line }) => line === undefined);
  const commands = errors.map(({ path }) => `kaged secret set ${pkg} ${path}`).join(", ");
  return { file, ...(isAbsent && { hint: `Run: ${commands}` }) };
}

/** Returns the fields of `config` that differ from the base's, or null when none does. */
function overrideOf(
  config: Readonly<Record<string, unknown>>,
  base: Readonly<Record<string, unknown>>,
): Record<string, unknown> | null {
  const changed = Object.entries(config).filter(([key, value]) => {
    return !Object.hasOwn(base, key) || canonicalText(value) !== canonicalText(base[key]);
  });
  return changed.length > 0 ? Object.fromEntries(changed) : null;
}
