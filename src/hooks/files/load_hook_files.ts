/**
 * Reads every hook file of a repository and of the operator. A broken file is reported and left out: the others go on.
 *
 * @module
 */
import { HostError, messageOf } from "../../core/errors/host_error.ts";
import { type DocumentIssue, DocumentReport } from "../../core/documents/document_report.ts";
import type { Files } from "../../core/ports/ports.ts";
import { DEFAULT_HOOK_SETTINGS, type HookSettings } from "../../core/project/hook_settings.ts";
import { readDocumentText } from "../../core/documents/read_text.ts";
import { describeAction } from "./describe_action.ts";
import { DIALECTS } from "./dialects/all.ts";
import { isInTheCloud } from "./event_names.ts";
import { managedFiles } from "./find_managed_files.ts";
import { findHookFiles, type FoundHookFile } from "./find_hook_files.ts";
import { mcpHookId, serverProblem } from "./mcp_server.ts";
import { HOOK_FILE, parseHookFile } from "./parse_hook_file.ts";
import { type FileHook, gatesIn, type HookAction, type HookGate, type ParsedHookFile } from "./types.ts";

/** The sources of hook files. */
export interface LoadHookFilesOptions {
  /** The repository's folder, absolute. */
  readonly dir: string;
  /** The file system of the runtime. */
  readonly files: Files;
  /** The operator's home, for files such as `~/.copilot/hooks/*.json`; absent: no user-level hooks. */
  readonly userHome?: string | null;
  /** The operator's `[hooks]`. Default: {@link DEFAULT_HOOK_SETTINGS}. */
  readonly settings?: HookSettings;
  /** System the commands are for, as the runtime names it. Default `linux`. */
  readonly platform?: string;
  /** Types of hooks that run here beside commands. Default: none. */
  readonly actions?: readonly HookAction["type"][];
  /** Returns why an action cannot run here, or null. Default: every action can. */
  readonly actionProblem?: (action: HookAction) => string | null;
}

/** A hook with the command that is run for it here. */
export interface LoadedHook extends FileHook {
  /** Whether its file is the repository's, is in the operator's home, or is a plugin's that the operator names. */
  readonly origin: "repository" | "user" | "plugin";
  /** The folder that trust in its file is kept under: the repository's, the operator's home, or the plugin's. */
  readonly root: string;
  /** Shell text for this system; for a hook that is no command, what it does in words. */
  readonly script: string;
}

/** A hook file that was read. */
export interface LoadedHookFile
  extends Omit<ParsedHookFile, "hooks" | "unused" | "warnings">, Pick<LoadedHook, "origin" | "root"> {
  /** Whether it needs no trust, as the operator's files in `~/.copilot/hooks`. */
  readonly isOwn: boolean;
  /** Its path below its folder, for people. */
  readonly name: string;
  /** Its text, which is what the operator trusts. */
  readonly text: string;
  /** Its hooks that run here, in the order of the file. */
  readonly hooks: readonly LoadedHook[];
  /** Its hooks that block when they fail, those included that do not run here. */
  readonly gates: readonly HookGate[];
}

/** A hook that does not run here, with the reason. */
export interface LeftOutHook {
  /** The file below its folder, and the path in it. */
  readonly id: string;
  /** Why it does not run, as a sentence. */
  readonly reason: string;
  /** Whether the file has a mistake there; other hooks are left out by what this host is. */
  readonly isMistake?: true;
}

/** Everything that was found. */
export interface HookFiles {
  /** The repository's folder, links resolved. */
  readonly dir: string;
  /** Files, in the order in which their hooks are registered. */
  readonly files: readonly LoadedHookFile[];
  /** Hooks that do not run here. */
  readonly leftOut: readonly LeftOutHook[];
  /** Mistakes in files: those are left out whole. */
  readonly errors: readonly DocumentIssue[];
  /** Entries that are allowed and look like slips. */
  readonly warnings: readonly DocumentIssue[];
}

/**
 * Reads every hook file. Never throws for a file.
 *
 * @throws {HostError} `host.misuse` when `dir` is no folder.
 */
