/**
 * What plugins write to stderr: the newest lines in memory, and all of them in `<home>/logs/<plugin>.jsonl`, which is
 * rotated by size.
 *
 * @module
 */
import { Feed } from "../core/values/feed.ts";
import { type LineFile, lineFile } from "../core/files/line_file.ts";
import type { Files, Runtime } from "../core/ports/ports.ts";
import type { PluginLogLine } from "../core/supervisor/types.ts";

/** Lines kept in memory of one plugin. */
const MAX_LINES = 1000;
/** Characters kept in memory of one plugin. */
const MAX_LENGTH = 1_048_576;
/** Bytes of a file before it is set aside. */
const MAX_FILE_BYTES = 4 * 1024 * 1024;
/** Files set aside of one plugin. */
const KEPT_FILES = 2;
/** Bytes read from the end of a file at most. */
const MAX_TAIL_BYTES = 1_048_576;

/** One line of a plugin, as it is kept. */
export interface PluginLogEntry {
  /** When it came, ISO 8601. */
  readonly timestamp: string;
  /** Instance that wrote it; null for a line of the host about lines it lost. */
  readonly instance: string | null;
  /** The line. */
  readonly line: string;
}

/** Keeps what plugins write. */
export interface PluginLogs {
  /** Takes a line. */
  write(line: PluginLogLine): void;
  /** The newest lines of a plugin, each a {@link PluginLogEntry}. */
  of(plugin: string): Feed;
  /** Ends every feed and writes what is left; the next line opens a new one. */
  close(): Promise<void>;
}

/** What logs are kept with. */
export interface PluginLogsOptions {
  /** The operator's folder. */
  readonly home: string;
  /** Files, time and names. */
  readonly runtime: Pick<Runtime, "files" | "clock" | "ids">;
}

/** Returns logs that hold nothing yet. */
export function pluginLogs({ home, runtime: { files, clock, ids } }: PluginLogsOptions): PluginLogs {
  const feeds = new Map<string, Feed>();
  const written = new Map<string, LineFile>();
  const ownFiles: Files = {
    ...files,
    async append(path, text) {
      // With the first line: a host whose plugins are quiet needs no folder.
      await files.makeDir(`${home}/logs`, { recursive: true, mode: 0o700 });
      await files.append(path, text);
    },
  };
  const now = (): string => new Date(clock.now()).toISOString();

  function of(plugin: string): Feed {
    let feed = feeds.get(plugin);
    if (!feed) {
      feed = new Feed({ name: ids.create("log"), maxEntries: MAX_LINES, maxLength: MAX_LENGTH });
      feeds.set(plugin, feed);
    }
    return feed;
  }

  function fileOf(plugin: string): LineFile {
    let file = written.get(plugin);
    if (!file) {
      file = lineFile({
        path: logPath(home, plugin),
        files: ownFiles,
        maxBytes: MAX_FILE_BYTES,
        keep: KEPT_FILES,
        lossLine: (count, reason) =>
          entryText({ timestamp: now(), instance: null, line: `${count} lines lost: ${reason}` }),
      });
      written.set(plugin, file);
    }
    return file;
  }

  return {
    of,
    write({ plugin, instance, line }) {
      const entry: PluginLogEntry = { timestamp: now(), instance, line };
      of(plugin).push("log", plugin, entry);
      fileOf(plugin).write(entryText(entry));
    },
    async close() {
      for (const feed of feeds.values()) feed.close();
      feeds.clear();
      await Promise.all([...written.values()].map((file) => file.flush()));
    },
  };
}

/** Returns the newest lines a plugin wrote, oldest first, whether a host runs or not. */
export async function readPluginLog(
  home: string,
  plugin: string,
  { files, tail }: { readonly files: Files; readonly tail: number },
): Promise<PluginLogEntry[]> {
  const path = logPath(home, plugin);
  const entries: PluginLogEntry[] = [];
  for (const file of [path, `${path}.1`]) {
    if (entries.length >= tail || await files.info(file) === null) continue;
    const bytes = await files.readTail(file, MAX_TAIL_BYTES);
    entries.unshift(...new TextDecoder().decode(bytes).split("\n").flatMap(readLogEntry));
  }
  return entries.slice(Math.max(0, entries.length - tail));
}

/** Returns where a plugin's lines are kept. */
export function logPath(home: string, plugin: string): string {
  return `${home}/logs/${plugin}.jsonl`;
}

function entryText(entry: PluginLogEntry): string {
  return JSON.stringify(entry);
}

/** Reads one line of a log file. One that was cut where reading began, or that somebody else wrote, is no entry. */
export function readLogEntry(text: string): PluginLogEntry[] {
  try {
    const { timestamp, instance, line } = JSON.parse(text) as Partial<PluginLogEntry>;
    if (typeof timestamp !== "string" || typeof line !== "string") return [];
    return [{ timestamp, instance: typeof instance === "string" ? instance : null, line }];
  } catch {
    return [];
  }
}
