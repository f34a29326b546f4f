/**
 * Runs a plugin that floods its stdout beside one that answers calls, and prints what that cost as JSON.
 *
 * Usage: measure.ts <node> <floods>
 *
 * @module
 */
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { createHost, detectRuntime } from "../../mod.ts";
import { readTrail } from "../../src/core/audit/read_trail.ts";
import { verifyTrail } from "../../src/core/audit/verify_trail.ts";
import { hostPlaces } from "../host_places.ts";

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
  /** Bytes of the lines about the plugin that floods, in both trails. Its sibling's calls are lines too. */
  readonly bytes: number;
  /** Whether the audit trail fits its chain. */
  readonly verified: boolean;
}

const [node = "node", floods = "2"] = process.argv.slice(2);
const PLUGINS = {
  flooder: { program: programAt("flood_plugin.js"), manifest: "capabilities: [kaged:storage:read]\n" },
  wire: {
    program: programAt("../host/echo_server.js"),
    manifest:
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
  const host = await createHost(hostPlaces({ dir, id: "flood", node }, PLUGINS));
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
    bytes: bytesAbout("flooder", join(dir, "home/audit")) + bytesAbout("flooder", join(dir, "home/calls")),
    verified: (await verifyTrail(place, files)).ok,
  };
}

/** Returns the bytes of the lines that trails in a folder have about a plugin. */
function bytesAbout(plugin: string, folder: string): number {
  const lines = readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), "utf8").split("\n"));
  return lines.filter((line) => line.includes(`"name":"${plugin}"`)).reduce((sum, line) => sum + line.length + 1, 0);
}

function programAt(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}
