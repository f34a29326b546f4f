/**
 * The last run of hooks, kept in the operator's folder to answer why something was blocked. It holds each hook's answer
 * and its duration, never the event itself, and secrets in the answers are masked before it is written.
 *
 * @module
 */
import { HostError } from "../../../core/errors/host_error.ts";
import type { Clock, Files, Ids } from "../../../core/ports/ports.ts";
import { isMap } from "../../../core/values/plain_data.ts";
import { parseLine } from "../../../core/wire/codec.ts";
import { redactJson } from "../builtin/redact.ts";
import type { HookAsk, HookResult, HookTrace } from "../../engine/result.ts";

/** A run as it is kept in the file. */
export interface HookRun {
  /** Start of the run, ISO 8601. */
  readonly at: string;
  readonly dir: string;
  /** Name of the moment, such as `PreToolUse`. */
  readonly hook: string;
  readonly blocked: boolean;
  /** Id of the hook that blocked, or null. */
  readonly blockedBy: string | null;
  readonly reason: string | null;
  /** The hooks that want a person's yes, in order. */
  readonly asked: readonly HookAsk[];
  readonly warnings: readonly string[];
  /** Each hook's part, in order. */
  readonly trace: readonly HookTrace[];
}

const FOLDER = "hooks";
const FILE = "last_run.json";

/** Keeps the result of a run, in place of the one before. */
export async function saveHookRun(
  home: string,
  { dir, result }: { readonly dir: string; readonly result: HookResult },
  { files, ids, clock }: { readonly files: Files; readonly ids: Ids; readonly clock: Clock },
): Promise<HookRun> {
  const { hook, blocked, blockedBy, reason, asked, warnings, trace } = result;
  const at = new Date(clock.now()).toISOString();
  const run = redactJson({ at, dir, hook, blocked, blockedBy, reason, asked, warnings, trace }).value as HookRun;
  const folder = `${home}/${FOLDER}`;
  await files.makeDir(folder, { recursive: true, mode: 0o700 });
  const fresh = `${folder}/${ids.create("run")}.tmp`;
  await files.write(fresh, `${JSON.stringify(run, null, 2)}\n`, 0o600);
  await files.rename(fresh, `${folder}/${FILE}`);
  return run;
}

/**
 * Returns the last run that was kept.
 *
 * @throws {HostError} `hook.no_run` when there is none that can be read.
 */
export async function readHookRun(home: string, { files }: { readonly files: Files }): Promise<HookRun> {
  const file = `${home}/${FOLDER}/${FILE}`;
  const text = await files.readText(file).catch(() => null);
  const run = text === null ? null : parseLine(text);
  const isRun = isMap(run) && Array.isArray(run["trace"]) && Array.isArray(run["warnings"]);
  if (isRun) return { asked: [], ...run } as unknown as HookRun; // A run of an older version has no asks.
  throw new HostError("hook.no_run", text === null ? "No run of hooks has been kept" : `"${file}" cannot be read`, {
    data: { file },
    hint: "Run some first: kaged hooks run PreToolUse --input event.json",
  });
}
