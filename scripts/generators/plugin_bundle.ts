/**
 * Makes a reference plugin's one file of its sources: in its cage a plugin has its own folder and nothing to fetch from.
 *
 * @module
 */
import { execFile, execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const ROOT: string = fileURLToPath(new URL("../../", import.meta.url));

/** The sources and the target of a plugin's bundle. */
export interface PluginBundleOptions {
  /** Packages that end up in the bundle; their licences stand at its head. */
  readonly bundled: readonly string[];
}

/** Returns the generator of `plugins/<name>/index.js`. */
export function pluginBundle(
  name: string,
  { bundled }: PluginBundleOptions,
): { readonly path: string; render(): Promise<string> } {
  return {
    path: `plugins/${name}/index.js`,
    async render(): Promise<string> {
      const args = ["build", `plugins/${name}/src/main.ts`, "--target=node", "--format=esm"];
      // Without it the runtime would read settings of whatever folder it is started in.
      const { stdout } = await promisify(execFile)(bin("bun"), [...args, "--config=/dev/null", "--no-env-file"], {
        cwd: ROOT,
        maxBuffer: 16 * 1024 * 1024,
      });
      const notices = await Promise.all(bundled.map(licenceNotice));
      const head = `// Made by scripts/generators/plugin_bundle.ts from plugins/${name}/src: do not edit.\n`;
      return formatted([head, "// deno-lint-ignore-file\n", ...notices, stdout].join(""));
    },
  };
}

async function licenceNotice(name: string): Promise<string> {
  const dir = join(ROOT, "node_modules", name);
  const { version, license } = JSON.parse(await readFile(join(dir, "package.json"), "utf8"));
  const text = await readFile(join(dir, "LICENSE.txt"), "utf8");
  const lines = [`Contains ${name} ${version} (${license}):`, "", ...text.trim().split("\n")];
  return `/*!\n${lines.map((line) => ` * ${line}`.trimEnd()).join("\n")}\n */\n`;
}

const bin = (name: string): string => join(ROOT, "node_modules/.bin", name);

const formatted = (text: string): string =>
  execFileSync(bin("deno"), ["fmt", "--quiet", "--ext", "js", "-"], {
    cwd: ROOT,
    input: text,
    encoding: "utf8",
    maxBuffer: 16 * 1024 * 1024,
  });
