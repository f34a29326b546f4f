/**
 * Running the command of a hook, as the hooks see it: who runs it, and in which cage, is somebody else's matter.
 *
 * @module
 */
import type { Exit } from "../../../core/ports/ports.ts";
import type { CoveredFile } from "../../files/hook_evidence.ts";
import type { LoadedHook } from "../../files/load_hook_files.ts";

/** One run of one command. */
export interface CommandRun {
  /** The hook it is for. */
  readonly hook: LoadedHook;
  /** What it gets on stdin. */
  readonly input: string;
  /** Aborted when nobody waits any more: the command is ended then. */
  readonly signal: AbortSignal;
  /** Files that were checked: the command sees these bytes, whatever is on the disk by then. */
  readonly sealed: readonly CoveredFile[];
}

/** How a command ended. */
export interface CommandEnd {
  /** Exit code or signal. */
  readonly exit: Exit;
  /** What ended it: itself, its timeout, too much output, or the caller. */
  readonly ended: "exit" | "timeout" | "flood" | "aborted";
  /** What it wrote to stdout. */
  readonly stdout: string;
  /** The beginning of what it wrote to stderr. */
  readonly stderr: string;
}

/** Runs a command to its end, which comes at the hook's timeout at the latest. Rejects when it cannot be started. */
export type RunCommand = (run: CommandRun) => Promise<CommandEnd>;
