/**
 * A project of many plugins on demand beside the same project with five: a process of its own, which prints the figures
 * of its runtime as JSON.
 *
 * @module
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createHost, type Host } from "../../mod.ts";

/** With `agents`, a process that only holds a project of so many, and prints its memory. */
const [rounds = "5", node = process.execPath, agents] = process.argv.slice(2);
const PLUGINS = 5;
const AGENTS = 200;
/** Answers the handshake and every call. */
const PROGRAM = `import { createInterface } from "node:readline";
const handshake = { name: process.argv[2], version: "1.0.0", api_version: 1, methods: [], notifications: [], capabilities_used: [] };
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  if (method === "shutdown") process.exit(0);
  if (id === undefined) return;
  const result = method === "initialize" ? handshake : method === "ping" ? { status: "ok" } : {};
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
});
`;

const root = mkdtempSync(join(tmpdir(), "kaged-demand-"));
try {
  const folders = pluginFolders();
  if (agents !== undefined) {
    console.log(JSON.stringify(await memoryHeld(places("held", folders, Number(agents), "on_demand"))));
    rmSync(root, { recursive: true, force: true });
    process.exit();
  }
  const small = places("small", folders, 1, "on_demand");
  const again = places("again", folders, 1, "on_demand");
  const large = places("large", folders, AGENTS, "on_demand");
  const eager = places("eager", folders, 1, "eager");
  const starts = await startTimes({ small, again, large });
  const first = await firstCalls(small, eager);
  console.log(JSON.stringify({ ...starts, ...first }));
} finally {
  rmSync(root, { recursive: true, force: true });
}

type Places = Parameters<typeof createHost>[0];

function pluginFolders(): Record<string, string> {
  const names = Array.from({ length: PLUGINS }, (_, at) => `part${at}`);
  return Object.fromEntries(names.map((name) => {
    const dir = join(root, name);
    mkdirSync(dir);
    writeFileSync(join(dir, "main.mjs"), PROGRAM);
    const tools = ["find", "keep"].map((tool) => ({
      name: tool,
      description: `Can ${tool}`,
      parameters_schema: { type: "object", properties: { query: { type: "string" } } },
    }));
    const schema = { type: "object", properties: { depth: { type: "integer", default: 3 } } };
    const manifest = {
      name,
      version: "1.0.0",
      kaged_api: 1,
      description: "Part of a benchmark",
      command: ["node", "./main.mjs", name],
      capabilities: [],
      tools,
      config_schema: schema,
    };
    writeFileSync(join(dir, "kaged-plugin.yaml"), JSON.stringify(manifest));
    return [`@bench/${name}`, dir];
  }));
}

/** Writes a project in which each of so many agents has every plugin for itself. */
function places(id: string, plugins: Record<string, string>, agents: number, start: string): Places {
  const [project, home] = [join(root, id), join(root, `${id}-home`)];
  mkdirSync(project);
  mkdirSync(home, { mode: 0o700 });
  writeFileSync(
    join(home, "config.toml"),
    `[runtimes]\nnode = ${JSON.stringify(node)}\n[plugins]\nstart = "${start}"\n`,
  );
  const declared = Object.fromEntries(
    Object.keys(plugins).map((pkg) => [pkg.slice("@bench/".length), { package: pkg, config: { depth: 4 } }]),
  );
  const subagents = Object.fromEntries(
    Array.from({ length: agents - 1 }, (_, at) => [`agent${at}`, { plugins: declared }]),
  );
  writeFileSync(join(project, "project.yaml"), JSON.stringify({ id, primary: { plugins: declared, subagents } }));
  return { project, home, plugins };
}

/** Milliseconds of `createHost()` and of `host.start()`, in turns; the first round only warms up. */
async function startTimes(all: Readonly<Record<string, Places>>): Promise<Record<string, Record<string, number>>> {
  const creates: Record<string, number[]> = {};
  const starts: Record<string, number[]> = {};
  for (let round = 0; round <= Number(rounds); round++) {
    for (const [name, options] of Object.entries(all)) {
      collect();
      const beganMs = performance.now();
      const host = await createHost(options);
      const createdMs = performance.now();
      const { resting, running, failed } = await host.start();
      const startedMs = performance.now();
      if (running.length + failed.length > 0) throw new Error(`${name}: not all rest: ${failed[0]?.error.message}`);
      if (resting.length % PLUGINS !== 0) throw new Error(`${name}: ${resting.length} rest`);
      await host.stop();
      if (round === 0) continue;
      (creates[name] ??= []).push(createdMs - beganMs);
      (starts[name] ??= []).push(startedMs - createdMs);
    }
  }
  return { start: medians(starts), create: medians(creates) };
}

/** Milliseconds of the first call of a plugin that rests, beside those that a host with one eager plugin takes to start. */
async function firstCalls(small: Places, eager: Places): Promise<Record<string, Record<string, number>>> {
  const times: Record<string, number[]> = {};
  for (let round = 0; round <= Number(rounds); round++) {
    await timed(small, "first call", async (host) => {
      await host.start();
      return async () => void await host.callMethod("part0", "ping");
    });
    await timed(eager, "eager start", (host) => Promise.resolve(async () => void await host.start()));
  }
  return { first: medians(times) };

  async function timed(
    options: Places,
    name: string,
    ready: (host: Host) => Promise<() => Promise<void>>,
  ): Promise<void> {
    const host = await createHost(name === "eager start" ? { ...options, project: oneOf(options) } : options);
    const run = await ready(host);
    const beganMs = performance.now();
    await run();
    (times[name] ??= []).push(performance.now() - beganMs);
    await host.stop();
  }
}

/** Returns the folder of a project with the first plugin alone. */
function oneOf({ project }: Places): string {
  const dir = `${project}-one`;
  mkdirSync(dir, { recursive: true });
  const plugins = { part0: { package: "@bench/part0", config: { depth: 4 } } };
  writeFileSync(join(dir, "project.yaml"), JSON.stringify({ id: "one", primary: { plugins } }));
  return dir;
}

/** KiB of heap and of resident memory that a process holds once a host with so many agents has started. */
async function memoryHeld(options: Places): Promise<Record<string, number>> {
  const host = await createHost(options);
  await host.start();
  for (let times = 0; times < 3; times++) collect();
  const { heapUsed: heap, rss } = process.memoryUsage();
  await host.stop();
  return { heap: heap / 1024, rss: rss / 1024 };
}

function collect(): void {
  const { gc, Bun } = globalThis as { gc?: () => void; Bun?: { gc(sync: boolean): void } };
  if (Bun) Bun.gc(true);
  else gc?.();
}

function medians(all: Record<string, number[]>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(all).map(([name, times]) => [name, times.toSorted((a, b) => a - b)[times.length >> 1]!]),
  );
}
