/**
 * Measures one MCP server on the runtime that runs this, and prints JSON: the time from nothing to its first list of
 * tools, and calls per second, in its cage through a host and through `kaged mcp`, and uncaged with the official clients.
 *
 * Usage: measure.ts <node> <bundle of the server> <starts> <rounds> <round in ms>
 *
 * @module
 */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { createHost } from "../../mod.ts";
import { bytesIn, hostPlaces } from "../host_places.ts";
import { type Figures, measureCase } from "../wire/call_cases.ts";
import type { OpenHost } from "../wire/implementations.ts";

const [node = "node", bundle = "", starts = "3", rounds = "3", roundMs = "50"] = process.argv.slice(2);
const BIN = fileURLToPath(new URL("../../src/cli/bin.ts", import.meta.url));
const CONFIG = fileURLToPath(new URL("../../deno.json", import.meta.url));
const ENV = { PATH: "/usr/local/bin:/usr/bin:/bin" };
const ARGUMENTS = { message: "notes about the quick brown fox" };
const CASES = [1, 64].map((inFlight) => ({ name: `${inFlight} in flight`, method: "", inFlight }));

/** Figures of one runtime. */
export interface McpFigures {
  /** Milliseconds to the first list of tools, by way. */
  readonly start: Figures;
  /** Calls per second by case, by way. */
  readonly rates: Readonly<Record<string, Figures>>;
}

/** A server that has listed its tools. */
interface Way extends OpenHost {
  close(): Promise<void>;
}

const dir = realpathSync(mkdtempSync(join(tmpdir(), "kaged-bench-")));
const places = hostPlaces({ dir, id: "bench", node }, {
  everything: { program: bundle, manifest: "capabilities: []\nruntime: mcp_stdio\n" },
});
const SERVER = { command: node, args: [join(dir, "everything/main.mjs")] };
/** Every way to use the server; the first client runs twice, and the difference between the two is noise. */
const WAYS: Readonly<Record<string, () => Promise<Way>>> = {
  ours: openHost,
  "kaged mcp": () => openSdk1(kagedMcp(), "everything__echo"),
  "sdk 1": () => openSdk1(SERVER),
  "sdk 2": openSdk2,
  "sdk 1 again": () => openSdk1(SERVER),
};

try {
  const figures: McpFigures = { start: await measureStarts(), rates: await measureRates() };
  if (bytesIn(join(dir, "home/calls")) === 0) throw new Error("The audit trail is empty: the calls were not audited");
  console.log(JSON.stringify(figures));
} finally {
  rmSync(dir, { recursive: true, force: true });
}
process.exit(0);

/** A host as an embedder makes it: the server in its cage, audit to its file, the gate before every call. */
async function openHost(): Promise<Way> {
  const host = await createHost({ ...places, control: false });
  const { failed } = await host.start();
  if (failed[0]) throw failed[0].error;
  if (host.tools("primary").length === 0) throw new Error("The server has no tools");
  const session = host.openSession();
  return { call: () => session.callTool("everything.echo", ARGUMENTS), close: () => host.stop() };
}

interface Command {
  readonly command: string;
  readonly args: readonly string[];
}

/** `kaged mcp` on this runtime. */
function kagedMcp(): Command {
  const before = process.versions["deno"]
    ? ["run", "-A", "--quiet", "--no-lock", "--no-check", "--config", CONFIG, BIN]
    : process.versions["bun"]
    ? ["--config=/dev/null", "--no-env-file", "--no-install", BIN]
    : ["--disable-warning=ExperimentalWarning", BIN];
  const plugins = Object.entries(places.plugins).flatMap(([pkg, folder]) => ["--plugin", `${pkg}=${folder}`]);
  const own = ["mcp", "--project", places.project, "--home", places.home, ...plugins, "--quiet", "--no-hooks"];
  return { command: process.execPath, args: [...before, ...own] };
}

async function openSdk1({ command, args }: Command, tool = "echo"): Promise<Way> {
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
  const client = new Client({ name: "bench", version: "1.0.0" });
  await client.connect(new StdioClientTransport({ command, args: [...args], env: ENV, stderr: "ignore" }));
  return await listed(client, tool);
}

async function openSdk2(): Promise<Way> {
  const { Client } = await import("@modelcontextprotocol/client");
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  const client = new Client({ name: "bench", version: "1.0.0" });
  await client.connect(new StdioClientTransport({ ...SERVER, env: ENV, stderr: "ignore" }));
  return await listed(client, "echo");
}

/** The part of both clients that is used here. */
interface SdkClient {
  listTools(): Promise<{ readonly tools: readonly { readonly name: string }[] }>;
  callTool(params: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  close(): Promise<void>;
}

async function listed(client: SdkClient, name: string): Promise<Way> {
  const { tools } = await client.listTools();
  if (!tools.some((tool) => tool.name === name)) throw new Error(`The server does not list ${name}`);
  return { call: () => client.callTool({ name, arguments: ARGUMENTS }), close: () => client.close() };
}

/** Each way in turn, round by round; the best of each counts. The first round loads code and is left out. */
async function measureStarts(): Promise<Figures> {
  const best: Figures = {};
  const ways = Object.entries(WAYS);
  for (let round = 0; round <= Number(starts); round++) {
    for (let turn = 0; turn < ways.length; turn++) {
      const [name, open] = ways[(round + turn) % ways.length]!;
      const startedMs = performance.now();
      const way = await open();
      const tookMs = performance.now() - startedMs;
      await way.close();
      if (round > 0) best[name] = Math.min(best[name] ?? Infinity, tookMs);
    }
  }
  return best;
}

async function measureRates(): Promise<Record<string, Figures>> {
  const ways: [string, Way][] = [];
  for (const [name, open] of Object.entries(WAYS)) ways.push([name, await open()]);
  const figures: Record<string, Figures> = {};
  for (const kase of CASES) {
    figures[kase.name] = await measureCase(kase, ways, { rounds: Number(rounds), roundMs: Number(roundMs) });
  }
  for (const [, way] of ways) await way.close();
  return figures;
}
