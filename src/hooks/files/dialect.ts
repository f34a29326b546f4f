/**
 * Finds the dialect of a hook file: from its path, and where any dialect may lie there, from its content.
 *
 * @module
 */
import { isMap } from "../../core/values/plain_data.ts";
import type { DocumentReport } from "../../core/documents/document_report.ts";
import type { HookDialect } from "./types.ts";

/** Files of programs whose hooks are not read here, and the next step for each. */
const FOREIGN: readonly (readonly [RegExp, string, string])[] = [
  [/\/\.cursor\/|\/hooks-cursor\.json$/, "Cursor's", "Write the hooks you want into .github/hooks/<name>.json"],
  [/\/\.windsurf\//, "Windsurf's", "Write the hooks you want into .github/hooks/<name>.json"],
  [/\/\.codex\//, "Codex's", 'Its "hooks" look as those of .claude/settings.json do: copy them there'],
  [/\/\.zed\//, "Zed's settings", "Nothing to do: it holds no hooks"],
  [/\/\.vscode\/settings\.json$/, "VS Code's settings", "Nothing to do: it holds no hooks"],
  [/\.schema\.json$/, "a JSON Schema", "Nothing to do: it holds no hooks"],
];

/** Returns the dialect of a JSON file, or null once the report has the reason why it is not read here. */
export function hookDialect(file: string, data: unknown, report: DocumentReport): HookDialect | null {
  const path = file.startsWith("/") ? file : `/${file}`;
  const foreign = FOREIGN.find(([pattern]) => pattern.test(path));
  if (foreign !== undefined) {
    return refused(`This file is ${foreign[1]}, and no hook file that is read here`, foreign[2]);
  }
  if (/\/\.(?:github|copilot)\/hooks\/[^/]+\.json$/.test(path)) return "copilot";
  if (/\/\.claude\/settings(?:\.local)?\.json$/.test(path)) return "claude";
  if (/\/\.?mcp\.json$/.test(path)) return "mcp";
  const hooks = isMap(data) ? data["hooks"] : undefined;
  if (!isMap(hooks)) return refused("The file has no map of hooks", 'Write { "version": 1, "hooks": { … } }');
  const items = Object.values(hooks).flatMap((list) => Array.isArray(list) ? list : []);
  if (items.some((item) => isMap(item) && Object.hasOwn(item, "tool"))) return "mcp";
  if (isMap(data) && Object.hasOwn(data, "version")) return "copilot";
  if (items.some((item) => isMap(item) && Array.isArray(item["hooks"]))) return "plugin";
  if (items.some((item) => isMap(item) && item["type"] === "command")) return "copilot";
  return refused("The hooks are written in no dialect that is read here", "See docs/hook-files.md for those that are");

  function refused(message: string, hint: string): null {
    report.error("hook.unknown_dialect", [], { message, hint });
    return null;
  }
}
