/**
 * Hook files of every dialect → the same hooks. Pure: the text comes in, nothing is looked up.
 *
 * @module
 */
import { typeName } from "../../core/project/values.ts";
import { isMap } from "../../core/values/plain_data.ts";
import { shown } from "../../core/values/shown_value.ts";
import { DocumentReport } from "../../core/documents/document_report.ts";
import { readAgentFile } from "./agent_file.ts";
import { hookDialect } from "./dialect.ts";
import { readJsonTree } from "../../core/documents/json_tree.ts";
import { checkMatchers } from "./matcher.ts";
import { readMcpServers, readMcpTools } from "./mcp_hook_map.ts";
import { readHookMap } from "./parse_hook_map.ts";
import type { FileHook, HookDialect, ParsedHookFile } from "./types.ts";

/** Bytes a hook file may have. */
export const MAX_HOOK_FILE_BYTES: number = 1024 * 1024;

/** What a file is to its reader. */
export interface HookFileOptions {
  /** The file, absolute. */
  readonly file: string;
  /** The file as people know it, below its folder. Default: {@link file}. */
  readonly name?: string;
  /** Kind of the file. Default: told from its name and its content. */
  readonly dialect?: HookDialect;
}

/**
 * Reads the text of a hook file.
 *
 * @throws {HostError} `hook.invalid`, with every issue in `data.issues`: file, line, column, path and hint.
 */
export async function parseHookFile(text: string, options: HookFileOptions): Promise<ParsedHookFile> {
  const { file, name = file } = options;
  const report = reportOn(file);
  if (options.dialect === "agent" || options.dialect === undefined && file.endsWith(".agent.md")) {
    const hooks = await readAgentFile(text, { file, name, report });
    return await finished({ file, dialect: "agent", hooks, tools: [] }, report);
  }
  const tree = readJsonTree(text, report);
  report.throwErrors();
  const data = tree?.data;
  const dialect = options.dialect ?? hookDialect(file, data, report);
  report.throwErrors();
  if (!isMap(data) || dialect === null) {
    report.error("hook.wrong_type", [], { message: `Expected a map, got ${typeName(data)}` });
    report.throwErrors();
    return { file, dialect: "copilot", hooks: [], tools: [], warnings: [] };
  }
  if (dialect === "mcp") {
    const [tools, servers] = [readMcpTools(data, file, report), readMcpServers(data)];
    return await finished({ file, dialect, hooks: [], tools, ...(servers.length > 0 && { servers }) }, report);
  }
  if (dialect === "copilot") checkVersion(data, report);
  const context = { file, name, dialect: dialect as Exclude<HookDialect, "mcp">, agent: null, report };
  const isOff = dialect === "claude" && data["disableAllHooks"] === true;
  // Settings without hooks are settings all the same.
  const hooks = dialect === "claude" && data["hooks"] === undefined
    ? []
    : readHookMap(data["hooks"], ["hooks"], context);
  if (isOff) report.warn("hook.all_disabled", ["disableAllHooks"], { part: "key" });
  return await finished({ file, dialect, hooks: isOff ? [] : hooks, tools: [] }, report);
}

/** Returns an empty report about a hook file. */
export function reportOn(file: string): DocumentReport {
  return new DocumentReport(file, { room: "hook", title: "The hook file" });
}

async function finished(
  parsed: Omit<ParsedHookFile, "warnings"> & { readonly hooks: readonly FileHook[] },
  report: DocumentReport,
): Promise<ParsedHookFile> {
  await checkMatchers(parsed.hooks, report);
  report.throwErrors();
  return { ...parsed, warnings: report.warnings };
}

function checkVersion(data: Record<string, unknown>, report: DocumentReport): void {
  const { version } = data;
  if (version === 1) return;
  const message = version === undefined ? "The file has no version" : `Version ${shown(version)} is not known`;
  report.error(version === undefined ? "hook.missing_field" : "hook.version_unknown", ["version"], {
    message,
    hint: 'Write "version": 1',
  });
}
