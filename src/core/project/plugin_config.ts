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
import { formatPath, parsePath } from "../documents/document_report.ts";
import type { DocumentPath, Place } from "../documents/places.ts";
import type { SystemValues } from "./local_config.ts";
import type { Isolation } from "./types.ts";
import { fillReferences, type ValueSources } from "./references.ts";

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

/** A mistake in a plugin's config, with the place of the value; without one where the file holds nothing about it. */
export interface ConfigIssue extends SchemaIssue, Partial<Place> {}

/** Mistakes of one kind in one side of a plugin's config. */
export interface ConfigProblem {
  readonly code: HostErrorCode;
  readonly side: ConfigSide;
  /** In the order of the file, without values: those may be secrets. */
  readonly errors: readonly ConfigIssue[];
}

/** Returns the place of a value in its file; null when it has none. */
export type ConfigPlaces = (path: DocumentPath) => Place | null;

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
  sources: ValueSources,
): Promise<SystemSide> {
  const { system_config_schema: schema, config_schema: projectSchema } = manifest;
  const written = system?.values ?? {};
  if (!schema) return { values: {}, problems: [], undeclared: Object.keys(written) };
  const problems: ConfigProblem[] = [];
  const add = (code: HostErrorCode, errors: readonly SchemaIssue[]): void => {
    const places: ConfigPlaces = (path) => system?.placeOf(path) ?? null;
    if (errors.length > 0) problems.push({ code, side: "system", errors: located(errors, places) });
  };
  const { value, missing, failed } = await fillReferences(written, sources);
  const unset = missing.map(({ name, path }) => {
    return { path: formatPath(path), message: `Variable ${shown(name)} is not set` };
  });
  add("project.variable_missing", unset);
  add("project.reference_failed", failed.map(({ path, message }) => ({ path: formatPath(path), message })));
  const project = fieldsOf(projectSchema);
  const foreign = Object.keys(written).filter((key) => Object.hasOwn(project, key));
  const misplaced = foreign.map((path) => ({ path: formatPath([path]), message: "Belongs to project.yaml" }));
  const compiled = await compileSchema(schema);
  const values = compiled.withDefaults(value) as Record<string, unknown>;
  // A variable that is missing, or a field of the project's, would only be called wrong once more.
  const reported = new Set(misplaced.map(({ path }) => path));
  const issues = missing.length + failed.length > 0
    ? []
    : compiled.issues(values).filter(({ path }) => !reported.has(path));
  add("project.config_invalid", [...misplaced, ...issues]);
  return { values, problems, undeclared: [] };
}

/** Joins both sides for one agent. Returns the config, or every problem. */
export async function pluginConfig(
  manifest: Manifest,
  { declared, isolation, system, places = () => null }: {
    readonly declared: Readonly<Record<string, unknown>>;
    readonly isolation: Isolation;
    readonly system: SystemSide;
    /** Places of `declared`. Default: none is known. */
    readonly places?: ConfigPlaces;
  },
): Promise<PluginConfig | readonly ConfigProblem[]> {
  const problems: ConfigProblem[] = [];
  const add = (code: HostErrorCode, errors: readonly SchemaIssue[]): void => {
    if (errors.length > 0) problems.push({ code, side: "project", errors: located(errors, places) });
  };
  const secretFields = fieldsOf(manifest.system_config_schema);
  const isForeign = (key: string): boolean => Object.hasOwn(secretFields, key) || Object.hasOwn(system.values, key);
  const foreign = Object.keys(declared).filter(isForeign);
  const misplaced = foreign.map((key) => ({ path: formatPath([key]), message: "Belongs to local.toml" }));
  add("project.system_config_key", misplaced);
  const own = Object.fromEntries(Object.entries(declared).filter(([key]) => !isForeign(key)));
  const { values, contradicts } = mirrorIsolation(own, isolation, manifest.config_schema);
  const contradiction = { path: "isolation", message: `The declaration says ${shown(isolation)}` };
  add("project.isolation_contradiction", contradicts ? [contradiction] : []);
  let project = values;
  if (manifest.config_schema) {
    const compiled = await compileSchema(manifest.config_schema);
    project = withKnobDefaults(compiled.withDefaults(values) as Record<string, unknown>, manifest.knobs);
    add("project.config_invalid", compiled.issues(project));
  }
  problems.push(...system.problems);
  if (problems.length > 0) return problems;
  const hidden = Object.fromEntries(Object.keys(system.values).map((key) => [key, SET_BY_OPERATOR]));
  return { config: { ...project, ...system.values }, shown: { ...project, ...hidden } };
}

/** A field that neither the project nor the schema sets has the default of its knob, which operators see as its value. */
function withKnobDefaults(config: Record<string, unknown>, knobs: Manifest["knobs"]): Record<string, unknown> {
  const unset = Object.values(knobs).flatMap((knob) => {
    const field = knob.binds_to.slice("config.".length);
    const isOpen = !Object.hasOwn(config, field) && knob.default !== null && knob.default !== undefined;
    return isOpen ? [[field, knob.default] as const] : [];
  });
  return { ...config, ...Object.fromEntries(unset) };
}

function located(errors: readonly SchemaIssue[], places: ConfigPlaces): ConfigIssue[] {
  return errors.map((error): ConfigIssue => ({ ...error, ...places(parsePath(error.path)) }))
    .sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
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
  "project.reference_failed": "Correct it in local.toml, or write literal: before a value that only looks like one",
  "project.variable_missing": "Set the variable where the host runs, or write $${ for a literal ${",
};

/** Mistakes that a message lists at most; `data.errors` has all. */
const MAX_LISTED = 20;

/**
 * Returns a problem as an error. The message has every mistake with its line, so that a person mends them in one go; the
 * data are those of the event `plugin.config_validation_failed`.
 */
export function configError(
  { code, side, errors }: ConfigProblem,
  { plugin, agent, file, hint }: {
    readonly plugin: string;
    readonly agent: string;
    readonly file: string;
    /** Default: by `code`. */
    readonly hint?: string;
  },
): HostError {
  const [first] = errors;
  const place = first?.line === undefined ? file : `${file}:${first.line}:${first.column}`;
  const listed = errors.slice(0, MAX_LISTED).map(({ path, message, line }, at) => {
    const where = at > 0 && line !== undefined ? `line ${line}: ` : "";
    return `${where}${path === "" ? message : `${path}: ${message}`}`;
  });
  const more = errors.length > MAX_LISTED ? `; and ${errors.length - MAX_LISTED} more` : "";
  const text = `The ${side} config of "${plugin}" for "${agent}" is wrong: ${listed.join("; ")}${more}`;
  return new HostError(code, `${place}: ${text}`, {
    data: {
      name: plugin,
      side,
      errors,
      agent_path: agent,
      file,
      ...(first?.line !== undefined && { line: first.line }),
    },
    hint: hint ?? HINTS[code] ?? `See the config schema in the manifest of "${plugin}"`,
  });
}
