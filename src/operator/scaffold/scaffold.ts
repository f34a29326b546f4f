/**
 * The files of a new plugin, for each way to write one. The texts are the files of `templates/`.
 *
 * @module
 */

/** Ways to write a plugin. `js` runs on whatever runtime the host itself runs on. */
export const SCAFFOLD_RUNTIMES = ["js", "deno", "bun", "node", "bash", "python"] as const;

/** One way to write a plugin. */
export type ScaffoldRuntime = (typeof SCAFFOLD_RUNTIMES)[number];

/** One file of a new plugin. */
export interface ScaffoldFile {
  readonly content: string;
  readonly mode: number;
}

/** Choices for a new plugin. */
export interface ScaffoldOptions {
  /** The plugin's name: `^[a-z][a-z0-9-]*$`, 2 to 64 characters. */
  readonly name: string;
  readonly runtime: ScaffoldRuntime;
  /** Path below `templates/` → text, and the files of the SDK by their names. */
  readonly texts: Readonly<Record<string, string>>;
}

/** How a program is started, what it may reach, and its files, the one that the author edits first. */
interface Program {
  readonly command: readonly string[];
  readonly capabilities: readonly string[];
  readonly files: readonly [main: string, ...others: string[]];
}

// Node takes index.js for an ES module because of package.json.
const JS_FILES = ["js/index.js", "kaged_sdk.js", "kaged_sdk.d.ts", "js/package.json"] as const;

function script(...start: string[]): Program {
  return { command: [...start, "./index.js"], capabilities: [], files: JS_FILES };
}

/** Each runtime starts its file without obeying what else lies in the folder. */
const PROGRAMS: Readonly<Record<ScaffoldRuntime, Program>> = {
  js: script("js"),
  deno: script("deno", "run", "-A", "--quiet", "--no-lock", "--no-config"),
  bun: script("bun", "--config=/dev/null", "--no-env-file", "--no-install"),
  node: script("node"),
  bash: { command: ["./plugin.sh"], capabilities: ["exec:jq:plugin:/"], files: ["bash/plugin.sh"] },
  python: { command: ["python3", "./plugin.py"], capabilities: [], files: ["python/plugin.py", "kaged_sdk.py"] },
};

/** Returns why `name` cannot be the name of a plugin, or null. */
export function pluginNameProblem(name: string): string | null {
  if (name.length < 2 || name.length > 64) return "it takes 2 to 64 characters";
  if (!/^[a-z][a-z0-9-]*$/.test(name)) return "it takes a-z, 0-9 and -, and starts with a letter";
  return null;
}

/** Returns every file of a new plugin, by path inside its folder. */
export function scaffold({ name, runtime, texts }: ScaffoldOptions): Map<string, ScaffoldFile> {
  const { command, capabilities, files } = PROGRAMS[runtime];
  const fileName = (path: string): string => path.slice(path.lastIndexOf("/") + 1);
  // JSON strings are YAML strings, so nothing needs other quoting.
  const flowList = (items: readonly string[]): string => `[${items.map((item) => JSON.stringify(item)).join(", ")}]`;
  const filled = (text: string): string =>
    text.replaceAll("{{name}}", name).replaceAll("{{main}}", fileName(files[0]))
      .replaceAll('["{{command}}"]', flowList(command)).replaceAll('["{{capabilities}}"]', flowList(capabilities));
  return new Map(
    ["kaged-plugin.yaml", "README.md", ...files].map((path) => [
      fileName(path),
      { content: filled(texts[path]!), mode: path.endsWith(".sh") ? 0o755 : 0o644 },
    ]),
  );
}
