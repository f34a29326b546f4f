/**
 * Records every process of every plugin, each on a tape of its own in one folder.
 *
 * @module
 */
import type { HostError } from "../../errors/host_error.ts";
import type { Runtime } from "../../ports/ports.ts";
import type { WireTap } from "../wire_tap.ts";
import { type Recording, recordTape, type TapedPlugin } from "./record_tape.ts";

/** Settings of a folder of tapes. */
interface RecorderOptions {
  /** Absolute path of the folder, made with the first tape. */
  readonly dir: string;
  readonly runtime: Pick<Runtime, "files" | "clock" | "bytes">;
  /** Called for each tape that could not be written on. */
  readonly onFailure: (error: HostError) => void;
}

/** Starts a tape for each process. */
export interface Recorder {
  /** Starts a tape for a process that is about to start. */
  tap(plugin: TapedPlugin): WireTap;
  /** Resolves when everything so far is written. */
  flush(): Promise<void>;
}

/** Returns a recorder that has made nothing yet. */
export function tapeFolder({ dir, runtime, onFailure }: RecorderOptions): Recorder {
  const recordings = new Set<Recording>();
  let count = 0;
  return {
    tap(plugin) {
      const path = `${dir}/${tapeName(plugin.instance, runtime.clock.now(), ++count)}`;
      const recording = recordTape({ path, plugin, runtime, onFailure, makesFolder: true });
      recordings.add(recording);
      return {
        ...recording,
        end(exit) {
          recording.end(exit);
          void recording.flush().then(() => recordings.delete(recording));
        },
      };
    },
    async flush() {
      await Promise.all([...recordings].map((recording) => recording.flush()));
    },
  };
}

/** Instance, time and number; what a file name should not hold becomes an underscore. */
function tapeName(instance: string, nowMs: number, count: number): string {
  const time = new Date(nowMs).toISOString().replace(/[-:]|\.\d+/g, "");
  return `${instance.replace(/[^A-Za-z0-9@.-]/g, "_")}-${time}-${count}.jsonl`;
}
