/**
 * Checks `secrets:` of a manifest: each key is a field that the operator fills, and goes either to named hosts, through
 * the gatekeeper, or to the plugin itself.
 *
 * @module
 */
import type { DocumentReport } from "../documents/document_report.ts";
import type { DocumentPath } from "../documents/places.ts";
import { didYouMean } from "../values/nearest_word.ts";
import { isMap, mapOf } from "../values/plain_data.ts";
import { shown } from "../values/shown_value.ts";
import { type Capability, parseCapability } from "./capability.ts";
import type { ManifestSecret } from "./manifest.ts";
import type { RemoteTarget } from "./remote_rules.ts";

type Data = Record<string, unknown>;
type HostRule = Extract<Capability, { scope: "host" }>;

/** Every key of a secret, for hints. */
export const SECRET_KEYS: readonly (keyof ManifestSecret)[] = ["hosts", "env", "exposed", "header", "prefix"];

/**
 * Checks every secret against the schema, the environment and the capabilities, which are in canonical form. Returns
 * the secrets with their hosts in one spelling; undefined when there are none.
 */
export function checkSecrets(
  data: Data,
  { capabilities, remote }: { readonly capabilities: readonly string[]; readonly remote: RemoteTarget | null },
  report: DocumentReport,
): Record<string, ManifestSecret> | undefined {
  const secrets = mapOf(data, "secrets");
  const fields = mapOf(mapOf(data, "system_config_schema"), "properties");
  const variables = new Set(Object.keys(mapOf(data, "env")));
  for (const [name, secret] of Object.entries(secrets)) {
    if (!isMap(secret)) continue;
    const path = ["secrets", name];
    checkField(name, fields, report);
    if (data.runtime === "mcp_http") checkSent(name, secret, { data, report });
    else checkKind(secret, path, report);
    if (typeof secret.env !== "string") continue;
    if (variables.has(secret.env)) {
      const message = `The variable ${shown(secret.env)} has another value already`;
      report.error("manifest.secret_env_taken", [...path, "env"], { message });
    }
    variables.add(secret.env);
  }
  if (data.runtime === "mcp_stdio") checkServer(secrets, fields, report);
  if (data.runtime === "mcp_http") checkUnsent(secrets, fields, report);
  const checked = Object.entries(secrets).map(([name, secret]) => {
    const hosts = remote
      ? [`${remote.host}:${remote.port}`]
      : boundHosts(secret, ["secrets", name, "hosts"], { capabilities, report });
    return [name, { ...secret as ManifestSecret, ...(hosts && { hosts }) }] as const;
  });
  return checked.length === 0 ? undefined : Object.fromEntries(checked);
}

function checkField(name: string, fields: Data, report: DocumentReport): void {
  const path = ["secrets", name];
  const names = Object.keys(fields);
  if (!Object.hasOwn(fields, name)) {
    const message = `${shown(name)} is no field of system_config_schema`;
    const hint = didYouMean(name, names, "Declare it there, so that the operator can set it");
    return report.error("manifest.unknown_secret", path, { message, hint, part: "key" });
  }
  const field = fields[name];
  if (isMap(field) && field.type === "string") return;
  const message = `Field ${shown(name)} of system_config_schema is not of type string`;
  report.error("manifest.secret_not_text", path, { message, part: "key" });
}

/** A secret of a server elsewhere goes to that server, in a field of each request, or is the password of the login. */
function checkSent(
  name: string,
  { header, prefix, ...others }: Data,
  { data, report }: { readonly data: Data; readonly report: DocumentReport },
): void {
  const path = ["secrets", name];
  for (const field of Object.keys(others)) {
    const message = `${shown(field)} is of a plugin that runs here: a secret goes to the server at url alone`;
    report.error("manifest.mcp_contradiction", [...path, field], { message, part: "key" });
  }
  const isPassword = mapOf(data, "oauth").client_secret === name;
  if ((header !== undefined) !== isPassword && (prefix === undefined || header !== undefined)) return;
  const message = isPassword && header !== undefined
    ? "It is both the password of the login and a field of requests"
    : "It has no header, and is not the client_secret of oauth";
  report.error("manifest.secret_kind", path, { message, hint: "Write header: Authorization", part: "key" });
}

