/**
 * The settings of an installed server, for its next version: arguments, variables and secrets as its manifest has them.
 *
 * @module
 */
import type { Manifest } from "../../core/manifest/manifest.ts";
import { mapOf } from "../../core/values/plain_data.ts";
import type { AskedValue, FetchedServer, ServerSource, ServerWish } from "./types.ts";

const ONE_REFERENCE = /^\$\{((?:user_config\.|input:)[^}]+)\}$/;

/** Returns the wish that leads to the installed server again. */
export function carriedWish(name: string, source: ServerSource, manifest: Manifest): ServerWish {
  const { secrets = {}, system_config_schema: schema } = manifest;
  const fields = mapOf({ ...schema }, "properties");
  const required = Array.isArray(schema?.required) ? schema.required : [];
  const asked: Record<string, AskedValue> = {};
  const env: Record<string, string> = {};
  const headers: Record<string, string> = { ...manifest.headers };
  for (const [key, secret] of Object.entries(secrets)) {
    const { description = key } = fields[key] as { readonly description?: string };
    asked[`input:${key}`] = { description, isSecret: true, isRequired: required.includes(key), fallback: null };
    if (secret.env !== undefined) env[secret.env] = `\${input:${key}}`;
    if (secret.header !== undefined) headers[secret.header] = `${secret.prefix ?? ""}\${input:${key}}`;
  }
  // A bundle brings its own arguments and variables, with places for the operator's values.
  const isBundle = source.kind === "bundle";
  const args = isBundle || source.kind === "remote" ? [] : argumentsOf(manifest.command);
  return { name, source, args, env: { ...(isBundle ? {} : manifest.env), ...env }, headers, asked };
}

/** Returns the arguments behind the file that a command starts. */
function argumentsOf(command: readonly string[]): readonly string[] {
  return command.slice(command.findIndex((word) => word.startsWith("./")) + 1);
}

/** Returns the values that the installed version has where the next one asks for a value in the same place. */
export function keptValues({ command, env }: FetchedServer, manifest: Manifest): Record<string, string> {
  const found: [string, string][] = [
    ...Object.entries(env).map(([name, text]): [string, string] => [text, manifest.env[name] ?? ""]),
    ...command.map((text, index): [string, string] => [text, manifest.command[index] ?? ""]),
  ];
  return Object.fromEntries(found.flatMap(([text, value]) => {
    const name = ONE_REFERENCE.exec(text)?.[1];
    return name === undefined || value === "" ? [] : [[name, value]];
  }));
}
