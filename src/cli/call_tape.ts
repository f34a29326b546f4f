/**
 * The tape of one call: `kaged plugin call --record`.
 *
 * @module
 */
import { resolve } from "node:path";
import type { HostError } from "../core/errors/host_error.ts";
import type { Runtime } from "../core/ports/ports.ts";
import type { PluginInfo } from "../core/supervisor/types.ts";
import type { WireTap } from "../core/wire/wire_tap.ts";
import type { Recording } from "../core/wire/tape/record_tape.ts";
import { printError } from "./print_error.ts";
import type { Terminal } from "./terminal.ts";

/** A recorder of the first process that is started. */
export interface CallTape {
  /** Returns a tap for the first process and null for any other. */
  readonly tap: (plugin: PluginInfo) => WireTap | null;
  /** Waits until the file is written; prints why it could not be, and returns false then. */
  finish(): Promise<boolean>;
}

/** Returns a tape for `path`, or null when nothing is to be recorded. */
export async function callTape(
  path: string | undefined,
  runtime: Runtime,
  terminal: Terminal,
): Promise<CallTape | null> {
  if (path === undefined) return null;
  const { recordTape } = await import("../core/wire/tape/record_tape.ts");
  const failures: HostError[] = [];
  let recording: Recording | null = null;
  const onFailure = (error: HostError): void => void failures.push(error);
  return {
    tap(plugin) {
      if (recording) return null;
      return recording = recordTape({ path: resolve(terminal.cwd, path), plugin, runtime, onFailure });
    },
    async finish() {
      await recording?.flush();
      for (const failure of failures) printError(failure, terminal, { json: false });
      return failures.length === 0;
    },
  };
}
