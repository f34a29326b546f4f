/**
 * What plugins wrote to stderr lately.
 *
 * @module
 */
import { Feed } from "../feed.ts";
import type { Clock, Ids } from "../ports.ts";
import type { PluginLogLine } from "../supervisor/types.ts";

/** Lines kept of one plugin. */
const MAX_LINES = 1000;
/** Characters kept of one plugin. */
const MAX_LENGTH = 1_048_576;

/** Keeps the newest lines of each plugin. */
export interface PluginLogs {
  /** Takes a line. */
  write(line: PluginLogLine): void;
  /** The lines of a plugin: `{ timestamp, instance, line }`. */
  of(plugin: string): Feed;
  /** Ends every feed; the next line opens a new one. */
  close(): void;
}

/** Returns logs that hold nothing. */
export function pluginLogs({ clock, ids }: { readonly clock: Clock; readonly ids: Ids }): PluginLogs {
  const feeds = new Map<string, Feed>();
  function of(plugin: string): Feed {
    let feed = feeds.get(plugin);
    if (!feed) {
      feed = new Feed({ name: ids.create("log"), maxEntries: MAX_LINES, maxLength: MAX_LENGTH });
      feeds.set(plugin, feed);
    }
    return feed;
  }
  return {
    of,
    write({ plugin, instance, line }) {
      of(plugin).push("log", plugin, { timestamp: new Date(clock.now()).toISOString(), instance, line });
    },
    close() {
      for (const feed of feeds.values()) feed.close();
      feeds.clear();
    },
  };
}
