/**
 * Places of a run beside the project: the session's transcript, the file for variables, a plugin's folder for data. All
 * of them are the host's own, below the operator's folder; the transcript is kept in memory and is on a disk only while
 * a hook runs.
 *
 * @module
 */
import { configFiles } from "../../../core/cage/wanted_paths.ts";
import type { Files } from "../../../core/ports/ports.ts";
import { sha256 } from "../../../core/values/sha256.ts";
import type { HookEvent } from "../../engine/types.ts";
import { eventOf } from "../../files/dialects/all.ts";
import { type FactContext, FACTS } from "../../files/dialects/facts.ts";
import { hookFolder } from "../../files/hook_evidence.ts";
import type { LoadedHook } from "../../files/load_hook_files.ts";
import type { RunFacts } from "./hook_input.ts";
import { sessionRecords } from "./session_records.ts";
import type { CommandRun } from "./types.ts";

/** The facts of a run, and the places that its command may use. */
export interface RunPlaces extends Pick<CommandRun, "writable" | "texts"> {
  readonly facts: RunFacts;
}

/** Returns the places of a run: of a hook at an event of a firing. */
export type FindRunPlaces = (hook: LoadedHook, event: HookEvent, firing: object) => Promise<RunPlaces>;

/** Where cages show the transcript. */
const TRANSCRIPTS = "/tmp/transcripts";

/** Folders below the operator's `files`, which cages may be let into. */
const [ENV, DATA] = ["hooks/env", "hooks/data"];

/** Returns the finder of places. Without `home` there are no files: neither a transcript nor others. */
export function runPlaces(
  { dir, home, files }: { readonly dir: string; readonly home?: string; readonly files?: Files },
): FindRunPlaces {
  const records = sessionRecords();
  return async (hook, event, firing) => {
    const { callId, transcript } = records.record(event, firing);
    const facts = { cwd: hookFolder(hook, dir), dir, callId, transcript: null, envFile: null, dataDir: null };
    if (home === undefined || files === undefined) return { facts };
    const path = `${TRANSCRIPTS}/${await sessionKey(event.sessionId)}.jsonl`;
    const writable: string[] = [];
    const folder = async (name: string): Promise<string> => {
      writable.push(`config:/${name}`);
      await files.makeDir(`${configFiles(home)}/${name}`, { recursive: true, mode: 0o700 });
      return `${configFiles(home)}/${name}`;
    };
    const envFile = hook.hook === "SessionStart" && await sessionEnvFile(home, event.sessionId);
    if (envFile) await folder(`${ENV}/${await sessionKey(event.sessionId)}`);
    if (envFile && await files.info(envFile) === null) await files.write(envFile, "", 0o600);
    const isPlugin = hook.dialect === "plugin" || hook.origin === "plugin";
    const dataDir = isPlugin ? await folder(`${DATA}/${await pluginKey(hook.root)}`) : null;
    const content = await contentFor(hook, event, dir, files);
    return {
      facts: { ...facts, transcript: path, envFile: envFile || null, dataDir, content },
      writable,
      texts: { [path]: transcript },
    };
  };
}

/** Returns the file in which hooks of a session's start leave variables for later commands: `export NAME=value`. */
export async function sessionEnvFile(home: string, sessionId: string): Promise<string> {
  return `${configFiles(home)}/${ENV}/${await sessionKey(sessionId)}/env.sh`;
}

/** Longest file that a hook is shown. */
const MAX_CONTENT_BYTES = 256 * 1024;

/** Returns the file that is about to be read, where the hook's agent shows it: of the project alone, as its cage does. */
async function contentFor(hook: LoadedHook, event: HookEvent, dir: string, files: Files): Promise<string | null> {
  if (!Object.values(eventOf(hook).fields).includes("content")) return null;
  const named = String(FACTS.filePath({ event } as FactContext));
  if (named === "" || named.includes("\0")) return null;
  const real = await files.realPath(named.startsWith("/") ? named : `${dir}/${named}`).catch(() => null);
  if (real === null || !real.startsWith(`${dir}/`) || (await files.target(real))?.kind !== "file") return null;
  return new TextDecoder().decode(await files.readHead(real, MAX_CONTENT_BYTES));
}

/** The name of a session's files: an id may hold anything. */
const sessionKey = async (sessionId: string): Promise<string> => (await sha256(sessionId)).slice(0, 32);

async function pluginKey(dir: string): Promise<string> {
  const name = (dir.split("/").at(-1) ?? "").replace(/[^A-Za-z0-9_-]/g, "-");
  return `${name}-${(await sha256(dir)).slice(0, 12)}`;
}
