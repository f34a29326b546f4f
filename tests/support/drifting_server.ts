/**
 * An installed MCP server whose tools are what a file says at the moment, in a project of one agent.
 *
 * @module
 */
import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { HostOptions } from "../../src/host/types.ts";
import { fixturePlugin } from "./fixture_plugins.ts";
import { putInstalled } from "./installed.ts";
import { scratchDir } from "./scratch_dir.ts";

/** A tool as the server lists it. */
export const listedTool = (name: string, description: string, more: object = {}): Record<string, unknown> => ({
  name,
  description,
  inputSchema: { type: "object" },
  ...more,
});

/** A tool by which the server says that its list has changed. */
export const RELIST: Record<string, unknown> = listedTool("relist", "Lists again");

/** The server, its home and its project. */
export interface DriftingServer {
  readonly home: string;
  /** Options of a host for the project. */
  readonly options: Pick<HostOptions, "project" | "home">;
  /** Sets the tools of the next listing, beside {@link RELIST}. */
  list(...tools: object[]): Promise<void>;
  /** Capabilities that it asks for. */
  readonly capabilities: readonly string[];
  /** Makes a folder with a version of the server, and returns its path. */
  folder(version: string): Promise<string>;
  /** Installs another version: its manifest differs. */
  install(version: string): Promise<void>;
}

/** Installs the server, and lists the tools given. */
export async function driftingServer(t: TestContext, ...tools: object[]): Promise<DriftingServer> {
  const root = await scratchDir(t);
  const [home, project, data] = [join(root, "home"), join(root, "music"), join(root, "data")];
  await Promise.all([home, project, data].map((dir) => mkdir(dir, { mode: 0o700 })));
  const TOOLS_FILE = join(data, "tools.json");
  const capabilities = [`read:fs:${data}`];
  const plugins = { d: { package: "@test/drifts" } };
  await writeFile(join(project, "project.yaml"), JSON.stringify({ id: "music", primary: { plugins } }));
  const server: DriftingServer = {
    home,
    options: { project, home },
    list: (...own) => writeFile(TOOLS_FILE, JSON.stringify([RELIST, ...own])),
    capabilities,
    async folder(version) {
      const manifest = { name: "drifts", version, env: { TOOLS_FILE }, capabilities };
      await using plugin = await fixturePlugin("mcp_from_file", { manifest });
      const dir = join(root, version);
      await cp(plugin.dir, dir, { recursive: true });
      return dir;
    },
    async install(version) {
      await writeFile(join(home, "local.toml"), "");
      await putInstalled(
        home,
        "drifts",
        await server.folder(version),
        'local = true\nenabled = true\npackage = "@test/drifts"',
      );
    },
  };
  await server.list(...tools);
  await server.install("1.0.0");
  return server;
}
