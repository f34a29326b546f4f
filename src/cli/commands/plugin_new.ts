/**
 * `kaged plugin new`: writes a plugin that passes its check at once.
 *
 * @module
 */
import { basename, resolve } from "node:path";
import { type Command, Option } from "commander";
import { HostError } from "../../core/errors/host_error.ts";
import {
  pluginNameProblem,
  scaffold,
  SCAFFOLD_RUNTIMES,
  type ScaffoldRuntime,
} from "../../operator/scaffold/scaffold.ts";
import { shellWord } from "../../hooks/files/shell_words.ts";
import { checkEmpty, fillFolder } from "../new_folder.ts";
import { folderText } from "../plugin_place.ts";
import type { Terminal } from "../terminal.ts";

interface NewFlags {
  readonly runtime: ScaffoldRuntime;
  readonly language?: ScaffoldRuntime;
  readonly name?: string;
  readonly json?: boolean;
}

export function addPluginNew(parent: Command, terminal: Terminal): void {
  parent.command("new")
    .summary("make a plugin that passes its check")
    .description("Makes a small plugin with one tool, one method, one hook and one setting.")
    .argument("<dir>", "a new or empty folder")
    .addOption(
      new Option("--runtime <name>", "language of the plugin; js runs on the host's own runtime")
        .choices(SCAFFOLD_RUNTIMES)
        .default("js"),
    )
    .addOption(
      new Option("--language <name>", "another name of --runtime").choices(SCAFFOLD_RUNTIMES).conflicts("runtime"),
    )
    .option("--name <name>", "the plugin's name (default: the folder's)")
    .option("--json", "print JSON")
    .addHelpText("after", EXAMPLES)
    .action((dir: string, flags: NewFlags) => makePlugin(dir, flags, terminal));
}

const EXAMPLES = `
Examples:
  kaged plugin new greeter                     # JavaScript with the SDK beside it
  kaged plugin new greeter --runtime bash      # bash and jq, no SDK
  kaged plugin new greeter --language python   # Python's library and the SDK
  kaged plugin new . --name my-greeter         # into this folder, if it is empty`;

async function makePlugin(
  dir: string,
  { runtime, language: written = runtime, name: given, json }: NewFlags,
  terminal: Terminal,
): Promise<void> {
  const [{ PLUGIN_TEMPLATES }, { SDK_DTS, SDK_JS }, { SDK_PY }] = await Promise.all([
    import("../generated/plugin_templates.ts"),
    import("../generated/sdk_source.ts"),
    import("../generated/python_sdk_source.ts"),
  ]);
  const path = resolve(terminal.cwd, dir);
  const name = given ?? basename(path);
  const problem = pluginNameProblem(name);
  if (problem !== null) {
    throw new HostError("scaffold.name_invalid", `A plugin cannot be called "${name}": ${problem}`, {
      data: { name },
      hint: given === undefined ? "Name it with --name" : "Choose another name",
    });
  }
  const { files } = await terminal.runtime();
  await checkEmpty(files, path);
  const sdk = { "kaged_sdk.js": SDK_JS, "kaged_sdk.d.ts": SDK_DTS, "kaged_sdk.py": SDK_PY };
  const made = scaffold({ name, runtime: written, texts: { ...PLUGIN_TEMPLATES, ...sdk } });
  await fillFolder(files, path, made);
  const { line, paint } = terminal.out;
  if (json) return terminal.out.json({ name, dir: path, runtime: written, files: [...made.keys()] });
  line(`${paint.green("✓")} Made ${paint.bold(name)} in ${path}`);
  for (const file of made.keys()) line(`    ${file}`);
  line(`${paint.dim("→")} check it with: kaged plugin check ${shellWord(folderText(dir))}`);
}
