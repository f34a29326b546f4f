/**
 * One storage call, hop by hop: in the engine, from the host through the pipe to the storage process, and from a plugin
 * in its cage; beside a bare ping.
 *
 * @module
 */
import { writeFileSync } from "node:fs";
import { detectRuntime } from "../../src/adapters/default.ts";
import { SDK_JS } from "../../src/cli/generated/sdk_source.ts";
import { createStorage } from "../../src/core/storage/storage.ts";
import { createSupervisor } from "../../src/core/supervisor/supervisor.ts";
import type { Figures } from "./engine_case.ts";

const BATCH = 100;
const PLUGIN = `
import { createPlugin } from "./kaged_sdk.js";
const plugin = createPlugin({
  name: "bench",
  version: "0.1.0",
  methods: {
    "bench.storage": async ({ method, sql, params, calls, isPrepared }) => {
      const prepared = plugin.storage.prepare(sql);
      if (isPrepared) await prepared[method](params);
      const startMs = performance.now();
      for (let at = 0; at < calls; at++) {
        await (isPrepared ? prepared[method](params) : plugin.storage[method](sql, params));
      }
      return (performance.now() - startMs) * 1000 / calls;
    },
    "bench.batch": async ({ sql, params, calls }) => {
      const prepared = plugin.storage.prepare(sql);
      const statements = Array.from({ length: ${BATCH} }, () => ({ sql: prepared, params }));
      const startMs = performance.now();
      for (let at = 0; at < calls; at += ${BATCH}) await plugin.storage.batch(statements);
      return (performance.now() - startMs) * 1000 / calls;
    },
  },
});
plugin.start();
`;
const MANIFEST = `name: bench
version: 0.1.0
kaged_api: 1
description: Measures storage calls
command: [node, ./main.mjs]
capabilities: ["kaged:storage:write"]
methods: [bench.storage, bench.batch]
`;

/** Measures in microseconds per call, the best of `rounds`; `dir` is empty. */
export async function measureHops(dir: string, node: string, rounds: number): Promise<Record<string, Figures>> {
  const runtime = await detectRuntime();
  const [home, plugin] = [`${dir}/home`, `${dir}/plugin`];
  for (const path of [home, plugin]) await runtime.files.makeDir(path, { mode: 0o700 });
  for (
    const [name, text] of [["main.mjs", PLUGIN], ["kaged_sdk.js", SDK_JS], ["kaged-plugin.yaml", MANIFEST]] as const
  ) {
    writeFileSync(`${plugin}/${name}`, text);
  }
  await using storage = createStorage({ runtime, home });
  await using supervisor = createSupervisor({
    runtime,
    home,
    runtimes: { node },
    storageAvailable: true,
    onRequest: (client, request, audit) => storage.handle(client, request, audit),
  });
  const { instance, manifest } = await supervisor.register({ dir: plugin });
  await supervisor.start(instance);
  const client = { plugin: "bench", instance, manifest };
  const signal = new AbortController().signal;
  const ask = (method: string, sql: string, params: unknown[]): Promise<unknown> =>
    storage.handle(client, { method: `kaged.storage.${method}`, params: { sql, params }, signal });
  await ask("exec", "CREATE TABLE t(id INTEGER PRIMARY KEY, name)", []);
  await ask("exec", "INSERT INTO t VALUES (1, 'name')", []);

  const calls = 400;
  const timed = async (run: () => Promise<unknown>): Promise<number> => {
    const startMs = performance.now();
    for (let at = 0; at < calls; at++) await run();
    return (performance.now() - startMs) * 1000 / calls;
  };
  const select = { method: "query", sql: "SELECT id, name FROM t WHERE id = ?", params: [1] };
  const insert = { method: "exec", sql: "INSERT INTO t(name) VALUES (?)", params: ["x"] };
  const fromPlugin = (statement: object, method: string = "bench.storage"): Promise<number> =>
    supervisor.call(instance, method, { ...statement, calls }, { timeoutMs: 60_000 }) as Promise<number>;
  const hops: Record<string, () => Promise<number>> = {
    ping: () => timed(() => supervisor.call(instance, "ping")),
    "ping again": () => timed(() => supervisor.call(instance, "ping")),
    "host: select": () => timed(() => ask(select.method, select.sql, select.params)),
    "host: insert": () => timed(() => ask(insert.method, insert.sql, insert.params)),
    "plugin: select": () => fromPlugin(select),
    "plugin: insert": () => fromPlugin(insert),
    "plugin: prepared select": () => fromPlugin({ ...select, isPrepared: true }),
    "plugin: prepared insert": () => fromPlugin({ ...insert, isPrepared: true }),
    [`plugin: row of a batch of ${BATCH}`]: () => fromPlugin(insert, "bench.batch"),
  };
  const best: Figures = {};
  for (let round = 0; round <= rounds; round++) {
    for (const [name, run] of Object.entries(hops)) {
      const perCallUs = await run();
      if (round > 0) best[name] = Math.min(best[name] ?? Infinity, perCallUs);
    }
  }
  const { ping = 0, "ping again": again = 0, ...rest } = best;
  return Object.fromEntries(Object.entries(rest).map(([name, ours]) => [name, { ours, ping, "ping again": again }]));
}
