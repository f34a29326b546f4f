import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { seeAll } from "../../scripts/everything/features.ts";
import { connectPeer, everythingProject, type Peer, writeEverything } from "../../scripts/everything/peer.ts";
import { everythingPage, surprises } from "../../scripts/everything/table.ts";
import { compiledCode } from "../support/compiled_code.ts";
import { kagedCommand } from "../support/run_kaged.ts";
import { scratchDir } from "../support/scratch_dir.ts";

const ROOT: string = fileURLToPath(new URL("../../", import.meta.url));
const ENV = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: "/nonexistent" };

test("N-030 server-everything passes through kaged mcp, but for the differences that the table gives a reason for", async (t) => {
  const root = await scratchDir(t);
  const plugin = join(root, "everything");
  const program = await writeEverything(plugin);
  const kaged = kagedCommand(await everythingProject(root, plugin));
  const see = async (connecting: Promise<Peer>): Promise<Map<string, unknown>> => {
    await using peer = await connecting;
    return await seeAll(peer);
  };
  const node = join(ROOT, "node_modules/.bin/node");
  const [direct, served] = await Promise.all([
    see(connectPeer({ command: node, args: [program], env: ENV })),
    see(connectPeer({ ...kaged, env: { ...ENV, ...compiledCode } })),
  ]);
  assert.deepEqual(surprises(direct, served), []);
});

test("N-030 docs/mcp-everything.md is the table that npm run mcp:everything writes", async () => {
  assert.equal(await readFile(join(ROOT, "docs/mcp-everything.md"), "utf8"), everythingPage());
});
