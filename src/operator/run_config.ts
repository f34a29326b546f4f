/**
 * The config of a plugin that runs outside a project: for one call, a check or the rules of the wire.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";
import type { Manifest } from "../core/manifest/manifest.ts";
import type { SystemValues } from "../core/project/local_config.ts";
import type { Runtime } from "../core/ports/ports.ts";
import { pluginConfig, systemSide } from "../core/project/plugin_config.ts";
import { referenceReader } from "../core/project/references.ts";
import { mapOf } from "../core/values/plain_data.ts";

/** Values for a plugin that no project declares. */
export interface GivenConfig {
  /** Fields of both schemas, as the command line has them. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** The operator's values in `local.toml`; those of {@link config} come first. */
  readonly secrets?: SystemValues;
}

/**
 * Returns the config that a host would send: the given values, and the defaults of both schemas. Fields of the operator's
 * side may name variables, as in `local.toml`.
 *
 * @throws {HostError} `project.config_invalid`, `project.variable_missing` or `project.reference_failed`, before anything is started: a plugin that
 * lacks a required secret would run as it never does in a host.
 */
export async function runConfig(
  manifest: Manifest,
  { config: given = {}, secrets }: GivenConfig,
  runtime: Pick<Runtime, "env" | "files" | "processes" | "clock" | "pid">,
): Promise<Readonly<Record<string, unknown>>> {
  const fields = mapOf({ ...manifest.system_config_schema }, "properties");
  const isSecret = (key: string): boolean => Object.hasOwn(fields, key);
  const side = (wanted: boolean) =>
    Object.fromEntries(Object.entries(given).filter(([key]) => isSecret(key) === wanted));
  const values = { ...secrets?.values, ...side(true) };
  const placeOf = secrets?.placeOf ?? (() => ({ line: 1, column: 1 }));
  const system = await systemSide(manifest, { values, placeOf }, { env: runtime.env, read: referenceReader(runtime) });
  const result = await pluginConfig(manifest, { declared: side(false), isolation: "agent", system });
  if (!Array.isArray(result)) return (result as { config: Readonly<Record<string, unknown>> }).config;
  const errors = result.flatMap((problem) => problem.errors);
  const said = errors.map(({ path, message }) => path === "" ? message : `${path}: ${message}`).join("; ");
  throw new HostError(result[0]!.code, `"${manifest.name}" cannot run with this config: ${said}`, {
    data: { plugin: manifest.name, errors },
    hint: `Pass what its schemas ask for: --config '{"field": …}'`,
  });
}
