/**
 * Short texts that built-in handlers keep beyond a session.
 *
 * @module
 */
import { HostError } from "../../../core/errors/host_error.ts";
import type { Files, Ids } from "../../../core/ports/ports.ts";
import { textKey } from "./text_key.ts";

/** Short texts, each under a key. */
export interface Notes {
  /** Resolves with the text under `key`, or null. */
  read(key: string): Promise<string | null>;
  /** Keeps `text` under `key`, in place of an earlier one. */
  write(key: string, text: string): Promise<void>;
}

/** Returns notes that last as long as the program. */
export function memoryNotes(): Notes {
  const notes = new Map<string, string>();
  return {
    read: (key) => Promise.resolve(notes.get(key) ?? null),
    write: (key, text) => Promise.resolve(void notes.set(key, text)),
  };
}

/** Returns notes in the folder `dir`, made 0700 when missing, a 0600 file each. A write replaces the file in one step. */
export function fileNotes(
  { dir, files, ids }: { readonly dir: string; readonly files: Files; readonly ids: Ids },
): Notes {
  const pathOf = (key: string): string => `${dir}/${slug(key)}-${textKey(key)}.note`;
  const unusable = (path: string, doing: string, cause: unknown): HostError =>
    new HostError("host.file_unreadable", `Cannot ${doing} "${path}"`, { data: { path }, cause });
  return {
    async read(key) {
      const path = pathOf(key);
      try {
        return await files.readText(path);
      } catch (cause) {
        if ((cause as { code?: string }).code === "ENOENT") return null;
        throw unusable(path, "read", cause);
      }
    },
    async write(key, text) {
      const path = pathOf(key);
      const fresh = `${path}.${ids.create("new")}`;
      try {
        await files.makeDir(dir, { recursive: true, mode: 0o700 });
        await files.write(fresh, text);
        await files.rename(fresh, path);
      } catch (cause) {
        await files.remove(fresh).catch(() => {});
        throw unusable(path, "write", cause);
      }
    },
  };
}

function slug(key: string): string {
  return key.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 40) || "note";
}
