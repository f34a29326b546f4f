/**
 * Measures calls on the runtime that runs it, and prints answers per second as JSON: `host.ts <node> <rounds> <seconds>`.
 *
 * @module
 */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { Hono } from "hono";
import { createHost, detectRuntime } from "../../mod.ts";
import { SDK_JS } from "../../src/cli/generated/sdk_source.ts";
import { serveHost } from "../../src/http/serve_host.ts";

const [node = "", rounds = "3", seconds = "1"] = process.argv.slice(2);
const CLIENT = fileURLToPath(new URL("client.ts", import.meta.url));
const AT_ONCE = 16;
const PLUGIN = `
import { createPlugin } from "./kaged_sdk.js";
createPlugin({ name: "bench", version: "0.1.0", methods: { "bench.echo": (params) => params } }).start();
`;
const MANIFEST = `name: bench
version: 0.1.0
kaged_api: 1
description: Answers with what it is asked
command: [node, ./main.mjs]
capabilities: []
methods: [bench.echo]
`;
const runtime = await detectRuntime();
const dir = realpathSync(mkdtempSync(join(tmpdir(), "kaged-bench-")));
for (const name of ["plugin", "project", "home"]) mkdirSync(join(dir, name), { mode: 0o700 });
for (
  const [path, text] of Object.entries({
    "plugin/main.mjs": PLUGIN,
    "plugin/kaged_sdk.js": SDK_JS,
    "plugin/kaged-plugin.yaml": MANIFEST,
    "project/project.yaml": 'id: bench\nprimary: { plugins: { bench: { package: "@bench/bench" } } }\n',
    "home/config.toml": `[runtimes]\nnode = ${JSON.stringify(node)}\n`,
  })
) writeFileSync(join(dir, path), text);

try {
  await using host = await createHost({
    runtime,
    project: join(dir, "project"),
    home: join(dir, "home"),
    plugins: { "@bench/bench": join(dir, "plugin") },
  });
  const { failed } = await host.start();
  if (failed[0]) throw failed[0].error;
  const served = await serveHost({ host, runtime, port: 0, callsPerSecond: 1_000_000 });
  const hono = new Hono().post("/call", async (c) => c.json({ result: await c.req.json() }));
  const bare = await runtime.http.listen({
    at: { hostname: "127.0.0.1", port: 0 },
    handler: async (request) => await hono.fetch(request),
  });
  const { port } = new URL(served.address);
  const over = async (at: string, path: string): Promise<number> => {
    const { stdout } = await promisify(execFile)(node, [CLIENT, at, path, served.token, seconds]);
    return Number(stdout);
  };
  const cases: Record<string, () => Promise<number>> = {
    "over HTTP": () => over(port, "/api/v1/plugins/bench/call/bench.echo"),
    "bare Hono route": () => over(`${bare.port}`, "/call"),
    "bare Hono route again": () => over(`${bare.port}`, "/call"),
    "in process": () => inProcess(() => host.callMethod("bench", "bench.echo", { text: "hello" })),
  };
  const best: Record<string, number> = {};
  for (let round = 0; round < Number(rounds); round++) {
    for (const [name, run] of Object.entries(cases)) best[name] = Math.max(best[name] ?? 0, await run());
  }
  await served.close();
  const stopped = bare.stop();
  await bare.destroy();
  await stopped;
  console.log(JSON.stringify(best));
} finally {
  rmSync(dir, { recursive: true });
}

async function inProcess(call: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  let count = 0;
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    for (; performance.now() - startMs < Number(seconds) * 1000; count++) await call();
  }));
  return count * 1000 / (performance.now() - startMs);
}
