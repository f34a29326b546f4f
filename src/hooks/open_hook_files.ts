/**
 * Everything about the hook files of a repository in one call: read, judged by what the operator trusts, and ready for
 * the engine.
 *
 * @module
 */
import { resolveLimits } from "../core/cage/limits/cage_limits.ts";
import { asHostError, HostError } from "../core/errors/host_error.ts";
import type { DocumentIssue } from "../core/documents/document_report.ts";
import type { Files, Runtime } from "../core/ports/ports.ts";
import type { HookSettings } from "../core/project/hook_settings.ts";
import { checkHome } from "../core/files/home.ts";
import { cageLimitsOf, readOperatorConfig } from "../core/project/operator_config.ts";
import { DIALECTS } from "./files/dialects/all.ts";
import { type CoveredFile, foreignScripts, gatherEvidence, type HookEvidence } from "./files/hook_evidence.ts";
import { type HeldHookFile, heldHookFiles, heldRegistrations } from "./files/held_gates.ts";
import {
  type HookFiles,
  type LeftOutHook,
  type LoadedHook,
  type LoadedHookFile,
  loadHookFiles,
} from "./files/load_hook_files.ts";
import {
  readTrust,
  type TrustRecord,
  trustRecord,
  type TrustState,
  trustState,
  type TrustStore,
} from "./files/trust_store.ts";
import { eventPoster, requestProblem } from "./sources/action/post_event.ts";
import { type ActionMeans, runAction } from "./sources/action/run_action.ts";
import { handedVariables } from "./sources/command/hook_cage.ts";
import { mcpHooks } from "./sources/mcp/mcp_hooks.ts";
import type { HookRegistration } from "./engine/types.ts";
import { cagedRunner } from "./sources/command/caged_runner.ts";
import { placedRegistrations } from "./sources/command/command_hooks.ts";
import { runPlaces, sessionEnvFile } from "./sources/command/run_places.ts";
import type { CommandEnd } from "./sources/command/types.ts";

/** Where the hook files are. */
export interface OpenHookFilesOptions {
  /** The runtime that commands and servers are started on. */
  readonly runtime: Runtime;
  /** The repository's folder. */
  readonly dir: string;
  /** The operator's folder, which holds `config.toml` and `trust.json`. */
  readonly home: string;
  /** Home of the operator, for files such as `~/.claude/settings.json`; absent: `$HOME`, null: none. */
  readonly userHome?: string | null;
  /** Aborted when everything is to end: commands that still run are ended. */
  readonly signal?: AbortSignal;
  /** Called when a command has ended. */
  readonly onEnd?: (hook: LoadedHook, end: CommandEnd) => void;
  /** Called when a background hook broke; the failure of any other rejects its handler. */
  readonly onBroken?: (hook: LoadedHook, error: HostError) => void;
  /**
   * Asks a model for hooks of type `prompt` and `agent`; absent: they are left out. `prompt` is the question with the event
   * in it, `model` the one that the file asks for. `ok: false` says no, for `reason`; `impossible` keeps the agent from
   * going on for it at the end of a turn.
   */
  readonly onPrompt?: (
    question: {
      readonly type: "prompt" | "agent";
      readonly prompt: string;
      readonly model?: string;
      readonly event: Readonly<Record<string, unknown>>;
      readonly signal: AbortSignal;
    },
  ) => Promise<{ readonly ok: boolean; readonly reason?: string; readonly impossible?: boolean }>;
  /** Receives each line that an MCP server of a hook map writes to stderr. */
  readonly onServerLog?: (server: string, line: string) => void;
}

/** A hook file held against the operator's trust. */
export interface JudgedHookFile {
  /** The file as it was read. */
  readonly file: LoadedHookFile;
  /** `own` and `trusted` files run, others are only listed. */
  readonly trust: TrustState;
  /** The files that trusting it covers, as they are now. */
  readonly evidence: HookEvidence;
  /** The record of an earlier trust, or null. */
  readonly record: TrustRecord | null;
}