export async function loadHookFiles(options: LoadHookFilesOptions): Promise<HookFiles> {
  const { files, settings = DEFAULT_HOOK_SETTINGS, userHome = null } = options;
  const dir = await realFolder(options.dir, files);
  const issues: DocumentIssue[] = [];
  const found = await findHookFiles({ dir, userHome, settings, files, report: (issue) => void issues.push(issue) });
  const read = await Promise.all(found.map((one) => readOne(one, files)));
  const wantedServers = new Set(
    read.flatMap(({ good }) => good?.parsed.hooks ?? []).flatMap(({ action }) =>
      action?.type === "mcp_tool" ? [action.server] : []
    ),
  );
  const loaded: LoadedHookFile[] = [];
  const leftOut: LeftOutHook[] = settings.surface === "cloud" ? [] : await managedFiles(files);
  for (const { parsed, found: { name, origin, root, isOwn }, text } of read.flatMap(({ good }) => good ?? [])) {
    const { warnings: _warnings, hooks, unused = [], ...rest } = parsed;
    if (isOther(parsed, origin, wantedServers)) continue;
    leftOut.push(...unused.map(({ line: _, ...left }) => left));
    const isOff = (id: string): boolean => settings.disable.includes(name) || settings.disable.includes(id);
    const running = hooks.flatMap((hook): LoadedHook[] => {
      const script = hook.action ? describeAction(hook.action) : selectCommand(hook, options.platform ?? "linux");
      const reason = isOff(hook.id) ? SWITCHED_OFF : whyNot(hook, script, settings, options);
      if (reason === null) return [{ ...hook, ...userFolder(hook, origin, root), script: script!, origin, root }];
      leftOut.push({ id: hook.id, reason });
      return [];
    });
    const tools = parsed.tools.filter((hook) => {
      const id = mcpHookId(hook, name);
      const reason = isOff(id) ? SWITCHED_OFF : serverProblem(hook, parsed.servers);
      if (reason !== null) leftOut.push({ id, reason });
      return reason === null;
    });
    loaded.push({ ...rest, name, origin, root, isOwn, text, hooks: running, gates: gatesIn(hooks), tools });
  }
  return {
    dir,
    files: loaded,
    leftOut,
    errors: [...issues, ...read.flatMap(({ errors }) => errors)],
    warnings: read.flatMap(({ good }) => good?.parsed.warnings ?? []),
  };
}

/** Whether a file is one of settings without hooks. Those of Claude Code in a repository may have had some before. */
function isOther(
  { dialect, hooks, tools, servers = [], unused = [] }: ParsedHookFile,
  origin: FoundHookFile["origin"],
  wantedServers: ReadonlySet<string>,
): boolean {
  if (hooks.length + tools.length + unused.length > 0) return false;
  // A hook of another file calls a tool of a server that stands here.
  if (servers.some(({ name }) => wantedServers.has(name))) return false;
  return dialect === "mcp" || origin !== "repository" || ["codex", "gemini", "opencode"].includes(dialect);
}

/** Hooks of some agents' user files run in a folder of their own. */
function userFolder(
  { dialect, cwd }: FileHook,
  origin: FoundHookFile["origin"],
  root: string,
): { readonly cwd?: string } {
  const { userCwd } = DIALECTS[dialect];
  return origin === "user" && userCwd !== undefined && cwd === undefined ? { cwd: `${root}/${userCwd}` } : {};
}

/** Returns the command of a hook for a system: that of its shell, else the one for every shell, else null. */
export function selectCommand({ commands }: Pick<FileHook, "commands">, platform: string): string | null {
  const own = platform === "win32" ? commands.powershell : commands.bash;
  return own ?? commands.command ?? null;
}

const SWITCHED_OFF = "config.toml switches it off";

/** What a hook of a type that is no command needs to run. */
const NEEDS: Readonly<Record<HookAction["type"], string>> = {
  http: "requests go out only where openHookFiles opens the files",
  mcp_tool: "its server must stand in an mcp.json of the repository",
  prompt: "this host calls no model: give openHookFiles a function onPrompt",
  agent: "this host calls no model: give openHookFiles a function onPrompt",
};

function whyNot(
  { hook, action }: FileHook,
  script: string | null,
  { surface }: HookSettings,
  { actions = [], actionProblem = () => null }: Pick<LoadHookFilesOptions, "actions" | "actionProblem">,
): string | null {
  if (action && !actions.includes(action.type)) return `It is of type "${action.type}": ${NEEDS[action.type]}`;
  const problem = action ? actionProblem(action) : null;
  if (problem !== null) return `It is of type "${action!.type}": ${problem}`;
  if (surface === "cloud" && !isInTheCloud(hook)) return `Cloud agents have no ${hook}`;
  return script === null ? 'It is written for PowerShell only: add "bash" or "command"' : null;
}

interface ReadFile {
  readonly good?: { readonly parsed: ParsedHookFile; readonly found: FoundHookFile; readonly text: string };
  readonly errors: readonly DocumentIssue[];
}

async function readOne(found: FoundHookFile, files: Files): Promise<ReadFile> {
  const { file, origin, root } = found;
  const report = new DocumentReport(file, HOOK_FILE);
  try {
    const real = await files.realPath(file);
    if (origin !== "user" && !real.startsWith(`${root}/`)) {
      report.errorAt("hook.outside", undefined, { message: `The file leads to "${real}"` });
      report.throwErrors();
    }
    const text = await readDocumentText(report, files);
    if (text === null) return { errors: [] }; // It went away since it was found.
    return { good: { parsed: await parseHookFile(text, found), found, text }, errors: [] };
  } catch (error) {
    const issues = error instanceof HostError ? (error.data as { issues?: DocumentIssue[] } | undefined)?.issues : null;
    const isDangling = (error as { code?: unknown }).code === "ENOENT";
    const isGone = isDangling && await files.info(file) === null;
    const dangling = isGone
      ? "The plugin names this file, and it is not there"
      : "The file is a link that leads to nothing";
    const message = isDangling ? dangling : messageOf(error);
    return { errors: issues ?? [report.issue("hook.unreadable", [], { message })] };
  }
}

async function realFolder(dir: string, files: Files): Promise<string> {
  if ((await files.target(dir))?.kind === "directory") return await files.realPath(dir);
  throw new HostError("host.misuse", `"${dir}" is no folder`, { hint: "Name the repository's folder" });
}
