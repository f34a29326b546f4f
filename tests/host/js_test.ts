import assert from "node:assert/strict";
import { test } from "node:test";
import { runtimeName } from "../support/require_or_skip.ts";
import { RUNTIME_PROGRAMS } from "../support/runtime_programs.ts";
import { type Hosted, hosted, type HostedOptions } from "../support/hosted.ts";

const [one, two] = (["node", "bun", "deno"] as const).filter((name) => name !== runtimeName);
const fixtures = {
  "@test/a": { fixture: "echo", manifest: { capabilities: ["kaged:storage:write", "net:192.0.2.1:80"] } },
};
const withJs = (options: HostedOptions): Promise<Hosted> => hosted({ primary: { a: {} }, fixtures, ...options });

/** Words of a command line that only one of the runtimes is started with. */
const SIGNS = { node: /js\0[^-]*$/, bun: /\0--no-env-file\0/, deno: /\0run\0-A\0/ } as const;

async function cmdline({ host }: Hosted): Promise<string> {
  return ((await host.callMethod("echo", "echo.read", { path: "/proc/self/cmdline" })) as { text: string }).text;
}

test("N-037 the option js names the runtime of plugins, of their relay and of the storage process", async () => {
  await using h = await withJs({ js: RUNTIME_PROGRAMS[one!] });
  assert.match(await cmdline(h), SIGNS[one!]);
  const sql = "CREATE TABLE notes(body TEXT)";
  const answer = await h.host.callMethod("echo", "echo.storage", { method: "exec", sql }) as { error?: unknown };
  assert.equal(answer.error, undefined);
});

test("N-037 runtimes.js of the operator comes before the option js", async () => {
  const config = `[runtimes]\njs = "${RUNTIME_PROGRAMS[two!]}"\n`;
  await using h = await withJs({ js: "/usr/bin/true", config });
  assert.match(await cmdline(h), SIGNS[two!]);
  const sql = "CREATE TABLE notes(body TEXT)";
  const answer = await h.host.callMethod("echo", "echo.storage", { method: "exec", sql }) as { error?: unknown };
  assert.equal(answer.error, undefined);
});

test("N-037 a plugin whose js cannot be used has failed for good, and the host says why", async () => {
  await using h = await withJs({ js: "/usr/bin/true", start: false });
  const { running, failed } = await h.host.start();
  assert.deepEqual([running, failed.map(({ error }) => error.code)], [[], ["cage.js_unusable"]]);
  await assert.rejects(h.host.callMethod("echo", "echo.pid"), /Plugin "echo" is failed/);
});
