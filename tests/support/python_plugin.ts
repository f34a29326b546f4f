/**
 * Python programs that carry the Python SDK, as `kaged plugin new --language python` writes it.
 *
 * @module
 */
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { SDK_PY } from "../../src/cli/generated/python_sdk_source.ts";
import { type DrivenPlugin, driveProcess, type Message } from "./plugin_driver.ts";
import { requireOrSkip } from "./require_or_skip.ts";
import { scratchDir } from "./scratch_dir.ts";

/** Where the interpreter is. */
export const PYTHON = "/usr/bin/python3";

/** Whether this machine has Python; says so where it has not. */
export const hasPython = (t: TestContext): Promise<boolean> =>
  requireOrSkip(t, "python3", existsSync(PYTHON), "install the package python3");

/** Starts a plugin called `test`; `plugin` is made, `source` gives it handlers. */
export async function pythonPlugin(
  t: TestContext,
  source: string,
  { options = "", env = {} }: { options?: string; env?: Message } = {},
): Promise<DrivenPlugin> {
  const head = `from kaged_sdk import Plugin, PluginError\nplugin = Plugin("test", "1.0.0", ${options})\n`;
  return await pythonProgram(t, `${head}${source}\nplugin.start()\n`, env);
}

/** Starts a whole program, with the SDK beside it. */
export async function pythonProgram(t: TestContext, source: string, env: Message = {}): Promise<DrivenPlugin> {
  const dir = await scratchDir(t);
  await writeFile(join(dir, "kaged_sdk.py"), SDK_PY);
  await writeFile(join(dir, "plugin.py"), source);
  return driveProcess(dir, [PYTHON, "-B", "plugin.py"], env);
}

/** The plugin's log lines, parsed as JSON. */
export const logLines = (plugin: DrivenPlugin): Message[] =>
  plugin.log().trimEnd().split("\n").filter(Boolean).map((line) => JSON.parse(line));
