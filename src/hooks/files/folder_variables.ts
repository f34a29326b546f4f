/**
 * The variables by which hook files name the project's folder, and that of a plugin.
 *
 * @module
 */

/** Variables of every agent, since files for one name those of another. */
const PROJECT = ["CLAUDE_PROJECT_DIR", "CURSOR_PROJECT_DIR", "GEMINI_PROJECT_DIR", "GEMINI_CWD", "workspacePath"];
const PLUGIN = ["CLAUDE_PLUGIN_ROOT", "PLUGIN_ROOT", "COPILOT_PLUGIN_ROOT", "CURSOR_PLUGIN_ROOT", "extensionPath"];

/** Returns the variables that commands use for the folder of the project, and of a plugin. Default: they are one. */
export function folderVariables(dir: string, plugin: string = dir): Record<string, string> {
  const all = [...PROJECT.map((name) => [name, dir] as const), ...PLUGIN.map((name) => [name, plugin] as const)];
  return Object.fromEntries(all);
}

/** Returns shell text with the folder in place of the command by which files ask git for it. */
export function withTopLevel(script: string, dir: string): string {
  return script.replace(/\$\(git rev-parse --show-toplevel(?: 2>\/dev\/null)?\)|`git rev-parse --show-toplevel`/g, dir);
}