/** The hook files of a repository, open. */
export interface OpenedHookFiles extends AsyncDisposable {
  /** Every hook file of the repository and the operator, with errors. */
  readonly found: HookFiles;
  /** Each file with its trust, in the order in which hooks are registered. */
  readonly judged: readonly JudgedHookFile[];
  /** Trusted files that are not as they were trusted: their gates block, and nothing else of them runs. */
  readonly held: readonly HeldHookFile[];
  /** Hooks of files that may run, and the gates of {@link held}, for `engine.add`. */
  readonly registrations: readonly HookRegistration[];
  /** The operator's settings for hooks. */
  readonly settings: HookSettings;
  /**
   * Returns the file that hooks of a session's start have as `CLAUDE_ENV_FILE`: a shell tool that wants their variables
   * reads it before its commands. It is there once such a hook has run.
   */
  envFile(sessionId: string): Promise<string>;
  /** Ends MCP servers and waits until no command runs any more. */
  close(): Promise<void>;
}

/**
 * Opens the hook files of a repository. Files that nobody trusts are listed and do not run; of a trusted file that
 * changed or is gone the gates block.
 *
 * @throws {HostError} `config.invalid`, `hook.trust_unreadable`, `host.misuse`
 */
export async function openHookFiles(options: OpenHookFilesOptions): Promise<OpenedHookFiles> {
  const { runtime, home } = options;
  const { files } = runtime;
  const userHome = await realHome(options.userHome === undefined ? runtime.env("HOME") : options.userHome, files);
  await checkHome(home, runtime);
  const config = await readOperatorConfig(home, files);
  const settings = config.hooks;
  const loaded = await loadHookFiles({
    dir: options.dir,
    files,
    userHome,
    settings,
    platform: runtime.platform,
    actions: ["http", "mcp_tool", ...(options.onPrompt ? ["prompt", "agent"] as const : [])],
    actionProblem: (action) => action.type === "http" ? requestProblem(action, settings.network) : null,
  });
  const store = await readTrust(home, runtime);
  const { judged, errors, leftOut } = await judge(loaded, store, files);
  const found: HookFiles = {
    ...loaded,
    files: judged.map(({ file }) => file),
    leftOut: [...loaded.leftOut, ...leftOut],
    errors: [...loaded.errors, ...errors],
  };
  const { dir } = found;
  const ground = {
    ...options,
    dir,
    settings,
    runtimes: config.runtimes,
    limits: resolveLimits(cageLimitsOf(config.limits)),
    userHome,
    userReadable: await userFolders(userHome, files),
  };
  const runner = cagedRunner(ground);
  const usable = judged.filter(({ trust }) => trust === "own" || trust === "trusted");
  const intact = new Set(usable.map(({ file }) => file.name));
  const held = await heldHookFiles(store, { found, intact, settings, userHome });
  const isFirst = firstOfItsKind();
  const hooks = usable.flatMap((one) =>
    // Each looks again before it runs: the agent may have changed a script since.
    one.file.hooks.filter(isFirst).map((hook) => ({ hook, verify: verifier(one, dir, runtime, hook) }))
  );
  const tools = mcpHooks(usable.map((one) => ({ file: one.file, verify: verifier(one, dir, runtime) })), ground);
  const post = eventPoster(runtime, { network: settings.network, handed: handedVariables(ground) });
  const { onPrompt } = options;
  const actions: ActionMeans = { post, callTool: tools.callTool, ...(onPrompt && { onPrompt }) };
  const commands = await placedRegistrations(hooks, { ...ground, runCommand: runner.run }, {
    places: runPlaces({ dir, home, files }),
    runAction: (run) => runAction(run, actions),
  });
  // First, so that of hooks with one priority nothing runs before a gate that blocks anyway.
  const registrations = [...await heldRegistrations(held, dir), ...commands, ...tools.registrations];
  const close = async (): Promise<void> => {
    await Promise.all([runner.idle(), tools.close()]);
  };
  const envFile = (sessionId: string): Promise<string> => sessionEnvFile(home, sessionId);
  return { found, judged, held, registrations, settings, envFile, close, [Symbol.asyncDispose]: close };
}

