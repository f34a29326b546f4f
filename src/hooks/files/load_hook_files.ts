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
import { isInTheCloud } from "./event_names.ts";
import { findHookFiles, type FoundHookFile } from "./find_hook_files.ts";
import { mcpHookId, serverProblem } from "./mcp_server.ts";
import { HOOK_FILE, parseHookFile } from "./parse_hook_file.ts";
import { type FileHook, gatesIn, type HookGate, type ParsedHookFile } from "./types.ts";

/** The sources of hook files. */
export interface LoadHookFilesOptions {
  /** The repository's folder, absolute. */
  readonly dir: string;
  /** The file system of the runtime. */
  readonly files: Files;
  /** The operator's home, for `~/.copilot/hooks`; absent: no user-level hooks. */
  readonly userHome?: string | null;
  /** The operator's `[hooks]`. Default: {@link DEFAULT_HOOK_SETTINGS}. */
  readonly settings?: HookSettings;
  /** System the commands are for, as the runtime names it. Default `linux`. */
  readonly platform?: string;
}

/** A hook with the command that is run for it here. */
export interface LoadedHook extends FileHook {
  /** A repository's hooks need trust; the operator's own do not. */
  readonly origin: "repository" | "user";
  /** Shell text for this system. */
  readonly script: string;
}

/** A hook file that was read. */
export interface LoadedHookFile extends Omit<ParsedHookFile, "hooks" | "warnings">, Pick<LoadedHook, "origin"> {
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
  const read = await Promise.all(found.map((one) => readOne(one, dir, files)));
  const loaded: LoadedHookFile[] = [];
  const leftOut: LeftOutHook[] = [];
  for (const { parsed, found: { name, origin }, text } of read.flatMap(({ good }) => good ?? [])) {
    const { warnings: _warnings, hooks, ...rest } = parsed;
    if (parsed.dialect === "mcp" && parsed.tools.length === 0) continue; // It names servers only.
    const isOff = (id: string): boolean => settings.disable.includes(name) || settings.disable.includes(id);
    const running = hooks.flatMap((hook): LoadedHook[] => {
      const script = selectCommand(hook, options.platform ?? "linux");
      const reason = isOff(hook.id) ? SWITCHED_OFF : whyNot(hook, script, settings);
      if (reason === null) return [{ ...hook, script: script!, origin }];
      leftOut.push({ id: hook.id, reason });
      return [];
    });
    const tools = parsed.tools.filter((hook) => {
      const id = mcpHookId(hook, name);
      const reason = isOff(id) ? SWITCHED_OFF : serverProblem(hook, parsed.servers);
      if (reason !== null) leftOut.push({ id, reason });
      return reason === null;
    });
    loaded.push({ ...rest, name, origin, text, hooks: running, gates: gatesIn(hooks), tools });
  }
  return {
    dir,
    files: loaded,
    leftOut,
    errors: [...issues, ...read.flatMap(({ errors }) => errors)],
    warnings: read.flatMap(({ good }) => good?.parsed.warnings ?? []),
  };
}

/** Returns the command of a hook for a system: that of its shell, else the one for every shell, else null. */
export function selectCommand({ commands }: Pick<FileHook, "commands">, platform: string): string | null {
  const own = platform === "win32" ? commands.powershell : commands.bash;
  return own ?? commands.command ?? null;
}

const SWITCHED_OFF = "config.toml switches it off";

function whyNot({ hook }: FileHook, script: string | null, { surface }: HookSettings): string | null {
  if (surface === "cloud" && !isInTheCloud(hook)) return `Cloud agents have no ${hook}`;
  return script === null ? 'It is written for PowerShell only: add "bash" or "command"' : null;
}

interface ReadFile {
  readonly good?: { readonly parsed: ParsedHookFile; readonly found: FoundHookFile; readonly text: string };
  readonly errors: readonly DocumentIssue[];
}

async function readOne(found: FoundHookFile, dir: string, files: Files): Promise<ReadFile> {
  const { file, origin } = found;
  const report = new DocumentReport(file, HOOK_FILE);
  try {
    const real = await files.realPath(file);
    if (origin === "repository" && !real.startsWith(`${dir}/`)) {
      report.errorAt("hook.outside", undefined, { message: `The file leads to "${real}"` });
      report.throwErrors();
    }
    const text = await readDocumentText(report, files);
    if (text === null) return { errors: [] }; // It went away since it was found.
    return { good: { parsed: await parseHookFile(text, found), found, text }, errors: [] };
  } catch (error) {
    const issues = error instanceof HostError ? (error.data as { issues?: DocumentIssue[] } | undefined)?.issues : null;
    const isDangling = (error as { code?: unknown }).code === "ENOENT";
    const message = isDangling ? "The file is a link that leads to nothing" : messageOf(error);
    return { errors: issues ?? [report.issue("hook.unreadable", [], { message })] };
  }
}

async function realFolder(dir: string, files: Files): Promise<string> {
  if ((await files.target(dir))?.kind === "directory") return await files.realPath(dir);
  throw new HostError("host.misuse", `"${dir}" is no folder`, { hint: "Name the repository's folder" });
}
