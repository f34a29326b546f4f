/**
 * Hook files of every dialect → the same hooks. Pure: the text comes in, nothing is looked up.
 *
 * @module
 */
import { type DocumentKind, DocumentReport } from "../../core/documents/document_report.ts";
import { Fields } from "../../core/documents/fields.ts";
import { readJson } from "../../core/documents/read_json.ts";
import { readToml } from "../../core/documents/read_toml.ts";
import { readYaml } from "../../core/documents/read_yaml.ts";
import { mapOf } from "../../core/values/plain_data.ts";
import { shown } from "../../core/values/shown_value.ts";
import { type CommandDialect, DIALECTS } from "./dialects/all.ts";
import { hookDialect, placedDialect } from "./hook_dialect.ts";
import { matcherProblem } from "./matcher.ts";
import { readMcpServers, readMcpTools } from "./mcp_hook_map.ts";
import { readHookMap } from "./parse_hook_map.ts";
import type { ReadHooks } from "./read_items.ts";
import { readOpencode } from "./read_opencode.ts";
import type { FileHook, HookDialect, ParsedHookFile, UnusedHook } from "./types.ts";

/** Every hook file, JSON, TOML or front matter. */
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
    const read = await readAgentFile(text, name, report);
    return await finished({ file, dialect: "agent", tools: [] }, read, report);
  }
  const placed = options.dialect ?? placedDialect(file);
  const document = file.endsWith(".toml")
    ? await readToml(text, report)
    : readJson(text, report, { comments: hasComments(file, placed) });
  report.throwErrors();
  const dialect = placed ?? hookDialect(file, document?.data, report);
  report.throwErrors();
  const root = new Fields(document?.data, [], report);
  report.throwErrors();
  if (dialect === "mcp") {
    const [tools, servers] = [readMcpTools(root), readMcpServers(root.data)];
    const more = servers.length > 0 ? { servers } : {};
    return await finished({ file, dialect, tools, ...more }, { hooks: [], unused: [] }, report);
  }
  const read = readRoot(root, name, dialect!);
  return await finished({ file, dialect: dialect!, tools: [] }, read, report);
}

/** VS Code reads the files of its own folder as JSON with comments; of agents, some do. */
function hasComments(file: string, dialect: HookDialect | null): boolean {
  if (file.endsWith(".jsonc") || /(?:^|\/)\.vscode\//.test(file)) return true;
  return dialect !== null && dialect !== "mcp" && DIALECTS[dialect].format === "jsonc" &&
    !/\/hooks\/hooks\.json$/.test(file);
}

function readRoot(root: Fields, name: string, dialect: CommandDialect): ReadHooks {
  const context = { name, dialect, agent: null };
  if (dialect === "opencode") return readOpencode(root, name);
  checkTopLevel(root, dialect);
  // Settings without hooks are settings all the same.
  const isSettings = /(?:settings(?:\.local)?\.json|config\.toml)$/.test(root.report.file);
  const read = isSettings && !root.has("hooks") ? { hooks: [], unused: [] } : readHookMap(root, context);
  const off = switchedOff(root, dialect);
  if (off === null) return read;
  root.report.warn("hook.all_disabled", off, { part: "key" });
  return { hooks: [], unused: read.unused };
}

/** Returns the key that switches all hooks of a file off, or null. */
function switchedOff({ data }: Fields, dialect: CommandDialect): string[] | null {
  if (data["disableAllHooks"] === true && DIALECTS[dialect] !== DIALECTS.gemini) return ["disableAllHooks"];
  const isOff = dialect === "gemini" && mapOf(data, "hooksConfig")["enabled"] === false;
  return isOff ? ["hooksConfig", "enabled"] : null;
}

async function finished(
  parsed: Omit<ParsedHookFile, "warnings" | "hooks" | "unused">,
  { hooks, unused }: ReadHooks,
  report: DocumentReport,
): Promise<ParsedHookFile> {
  const fit: FileHook[] = [];
  const left: UnusedHook[] = [...unused];
  for (const hook of hooks) {
    const problem = await matcherProblem(hook);
    if (problem === null) {
      fit.push(hook);
      continue;
    }
    const { id, line, path, onFailure } = hook;
    const text = { message: `${path}: ${problem}` };
    // One matcher voids one hook; but a gate that cannot be hung up is no gate, and the file says there is one.
    if (onFailure === "block") report.errorAt("hook.matcher_invalid", { line, column: 1 }, text);
    else report.warnAt("hook.matcher_invalid", { line, column: 1 }, text);
    left.push({ id, line, reason: problem, isMistake: true });
  }
  report.throwErrors();
  return { ...parsed, hooks: fit, ...(left.length > 0 && { unused: left }), warnings: report.warnings };
}

/** Checks the version, and the other keys of a file where its agent does. */
function checkTopLevel(root: Fields, dialect: CommandDialect): void {
  if (root.report.file.endsWith("/plugin.json")) return; // A manifest has keys, and a version, of its own.
  const { version: rule, topLevel, title } = DIALECTS[dialect];
  const { version } = root.data;
  if (rule === "optional" && version !== undefined && version !== 1) {
    const message = `Version ${shown(version)} is not known`;
    root.error("version_unknown", "version", { message, hint: 'Write "version": 1, or leave it out' });
  }
  if (topLevel === undefined || root.report.file.endsWith(".toml")) return;
  for (const key of Object.keys(root.data).filter((name) => !topLevel.includes(name))) {
    const message = `${title} reads no file with the key ${shown(key)}`;
    root.report.error("hook.unknown_key", root.at(key), { message, hint: "Remove it", part: "key" });
  }
}

const FRONT_MATTER = /^\ufeff?---[ \t]*\r?\n([^]*?)\r?\n---[ \t]*(?:\r?\n|$)/;

/**
 * Reads the hooks in the front matter of an `.agent.md` file, which are for that agent alone (B-009); none when it has no
 * front matter or no hooks in it.
 */
async function readAgentFile(text: string, name: string, report: DocumentReport): Promise<ReadHooks> {
  const yaml = FRONT_MATTER.exec(text)?.[1];
  // The fence becomes an empty line, so that every place is the file's own.
  const document = yaml === undefined ? null : await readYaml(`\n${yaml}\n`, report);
  const root = new Fields(document?.data ?? {}, [], report);
  if ((root.data["hooks"] ?? null) === null) return { hooks: [], unused: [] };
  return readHookMap(root, { name, dialect: "agent", agent: agentName(root.data, report.file) });
}

/** Returns the agent's `name:`, else the name of its file. */
function agentName({ name }: Readonly<Record<string, unknown>>, file: string): string {
  if (typeof name === "string" && name.trim() !== "") return name.trim();
  return (file.split("/").at(-1) ?? file).replace(/(?:\.agent)?\.md$/, "");
}
