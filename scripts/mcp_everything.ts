/**
 * Writes docs/mcp-everything.md once every feature of server-everything does what the table says.
 *
 * @module
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { seeAll } from "./everything/features.ts";
import { connectPeer, everythingProject, writeEverything } from "./everything/peer.ts";
import { everythingPage, surprises } from "./everything/table.ts";

const ROOT: string = fileURLToPath(new URL("../", import.meta.url));
const ENV = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: "/nonexistent" };

const root = await mkdtemp(join(tmpdir(), "kaged-everything-"));
try {
  const plugin = join(root, "everything");
  const program = await writeEverything(plugin);
  const kaged = ["--disable-warning=ExperimentalWarning", join(ROOT, "src/cli/bin.ts")];
  const see = async (args: readonly string[]): Promise<Map<string, unknown>> => {
    await using peer = await connectPeer({ command: process.execPath, args, env: ENV });
    return await seeAll(peer);
  };
  const [direct, served] = await Promise.all([
    see([program]),
    see([...kaged, ...await everythingProject(root, plugin)]),
  ]);
  const found = surprises(direct, served);
  for (const { feature, direct, served } of found) {
    console.error(`${feature}\n  directly: ${JSON.stringify(direct)}\n  through kaged mcp: ${JSON.stringify(served)}`);
  }
  if (found.length > 0) process.exitCode = 1;
  else await writeFile(join(ROOT, "docs/mcp-everything.md"), everythingPage());
} finally {
  await rm(root, { recursive: true, force: true });
}
