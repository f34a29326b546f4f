/**
 * Follows a plugin's log: through the sockets of the running hosts that have the plugin, and in its file, to which hosts
 * without a socket write too. Hosts may end and start meanwhile.
 *
 * @module
 */
import { type FileHandle, open } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { logPath, type PluginLogEntry, readLogEntry } from "../host/plugin_logs.ts";
import type { Files } from "../core/ports/ports.ts";
import { unlessAborted } from "./interrupt.ts";
import { hostsWith, type PluginInHost } from "../http/running_hosts.ts";

/** A log to follow, and the listeners. */
export interface LogFollower {
  readonly home: string;
  readonly plugin: string;
  /** Bytes of the file that were read before. */
  readonly offset: number;
  readonly files: Files;
  readonly signal: AbortSignal;
  /** Called once for each new line. */
  onLine(entry: PluginLogEntry): void;
  /** Called when following a host begins and when it ends. */
  onHost(host: PluginInHost, isFollowed: boolean): void;
}

const LOOK_AT_FILE_MS = 200;
const LOOK_FOR_HOSTS_MS = 1000;
const CHUNK_BYTES = 64 * 1024;

/** Calls the listeners for each new line until the signal aborts. */
export async function followLog(follower: LogFollower): Promise<void> {
  const { onLine } = follower;
  const isNew = seenFirst();
  await Promise.all([
    followFile(follower, (entry) => isNew(entry, "file") && onLine(entry)),
    followHosts(follower, (entry) => isNew(entry, "host") && onLine(entry)),
  ]);
}

/** Most lines that are remembered until they come the second time; the second may never come. */
const MAX_WAITING = 50_000;

/** Returns a function that recognises a line's second arrival: each line comes from its host and from the file. */
function seenFirst(): (entry: PluginLogEntry, from: "file" | "host") => boolean {
  const ahead = new Map<string, number>();
  return ({ timestamp, instance, line }, from) => {
    const key = JSON.stringify([timestamp, instance, line]);
    const step = from === "host" ? 1 : -1;
    const count = ahead.get(key) ?? 0;
    if (count + step === 0) ahead.delete(key);
    else ahead.set(key, count + step);
    if (ahead.size > MAX_WAITING) ahead.delete(ahead.keys().next().value!);
    return count * step >= 0;
  };
}

type Give = (entry: PluginLogEntry) => void;

async function followHosts(follower: LogFollower, give: Give): Promise<void> {
  const { home, plugin, signal } = follower;
  const followed = new Map<string, Promise<void>>();
  for (; !signal.aborted; await pause(LOOK_FOR_HOSTS_MS, signal)) {
    // A host that hangs must not hold up Ctrl-C.
    const found = await unlessAborted(hostsWith(home, plugin, { except: followed }), signal).catch(() => []);
    for (const host of found) {
      const { path } = host.host;
      followed.set(path, followHost(host, follower, give).finally(() => followed.delete(path)));
    }
  }
  await Promise.all(followed.values());
}

/** Follows one host until it ends. A line that it dies in is lost here, but not in the file. */
async function followHost(host: PluginInHost, { plugin, signal, onHost }: LogFollower, give: Give): Promise<void> {
  // Without earlier lines: those are read from the file.
  const address = `http://kaged/api/v1/plugins/${plugin}/logs?tail=0`;
  const request = new Request(address, { headers: { Accept: "text/event-stream" }, signal });
  const response = await host.host.request(request).catch(() => null);
  if (!response?.ok) return await response?.body?.cancel();
  onHost(host, true);
  const entriesIn = lineSplitter((line) => line.startsWith(DATA) ? readLogEntry(line.slice(DATA.length)) : []);
  try {
    for await (const chunk of response.body ?? []) entriesIn(chunk).forEach(give);
  } catch {
    // The host has ended, which is reported below.
  }
  if (!signal.aborted) onHost(host, false);
}

/** A line of a server-sent event that carries an entry begins with this. */
const DATA = "data: ";

/** Gives out new lines of the file, also across its rotation. */
async function followFile({ home, plugin, offset, files, signal }: LogFollower, give: Give): Promise<void> {
  const path = logPath(home, plugin);
  let file: FileHandle | null = null;
  let read = fileReader(offset);
  try {
    for (; !signal.aborted; await pause(LOOK_AT_FILE_MS, signal)) {
      file ??= await openIfThere(path);
      if (file === null) continue;
      await read(file, give);
      const inode = (await files.info(path))?.ino;
      if (inode === undefined || inode === (await file.stat()).ino) continue;
      await read(file, give); // Lines that came just before the rotation.
      await file.close();
      file = null;
      read = fileReader(0);
    }
  } finally {
    await file?.close();
  }
}

async function openIfThere(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, "r");
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") return null;
    throw error;
  }
}

/** Returns a function that gives out the lines that a file has got since its last call. */
function fileReader(offset: number): (file: FileHandle, give: Give) => Promise<void> {
  const bytes = new Uint8Array(CHUNK_BYTES);
  const entriesIn = lineSplitter(readLogEntry);
  return async (file, give) => {
    for (;;) {
      const { bytesRead } = await file.read(bytes, 0, bytes.length, offset);
      if (bytesRead === 0) return;
      offset += bytesRead;
      entriesIn(bytes.subarray(0, bytesRead)).forEach(give);
    }
  };
}

/** Returns a function that takes the next bytes of a text and returns the entries of the lines they complete. */
function lineSplitter(entriesOf: (line: string) => PluginLogEntry[]): (bytes: Uint8Array) => PluginLogEntry[] {
  const decoder = new TextDecoder();
  let rest = "";
  return (bytes) => {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop()!;
    return lines.flatMap(entriesOf);
  };
}

/** Waits until the time is over or the signal aborts. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, { signal }).catch(() => {});
}
