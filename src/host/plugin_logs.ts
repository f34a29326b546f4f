/**
 * Lines that plugins write to stderr: the newest ones in memory, all of them in `<home>/logs/<plugin>.jsonl`, which is
 * rotated by size.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";
import { type LineFile, lineFile } from "../core/files/line_file.ts";
import { newestLines, parseLineCursor, rotatedFiles } from "../core/files/newest_lines.ts";
import type { Files, Runtime } from "../core/ports/ports.ts";
import type { PluginLogLine } from "../core/supervisor/types.ts";
import { Feed } from "../core/values/feed.ts";
import type { Page, PageQuery } from "../core/values/page_of.ts";
import { timestamps } from "../core/values/timestamps.ts";

/** Bounds of the lines of one plugin in memory; the length is in characters. */
const IN_MEMORY = { maxEntries: 1000, maxLength: 1_048_576 } as const;
/** Bounds of the files of one plugin; `keep` counts those that were rotated. */
const ON_DISK = { maxBytes: 4 * 1024 * 1024, keep: 2 } as const;

/** One line of a plugin's log. */
export interface PluginLogEntry {
  /** ISO 8601, when the host read the line. */
  readonly timestamp: string;
  /** Instance that wrote it; null for a line of the host about lines it lost. */
  readonly instance: string | null;
  /** The text, without its line break. */
  readonly line: string;
}

/** Keeps the lines of every plugin. */
export interface PluginLogs {
  /** Adds a line to the plugin's feed and file. */
  write(line: PluginLogLine): void;
  /** The newest lines of a plugin, each a {@link PluginLogEntry}. */
  of(plugin: string): Feed;
  /** Ends every feed and resolves when all lines are written; a later line opens a new feed. */
  close(): Promise<void>;
}

/** Returns logs with no lines in memory; files of earlier hosts in the operator's folder `home` are continued. */
export function pluginLogs(
  { home, runtime: { files, clock, ids } }: { home: string; runtime: Pick<Runtime, "files" | "clock" | "ids"> },
): PluginLogs {
  const logs = new Map<string, { readonly feed: Feed; readonly file: LineFile }>();
  const now = timestamps(clock);
  const ownFiles: Files = {
    ...files,
    async openToAppend(path) {
      // Made with the first line, so that a host with quiet plugins leaves no empty folder.
      await files.makeDir(`${home}/logs`, { recursive: true, mode: 0o700 });
      return await files.openToAppend(path);
    },
  };
  const lossLine = (count: number, reason: string): string =>
    JSON.stringify({ timestamp: now(), instance: null, line: `${count} lines lost: ${reason}` });

  function open(plugin: string): { readonly feed: Feed; readonly file: LineFile } {
    const known = logs.get(plugin);
    if (known && !known.feed.isClosed) return known;
    const feed = new Feed({ name: ids.create("log"), ...IN_MEMORY });
    const file = known?.file ?? lineFile({ path: logPath(home, plugin), files: ownFiles, ...ON_DISK, lossLine });
    const opened = { feed, file };
    logs.set(plugin, opened);
    return opened;
  }

  return {
    of: (plugin) => open(plugin).feed,
    write({ plugin, instance, line }) {
      const { feed, file } = open(plugin);
      const entry: PluginLogEntry = { timestamp: now(), instance, line };
      feed.push("log", plugin, entry);
      file.write(JSON.stringify(entry));
    },
    async close() {
      for (const { feed } of logs.values()) feed.close();
      await Promise.all(Array.from(logs.values(), ({ file }) => file.flush()));
    },
  };
}

/**
 * Reads lines of a plugin from its files, the oldest first; no host needs to run. Without a cursor they are the newest
 * ones, and {@link Page.next} leads to those before them, also after a rotation.
 *
 * @throws {HostError} `http.cursor_gone` when the lines that the cursor leads to are deleted, or it is none.
 */
export async function readPluginLog(
  { home, plugin }: { readonly home: string; readonly plugin: string },
  { limit, cursor }: PageQuery,
  files: Files,
): Promise<Page<PluginLogEntry>> {
  const items: PluginLogEntry[] = [];
  const from = cursor === undefined ? null : parseLineCursor(cursor);
  const paths = cursor !== undefined && from === null ? [] : await rotatedFiles(logPath(home, plugin), files);
  let isGone = cursor !== undefined;
  for await (const { text, older } of limit > 0 ? newestLines(paths, files, from) : []) {
    isGone = false;
    items.unshift(...text === null ? [] : readLogEntry(text));
    if (items.length >= limit) return { items, next: older };
  }
  if (isGone) {
    const message = `The lines of "${plugin}" that the cursor leads to are deleted, or it is none of its cursors`;
    throw new HostError("http.cursor_gone", message, { data: { cursor }, hint: "Start again without a cursor" });
  }
  return { items, next: null };
}

/** Returns the path of a plugin's newest log file. */
export function logPath(home: string, plugin: string): string {
  return `${home}/logs/${plugin}.jsonl`;
}

/** Parses one line of a log file. A line that reading cut in half, or that another program wrote, gives no entry. */
export function readLogEntry(text: string): PluginLogEntry[] {
  try {
    const { timestamp, instance, line } = JSON.parse(text) as Partial<PluginLogEntry>;
    if (typeof timestamp !== "string" || typeof line !== "string") return [];
    return [{ timestamp, instance: typeof instance === "string" ? instance : null, line }];
  } catch {
    return [];
  }
}
