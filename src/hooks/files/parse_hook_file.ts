/**
 * Hook files of every dialect → the same hooks. Pure: the text comes in, nothing is looked up.
 *
 * @module
 */
import { type DocumentKind, DocumentReport } from "../../core/documents/document_report.ts";
import { Fields } from "../../core/documents/fields.ts";
import { readJson } from "../../core/documents/read_json.ts";
import { readYaml } from "../../core/documents/read_yaml.ts";
import { isMap } from "../../core/values/plain_data.ts";
import { shown } from "../../core/values/shown_value.ts";
import { checkMatchers } from "./matcher.ts";
import { readMcpServers, readMcpTools } from "./mcp_hook_map.ts";
import { readHookMap } from "./parse_hook_map.ts";
import type { FileHook, HookDialect, ParsedHookFile } from "./types.ts";

/** Every hook file, JSON or front matter. */
export const HOOK_FILE: DocumentKind = { room: "hook", title: "The hook file", maxBytes: 1024 * 1024 };

/** The name of a file and, where it is known, its dialect. */
export interface HookFileOptions {
  /** Absolute path, which also decides the dialect. */
  readonly file: string;
  /** The file as people know it, below its folder. Default: {@link file}. */
  readonly name?: string;
  /** Default: found from the file's name and its content. */
  readonly dialect?: HookDialect;
}

/**
 * Reads the text of a hook file.
 *
 * @throws {HostError} `hook.invalid`, with every issue in `data.issues`: file, line, column, path and hint.
 */
export async function parseHookFile(text: string, options: HookFileOptions): Promise<ParsedHookFile> {
  const { file, name = file } = options;
  const report = new DocumentReport(file, HOOK_FILE);
  if (options.dialect === "agent" || options.dialect === undefined && file.endsWith(".agent.md")) {
    const hooks = await readAgentFile(text, name, report);
    return await finished({ file, dialect: "agent", hooks, tools: [] }, report);
  }
  // VS Code reads the files of its own folder as JSON with comments; no other tool does.
  const document = readJson(text, report, { comments: /(?:^|\/)\.vscode\//.test(file) });
  report.throwErrors();
  const dialect = options.dialect ?? hookDialect(file, document?.data, report);
  report.throwErrors();
  const root = new Fields(document?.data, [], report);
  report.throwErrors();
  if (dialect === "mcp") {
    const [tools, servers] = [readMcpTools(root), readMcpServers(root.data)];
    return await finished({ file, dialect, hooks: [], tools, ...(servers.length > 0 && { servers }) }, report);
  }
  if (dialect === "copilot") checkVersion(root);
  const isOff = dialect === "claude" && root.data["disableAllHooks"] === true;
  // Settings without hooks are settings all the same.
  const hooks = dialect === "claude" && !root.has("hooks")
    ? []
    : readHookMap(root, { name, dialect: dialect!, agent: null });
  if (isOff) report.warn("hook.all_disabled", ["disableAllHooks"], { part: "key" });
  return await finished({ file, dialect: dialect!, hooks: isOff ? [] : hooks, tools: [] }, report);
}

async function finished(
  parsed: Omit<ParsedHookFile, "warnings"> & { readonly hooks: readonly FileHook[] },
  report: DocumentReport,
): Promise<ParsedHookFile> {
  await checkMatchers(parsed.hooks, report);
  report.throwErrors();
  return { ...parsed, warnings: report.warnings };
}

function checkVersion(root: Fields): void {
  const { version } = root.data;
  if (version === 1) return;
  const message = version === undefined ? "The file has no version" : `Version ${shown(version)} is not known`;
  const reason = version === undefined ? "missing_field" : "version_unknown";
  root.error(reason, "version", { message, hint: 'Write "version": 1' });
}

const FRONT_MATTER = /^\ufeff?---[ \t]*\r?\n([^]*?)\r?\n---[ \t]*(?:\r?\n|$)/;

/**
 * Reads the hooks in the front matter of an `.agent.md` file, which are for that agent alone (B-009); none when it has no
 * front matter or no hooks in it.
 */
async function readAgentFile(text: string, name: string, report: DocumentReport): Promise<FileHook[]> {
  const yaml = FRONT_MATTER.exec(text)?.[1];
  // The fence becomes an empty line, so that every place is the file's own.
  const document = yaml === undefined ? null : await readYaml(`\n${yaml}\n`, report);
  const root = new Fields(document?.data ?? {}, [], report);
  if ((root.data["hooks"] ?? null) === null) return [];
  return readHookMap(root, { name, dialect: "agent", agent: agentName(root.data, report.file) });
}

/** Returns the agent's `name:`, else the name of its file. */
function agentName({ name }: Readonly<Record<string, unknown>>, file: string): string {
  if (typeof name === "string" && name.trim() !== "") return name.trim();
  return (file.split("/").at(-1) ?? file).replace(/(?:\.agent)?\.md$/, "");
}

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
function hookDialect(file: string, data: unknown, report: DocumentReport): HookDialect | null {
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
