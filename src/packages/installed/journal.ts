/**
 * Changes of the store that survive a crash: what is about to be done is written down first, and whoever comes next
 * finishes it. Folders in the store whose name starts with a dot are work under way.
 *
 * @module
 */
import { HostError, messageOf } from "../../core/errors/host_error.ts";
import type { Files } from "../../core/ports/ports.ts";
import { checkRecord, type RecordFields, type RecordPorts, writeRecord } from "./records.ts";
import { removeTree } from "../../core/files/tree.ts";

/** Something that is being done. */
export type Change =
  | {
    /** A tree that is ready takes the plugin's place. */
    readonly op: "install";
    readonly plugin: string;
    /** Name of the ready tree in the store. */
    readonly staged: string;
    /** Name the tree before it gets. */
    readonly old: string;
    /** Fields of the plugin's record. */
    readonly record: RecordFields;
  }
  | {
    /** The plugin goes away: its files, its record and its data. */
    readonly op: "uninstall";
    readonly plugin: string;
    readonly old: string;
  };

/** What changes are made with. */
export interface StorePorts extends RecordPorts {
  /** The operator's folder. */
  readonly home: string;
  /** Drops everything a plugin keeps. Dropping nothing is fine. */
  dropStorage(plugin: string): Promise<void>;
}

/** Names of what a change makes on its way. */
const LEFTOVER = /^\.(?:new|old|journal)_/;

/** Folder of the installed trees. */
export function storeDir(home: string): string {
  return `${home}/plugins`;
}

/** Whether a change was left unfinished. */
export async function isUnfinished(home: string, files: Files): Promise<boolean> {
  return await files.info(journalFile(home)) !== null;
}

/** Makes a change of the store, whole or, after a crash, at the next {@link recoverStore}. Hold the lock of the home. */
export async function makeChange(change: Change, ports: StorePorts): Promise<void> {
  const { home, files, ids } = ports;
  // Before the point of no return: a record that cannot be written would leave another version under the old one.
  await checkRecord(home, change.plugin, { files, ids, fields: recordOf(change) });
  const fresh = `${storeDir(home)}/.${ids.create("journal")}`;
  await files.write(fresh, `${JSON.stringify(change)}\n`);
  await files.sync(fresh);
  await files.rename(fresh, journalFile(home)); // From here on it will happen.
  try {
    await files.sync(storeDir(home));
    await finish(change, ports);
  } catch (cause) {
    if (cause instanceof HostError) throw cause;
    throw new HostError("install.unfinished", `"${change.plugin}" is half changed: ${messageOf(cause)}`, {
      data: { plugin: change.plugin, op: change.op },
      hint: "Mend the cause: the next kaged command finishes the change",
      cause,
    });
  }
}

/** Finishes what a crash interrupted and clears away what it left. Hold the lock of the home. */
export async function recoverStore(ports: StorePorts): Promise<void> {
  const { home, files } = ports;
  if (await files.info(storeDir(home)) === null) return;
  if (await isUnfinished(home, files)) {
    await finish(JSON.parse(await files.readText(journalFile(home))) as Change, ports);
  }
  for (const name of await files.list(storeDir(home))) {
    if (LEFTOVER.test(name)) await removeTree(`${storeDir(home)}/${name}`, files);
  }
}

/** Every step can be done again: one that was done before the crash is passed over. */
async function finish(change: Change, ports: StorePorts): Promise<void> {
  const { home, files, ids } = ports;
  const { plugin } = change;
  const at = (name: string): string => `${storeDir(home)}/${name}`;
  const isStaged = change.op === "install" && await files.info(at(change.staged)) !== null;
  const isReplaced = change.op === "install" && !isStaged;
  if (!isReplaced && await files.info(at(plugin)) !== null) await files.rename(at(plugin), at(change.old));
  if (change.op === "install" && isStaged) await files.rename(at(change.staged), at(plugin));
  await files.sync(storeDir(home));
  await writeRecord(home, plugin, { files, ids, fields: recordOf(change) });
  if (change.op === "uninstall") await ports.dropStorage(plugin);
  await files.remove(journalFile(home));
  await removeTree(at(change.old), files);
}

function recordOf(change: Change): RecordFields | null {
  return change.op === "install" ? change.record : null;
}

function journalFile(home: string): string {
  return `${storeDir(home)}/.journal.json`;
}
