/**
 * The files of a new plugin, for each way to write one.
 *
 * @module
 */
import { bashPlugin } from "./bash_plugin.ts";
import { jsPlugin } from "./js_plugin.ts";
import { manifestText } from "./manifest_text.ts";
import type { PluginProgram, ScaffoldFile, ScaffoldRuntime, SdkText } from "./plugin_program.ts";
import { pythonPlugin } from "./python_plugin.ts";
import { readmeText } from "./readme_text.ts";

/** Choices for a new plugin. */
export interface ScaffoldOptions {
  /** The plugin's name: `^[a-z][a-z0-9-]*$`, 2 to 64 characters. */
  readonly name: string;
  readonly runtime: ScaffoldRuntime;
  /** Copied into JavaScript and Python plugins; bash needs none. */
  readonly sdk: SdkText;
}

/** Returns why `name` cannot be the name of a plugin, or null. */
export function pluginNameProblem(name: string): string | null {
  if (name.length < 2 || name.length > 64) return "it takes 2 to 64 characters";
  if (!/^[a-z][a-z0-9-]*$/.test(name)) return "it takes a-z, 0-9 and -, and starts with a letter";
  return null;
}

/** Returns every file of a new plugin, by path inside its folder. */
export function scaffold({ name, runtime, sdk }: ScaffoldOptions): Map<string, ScaffoldFile> {
  const program = pluginProgram({ name, runtime, sdk });
  return new Map(Object.entries({
    "kaged-plugin.yaml": { content: manifestText(name, program), mode: 0o644 },
    "README.md": { content: readmeText(name, program), mode: 0o644 },
    ...program.files,
  }));
}

function pluginProgram({ name, runtime, sdk }: ScaffoldOptions): PluginProgram {
  if (runtime === "bash") return bashPlugin(name);
  if (runtime === "python") return pythonPlugin(name, sdk);
  return jsPlugin(name, runtime, sdk);
}
