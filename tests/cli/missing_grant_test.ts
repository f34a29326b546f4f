import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { createHost } from "../../src/create_host.ts";
import { liveHosts } from "../../src/adapters/shared/live_hosts.ts";
import type { HostError } from "../../src/core/errors/host_error.ts";
import { fixturePlugin } from "../support/fixture_plugins.ts";
import { runKaged } from "../support/run_kaged.ts";
import { scratchDir } from "../support/scratch_dir.ts";

const HINT = "net:evil.example:80 is not granted: add it to capabilities in kaged-plugin.yaml";

test("kaged plugin call prints the grant that a call lacked as its hint", async () => {
  await using plugin = await fixturePlugin("echo");
  const at = JSON.stringify({ host: "127.0.0.1", port: 9211 });
  const { code, stderr } = await runKaged(["plugin", "call", plugin.dir, "echo.connect", at]);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^ {2}hint: net:127\.0\.0\.1:9211 is not granted: add it to capabilities in kaged-plugin\.yaml$/m,
  );
});

test("a missing grant is the hint of a session's call and of the HTTP problem, and plugin info counts the refusals", async (t) => {
  const dir = await scratchDir(t);
  const home = join(dir, "home");
  const manifest = { capabilities: ["net:localhost:9"], name: "net" };
  await using server = await fixturePlugin("mcp_fetches", { manifest });
  await mkdir(join(dir, "music"));
  await writeFile(join(dir, "music/project.yaml"), 'primary:\n  plugins:\n    n: { package: "@test/net" }\n');
  const plugins = { "@test/net": server.dir };
  await using host = await createHost({ project: join(dir, "music"), home, plugins, audit: [], onWarning: () => {} });
  await host.start();

  const call = host.openSession().callTool("net.fetch", { url: "http://evil.example/" });
  const failure = await call.then(() => assert.fail("It was let through"), (error: HostError) => error);
  assert.deepEqual([failure.code, failure.hint], ["mcp.tool_failed", HINT]);

  const [live] = await liveHosts(home);
  const ask = (path: string, init: RequestInit = {}) => live!.request(new Request(`http://kaged/api/v1${path}`, init));
  const body = JSON.stringify({ arguments: { url: "http://evil.example/" } });
  const headers = { "Content-Type": "application/json" };
  const problem = await ask("/agents/primary/tools/net.fetch", { method: "POST", headers, body });
  assert.equal((await problem.json()).hint, HINT);

  const net_refused = [{ host: "evil.example", port: 80, reason: "not-allowed", count: 2 }];
  // Deno looks the name up before it asks the proxy.
  const connections = (refused: readonly { source?: string }[]) => refused.filter(({ source }) => source === undefined);
  const shown = (await (await ask("/plugins/net")).json()).instances[0].net_refused;
  assert.deepEqual(connections(shown), net_refused);
  const info = await runKaged(["plugin", "info", "net", "--home", home]);
  assert.match(info.stdout, /^ {4}refused: evil\.example:80, 2 times since its start \(not-allowed\)$/m);
  const json = JSON.parse((await runKaged(["plugin", "info", "net", "--json", "--home", home])).stdout);
  assert.deepEqual(json.running[0].instances[0].net_refused, shown);
});
