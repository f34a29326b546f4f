/**
 * Measures tool calls on the runtime that runs it and prints JSON: answers per second by case and by way of calling, and
 * the processor time of a call with the gate and without it.
 *
 * Usage: measure.ts <node> <rounds> <round in ms> <rounds of processor time>
 *
 * @module
 */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { createHost, detectRuntime, type Host } from "../../mod.ts";
import { surelyFit } from "../../src/core/tools/check_arguments.ts";
import type { CallEnd } from "../../src/core/wire/connection_types.ts";
import { callParams } from "../../src/host/call_plugin.ts";
import { openRooms } from "../../src/host/host_rooms.ts";
import { startPlugins } from "../../src/host/start_plugins.ts";
import { bytesIn, hostPlaces } from "../host_places.ts";
import { openBare } from "../wire/bare.ts";
import { type Figures, measureCase } from "../wire/call_cases.ts";
import type { OpenHost } from "../wire/implementations.ts";
import { type HostFigures, processorTimes, UNGATED } from "./gate_cost.ts";

const [node = "node", rounds = "3", roundMs = "50", gateRounds = "10"] = process.argv.slice(2);
const pathOf = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
const SERVER = pathOf("echo_server.js");
const ARGUMENTS = { query: "notes about the quick brown fox", limit: 10 };
const CASES = [1, 64, 512].map((inFlight) => ({ name: `${inFlight} in flight`, method: "", inFlight }));
const TOOLS = "tools: [{ name: echo, description: Answers at once, parameters_schema: { type: object } }]\n";
const PLUGINS = {
  wire: { program: SERVER, manifest: `capabilities: []\n${TOOLS}` },
  sdk: {
    program: pathOf("sdk_plugin.js"),
    beside: [pathOf("../../sdk/javascript/kaged_sdk.js")],
    manifest: `capabilities: []\n${TOOLS}`,
  },
  mcp: { program: SERVER, manifest: "capabilities: []\nruntime: mcp_stdio\n" },
};

/** The end of a call that no gate made. */
const PLAIN_END: CallEnd = {
  ok: (output) => ({ output }),
  failed: (error) => {
    throw error;
  },
};

const dir = realpathSync(mkdtempSync(join(tmpdir(), "kaged-bench-")));
const places = hostPlaces({ dir, id: "bench", node }, PLUGINS);
try {
  await using host = await openHost();
  const figures: HostFigures = { processor: await measureGate(), rates: await measureAll(await openWays(host)) };
  if (bytesIn(join(dir, "home/calls")) === 0) throw new Error("The audit trail is empty: the calls were not audited");
  console.log(JSON.stringify(figures));
} finally {
  rmSync(dir, { recursive: true, force: true });
}
process.exit(0);

/** A host as an embedder makes it: caged plugins, audit to its file, no handler of any hook. */
async function openHost(): Promise<Host> {
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
    ["ours, SDK plugin", { call: () => session.callTool("sdk.echo", ARGUMENTS), close: ended }],
    ["bare", bare()],
    ["mcp-sdk", await openSdk(SERVER)],
    ["mcp-sdk, its own server", await openSdk(pathOf("sdk_server.js"))],
    ["bare again", bare()],
  ];
}

/** The official client; `server` is a program that speaks MCP. */
async function openSdk(server: string): Promise<OpenHost> {
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
  const client = new Client({ name: "bench", version: "1.0.0" });
  await client.connect(new StdioClientTransport({ command: node, args: [server], stderr: "ignore" }));
  return {
    call: () => client.callTool({ name: "echo", arguments: ARGUMENTS }),
    close: () => void client.close(),
  };
}

/**
 * One tool of one plugin, called through the gate and without it: tool found, arguments checked, plugin called, with one
 * promise for the whole way as the gate has it. The latter runs twice, and the difference between the two is noise.
 */
async function measureGate(): Promise<Record<string, Figures>> {
  const runtime = await detectRuntime();
  const { supervisor, failedReloads, audit, sessions, contextOf, callPlugin, store } = await openRooms({
    runtime,
    ...places,
  }, () => {
    throw new Error("Nothing here asks for the host");
  });
  const { signal } = new AbortController();
  await startPlugins({ loaded: store.loaded, supervisor, failedReloads, audit, isFirst: true, signal });
  const session = sessions.open();
  const gated = () => session.callTool("wire.echo", ARGUMENTS);
  const ungated = (): Promise<unknown> => {
    const tool = session.find("wire.echo");
    session.touch();
    if (!surelyFit(tool, ARGUMENTS)) throw new Error("The arguments do not fit");
    const { name, owner: { instance, override } } = tool;
    const options = { context: contextOf("primary", session.id) };
    return callPlugin(instance, name, callParams(ARGUMENTS, override), options, PLAIN_END);
  };
  const ways = { ours: gated, [UNGATED]: ungated, [`${UNGATED} again`]: ungated };
  const figures: Record<string, Figures> = {};
  try {
    for (const inFlight of [64, 512]) {
      figures[`${inFlight} in flight`] = await processorTimes(ways, inFlight, Number(gateRounds));
    }
  } finally {
    await supervisor.stopAll();
  }
  return figures;
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
