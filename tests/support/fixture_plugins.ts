/**
 * Plugin folders for tests: each is made fresh in a temporary folder from one small behaviour file of
 * `tests/fixtures/plugins/`, the loop they share, and a manifest.
 *
 * @module
 */
import { copyFile, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Manifest } from "../../src/core/manifest/manifest.ts";

/** A plugin folder that lives as long as its test. */
export interface FixturePlugin extends AsyncDisposable {
  /** The folder. */
  readonly dir: string;
  /** The plugin's name: the fixture's, with hyphens. */
  readonly name: string;
}

/** How a fixture's folder differs from the usual one. */
export interface FixtureOptions {
  /** Manifest fields to replace; `name` makes a second plugin of one fixture. */
  readonly manifest?: Partial<Manifest>;
  /** More files: path in the folder → text. */
  readonly files?: Readonly<Record<string, string>>;
}

/** Manifest fields of the fixtures that need more than `fixture.call`. */
const MANIFESTS: Readonly<Record<string, Partial<Manifest>>> = {
  echo: {
    methods: [
      "echo.argv",
      "echo.big",
      "echo.config",
      "echo.connect",
      "echo.env",
      "echo.exit",
      "echo.initialize",
      "echo.line",
      "echo.list",
      "echo.log",
      "echo.notifications",
      "echo.notify",
      "echo.params",
      "echo.pid",
      "echo.read",
      "echo.refuse",
      "echo.storage",
      "echo.write",
    ],
    notifications: ["echo.happened"],
  },
  answers_hooks: {
    hooks: ["on_session_start", "on_session_idle", "pre_compact", "post_compact"],
    tools: [{
      name: "look",
      description: "Tells what it was asked",
      parameters_schema: {
        type: "object",
        properties: { query: { type: "string" }, tags: { type: "array", items: { type: "string" } } },
        required: ["query"],
        additionalProperties: false,
      },
    }, { name: "ask", description: "Takes anything", parameters_schema: { type: "object" } }],
  },
  compacts: { roles: ["compactor"], hooks: ["pre_compact"] },
  dies_in_hook: { hooks: ["on_session_start"] },
  injects_50mb: { hooks: ["on_session_start"] },
  progresses_forever: { hooks: ["on_session_start"] },
  slow_hook: { methods: ["fixture.call", "fixture.release"], hooks: ["on_session_start", "on_session_idle"] },
  throws_in_hook: { hooks: ["on_session_start", "pre_compact"] },
  floods_notifications: { methods: ["fixture.call", "fixture.limited"] },
  forks_children: { methods: ["fixture.call", "fixture.exit"] },
  honours_cancel: { methods: ["fixture.call", "fixture.cancelled"] },
  hunts_secret: { methods: ["fixture.use", "fixture.config", "fixture.hunt"] },
  lists_other_methods: { methods: ["fixture.call", "fixture.absent"] },
  remembers: {
    hooks: ["on_session_start", "on_session_idle", "pre_compact"],
    tools: ["retain", "recall", "reflect"].map((name) => ({
      name,
      description: `Can ${name}`,
      parameters_schema: {
        type: "object",
        properties: { text: { type: "string" }, query: { type: "string" } },
      },
    })),
  },
  toolbox: {
    methods: [],
    tools: [
      {
        name: "add",
        description: "Adds two numbers",
        parameters_schema: {
          type: "object",
          properties: { a: { type: "number", description: "The first" }, b: { type: "number" } },
          required: ["a", "b"],
          additionalProperties: false,
        },
      },
      {
        name: "erase",
        description: "Erases a file",
        parameters_schema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
      },
      ...["secret", "picture", "sound", "paper", "fail", "wait", "steps"].map((name) => ({
        name,
        description: `Does ${name}`,
        parameters_schema: { type: "object" },
      })),
    ],
  },
  waits_for_file: { methods: ["fixture.call", "fixture.wait"], capabilities: ["read:fs:project:/"] },
  reports_progress: { methods: ["fixture.call", "fixture.step"] },
};

const SOURCES: string = fileURLToPath(new URL("../fixtures/plugins/", import.meta.url));

/** Makes the folder of a fixture: `await using plugin = await fixturePlugin("never_answers")`. */
export async function fixturePlugin(fixture: string, options: FixtureOptions = {}): Promise<FixturePlugin> {
  const manifest = {
    name: fixture.replaceAll("_", "-"),
    version: "1.0.0",
    kaged_api: 1,
    description: `Fixture: ${fixture}`,
    command: ["js", "./index.js"],
    capabilities: [],
    // A fixture named mcp_… is an MCP server.
    ...(fixture.startsWith("mcp_")
      ? { runtime: "mcp_stdio" }
      : { methods: ["fixture.call"], notifications: ["fixture.happened"] }),
    ...MANIFESTS[fixture],
    ...options.manifest,
  };
  const dir = await realpath(await mkdtemp(join(tmpdir(), "kaged-fixture-")));
  await copyFile(join(SOURCES, `${fixture}.js`), join(dir, "index.js"));
  await copyFile(join(SOURCES, "wire.js"), join(dir, "wire.js"));
  const files = {
    "kaged-plugin.yaml": JSON.stringify(manifest, null, 2) + "\n",
    "package.json": '{ "type": "module" }\n', // Without it Node parses each file twice to find out.
    ...options.files,
  };
  for (const [path, text] of Object.entries(files)) await writeFile(join(dir, path), text);
  return { dir, name: manifest.name, [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }) };
}

/** Changes to a fixture's folder. */
export interface FixtureChange {
  /** Manifest fields to replace. */
  readonly manifest?: Partial<Manifest>;
  /** Another fixture whose program stands there from now on. */
  readonly program?: string;
  /** Files to write: path in the folder → text. */
  readonly files?: Readonly<Record<string, string>>;
}

/** Changes a plugin's folder as its author would. */
export async function changePlugin(dir: string, { manifest, program, files = {} }: FixtureChange): Promise<void> {
  if (program) await copyFile(join(SOURCES, `${program}.js`), join(dir, "index.js"));
  for (const [path, text] of Object.entries(files)) await writeFile(join(dir, path), text);
  if (!manifest) return;
  const file = join(dir, "kaged-plugin.yaml");
  const before = JSON.parse(await readFile(file, "utf8")) as Manifest;
  await writeFile(file, JSON.stringify({ ...before, ...manifest }, null, 2) + "\n");
}
