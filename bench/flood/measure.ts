/**
 * Runs a plugin that floods its stdout beside one that answers calls, and prints what that cost as JSON.
 *
 * Usage: measure.ts <node> <floods>
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
import { readTrail } from "../../src/core/audit/read_trail.ts";
import { verifyTrail } from "../../src/core/audit/verify_trail.ts";

/** The figures of one run. */
export interface FloodFigures {
  /** Median and longest time of a sibling's call while a flood ran, in ms, and how many calls there were. */
  readonly medianMs: number;
  readonly longestMs: number;
  readonly calls: number;
  /** Floods that the host ended. */
  readonly ended: number;
  /** Refusals before the floods that the trail still holds, one for each flood. */
  readonly denied: number;
  /** Bytes of both trails afterwards. */
  readonly bytes: number;
  /** Whether the audit trail fits its chain. */
  readonly verified: boolean;
}

const [node = "node", floods = "2"] = process.argv.slice(2);
const PLUGINS = {
  flooder: { program: new URL("flood_plugin.js", import.meta.url), more: "capabilities: [kaged:storage:read]\n" },
  wire: {
    program: new URL("../host/echo_server.js", import.meta.url),
    more:
      "capabilities: []\ntools: [{ name: echo, description: Answers at once, parameters_schema: { type: object } }]\n",
  },
};

const dir = realpathSync(mkdtempSync(join(tmpdir(), "kaged-flood-")));
try {
  console.log(JSON.stringify(await measure()));
} finally {
  rmSync(dir, { recursive: true, force: true });
}
process.exit(0);

async function measure(): Promise<FloodFigures> {
  const host = await openHost();
  let isFlooded = false;
  let ended = 0;
  host.onAudit(({ type, name }) => {
    if (name !== "flooder") return;
    if (type === "plugin.initialized") isFlooded = true;
    if (type === "plugin.crashed") isFlooded = false;
    if (type === "plugin.flood") ended++;
  });
  const times: number[] = [];
  await host.start();
  const session = host.openSession();
  while (ended < Number(floods)) {
    const startMs = performance.now();
    await session.callTool("wire.echo", {});
    if (isFlooded) times.push(performance.now() - startMs);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await host.stop();
  times.sort((a, b) => a - b);
  const { files } = await detectRuntime();
  const place = { home: join(dir, "home"), project: "flood" };
  const denied = await readTrail(place, { types: ["plugin.storage_denied"], plugin: "flooder" }, files);
  return {
    medianMs: times[times.length >> 1] ?? NaN,
    longestMs: times.at(-1) ?? NaN,
    calls: times.length,
    ended,
    denied: denied.events.length,
    bytes: bytesIn("audit") + bytesIn("calls"),
    verified: (await verifyTrail(place, files)).ok,
  };
}

async function openHost(): Promise<Host> {
  mkdirSync(join(dir, "home"), { mode: 0o700 });
  mkdirSync(join(dir, "project"));
  writeFileSync(join(dir, "home/config.toml"), `[runtimes]\nnode = ${JSON.stringify(node)}\n`);
  const plugins = Object.entries(PLUGINS).map(([name, { program, more }]) => {
    mkdirSync(join(dir, name));
    copyFileSync(fileURLToPath(program), join(dir, name, "main.mjs"));
    const head = `name: ${name}\nversion: 1.0.0\nkaged_api: 1\ndescription: Part of a benchmark\n`;
    writeFileSync(join(dir, name, "kaged-plugin.yaml"), `${head}command: [node, ./main.mjs]\n${more}`);
    return [`@bench/${name}`, join(dir, name)] as const;
  });
  const declared = plugins.map(([name]) => `${name.slice("@bench/".length)}: { package: "${name}" }`).join(", ");
  writeFileSync(join(dir, "project/project.yaml"), `id: flood\nprimary: { plugins: { ${declared} } }\n`);
  return await createHost({
    project: join(dir, "project"),
    home: join(dir, "home"),
    plugins: Object.fromEntries(plugins),
  });
}

function bytesIn(name: string): number {
  const folder = join(dir, "home", name);
  return readdirSync(folder).reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);
}