/** Claude Code and Gemini run a hook once that stands in several of their settings files. */
function firstOfItsKind(): (hook: LoadedHook) => boolean {
  const seen = new Set<string>();
  return ({ dialect, nativeName, matcher, condition, script, onFailure, advisory, file }) => {
    if (dialect !== "claude" && dialect !== "gemini") return true;
    const key = JSON.stringify([dialect, nativeName, matcher, condition, script, onFailure, advisory]);
    const isFirst = !seen.has(key) || seen.has(`${file} ${key}`);
    seen.add(key);
    if (isFirst) seen.add(`${file} ${key}`); // Twice in one file is twice, as its author wrote it.
    return isFirst;
  };
}

async function realHome(userHome: string | null, files: Files): Promise<string | null> {
  return userHome === null ? null : await files.realPath(userHome).catch(() => userHome);
}

/** Returns the folders of the operator's home that hooks of files there may read. */
async function userFolders(userHome: string | null, files: Files): Promise<string[]> {
  if (userHome === null) return [];
  const folders = Object.values(DIALECTS).flatMap(({ places }) =>
    places.userReadable.map((name) => `${userHome}/${name}`)
  );
  const found: string[] = [];
  for (const folder of new Set(folders)) {
    if ((await files.target(folder))?.kind === "directory") found.push(folder);
  }
  return found;
}

/** Returns a file of the operator's home without hooks that run scripts of the repository: no trust covers those. */
async function withoutForeign(
  file: LoadedHookFile,
  dir: string,
  files: Files,
  leftOut: LeftOutHook[],
): Promise<LoadedHookFile> {
  if (file.isOwn || file.root === dir) return file;
  const hooks: LoadedHook[] = [];
  for (const hook of file.hooks) {
    const [script] = await foreignScripts(hook, file.root, dir, files);
    if (script === undefined) hooks.push(hook);
    else {leftOut.push({
        id: hook.id,
        reason: `It runs ${script} of this repository, which trust in ${file.name} does not cover`,
      });}
  }
  return { ...file, hooks };
}

/** Holds each file against what is trusted. One that trust cannot cover is an error, and left out. */
async function judge(
  { files: loaded, dir }: HookFiles,
  store: TrustStore,
  files: Files,
): Promise<{ readonly judged: JudgedHookFile[]; readonly errors: DocumentIssue[]; readonly leftOut: LeftOutHook[] }> {
  const errors: DocumentIssue[] = [];
  const leftOut: LeftOutHook[] = [];
  const judged = await Promise.all(loaded.map(async (read): Promise<JudgedHookFile | null> => {
    const file = await withoutForeign(read, dir, files, leftOut);
    try {
      const evidence = await gatherEvidence(file, dir, files);
      const trust = file.isOwn ? "own" : trustState(store, file.root, evidence);
      return { file, trust, evidence, record: trustRecord(store, file.root, file.name) };
    } catch (thrown) {
      const { code, message, hint } = asHostError(thrown);
      const place = { file: file.file, line: 1, column: 1, path: "" };
      errors.push({ code, message, ...place, ...(hint !== undefined && { hint }) });
      return null;
    }
  }));
  return { judged: judged.filter((one) => one !== null), errors, leftOut };
}

/** Returns a function that gives the scripts of a file as they were trusted, or rejects with `hook.changed`. */
function verifier(
  { file, trust, evidence }: JudgedHookFile,
  dir: string,
  { files }: Runtime,
  hook: Pick<LoadedHook, "id" | "file" | "line"> = { id: file.name, file: file.file, line: 1 },
): () => Promise<readonly CoveredFile[]> {
  return async () => {
    if (trust === "own") return [];
    const now = await gatherEvidence(file, dir, files);
    if (now.hash !== evidence.hash) {
      const { id, file, line } = hook;
      throw new HostError("hook.changed", `${id}: it, or a script it runs, changed since it was trusted`, {
        data: { id, file, line },
        hint: "Look at the change and trust it again: kaged hooks trust",
      });
    }
    // The first is the hook file, whose text is in memory already.
    return now.files.slice(1);
  };
}
