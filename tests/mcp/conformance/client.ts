/**
 * The client that the official conformance suite drives: a host whose one plugin is the suite's server, used through its
 * public surface. The suite appends the server's address and names the scenario in the environment.
 *
 * @module
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createHost, detectRuntime, type Host, HostError } from "../../../mod.ts";
import { readManifest } from "../../../src/core/manifest/read_manifest.ts";
import { logIn } from "../../../src/core/remote/log_in.ts";
import { discoveringProxy } from "./discovering_proxy.ts";

/** Times that a person logs in again because the server asks for more; then the person gives up. */
const MAX_LOGINS = 3;

const scenario = process.env["MCP_CONFORMANCE_SCENARIO"] ?? "";
const context: Record<string, unknown> = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}");
const [given = ""] = process.argv.slice(2);

const runtime = await detectRuntime();
const root = await mkdtemp(join(tmpdir(), "kaged-conformance-"));
const [home, project, dir] = ["home", "project", "plugin"].map((name) => join(root, name)) as [string, string, string];

/** The mocks of these scenarios answer neither `server/discover` nor `initialize`. */
const IS_MUTE = /^(?:http-(?:standard|custom|invalid)|sep-2322-)/.test(scenario);

async function main(): Promise<void> {
  const proxy = IS_MUTE ? await discoveringProxy(given) : null;
  const url = proxy?.url ?? given;
  await writePlugin(url);
  try {
    await using host = await createHost({
      project,
      home,
      plugins: { "@suite/server": dir },
      control: false,
      mcp: { offers: ["elicitation", "sampling", "roots"], client: { elicit } },
    });
    await startLoggedIn(host);
    await act(host);
  } finally {
    await proxy?.close();
  }
}

/** A person who agrees to a form as it is filled in already, and says yes to the rest. */
function elicit(params: Readonly<Record<string, unknown>>): Promise<Record<string, unknown>> {
  const { properties = {} } = (params["requestedSchema"] ?? {}) as {
    properties?: Record<string, { default?: unknown }>;
  };
  const content = Object.entries(properties).map(([name, field]) => [name, field.default ?? true]);
  return Promise.resolve({ action: "accept", content: Object.fromEntries(content) });
}

async function writePlugin(url: string): Promise<void> {
  for (const folder of [home, project, dir]) await mkdir(folder, { mode: 0o700 });
  const { client_id, client_secret } = context;
  const isKnown = scenario === "auth/pre-registration";
  const manifest = {
    name: "server",
    version: "1.0.0",
    kaged_api: 1,
    description: "The server of the suite",
    runtime: "mcp_http",
    url,
    ...(isKnown && {
      system_config_schema: { type: "object", properties: { password: { type: "string" } } },
      secrets: { password: {} },
      oauth: { client_id, client_secret: "password" },
    }),
    ...(scenario === "auth/basic-cimd" &&
      { oauth: { client_metadata_url: "https://conformance-test.local/client-metadata.json" } }),
  };
  await writeFile(join(dir, "kaged-plugin.yaml"), JSON.stringify(manifest)); // JSON is YAML.
  const plugins = { server: { package: "@suite/server" } };
  await writeFile(join(project, "project.yaml"), JSON.stringify({ primary: { plugins } }));
  if (isKnown) {
    await writeFile(join(home, "local.toml"), `["@suite/server"]\npassword = ${JSON.stringify(client_secret)}\n`);
  }
}

/** Starts the host; where the server asks for a login, a person agrees, and the plugin is started again. */
async function startLoggedIn(host: Host): Promise<void> {
  const { failed: [failure] } = await host.start();
  let error: HostError | null = failure?.error ?? null;
  for (let logins = 0; error !== null; logins++) {
    if (error.code !== "mcp.login_needed" || logins === MAX_LOGINS) throw error;
    await login();
    error = await host.restart("server").then(() => null, (thrown) => thrown.cause ?? thrown);
  }
}

async function login(): Promise<void> {
  const { manifest } = await readManifest(dir, runtime.files);
  const clientSecret = typeof context["client_secret"] === "string" ? context["client_secret"] : undefined;
  const stop = new AbortController();
  await logIn({
    ...{ runtime, home, manifest, clientSecret, signal: stop.signal },
    // The suite's authorization endpoint agrees at once, and sends the browser back.
    onAddress(address) {
      void browse(address).catch((error) => stop.abort(error));
    },
  });
}

async function browse(address: string): Promise<void> {
  const response = await fetch(address, { redirect: "manual" });
  await response.body?.cancel();
  const location = response.headers.get("location");
  if (location === null) throw new Error(`The authorization endpoint answered ${response.status}`);
  await (await fetch(location)).text();
}

/** Calls a tool by the server's own name; where the server asks for a wider login, it gets one. */
async function call(host: Host, tool: string, args: Record<string, unknown> = {}): Promise<unknown> {
  const session = host.openSession();
  const name = `server.${tool.replace(/[^A-Za-z0-9_]/g, "_").toLowerCase()}`;
  for (let logins = 0;; logins++) {
    try {
      return await session.callTool(name, args);
    } catch (error) {
      const needed = error instanceof HostError && [error, error.cause].some((one) => {
        return one instanceof HostError && one.code === "mcp.login_needed";
      });
      if (!needed || logins === MAX_LOGINS) throw error;
      await login();
      if (host.plugins().some(({ state }) => state !== "running")) await host.restart("server");
    }
  }
}

/** Does what the scenario is about. */
async function act(host: Host): Promise<void> {
  const tools = host.tools("primary").map(({ name }) => name.replace("server.", ""));
  switch (scenario) {
    case "initialize":
    case "request-metadata":
    case "json-schema-ref-no-deref":
      return;
    case "tools_call":
      return void await call(host, "add_numbers", { a: 5, b: 3 });
    case "elicitation-sep1034-client-defaults":
      return void await call(host, "test_client_elicitation_defaults");
    case "sse-retry":
      return void await call(host, "test_reconnection");
    case "json-schema-2020-12-preservation": {
      const { parametersSchema } = host.tools("primary").find(({ name }) => name.endsWith("json_schema_2020_12_tool"))!;
      return void await call(host, "json_schema_echo", { schema: parametersSchema });
    }
    case "http-standard-headers":
      return await everyPart(host, tools);
    case "http-custom-headers":
      for (const { name, arguments: args } of context["toolCalls"] as { name: string; arguments: object }[]) {
        // The suite calls with null where the tool's own schema asks for a boolean, which the host refuses to send.
        const given = Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null));
        await call(host, name, given);
      }
      return;
    case "http-invalid-tool-headers":
      for (const tool of tools) await call(host, tool, { region: "us-west1" }).catch(() => {});
      return;
    case "sep-2322-client-request-state":
      for (const tool of ["echo_state", "no_state", "unrelated", "no_result_type"]) {
        await call(host, `test_mrtr_${tool}`).catch((error) => console.error(error));
      }
      return;
    default:
      if (tools.length > 0) await call(host, tools[0]!);
  }
}

async function everyPart(host: Host, tools: readonly string[]): Promise<void> {
  for (const tool of tools) await call(host, tool);
  const at = { agent: "primary", session: host.openSession().id };
  for (const { uri } of await host.mcp.resources("primary")) await host.mcp.readResource(uri, at);
  for (const { name } of await host.mcp.prompts("primary")) await host.mcp.getPrompt(name, {}, at);
}

try {
  await main();
} catch (error) {
  console.error(error);
  process.exitCode = 1;
} finally {
  await rm(root, { recursive: true, force: true });
}
process.exit();
