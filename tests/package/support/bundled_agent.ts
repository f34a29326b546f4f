/**
 * An agent that uses the npm package, for bundlers: its plugin keeps notes in its tables and asks a server on the
 * loopback for each, so that storage, relay and gatekeeper all have to work.
 *
 * @module
 */
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { RUNTIME_PROGRAMS } from "../../support/runtime_programs.ts";
import { builtPackages, packedFile } from "./built_packages.ts";

const run = promisify(execFile);

/** Runtime → program and the arguments before a file. Bun would fetch packages that a bundle left out. */
const COMMANDS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  node: [RUNTIME_PROGRAMS.node],
  bun: [RUNTIME_PROGRAMS.bun, "--config=/dev/null", "--no-env-file", "--no-install"],
  deno: [RUNTIME_PROGRAMS.deno, "run", "-A", "--quiet"],
};

const manifest = (port: number): string =>
  `name: notes
version: 0.1.0
kaged_api: 1
description: Keeps notes.
command: [js, ./index.js]
capabilities: [kaged:storage:write, "net:127.0.0.1:${port}"]
methods: [notes.add]
`;

const plugin = (port: number): string =>
  `import { createPlugin } from "./kaged_sdk.js";
const add = async ({ text }) => {
  const mark = await (await fetch("http://127.0.0.1:${port}/")).text();
  await plugin.storage.exec("CREATE TABLE IF NOT EXISTS notes(body TEXT)");
  await plugin.storage.exec("INSERT INTO notes VALUES (?)", [text + mark]);
  return (await plugin.storage.query("SELECT body FROM notes")).rows;
};
const plugin = createPlugin({ name: "notes", version: "0.1.0", methods: { "notes.add": add } });
plugin.start();
`;

/** Its variable `AGENT_JS` becomes the option `js`. Every entry is imported, so that all of the package is bundled. */
const AGENT = `import { createHost } from "@kaged/plugin-host";
import * as entries from "./entries.mjs";

async function main() {
  const js = process.env.AGENT_JS === "itself" ? process.execPath : process.env.AGENT_JS;
  const options = { project: "music", home: "home", plugins: { "@test/notes": "notes" } };
  const tracing = await createHost({ ...options, tracing: true }).then(() => "loaded", (error) => error.code);
  await using host = await createHost({ ...options, ...(js && { js }) });
  const { running, failed } = await host.start();
  const session = host.openSession().id;
  const rows = await host.callMethod("notes", "notes.add", { text: "red" }, { agent: "primary", session }).catch(() => []);
  const faults = failed.map(({ error }) => ({ code: error.code, message: error.message, hint: error.hint }));
  console.log(JSON.stringify({ running, faults, rows, tracing, entries: Object.keys(entries).length }));
}
main();
`;
const ENTRIES = ["sdk", "events", "hooks", "jobs", "http", "mcp", "addons"];

/** One line of JSON that the agent prints. */
export interface AgentPrinted {
  readonly running: readonly string[];
  readonly faults: readonly { readonly code: string; readonly message: string; readonly hint?: string }[];
  readonly rows: readonly { readonly body: string }[];
  /** What came of asking for OpenTelemetry. */
  readonly tracing: string;
  /** Entries of the package that are in the bundle. */
  readonly entries: number;
}

/** The output of the agent when all is well, without OpenTelemetry. */
export const AGENT_PRINTED: AgentPrinted = {
  running: ["notes@music/primary"],
  faults: [],
  rows: [{ body: "red!" }],
  tracing: "host.tracing_missing",
  entries: ENTRIES.length,
};

/** The agent's folder, with the package in its node_modules. */
export interface AgentFolder extends AsyncDisposable {
  readonly dir: string;
  write(path: string, text: string): Promise<void>;
  /** Runs a bundler, or whatever else, in the folder. */
  build(file: string, args: readonly string[]): Promise<void>;
  /** Copies `dist` of the folder to another one, without node_modules, and runs a file of it there; its output. */
  run(
    dist: string,
    file: string,
    options?: { on?: keyof typeof RUNTIME_PROGRAMS | null; js?: string },
  ): Promise<AgentPrinted>;
}

/** Makes the folder, and the server that the plugin asks. */
export async function agentFolder(): Promise<AgentFolder> {
  await builtPackages();
  const server = createServer((_, response) => response.end("!"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const dir = await realpath(await mkdtemp(join(tmpdir(), "kaged-bundles-")));
  const write = async (path: string, text: string): Promise<void> => {
    await mkdir(dirname(join(dir, path)), { recursive: true });
    await writeFile(join(dir, path), text);
  };
  const own = join(dir, "node_modules/@kaged/plugin-host");
  await mkdir(own, { recursive: true });
  await run("tar", ["-xzf", packedFile("kaged-plugin-host.tgz"), "-C", own, "--strip-components=1"]);
  const env = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: join(dir, "user"), NO_COLOR: "1" };
  await run(RUNTIME_PROGRAMS.node, [join(own, "src/cli/bin.js"), "plugin", "new", "notes"], { cwd: dir, env });
  await write("notes/kaged-plugin.yaml", manifest(port));
  await write("notes/index.js", plugin(port));
  await write("music/project.yaml", 'primary: { plugins: { notes: { package: "@test/notes" } } }\n');
  await write("package.json", '{ "name": "agent", "private": true, "type": "module" }');
  await write("agent.mjs", AGENT);
  await write(
    "entries.mjs",
    ENTRIES.map((name) => `export * as ${name} from "@kaged/plugin-host/${name}";\n`).join(""),
  );
  return {
    dir,
    write,
    async build(file, args) {
      await run(file, args, { cwd: dir, env });
    },
    async run(dist, file, { on = "node", js } = {}) {
      const elsewhere = await realpath(await mkdtemp(join(tmpdir(), "kaged-bundle-")));
      try {
        for (const part of ["music", "notes"]) await cp(join(dir, part), join(elsewhere, part), { recursive: true });
        await cp(join(dir, dist), join(elsewhere, "app"), { recursive: true });
        const [program, ...args] = [...(on === null ? [] : COMMANDS[on]!), join(elsewhere, "app", file)];
        const own = { ...env, HOME: elsewhere, ...(js !== undefined && { AGENT_JS: js }) };
        const { stdout, stderr } = await run(program!, args, { cwd: elsewhere, env: own });
        if (stderr !== "") throw new Error(stderr);
        return JSON.parse(stdout);
      } finally {
        await rm(elsewhere, { recursive: true, force: true });
      }
    },
    async [Symbol.asyncDispose]() {
      await rm(dir, { recursive: true, force: true });
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
