/**
 * One plugin's config for one agent: the project's side and the operator's side, each checked by its own schema, then
 * joined. Secrets leave this file in {@link PluginConfig.config} only.
 *
 * @module
 */
import { HostError, type HostErrorCode } from "../errors/host_error.ts";
import type { Manifest } from "../manifest/manifest.ts";
import type { JsonSchema } from "../schema/json_schema.ts";
import { compileSchema } from "../schema/compile_schema.ts";
import type { SchemaIssue } from "../schema/issue_text.ts";
import { isMap, mapOf } from "../values/plain_data.ts";
import { shown } from "../values/shown_value.ts";
import { formatPath } from "../documents/document_report.ts";
import type { SystemValues } from "./local_config.ts";
import type { Isolation } from "./types.ts";
import { fillVariables } from "./variables.ts";

/** Replaces a value of the operator's side wherever config is shown. */
const SET_BY_OPERATOR = "‹set by operator›";

/** A plugin's config for one agent, both sides joined. */
export interface PluginConfig {
  /** Defaults, project side and system side. Holds secrets: never shown. */
  readonly config: Readonly<Record<string, unknown>>;
  /** The same with {@link SET_BY_OPERATOR} for every value of the system side. */
  readonly shown: Readonly<Record<string, unknown>>;
}

/** A side of a plugin's config, as audit events name it. */
export type ConfigSide = "project" | "system";

/** A mistake in one side of a plugin's config. */
export interface ConfigProblem {
  readonly code: HostErrorCode;
  readonly side: ConfigSide;
  /** The mistakes, without values: those may be secrets. */
  readonly errors: readonly SchemaIssue[];
  /** Line of local.toml it is about, when it is. */
  readonly line?: number;
}

/** The operator's side of one plugin, ready to be joined. */
export interface SystemSide {
  /** The values, with variables filled in and defaults. Holds secrets. */
  readonly values: Readonly<Record<string, unknown>>;
  readonly problems: readonly ConfigProblem[];
  /** Names of values that were left out because the plugin declares none. */
  readonly undeclared: readonly string[];
}

const fieldsOf = (schema: JsonSchema | undefined): Record<string, unknown> => mapOf({ ...schema }, "properties");

/** Makes the operator's side ready: it is the same for every agent. */
export async function systemSide(
  manifest: Manifest,
  system: SystemValues | undefined,
  env: (name: string) => string | null,
): Promise<SystemSide> {
  const { system_config_schema: schema, config_schema: projectSchema } = manifest;
  const written = system?.values ?? {};
  if (!schema) return { values: {}, problems: [], undeclared: Object.keys(written) };
  const problems: ConfigProblem[] = [];
  const { value, missing } = fillVariables(written, env);
  for (const { name, path } of missing) {
    const line = system!.placeOf(path).line;
    const errors = [{ path: formatPath(path), message: `Variable ${shown(name)} is not set` }];
    problems.push({ code: "project.variable_missing", side: "system", errors, line });
  }
  const project = fieldsOf(projectSchema);
  const foreign = Object.keys(written).filter((key) => Object.hasOwn(project, key));
  if (foreign.length > 0) {
    const errors = foreign.map((path) => ({ path: formatPath([path]), message: "Belongs to project.yaml" }));
    problems.push({ code: "project.config_invalid", side: "system", errors });
  }
  const compiled = await compileSchema(schema);
  const values = compiled.withDefaults(value) as Record<string, unknown>;
  // A variable that is missing would only be called wrong once more.
  const errors = missing.length > 0 ? [] : compiled.issues(values);
  if (errors.length > 0) problems.push({ code: "project.config_invalid", side: "system", errors });
  return { values, problems, undeclared: [] };
}

/** Joins both sides for one agent. Returns the config, or every problem. */
export async function pluginConfig(
  manifest: Manifest,
  { declared, isolation, system }: {
    readonly declared: Readonly<Record<string, unknown>>;
    readonly isolation: Isolation;
    readonly system: SystemSide;
  },
): Promise<PluginConfig | readonly ConfigProblem[]> {
  const problems: ConfigProblem[] = [];
  const secretFields = fieldsOf(manifest.system_config_schema);
  const isForeign = (key: string): boolean => Object.hasOwn(secretFields, key) || Object.hasOwn(system.values, key);
  const foreign = Object.keys(declared).filter(isForeign);
  if (foreign.length > 0) {
    const errors = foreign.map((key) => ({ path: formatPath([key]), message: "Belongs to local.toml" }));
    problems.push({ code: "project.system_config_key", side: "project", errors });
  }
  const own = Object.fromEntries(Object.entries(declared).filter(([key]) => !isForeign(key)));
  const { values, contradicts } = mirrorIsolation(own, isolation, manifest.config_schema);
  if (contradicts) {
    const errors = [{ path: "isolation", message: `The declaration says ${shown(isolation)}` }];
    problems.push({ code: "project.isolation_contradiction", side: "project", errors });
  }
  let project = values;
  if (manifest.config_schema) {
    const compiled = await compileSchema(manifest.config_schema);
    project = compiled.withDefaults(values) as Record<string, unknown>;
    const errors = compiled.issues(project);
    if (errors.length > 0) problems.push({ code: "project.config_invalid", side: "project", errors });
  }
  problems.push(...system.problems);
  if (problems.length > 0) return problems;
  const hidden = Object.fromEntries(Object.keys(system.values).map((key) => [key, SET_BY_OPERATOR]));
  return { config: { ...project, ...system.values }, shown: { ...project, ...hidden } };
}

/** Writes the declaration's isolation into config when the plugin has a field for it. */
function mirrorIsolation(
  config: Readonly<Record<string, unknown>>,
  isolation: Isolation,
  schema: JsonSchema | undefined,
): { readonly values: Record<string, unknown>; readonly contradicts: boolean } {
  const field = fieldsOf(schema).isolation;
  if (!isMap(field) || !canHold(field, isolation)) return { values: { ...config }, contradicts: false };
  if (!Object.hasOwn(config, "isolation")) return { values: { ...config, isolation }, contradicts: false };
  return { values: { ...config }, contradicts: config.isolation !== isolation };
}

/** Whether a field looks made for the isolation of the declaration, and not for something else of that name. */
function canHold({ type, enum: choices }: Readonly<Record<string, unknown>>, isolation: Isolation): boolean {
  if (Array.isArray(choices)) return choices.includes(isolation);
  return type === undefined || type === "string";
}

const HINTS: Readonly<Record<string, string>> = {
  "project.system_config_key": "Move it to local.toml, under the plugin's package",
  "project.isolation_contradiction": "Set isolation beside package:, and leave it out of config:",
  "project.variable_missing": "Set the variable where the host runs, or write $${ for a literal ${",
};

/** Returns a problem as an error; its data are those of the event `plugin.config_validation_failed`. */
export function configError(
  { code, side, errors, line }: ConfigProblem,
  { plugin, agent, file }: { readonly plugin: string; readonly agent: string; readonly file: string },
): HostError {
  const { path, message } = errors[0]!;
  const place = line === undefined ? file : `${file}:${line}`;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : "";
  const first = path === "" ? message : `${path}: ${message}`;
  return new HostError(code, `${place}: The ${side} config of "${plugin}" for "${agent}" is wrong: ${first}${more}`, {
    data: { name: plugin, side, errors, agent_path: agent, file, ...(line !== undefined && { line }) },
    hint: HINTS[code] ?? `See the config schema in the manifest of "${plugin}"`,
  });
}
