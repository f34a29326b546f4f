import assert from "node:assert/strict";
import { test } from "node:test";
import { type Hosted, hosted } from "../support/hosted.ts";

const capabilities = ["kaged:storage:write"];
const fixtures = {
  "@test/a": { fixture: "echo", manifest: { name: "a", capabilities } },
  "@test/b": { fixture: "echo", manifest: { name: "b", capabilities } },
};
const primary = { a: {}, b: {} };

type Answer = { result?: Record<string, unknown>; error?: { code: number; message: string } };
const ask = async (h: Hosted, plugin: string, method: "exec" | "query", sql: string): Promise<Answer> =>
  await h.host.callMethod(plugin, "echo.storage", { method, sql }) as Answer;

test("K-010 K-057 storage is available to plugins with a capability for it, and to no other", async () => {
  const granted: [capabilities: string[], isAvailable: boolean][] = [
    [[], false],
    [["read:fs:/etc/hostname"], false],
    [["kaged:storage:read"], true],
    [["kaged:storage:write"], true],
  ];
  for (const [capabilities, isAvailable] of granted) {
    await using h = await hosted({
      primary: { a: {} },
      fixtures: { "@test/a": { fixture: "echo", manifest: { capabilities } } },
    });
    const params = await h.host.callMethod("echo", "echo.initialize") as { storage_available: boolean };
    assert.equal(params.storage_available, isAvailable, capabilities.join());
  }
});

test("K-057 plugins of a host are told of storage, and each has tables of its own", async () => {
  await using h = await hosted({ primary, fixtures });
  const { storage_available } = await h.host.callMethod("a", "echo.initialize") as { storage_available: boolean };
  assert.equal(storage_available, true);
  for (const plugin of ["a", "b"]) {
    await ask(h, plugin, "exec", "CREATE TABLE notes (text)");
    await ask(h, plugin, "exec", `INSERT INTO notes VALUES ('of ${plugin}')`);
  }
  const { result } = await ask(h, "a", "query", "SELECT text FROM notes");
  assert.deepEqual(result?.rows, [{ text: "of a" }]);
  const { error } = await ask(h, "a", "query", "SELECT * FROM plugin_b_notes");
  assert.equal(error?.code, -32003);
  assert.equal((await h.next("plugin.storage_denied")).name, "a");
});

test("storage lasts while the host is stopped and started again", async () => {
  await using h = await hosted({ primary, fixtures });
  await ask(h, "a", "exec", "CREATE TABLE kept (n)");
  await h.host.stop();
  await h.host.start();
  assert.deepEqual((await ask(h, "a", "query", "SELECT count(*) AS n FROM kept")).result?.rows, [{ n: 0 }]);
});

test("storage_mb of config.toml bounds what a plugin may keep", async () => {
  await using h = await hosted({ primary, fixtures, config: "[plugin_limits.a]\nstorage_mb = 1\n" });
  const fill = "INSERT INTO heap SELECT randomblob(100000) FROM json_each('[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]')";
  for (const plugin of ["a", "b"]) await ask(h, plugin, "exec", "CREATE TABLE heap (bytes)");
  assert.match((await ask(h, "a", "exec", fill)).error?.message ?? "", /quota|space|full|MiB|bytes/i);
  assert.equal((await ask(h, "b", "exec", fill)).error, undefined);
});

test("K-044 limits of config.toml hold for the cages of a host, above what the embedder asked for", async () => {
  const config = "[limits]\nmemory_mb = 300\nstorage_mb = 8\n[plugin_limits.b]\npids = 50\n";
  await using h = await hosted({ primary, fixtures, config, limits: { memory_mb: 100, cpu_shares: 128 } });
  const limits = h.host.plugins("primary").map(({ plugin, cage }) => {
    const { memory_mb, cpu_shares, pids } = cage!.limits;
    return [plugin, memory_mb, cpu_shares, pids];
  });
  assert.deepEqual(limits, [["a", 300, 128, 100], ["b", 300, 128, 50]]);
});
