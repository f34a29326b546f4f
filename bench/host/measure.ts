/**
 * Measures tool calls on the runtime that runs it and prints answers per second as JSON, by case and by way of calling.
 *
 * Usage: measure.ts <node> <rounds> <round in ms>
 *
 * @module
 */
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { createHost, detectRuntime, type Host } from "../../mod.ts";
import { checkArguments } from "../../src/core/tools/check_arguments.ts";
import { callParams } from "../../src/host/call_plugin.ts";
import { openRooms } from "../../src/host/host_rooms.ts";
import { startPlugins } from "../../src/host/start_plugins.ts";
import { openBare } from "../wire/bare.ts";
import { type Figures, measureCase } from "../wire/call_cases.ts";
import type { OpenHost } from "../wire/implementations.ts";

const [node = "node", rounds = "3", roundMs = "50"] = process.argv.slice(2);
const SERVER = fileURLToPath(new URL("echo_server.js", import.meta.url));
const ARGUMENTS = { query: "notes about the quick brown fox", limit: 10 };
const CASES = [1, 64, 512].map((inFlight) => ({ name: `${inFlight} in flight`, method: "", inFlight }));
const MANIFESTS = {
  "wire": `tools: [{ name: echo, description: Answers at once, parameters_schema: { type: object } }]
`,
  "mcp": "runtime: mcp_stdio\n",
};

const dir = realpathSync(mkdtempSync(join(tmpdir(), "kaged-bench-")));
try {
  await using host = await openHost();
  const figures = await measureAll(await openWays(host));
  if (trailBytes() === 0) throw new Error("The audit trail is empty: the calls were not audited");
  console.log(JSON.stringify(figures));
} finally {
  rmSync(dir, { recursive: true, force: true });
}
process.exit(0);

/** A host as an embedder makes it: caged plugins, audit to its file, no handler of any hook. */
async function openHost(): Promise<Host> {
  mkdirSync(join(dir, "home"), { mode: 0o700 });
  mkdirSync(join(dir, "project"));
  writeFileSync(join(dir, "home/config.toml"), `[runtimes]\nnode = ${JSON.stringify(node)}\n`);
  const plugins = Object.entries(MANIFESTS).map(([name, more]) => {
    mkdirSync(join(dir, name));
    copyFileSync(SERVER, join(dir, name, "main.mjs"));
    const head = `name: ${name}\nversion: 1.0.0\nkaged_api: 1\ndescription: Answers at once\n`;
    writeFileSync(
      join(dir, name, "kaged-plugin.yaml"),
      `${head}command: [node, ./main.mjs]\ncapabilities: []\n${more}`,
    );
    return [`@bench/${name}`, join(dir, name)] as const;
  });
  const declared = plugins.map(([name]) => `${name.slice("@bench/".length)}: { package: "${name}" }`).join(", ");
  writeFileSync(join(dir, "project/project.yaml"), `id: bench\nprimary: { plugins: { ${declared} } }\n`);
  const places = { project: join(dir, "project"), home: join(dir, "home"), plugins: Object.fromEntries(plugins) };
  const host = await createHost(places);
  const { failed } = await host.start();
  if (failed[0]) throw failed[0].error;
  return host;
}

/** Every way to call the echo tool; `bare` runs twice, and the difference between the two is noise. */
async function openWays(host: Host): Promise<[string, OpenHost][]> {
  const session = host.openSession();
  const ended = (): void => {};
  const bare = (): OpenHost => {
    const { child, call } = openBare(node, [SERVER]);
    const params = { name: "echo", arguments: ARGUMENTS };
    return { call: () => call("tools/call", params), close: () => void child.kill() };
  };
  return [
    ["ours", { call: () => session.callTool("mcp.echo", ARGUMENTS), close: ended }],
    ["ours, plugin wire", { call: () => session.callTool("wire.echo", ARGUMENTS), close: ended }],
    ["without the gate", await openUngated()],
    ["bare", bare()],
    ["mcp-sdk", await openSdk()],
    ["bare again", bare()],
  ];
}

/** The same call in the rooms of a host of its own, but for the walk: tool found, arguments checked, plugin called. */
async function openUngated(): Promise<OpenHost> {
  const runtime = await detectRuntime();
  const plugins = { "@bench/wire": join(dir, "wire"), "@bench/mcp": join(dir, "mcp") };
  const places = { runtime, home: join(dir, "home"), project: join(dir, "project"), plugins };
  const rooms = await openRooms(places, () => undefined as never);
  const { supervisor, audit, sessions, contextOf, callPlugin, store: { loaded } } = rooms;
  await startPlugins({ loaded, supervisor, audit, isFirst: true });
  const session = sessions.open();
  return {
    async call() {
      const tool = session.find("wire.echo");
      session.touch();
      await checkArguments(tool, ARGUMENTS);
      const context = contextOf("primary", session.id);
      return await callPlugin(tool.owner.instance, tool.name, callParams(ARGUMENTS, tool.owner.override), { context });
    },
    close: () => void supervisor.stopAll(),
  };
}

async function openSdk(): Promise<OpenHost> {
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
  const client = new Client({ name: "bench", version: "1.0.0" });
  await client.connect(new StdioClientTransport({ command: node, args: [SERVER], stderr: "ignore" }));
  return {
    call: () => client.callTool({ name: "echo", arguments: ARGUMENTS }),
    close: () => void client.close(),
  };
}

async function measureAll(ways: [string, OpenHost][]): Promise<Record<string, Figures>> {
  const effort = { rounds: Number(rounds), roundMs: Number(roundMs) };
  const figures: Record<string, Figures> = {};
  try {
    for (const kase of CASES) figures[kase.name] = await measureCase(kase, ways, effort);
  } finally {
    for (const [, way] of ways) way.close();
  }
  return figures;
}

function trailBytes(): number {
  const folder = join(dir, "home/calls");
  return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}
