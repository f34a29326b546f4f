/**
 * Running the command of a hook, as the hooks see it; the runner decides on the cage.
 *
 * @module
 */
import type { Exit } from "../../../core/ports/ports.ts";
import type { CoveredFile } from "../../files/hook_evidence.ts";
import type { LoadedHook } from "../../files/load_hook_files.ts";

/** Milliseconds that a cage may take to be built, beyond the time of its hook. */
export const START_MS = 10_000;

/** One run of the command of one hook. */
export interface CommandRun {
  /** The hook whose command runs. */
  readonly hook: LoadedHook;
  /** Text for its stdin. */
  readonly input: string;
  /** Aborted when nobody waits any more: the command is ended then. */
  readonly signal: AbortSignal;
  /** Files that were checked: the command sees these bytes, whatever is on the disk by then. */
  readonly sealed: readonly CoveredFile[];
  /** Variables of this run, over those of its file. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Folders, as capabilities name them (`config:/…`), that the command may write besides the project. */
  readonly writable?: readonly string[];
  /** Texts that the command sees as read-only files, by absolute path. */
  readonly texts?: Readonly<Record<string, string>>;
}

/** The end of a command, with its output. */
export interface CommandEnd {
  /** Exit code, or the signal that ended it. */
  readonly exit: Exit;
  /** The cause of its end: itself, its timeout, too much output, or the caller. */
  readonly ended: "exit" | "timeout" | "flood" | "aborted";
  /** Its whole stdout. */
  readonly stdout: string;
  /** The beginning of its stderr, at most 64 KiB. */
  readonly stderr: string;
}

/** Runs a command to its end, which comes at the hook's timeout at the latest. Rejects when it cannot be started. */
export type RunCommand = (run: CommandRun) => Promise<CommandEnd>;
