/**
 * The config fields whose values are the operator's secrets.
 *
 * @module
 */
import { isMap, mapOf } from "../values/plain_data.ts";
import type { SecretMask } from "../values/secret_mask.ts";
import type { Manifest } from "./manifest.ts";

/** Returns whether a config field is the operator's, and so a secret. */
export function secretFields({ config_schema, system_config_schema }: Manifest): (field: string) => boolean {
  if (system_config_schema === undefined) return () => false;
  const project = mapOf({ ...config_schema }, "properties");
  return (field) => !Object.hasOwn(project, field);
}

/** Returns `config` with the operator's fields as `fresh` has them, and the project's as they are. */
export function withSecretsOf(
  manifest: Manifest,
  config: Readonly<Record<string, unknown>>,
  fresh: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const isSecret = secretFields(manifest);
  const part = (of: Readonly<Record<string, unknown>>, wanted: boolean) =>
    Object.entries(of).filter(([field]) => isSecret(field) === wanted);
  return Object.fromEntries([...part(config, false), ...part(fresh, true)]);
}

/** Whether a plugin's variables differ between two configs: a process has those that it was started with. */
export function changesVariables(
  { secrets = {} }: Manifest,
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): boolean {
  return Object.entries(secrets).some(([name, { env, exposed }]) => {
    if (env === undefined) return false;
    return exposed ? before[name] !== after[name] : Object.hasOwn(before, name) !== Object.hasOwn(after, name);
  });
}

/** Has the mask learn the secrets of a config. A value that the manifest itself lists, as a choice or a default, is none. */
export function learnSecrets(mask: SecretMask, manifest: Manifest, config: Readonly<Record<string, unknown>>): void {
  const isSecret = secretFields(manifest);
  const schemas = mapOf({ ...manifest.system_config_schema }, "properties");
  for (const [field, value] of Object.entries(config)) {
    if (isSecret(field) && !isListed(schemas[field], value)) mask.learn(field, value);
  }
}

function isListed(schema: unknown, value: unknown): boolean {
  if (!isMap(schema)) return false;
  const { enum: choices, default: usual, const: only } = schema;
  return value === usual || value === only || (Array.isArray(choices) && choices.includes(value));
}
