/**
 * Finds the hook files of a repository and of the operator (B-008).
 *
 * @module
 */
import { type HostErrorCode, messageOf } from "../../core/errors/host_error.ts";
import type { DocumentIssue } from "../../core/documents/document_report.ts";
import type { Files } from "../../core/ports/ports.ts";
import type { HookSettings } from "../../core/project/hook_settings.ts";
import { defined } from "../../core/values/plain_data.ts";
import { DIALECTS } from "./dialects/all.ts";
import { findPluginFiles } from "./find_plugin_files.ts";
import type { HookDialect } from "./types.ts";

/** A hook file, not read yet. */
export interface FoundHookFile {
  readonly file: string;
  /** Its path below its folder, for people. */
  readonly name: string;
  /** Absent where the content decides. */
  readonly dialect?: HookDialect;
  /** Whether it is a file of the repository, of the operator's home, or of a plugin that the operator names. */
  readonly origin: "repository" | "user" | "plugin";
  /** The folder that trust in it is kept under: the repository's, the operator's home, or the plugin's. */
  readonly root: string;
  /** Whether it needs no trust: the operator wrote it for hosts such as this one. */
  readonly isOwn: boolean;
}

/** Dialects with places of their own, in the order in which their hooks are registered. */
const PLACED = ["copilot", "claude", "codex", "cursor", "gemini", "windsurf", "opencode"] as const;

/** Hook maps that belong to tools of MCP servers. */
const MCP_FILES = [".mcp.json", "mcp.json", ".vscode/mcp.json"];
/** The new name of a file: where it is there, its agent does not read the old one. */
const REPLACED: Readonly<Record<string, string>> = { ".windsurf/hooks.json": ".devin/hooks.json" };
/** The operator's own folder, whose files need no trust. */
const OWN_FOLDER = ".copilot/hooks";
const MAX_FILES = 200;

/**
 * Returns the hook files of `dir` and of the operator, in the order in which their hooks are registered. Folders that
 * cannot be listed, or hold too many files, go to `report`.
 */
export async function findHookFiles(
  { dir, userHome, settings, files, report }: {
    readonly dir: string;
    readonly userHome: string | null;
    readonly settings: HookSettings;
    readonly files: Files;
    readonly report: (issue: DocumentIssue) => void;
  },
): Promise<FoundHookFile[]> {
  const listed = async (root: string, folder: string, suffix: string): Promise<string[]> => {
    const path = `${root}/${folder}`;
    if ((await files.target(path))?.kind !== "directory") return [];
    const warn = (code: HostErrorCode, message: string): void =>
      report({ code, message, file: path, line: 1, column: 1, path: "" });
    const names = await files.list(path).catch((error) => (warn("hook.unreadable", messageOf(error)), []));
    const found = names.filter((name) => name.endsWith(suffix)).sort();
    if (found.length > MAX_FILES) {
      const rest = `those after the first ${MAX_FILES} are left out`;
      warn("hook.too_many_files", `The folder holds ${found.length} hook files: ${rest}`);
    }
    return found.slice(0, MAX_FILES).map((name) => `${folder}/${name}`);
  };
  const isThere = async (path: string): Promise<boolean> => await files.target(path) !== null;
  const placed = async (root: string, name: string): Promise<string[]> => {
    const [folder] = name.split("/*", 1);
    if (name !== folder) return await listed(root, folder!, ".json");
    const newer = REPLACED[name];
    if (newer !== undefined && await isThere(`${root}/${newer}`)) return [];
    return await isThere(`${root}/${name}`) ? [name] : [];
  };
  const inRepository = (name: string, dialect: HookDialect | undefined): FoundHookFile => {
    return { file: `${dir}/${name}`, name, origin: "repository", root: dir, isOwn: false, ...defined({ dialect }) };
  };
  const found: FoundHookFile[] = [];
  if (userHome !== null && userHome !== dir && settings.surface !== "cloud") {
    for (const dialect of PLACED) {
      for (const place of DIALECTS[dialect].places.user) {
        const isOwn = place.startsWith(`${OWN_FOLDER}/`);
        const names = await placed(userHome, place);
        found.push(...names.map((name): FoundHookFile => {
          return { file: `${userHome}/${name}`, name: `~/${name}`, dialect, origin: "user", root: userHome, isOwn };
        }));
      }
    }
  }
  for (const given of settings.surface === "cloud" ? [] : settings.plugins) {
    const root = await files.realPath(given).catch(() => given);
    const names = await findPluginFiles(root, files);
    found.push(...names.map(({ name, dialect }): FoundHookFile => {
      const file = `${root}/${name}`;
      return { file, name: file, origin: "plugin", root, isOwn: false, ...defined({ dialect }) };
    }));
    if (names.length > 0) continue;
    const message = "config.toml names this folder as a plugin, and it has no hook files";
    report({ code: "hook.unreadable", message, file: root, line: 1, column: 1, path: "" });
  }
  for (const dialect of PLACED) {
    for (const place of DIALECTS[dialect].places.project) {
      found.push(...(await placed(dir, place)).map((name) => inRepository(name, dialect)));
    }
  }
  for (const { name, dialect } of await findPluginFiles(dir, files)) {
    if (!found.some((one) => one.name === name)) found.push(inRepository(name, dialect));
  }
  for (const name of MCP_FILES) if (await isThere(`${dir}/${name}`)) found.push(inRepository(name, "mcp"));
  const agents = settings.agent_hooks ? await listed(dir, ".github/agents", ".agent.md") : [];
  return [...found, ...agents.map((name) => inRepository(name, "agent"))];
}
