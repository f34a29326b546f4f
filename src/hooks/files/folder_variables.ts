/**
 * The variables by which hook files name the project's folder.
 *
 * @module
 */

/** Returns the variables that commands use for the folder of the project. */
export function folderVariables(dir: string): Record<string, string> {
  return { CLAUDE_PROJECT_DIR: dir, CLAUDE_PLUGIN_ROOT: dir };
}
