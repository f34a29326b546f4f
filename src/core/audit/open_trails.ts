/**
 * The sink of a project's two trails: each event goes to the one that {@link TRAIL_OF} names.
 *
 * @module
 */
import type { Files } from "../ports/ports.ts";
import { chainFile, type ChainFileOptions } from "./chain_file.ts";
import { type AuditSink, TRAIL_OF } from "./events.ts";
import { jsonlFile } from "./jsonl_file.ts";
import { callsPath } from "./trail_files.ts";

/** Opens the trails of a project in the operator's folder. Files and folders are made with the first event of each. */
export function openTrails(options: Omit<ChainFileOptions, "maxBytes">): AuditSink {
  const { home, runtime: { files, clock } } = options;
  const folder = `${home}/calls`;
  let isMade = false;
  const ownFiles: Files = {
    ...files,
    async openToAppend(path) {
      if (!isMade) await files.makeDir(folder, { recursive: true, mode: 0o700 });
      isMade = true;
      try {
        return await files.openToAppend(path);
      } catch (error) {
        isMade = await files.info(folder) !== null;
        if (isMade) throw error;
        return await ownFiles.openToAppend(path); // Somebody has removed the folder.
      }
    },
  };
  const trails = {
    audit: chainFile(options),
    calls: jsonlFile({ path: callsPath(options), files: ownFiles, clock }),
  };
  return {
    write: (event) => trails[TRAIL_OF[event.type]].write(event),
    writeCallLine: (line) => trails.calls.writeCallLine!(line),
    hear: (listener) => trails.audit.hear?.(listener),
    async flush() {
      await Promise.all([trails.audit.flush(), trails.calls.flush()]);
    },
  };
}
