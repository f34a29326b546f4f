/**
 * The dialect of a hook file: by the place it is in, else by how it looks.
 *
 * @module
 */
import type { DocumentReport } from "../../core/documents/document_report.ts";
import { isMap, mapOf } from "../../core/values/plain_data.ts";
import { DIALECTS } from "./dialects/all.ts";
import type { HookDialect } from "./types.ts";

/** Places that one agent alone reads. */
const PLACES: readonly (readonly [RegExp, HookDialect])[] = [
  [/\/\.cursor\/hooks[^/]*\.json$|\/(?:hooks-cursor|cursor-hooks)\.json$/, "cursor"],
  [
    /\/\.windsurf\/(?:.*\/)?[^/]*hooks\.json$|\/\.devin\/hooks\.json$|\/\.codeium\/(?:windsurf\/)?hooks\.json$/,
    "windsurf",
  ],
  [/\/\.codex\/(?:hooks\.json|config\.toml)$|\/\.codex-plugin\/(?:hooks\/)?hooks\.json$/, "codex"],
  [/\/\.gemini\/settings\.json$/, "gemini"],
  [/\/opencode\.jsonc?$|\/command-hooks\.jsonc$/, "opencode"],
  [/\/\.(?:github|copilot)\/hooks\/[^/]+\.json$|\/\.copilot\/settings\.json$/, "copilot"],
  [/\/\.github\/copilot\/settings(?:\.local)?\.json$/, "copilot"],
  [/\/\.claude\/settings(?:\.local)?\.json$/, "claude"],
  [/\/\.?mcp\.json$/, "mcp"],
];

/** Files of programs whose hooks are not read here, and the next step for each. */
const FOREIGN: readonly (readonly [RegExp, string, string])[] = [
  [
    /\/\.devin\/hooks\.v1\.json$/,
    "Devin's own",
    "Write the hooks you want into .claude/settings.json, which Devin reads too",
  ],
  [/\/\.zed\//, "Zed's settings", "Nothing to do: it holds no hooks"],
  [/\/\.vscode\/settings\.json$/, "VS Code's settings", "Nothing to do: it holds no hooks"],
  [/\.schema\.json$/, "a JSON Schema", "Nothing to do: it holds no hooks"],
];

const rooted = (file: string): string => file.startsWith("/") ? file : `/${file}`;

/** Returns the dialect of the place that a file is in; null when several agents read files there. */
export function placedDialect(file: string): HookDialect | null {
  return PLACES.find(([pattern]) => pattern.test(rooted(file)))?.[1] ?? null;
}

/** Returns the dialect that a JSON file looks like, or null once the report has the reason why it is not read here. */
export function hookDialect(file: string, data: unknown, report: DocumentReport): HookDialect | null {
  const foreign = FOREIGN.find(([pattern]) => pattern.test(rooted(file)));
  if (foreign !== undefined) {
    return refused(`This file is ${foreign[1]}, and no hook file that is read here`, foreign[2]);
  }
  const map = isMap(data) ? data : {};
  if (isMap(mapOf(map, "experimental")["hook"])) return "opencode";
  const { hooks } = map;
  if (!isMap(hooks)) return refused("The file has no map of hooks", 'Write { "version": 1, "hooks": { … } }');
  const items = Object.values(hooks).flatMap((list) => Array.isArray(list) ? list : []).filter(isMap);
  const some = (isSo: (item: Record<string, unknown>) => boolean): boolean => items.some(isSo);
  const own = ownDialect(Object.keys(hooks));
  if (own !== null) return own;
  if (some((item) => Object.hasOwn(item, "tool") && !Object.hasOwn(item, "type"))) return "mcp";
  if (some((item) => Array.isArray(item["hooks"])) && !Object.hasOwn(map, "version")) return "plugin";
  const isCopilot = some((item) => ["type", "bash", "powershell", "timeoutSec", "hooks"].some((key) => key in item));
  if (isCopilot || (items.length === 0 && Object.hasOwn(map, "version"))) return "copilot";
  if (some((item) => typeof item["command"] === "string")) return "cursor";
  return refused("The hooks are written in no dialect that is read here", "See docs/hook-files.md for those that are");

  function refused(message: string, hint: string): null {
    report.error("hook.unknown_dialect", [], { message, hint });
    return null;
  }
}

/** Returns the one agent that has one of these moments. */
function ownDialect(names: readonly string[]): HookDialect | null {
  const candidates = ["cursor", "gemini", "windsurf", "copilot"] as const;
  const isKnown = (dialect: keyof typeof DIALECTS, name: string): boolean => {
    const { events, leftOut } = DIALECTS[dialect];
    return Object.hasOwn(events, name) || Object.hasOwn(leftOut, name);
  };
  const shared = [...candidates, "claude" as const];
  for (const name of names) {
    const [first, ...others] = shared.filter((dialect) => isKnown(dialect, name));
    if (first !== undefined && others.length === 0 && first !== "claude") return first;
  }
  return null;
}
