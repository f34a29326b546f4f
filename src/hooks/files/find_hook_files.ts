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
import type { HookDialect } from "./types.ts";

/** A hook file, not read yet. */
export interface FoundHookFile {
  readonly file: string;
  /** Its path below its folder, for people. */
  readonly name: string;
  /** Absent where the content decides. */
  readonly dialect?: HookDialect;
  /** A repository's files need trust; the operator's own do not. */
  readonly origin: "repository" | "user";
}

/** Single files of a repository. */
const SINGLE: readonly (readonly [string, HookDialect | undefined])[] = [
  [".claude/settings.json", "claude"],
  [".claude/settings.local.json", "claude"],
  ["hooks/hooks.json", undefined],
  [".mcp.json", "mcp"],
  ["mcp.json", "mcp"],
  [".vscode/mcp.json", "mcp"],
];
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
  const inRepository = (name: string, dialect: HookDialect | undefined): FoundHookFile => {
    return { file: `${dir}/${name}`, name, origin: "repository", ...defined({ dialect }) };
  };
  const ofUser = (name: string): FoundHookFile => {
    return { file: `${userHome}/${name}`, name: `~/${name}`, dialect: "copilot", origin: "user" };
  };
  const hasUser = userHome !== null && settings.surface !== "cloud";
  const user = hasUser ? await listed(userHome, ".copilot/hooks", ".json") : [];
  const github = await listed(dir, ".github/hooks", ".json");
  const agents = settings.agent_hooks ? await listed(dir, ".github/agents", ".agent.md") : [];
  const single: FoundHookFile[] = [];
  for (const [name, dialect] of SINGLE) {
    if (await files.target(`${dir}/${name}`) !== null) single.push(inRepository(name, dialect));
  }
  return [
    ...user.map(ofUser),
    ...github.map((name) => inRepository(name, "copilot")),
    ...single,
    ...agents.map((name) => inRepository(name, "agent")),
  ];
}
