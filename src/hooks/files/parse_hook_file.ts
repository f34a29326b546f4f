/**
 * Hook files of every dialect → the same hooks. Pure: the text comes in, nothing is looked up.
 *
 * @module
 */
import { type DocumentKind, DocumentReport } from "../../core/documents/document_report.ts";
import { Fields } from "../../core/documents/fields.ts";
import { readJson } from "../../core/documents/read_json.ts";
import { shown } from "../../core/values/shown_value.ts";
import { readAgentFile } from "./agent_file.ts";
import { hookDialect } from "./dialect.ts";
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
