/**
 * `kaged mcp --http` of this runtime, running for a test.
 *
 * @module
 */
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type KagedRun, runKaged } from "./run_kaged.ts";
import { scratchDir } from "./scratch_dir.ts";

/** The part of a test that cleans up after it. */
export interface Test {
  after(run: () => Promise<void>): void;
}

/** The root of the repository. */
export const ROOT: string = fileURLToPath(new URL("../../", import.meta.url));
/** The token of every server that {@link mcpOverHttp} starts. */
export const MCP_TOKEN = "token-of-the-tests-token-of-the-tests";

/** A running server. */
export interface McpOverHttp {
  readonly url: string;
  /** What it printed once it listened. */
  // deno-lint-ignore no-explicit-any
  readonly facts: any;
  readonly pid: number;
  readonly ended: Promise<KagedRun>;
}

/** Starts `kaged` with the arguments of `kaged mcp` at a free port; it ends with the test. */
export async function mcpOverHttp(
  t: Test,
  args: readonly string[],
  env: Readonly<Record<string, string>> = { KAGED_MCP_TOKEN: MCP_TOKEN },
): Promise<McpOverHttp> {
  const line = Promise.withResolvers<string>();
  let pid = 0;
  const ended = runKaged([...args, "--http", "--port", "0", "--json"], {
    env,
    onStart(child) {
      pid = child.pid!;
      let text = "";
      child.stdout!.on("data", (chunk) => {
        text += chunk;
        if (text.includes("\n")) line.resolve(text.slice(0, text.indexOf("\n")));
      });
    },
  });
  let isEnded = false;
  void ended.then(({ stdout, stderr }) => {
    isEnded = true;
    line.reject(new Error(`kaged mcp has ended: ${stdout}${stderr}`));
  });
  t.after(async () => {
    if (!isEnded) process.kill(pid, "SIGTERM");
    await ended;
  });
  const facts = JSON.parse(await line.promise);
  return { url: facts.url, facts, pid, ended };
}

/** A server of `tests/fixtures/mcp`, and the name of the plugin that it becomes. */
interface Bundled {
  readonly file: string;
  readonly name: string;
}

/** A folder whose `project.yaml` gives the primary servers of `tests/fixtures/mcp`, each as one file. */
export async function bundledServer(
  t: Test,
  { config = "", more = [], ...first }: Bundled & { readonly config?: string; readonly more?: readonly Bundled[] },
): Promise<{ readonly dir: string; readonly home: string; readonly args: string[] }> {
  const root = await scratchDir(t);
  const [dir, home] = [join(root, "music"), join(root, "home")];
  for (const folder of [dir, home]) await mkdir(folder, { mode: 0o700 });
  const servers = [first, ...more];
  for (const server of servers) await bundle(root, server);
  await writeFile(join(home, "config.toml"), config);
  const plugins = Object.fromEntries(servers.map(({ name }) => [name, { package: `@test/${name}` }]));
  await writeFile(join(dir, "project.yaml"), JSON.stringify({ primary: { plugins } }));
  const folders = servers.flatMap(({ name }) => ["--plugin", `@test/${name}=${join(root, name)}`]);
  return { dir, home, args: ["mcp", "--project", dir, "--home", home, ...folders] };
}

/** Writes the folder of a server's plugin. */
async function bundle(root: string, { file, name }: Bundled): Promise<void> {
  const plugin = join(root, name);
  await mkdir(plugin, { mode: 0o700 });
  // A cage has no node_modules.
  const build = ["build", `tests/fixtures/mcp/${file}`, "--target=node", "--format=esm", "--config=/dev/null"];
  const outfile = `--outfile=${join(plugin, "server.mjs")}`;
  await promisify(execFile)(join(ROOT, "node_modules/.bin/bun"), [...build, outfile], { cwd: ROOT });
  const manifest = {
    name,
    version: "1.0.0",
    kaged_api: 1,
    description: `Fixture: ${file}`,
    runtime: "mcp_stdio",
    command: ["js", "./server.mjs"],
    capabilities: [],
  };
  await writeFile(join(plugin, "kaged-plugin.yaml"), JSON.stringify(manifest));
}