function checkKind({ hosts, exposed, header, prefix }: Data, path: DocumentPath, report: DocumentReport): void {
  if (header !== undefined || prefix !== undefined) {
    const message = "header and prefix are of a server elsewhere, which runtime: mcp_http is for";
    return report.error("manifest.mcp_contradiction", path, { message, part: "key" });
  }
  const isBound = hosts !== undefined;
  if (isBound !== (exposed !== undefined)) return;
  const message = isBound ? "It has both hosts and exposed" : "It has neither hosts nor exposed: true";
  report.error("manifest.secret_kind", path, { message, part: "key" });
}

/** An MCP server takes no config: a variable is the only way by which a value reaches it. */
function checkServer(secrets: Data, fields: Data, report: DocumentReport): void {
  for (const name of Object.keys(fields)) {
    const secret = secrets[name];
    if (isMap(secret) && secret.env !== undefined) continue;
    const path = isMap(secret) ? ["secrets", name] : ["system_config_schema", "properties", name];
    const message = `An MCP server takes no config: ${shown(name)} reaches it only as a variable`;
    const hint = `Name the variable: secrets: { ${name}: { …, env: ${name.toUpperCase()} } }`;
    report.error("manifest.mcp_contradiction", path, { message, hint, part: "key" });
  }
}

/** A server elsewhere takes no config either: a field of a request is the only way. */
function checkUnsent(secrets: Data, fields: Data, report: DocumentReport): void {
  for (const name of Object.keys(fields).filter((one) => !Object.hasOwn(secrets, one))) {
    const message = `An MCP server takes no config: ${shown(name)} reaches it only in a field of requests`;
    const hint = `Name the field: secrets: { ${name}: { header: Authorization, prefix: "Bearer " } }`;
    report.error("manifest.mcp_contradiction", ["system_config_schema", "properties", name], {
      message,
      hint,
      part: "key",
    });
  }
}

/** Returns the hosts of a secret in canonical form; each must be granted, and the gatekeeper must stand before it. */
function boundHosts(
  secret: unknown,
  path: DocumentPath,
  { capabilities, report }: { readonly capabilities: readonly string[]; readonly report: DocumentReport },
): string[] | null {
  const hosts = isMap(secret) ? secret.hosts : undefined;
  if (!Array.isArray(hosts)) return null;
  if (capabilities.includes("net:*")) {
    report.error("manifest.secret_open_network", path, { part: "key" });
    return null;
  }
  return [...new Set(hosts.map((host, index) => boundHost(host, [...path, index], { capabilities, report })))];
}

function boundHost(
  text: unknown,
  path: DocumentPath,
  { capabilities, report }: { readonly capabilities: readonly string[]; readonly report: DocumentReport },
): string {
  if (typeof text !== "string") return ""; // The check of its shape has reported it.
  const result = parseCapability(`net:${text}`);
  const asked = result.ok ? result.capability as HostRule : null;
  if (asked?.scope !== "host" || asked.port === "*") {
    const hint = result.ok ? "Name one host and one port, such as api.example.org:443" : result.problem.hint;
    const message = `${shown(text)} is no host with its port`;
    report.error("manifest.invalid_secret_host", path, { message, hint: hint!.replace("net:", "") });
    return "";
  }
  const host = `${asked.host}:${asked.port}`;
  if (!capabilities.includes(`net:${host}`) && !capabilities.includes(`net:${asked.host}:*`)) {
    const message = `No capability lets the plugin connect to ${host}`;
    report.error("manifest.secret_host_not_granted", path, { message, hint: `Add net:${host} to capabilities` });
  }
  return host;
}

/** Splits a host of a checked manifest: `[::1]:443` → `[::1]` and 443. */
export function hostAndPort(text: string): { readonly host: string; readonly port: number } {
  const colon = text.lastIndexOf(":");
  return { host: text.slice(0, colon), port: Number(text.slice(colon + 1)) };
}

/** Words in the names of fields that hold credentials. */
const CREDENTIAL =
  /(?:^|_)(?:(?:api|access|private|secret|signing|auth)_?key|key|token|secret|password|passwd|passphrase|pat|credentials?|auth)(?:$|_)/;

/** Returns the fields of system_config_schema that look like credentials and that `secrets` does not list. */
export function unlistedCredentials(
  { system_config_schema: schema, secrets = {} }: {
    readonly system_config_schema?: object;
    readonly secrets?: Readonly<Record<string, ManifestSecret>>;
  },
): string[] {
  return Object.keys(mapOf({ ...schema }, "properties")).filter((name) => {
    const words = name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, "_").toLowerCase().replaceAll("-", "_");
    return !Object.hasOwn(secrets, name) && CREDENTIAL.test(words);
  });
}
