/**
 * The handshake: initialize → checks → config.update → initialized. The only order in which a plugin comes alive.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import { excessCapabilities } from "../manifest/capability_set.ts";
import { askedCapabilities } from "../manifest/withheld.ts";
import type { Manifest } from "../manifest/manifest.ts";
import type { Connection } from "../wire/connection_types.ts";
import { isMap } from "../values/plain_data.ts";
import { API_VERSION, HOST_VERSION } from "../values/version.ts";
import type { HandshakeOptions, PluginProfile } from "./dialect.ts";

/** Longest the plugin may take for each step. */
export const HANDSHAKE_TIMEOUT_MS: number = 10_000;

/** Shakes hands. Rejects with `initialize.*`, `plugin.config_invalid` or what ended the connection. */
export async function shakeHands(
  connection: Connection,
  manifest: Manifest,
  options: HandshakeOptions,
): Promise<PluginProfile> {
  const { config, kindMethods, beforeConfig, onInitialized } = options;
  const answer = await handshakeStep(connection, "initialize", initializeParams(manifest, options));
  const profile = checkInitializeResult(answer, manifest, kindMethods?.(manifest));
  connection.features = new Set(profile.features);
  await beforeConfig();
  const configTaken = await sendConfig(connection, config);
  connection.notify("initialized", {});
  onInitialized();
  return { ...profile, configIgnored: !configTaken && Object.keys(config).length > 0 };
}

/** Returns the params of `initialize`, with the capabilities that the plugin has. A plugin without a capability for storage has none, whatever the host offers. */
export function initializeParams(
  { name, capabilities }: Manifest,
  { projects, storageAvailable }: Pick<HandshakeOptions, "projects" | "storageAvailable">,
): Readonly<Record<string, unknown>> {
  return {
    daemon_version: HOST_VERSION,
    api_version: API_VERSION,
    plugin_name: name,
    capabilities,
    storage_available: storageAvailable && capabilities.some((one) => one.startsWith("kaged:storage:")),
    projects,
  };
}

/**
 * Sends `config.update`. Returns false when the plugin does not know the method: it takes no config, which is fine as
 * long as there is none. Rejects with `plugin.config_invalid` when it refuses the config.
 */
export async function sendConfig(
  connection: Connection,
  config: Readonly<Record<string, unknown>>,
): Promise<boolean> {
  try {
    await connection.call("config.update", config, { timeoutMs: HANDSHAKE_TIMEOUT_MS });
    return true;
  } catch (error) {
    if (error instanceof HostError && error.rpc === -32601) return false;
    throw error;
  }
}

/** Sends one request of a handshake. Rejects with `initialize.timeout`, `initialize.refused` or what ended the connection. */
export async function handshakeStep(
  connection: Pick<Connection, "call" | "closed">,
  method: string,
  params: Readonly<Record<string, unknown>>,
  timeoutMs: number = HANDSHAKE_TIMEOUT_MS,
): Promise<unknown> {
  try {
    return await connection.call(method, params, { timeoutMs });
  } catch (error) {
    if (!(error instanceof HostError) || connection.closed || error.code.startsWith("mcp.")) throw error;
    if (error.code === "protocol.timeout") {
      throw new HostError("initialize.timeout", `No answer to "${method}" within ${Math.round(timeoutMs)} ms`, {
        cause: error,
        data: { timeout_ms: Math.round(timeoutMs) },
        hint: `Answer ${method} before any slow start-up work`,
      });
    }
    throw new HostError("initialize.refused", `The plugin answered "${method}" with ${error.rpc}: ${error.message}`, {
      cause: error,
      data: { code: error.rpc, message: error.message },
    });
  }
}

/**
 * Compares a plugin's answer to `initialize` with its manifest; `kindMethods` may be offered beside those it declares.
 *
 * @throws {HostError} `initialize.malformed`, `.name_mismatch`, `.version_mismatch`, `.api_mismatch` or
 * `.capability_overreach`.
 */
export function checkInitializeResult(
  answer: unknown,
  manifest: Manifest,
  kindMethods: readonly string[] = [],
): PluginProfile {
  if (!isMap(answer)) throw malformed("the result is no object");
  const { name, version, api_version: api } = answer;
  for (const [field, value] of Object.entries({ name, version })) {
    if (typeof value !== "string") throw malformed(`"${field}" is no string`);
  }
  if (!Number.isInteger(api)) throw malformed('"api_version" is no integer');
  if (name !== manifest.name) throw mismatch("name", name, manifest.name);
  if (version !== manifest.version) throw mismatch("version", version, manifest.version);
  if (api !== API_VERSION) throw mismatch("api", api, API_VERSION);

  const reported = strings(answer, "methods");
  strings(answer, "notifications");
  // A plugin may claim what the operator withheld: its author wrote the list, and it gets nothing by it. It may also
  // repeat the list that it was sent, hosts that the operator added included.
  const asked = [...askedCapabilities(manifest), ...manifest.added ?? []];
  const overreach = excessCapabilities(strings(answer, "capabilities_used"), asked) as string[];
  if (overreach.length > 0) {
    throw new HostError("initialize.capability_overreach", `The plugin claims "${overreach.join('", "')}"`, {
      data: { claimed: overreach, allowed: asked },
      hint: "Declare them in kaged-plugin.yaml, or do not claim them",
    });
  }
  const declared = new Set([...manifest.methods, ...kindMethods]);
  const tools = manifest.tools.map((tool) => `${manifest.name}.${tool.name}`);
  const hooks = manifest.hooks.map((hook) => `kaged.hook.${hook}`);
  const known = new Set(reported);
  const methods = [...declared].filter((method) => known.has(method));
  const expected = new Set([...declared, ...tools, ...hooks]);
  return {
    callable: new Set([...methods, ...tools, ...hooks]),
    methods,
    features: strings(answer, "features"),
    ...projectsWay(answer),
    missing: manifest.methods.filter((method) => !known.has(method)),
    undeclared: reported.filter((method) => !expected.has(method)),
    configIgnored: false,
  };
}

/** A request can be refused by a plugin that does not know it; to a notification some would answer with a broken line. */
function projectsWay(answer: Record<string, unknown>): Pick<PluginProfile, "projects"> {
  if (answer["features"] === undefined) return { projects: "asked" };
  return strings(answer, "features").includes("projects") ? { projects: "notified" } : {};
}

function strings(result: Record<string, unknown>, field: string): string[] {
  const value = result[field] ?? [];
  if (!Array.isArray(value) || !value.every((item) => typeof item === "string")) {
    throw malformed(`"${field}" is no list of strings`);
  }
  return value;
}

function malformed(reason: string): HostError {
  return new HostError("initialize.malformed", `The answer to initialize is malformed: ${reason}`, {
    data: { reason },
    hint: "Answer with name, version, api_version, methods, notifications and capabilities_used",
  });
}

function mismatch(field: "name" | "version" | "api", claimed: unknown, expected: unknown): HostError {
  const what = field === "api" ? "API version" : field;
  return new HostError(`initialize.${field}_mismatch`, `The ${what} is "${claimed}" but must be "${expected}"`, {
    data: { claimed, expected },
    hint: field === "api" ? "Build the plugin for this API version" : `Use one ${field} in manifest and plugin`,
  });
}
