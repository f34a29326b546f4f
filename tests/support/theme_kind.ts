/**
 * A hookspec of one's own with the kind `theme`, and plugins in JavaScript and Python that implement it.
 *
 * @module
 */
import { copyFile, mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { SDK_PY } from "../../src/cli/generated/python_sdk_source.ts";
import { SDK_JS } from "../../src/cli/generated/sdk_source.ts";
import { createHost } from "../../src/create_host.ts";
import type { Host, HostOptions } from "../../src/host/types.ts";
import { belongingsOf } from "./mcp_client.ts";

const CLASSES: string = fileURLToPath(new URL("../../hookspec/_meta/dispatch_classes.yaml", import.meta.url));

/** A hook of the kind, without its schemas. */
const hook = (name: string, dispatch: string, exposed: boolean): object => ({
  name,
  dispatch,
  description: `Makes ${name}.`,
  input_schema: `schemas/${name}.input.json`,
  output_schema: `schemas/${name}.output.json`,
  mcp_exposed: exposed,
});

/** The kind: one hook of each class. */
export const THEME: Readonly<Record<string, unknown>> & { readonly hooks: readonly object[] } = {
  kind: "theme",
  kind_api_version: "1.1.0",
  description: "Looks of a program.",
  wire_method_template: "theme.hook.{hook}",
  hooks: [
    hook("colors", "singleton", true),
    hook("names", "broadcast_collect", true),
    hook("reset", "broadcast_notify", false),
    hook("title", "chain", false),
    hook("font", "capability", false),
  ],
};

const TEXT = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
const MODE = { mode: { enum: ["day", "night"], description: "Time of day." } };
const COLOR = { type: "object", properties: { hex: { type: "string", maxLength: 7 } }, required: ["hex"] };

const SCHEMAS: Readonly<Record<string, object>> = {
  "colors.input": { type: "object", properties: MODE, required: ["mode"] },
  "colors.output": {
    type: "object",
    properties: { ink: { $ref: "#/$defs/color" }, paper: { $ref: "#/$defs/color" } },
    required: ["ink", "paper"],
    $defs: { color: COLOR },
  },
  "names.input": { type: "object", properties: {} },
  "names.output": { type: "array", items: { type: "string" } },
  "reset.input": { type: "object", properties: {} },
  "reset.output": {},
  "title.input": TEXT,
  "title.output": { $ref: "title.input.json" },
  "font.input": { type: "object", properties: {} },
  "font.output": { type: "string" },
};

/** Writes the hookspec to a folder; `kind` stands in for {@link THEME}. */
export async function writeThemeSpec(
  dir: string,
  kind: object = THEME,
  { name = "theme", major = 1 }: { readonly name?: string; readonly major?: number } = {},
): Promise<string> {
  const schemas = Object.entries(SCHEMAS).map(([file, schema]) => [`schemas/${file}.json`, schema] as const);
  for (const [path, data] of [[`v${major}.yaml`, kind] as const, ...schemas]) {
    const file = join(dir, "kinds", name, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, JSON.stringify(data));
  }
  await mkdir(join(dir, "_meta"), { recursive: true });
  await copyFile(CLASSES, join(dir, "_meta/dispatch_classes.yaml"));
  return dir;
}

/** Handlers of a plugin in JavaScript: method → the body of an arrow function of `params`. */
export const DARK: Readonly<Record<string, string>> = {
  "theme.hook.colors": `({ ink: { hex: "#ffffff" }, paper: { hex: params.mode === "night" ? "#000000" : "#222222" } })`,
  "theme.hook.names": `["dark"]`,
  "theme.hook.reset": `null`,
  "theme.hook.title": `({ text: params.text + " in the dark" })`,
  "theme.hook.font": `"Dark Sans"`,
};

/** Writes a plugin in JavaScript; returns its folder. */
export async function jsTheme(
  dir: string,
  name: string,
  { kinds = { theme: "1.0.0" }, methods = DARK, tools = {} }: {
    readonly kinds?: Readonly<Record<string, string>>;
    readonly methods?: Readonly<Record<string, string>>;
    /** Tools that take anything, by short name. */
    readonly tools?: Readonly<Record<string, string>>;
  } = {},
): Promise<string> {
  const handlers = (bodies: Readonly<Record<string, string>>): string =>
    Object.entries(bodies).map(([method, body]) => `${JSON.stringify(method)}: (params) => ${body}`).join(", ");
  const listed = Object.keys(tools).map((tool) => {
    return { name: tool, description: "A tool", parameters_schema: { type: "object" } };
  });
  return await writePlugin(dir, name, { command: ["js", "./index.js"], kinds, tools: listed }, {
    "kaged_sdk.js": SDK_JS,
    "package.json": '{ "type": "module" }',
    "index.js": `import { createPlugin } from "./kaged_sdk.js";
const handlers = { methods: { ${handlers(methods)} }, tools: { ${handlers(tools)} } };
createPlugin({ name: ${JSON.stringify(name)}, version: "1.0.0", ...handlers }).start();
`,
  });
}

/** Writes a plugin in Python that answers two hooks of the kind; returns its folder. */
export async function pythonTheme(dir: string, name: string): Promise<string> {
  return await writePlugin(dir, name, { command: ["python3", "-B", "./plugin.py"], kinds: { theme: "1.0.0" } }, {
    "kaged_sdk.py": SDK_PY,
    "plugin.py": `from kaged_sdk import Plugin
plugin = Plugin(${JSON.stringify(name)}, "1.0.0")

@plugin.method("theme.hook.colors")
def colors(params, context):
    return {"ink": {"hex": "#111111"}, "paper": {"hex": "#eeeeee" if params["mode"] == "day" else "#cccccc"}}

@plugin.method("theme.hook.names")
def names(params, context):
    return ["light", "paper"]

@plugin.method("theme.hook.title")
def title(params, context):
    return {"text": params["text"] + " on paper"}

plugin.start()
`,
  });
}

async function writePlugin(
  dir: string,
  name: string,
  manifest: object,
  files: Readonly<Record<string, string>>,
): Promise<string> {
  const folder = join(dir, name);
  await mkdir(folder, { recursive: true });
  const fields = { name, version: "1.0.0", kaged_api: 1, description: "A theme", capabilities: [], ...manifest };
  for (const [path, text] of Object.entries({ ...files, "kaged-plugin.yaml": JSON.stringify(fields) })) {
    await writeFile(join(folder, path), text);
  }
  return folder;
}

/** A project for a test: what `kaged mcp` and a host take for it. */
export interface ThemeProject {
  readonly dir: string;
  readonly home: string;
  /** Package → folder. */
  readonly plugins: Readonly<Record<string, string>>;
}

/** Makes a project whose primary has the plugins; `write` returns their folders by key. */
export async function themeProject(
  t: TestContext,
  write: (root: string) => Promise<Readonly<Record<string, string>>>,
  { kind = THEME, yaml = { hookspec: "./hookspec" } }: { readonly kind?: object; readonly yaml?: object } = {},
): Promise<ThemeProject> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "kaged-theme-")));
  belongingsOf(t).defer(() => rm(root, { recursive: true, force: true }));
  const dir = join(root, "shop");
  await writeThemeSpec(join(dir, "hookspec"), kind);
  const folders = Object.entries(await write(root));
  const plugins = Object.fromEntries(folders.map(([key]) => [key, { package: `@test/${key}` }]));
  await writeFile(join(dir, "project.yaml"), JSON.stringify({ ...yaml, primary: { plugins } }));
  const home = join(root, "home");
  await mkdir(home, { mode: 0o700 });
  return { dir, home, plugins: Object.fromEntries(folders.map(([key, folder]) => [`@test/${key}`, folder])) };
}

/** A host of such a project, and its warnings. */
export async function themeHost(
  { dir: project, home, plugins }: ThemeProject,
  options: Partial<HostOptions> = {},
): Promise<{ readonly host: Host; readonly warnings: string[] } & AsyncDisposable> {
  const warnings: string[] = [];
  const onWarning = (message: string): void => void warnings.push(message);
  const host = await createHost({ project, home, plugins, control: false, audit: [], onWarning, ...options });
  await host.start();
  return { host, warnings, [Symbol.asyncDispose]: () => host.stop() };
}
