/**
 * A "no" of the operator outlives the host.
 */
import assert from "node:assert/strict";
import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { createHost, type Host } from "@kaged/plugin-host";
import { fixturePlugin } from "../support/fixture_plugins.ts";
import { scratchDir } from "../support/scratch_dir.ts";

// Every start of the host asked again for a plugin that the operator had declined.
test("N-012 a plugin that the operator declined stays declined when the host starts again", async (t) => {
  const root = await scratchDir(t);
  const project = join(root, "music");
  await using plugin = await fixturePlugin("echo");
  await mkdir(join(project, "plugins"), { recursive: true });
  await cp(plugin.dir, join(project, "plugins/echo"), { recursive: true });
  const e = { package: "@test/echo", source: "./plugins/echo" };
  await writeFile(join(project, "project.yaml"), JSON.stringify({ primary: { plugins: { e } } }));
  const starts = async (act: (host: Host, id: string) => Promise<unknown>): Promise<string | undefined> => {
    await using host = await createHost({ project, home: join(root, "home"), audit: [], onWarning: () => {} });
    const { pending: [request] } = await host.start();
    await act(host, request!.id);
    return request?.state;
  };
  assert.equal(await starts((host, id) => host.decline(id)), "waiting");
  assert.equal(await starts(() => Promise.resolve()), "declined");
});
