/**
 * Which rooms the small entries load.
 *
 * @module
 */
import { isBuiltin } from "node:module";

/** The rooms a list of modules lies in: `sdk`, `core/hooks`, `npm:valibot`. */
export function roomsIn(modules: readonly string[]): string[] {
  const found = modules.filter((url) => !isBuiltin(url)).map((url) => {
    const [, name] = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ??
      /^(?:npm:\/?)?([^./:][^:]*?)(?:@[\d.]+)?$/.exec(url) ?? [];
    const [, room] = /(?:^|\/)src\/((?:core\/)?\w+)/.exec(url) ?? [];
    return room ?? `npm:${name}`;
  });
  return [...new Set(found)].sort();
}

/** Rooms that an entry which is used alone may load. */
export const ALLOWED_ROOMS: Readonly<Record<string, readonly string[]>> = {
  "src/sdk/mod.ts": ["sdk"],
  "src/events/mod.ts": ["core/values", "events"],
  "src/hooks/mod.ts": [
    "adapters", // The clock, files and ids of the runtime: no function there needs to be handed one.
    "core/cage", // One list: variables that no child process gets.
    "core/contract",
    "core/documents",
    "core/errors",
    "core/files",
    "core/manifest",
    "core/project",
    "core/schema",
    "core/values",
    "hooks",
    "npm:valibot",
  ],
  "src/jobs/mod.ts": [
    "adapters", // The clock, files, ids and SQLite of the runtime: no store needs to be handed one.
    "core/approvals", // Requests for a person's yes are kept beside the jobs.
    "core/errors",
    "core/files",
    "core/values",
    "events",
    "jobs",
    "otel",
  ],
};
