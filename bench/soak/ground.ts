/**
 * The folders of a long run: ten plugins, a project that declares them, a home.
 *
 * @module
 */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SDK_JS } from "../../src/cli/generated/sdk_source.ts";

/** Where a long run lives. */
export interface Ground extends Disposable {
  /** Folder of the project. */
  readonly project: string;
  /** The operator's folder. */
  readonly home: string;
  /** Package → folder. */
  readonly plugins: Readonly<Record<string, string>>;
  /** Names of the plugins. */
  readonly names: readonly string[];
  /** Those of them that start on demand. */
  readonly resting: readonly string[];
}

const REST_SEC = 1;
const PROGRAM = readFileSync(new URL("soak_plugin.js", import.meta.url), "utf8")
  .replace("../../src/sdk/mod.ts", "./kaged_sdk.js");

/** Makes the folders of `count` plugins. */
export function layGround(count: number): Ground {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "kaged-soak-")));
  const [project, home] = [join(root, "project"), join(root, "home")];
  mkdirSync(project);
  mkdirSync(home, { mode: 0o700 });
  const names = Array.from({ length: count }, (_, at) => `soak-${at}`);
  const plugins: Record<string, string> = {};
  for (const name of names) {
    const dir = plugins[`@soak/${name}`] = join(root, name);
    mkdirSync(dir);
    writeFileSync(join(dir, "index.js"), PROGRAM);
    writeFileSync(join(dir, "kaged_sdk.js"), SDK_JS);
    writeFileSync(join(dir, "package.json"), '{ "type": "module" }\n');
    writeFileSync(join(dir, "name"), name);
    writeFileSync(join(dir, "kaged-plugin.yaml"), JSON.stringify(manifest(name)));
  }
  // Every other one rests after a second without calls, and starts at the next.
  const demand = { start: "on_demand", idle_stop_sec: REST_SEC };
  const declared = Object.fromEntries(
    names.map((name, at) => [name, { package: `@soak/${name}`, ...(at % 2 === 1 && demand) }]),
  );
  writeFileSync(join(project, "project.yaml"), JSON.stringify({ id: "soak", primary: { plugins: declared } }));
  return {
    ...{ project, home, plugins, names, resting: names.filter((_, at) => at % 2 === 1) },
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  };
}

function manifest(name: string): object {
  return {
    name,
    version: "1.0.0",
    kaged_api: 1,
    description: "A plugin of the long run.",
    command: ["js", "./index.js"],
    capabilities: ["kaged:storage:write"],
    methods: ["soak.echo", "soak.keep", "soak.die"],
    hooks: ["on_session_start"],
  };
}
