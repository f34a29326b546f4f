/**
 * MCP servers made with the official SDKs as plugins: each bundled into one file, because a cage has no node_modules.
 *
 * @module
 */
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { scratchDir } from "./scratch_dir.ts";

const ROOT: string = fileURLToPath(new URL("../../", import.meta.url));

/** Makes the folder of a plugin that is the server of `entry`, a path in the repository; returns the folder. */
export async function bundledServer(
  t: Parameters<typeof scratchDir>[0],
  entry: string,
  manifest: { readonly name: string; readonly env?: Readonly<Record<string, string>> },
): Promise<string> {
  const dir = join(await scratchDir(t), manifest.name);
  await mkdir(dir);
  const args = ["build", entry, "--target=node", "--format=esm", `--outfile=${join(dir, "dist/server.mjs")}`];
  await promisify(execFile)(join(ROOT, "node_modules/.bin/bun"), [...args, "--config=/dev/null"], { cwd: ROOT });
  const whole = {
    version: "1.0.0",
    kaged_api: 1,
    description: "A server of the official SDK",
    runtime: "mcp_stdio",
    command: ["js", "./dist/server.mjs"],
    capabilities: [],
    ...manifest,
  };
  await writeFile(join(dir, "kaged-plugin.yaml"), JSON.stringify(whole));
  return dir;
}
