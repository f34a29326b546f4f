/**
 * Changes of the installed plugins that survive a crash: each is written to a journal before it is made, and the next
 * command or host finishes what the journal holds. Folders whose name starts with a dot are changes under way.
 *
 * @module
 */
import { HostError, messageOf } from "../../core/errors/host_error.ts";
import { pinFile } from "../../core/pins/pin_file.ts";
import type { Files } from "../../core/ports/ports.ts";
import { checkRecord, type RecordFields, type RecordPorts, writeRecord } from "./records.ts";
import { removeTree } from "../../core/files/tree.ts";

/** A change as the journal holds it. */
export type Change =
  | {
    /** A tree that is ready takes the plugin's place. */
    readonly op: "install";
    readonly plugin: string;
    /** Name of the ready tree, beside the plugin's. */
    readonly staged: string;
    /** Name under which the tree it replaces is set aside. */
    readonly old: string;
    /** Whether that tree stays for {@link keptName}'s process to bring back. */
    readonly keep?: boolean;
    readonly record: RecordFields;
  }
  | {
    /** The plugin goes away: its files, its record and its data. */
    readonly op: "uninstall";
    readonly plugin: string;
    readonly old: string;
  };

export interface PackagePorts extends RecordPorts {
  readonly home: string;
  /** Drops a plugin's tables, if it has any. */
  dropStorage(plugin: string): Promise<void>;
}

/** Names of trees and files that only a change under way has. */
const LEFTOVER = /^\.(?:new|old|journal)_/;

/** Returns a name for a tree that is set aside and stays as long as the process that may bring it back. */
export async function keptName({ files, ids }: Pick<PackagePorts, "files" | "ids">): Promise<string> {
  return `.kept-${await files.readLink("/proc/self")}-${ids.create("old")}`;
}

/** Folder of the installed trees. */
export function packagesDir(home: string): string {
  return `${home}/plugins`;
}

/** Whether a change was left unfinished. */
export async function isUnfinished(home: string, files: Files): Promise<boolean> {
  return await files.info(journalFile(home)) !== null;
}

/** Makes a change; after a crash the next {@link recoverPackages} finishes it. Hold the lock of the home. */
export async function makeChange(change: Change, ports: PackagePorts): Promise<void> {
  const { home, files, ids } = ports;
  // Before the point of no return: a record that cannot be written would leave another version under the old one.
  await checkRecord(home, change.plugin, { files, ids, fields: recordOf(change) });
  const fresh = `${packagesDir(home)}/.${ids.create("journal")}`;
  await files.write(fresh, `${JSON.stringify(change)}\n`);
  await files.sync(fresh);
  await files.rename(fresh, journalFile(home)); // From here on it will happen.
  try {
    await files.sync(packagesDir(home));
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

/** Finishes a change that a crash interrupted and removes its leftovers. Hold the lock of the home. */
export async function recoverPackages(ports: PackagePorts): Promise<void> {
  const { home, files } = ports;
  if (await files.info(packagesDir(home)) === null) return;
  if (await isUnfinished(home, files)) {
    await finish(JSON.parse(await files.readText(journalFile(home))) as Change, ports);
  }
  for (const name of await files.list(packagesDir(home))) {
    const keeper = /^\.kept-(\d+)-/.exec(name)?.[1];
    const isAbandoned = keeper !== undefined && await files.info(`/proc/${keeper}`) === null;
    if (LEFTOVER.test(name) || isAbandoned) await removeTree(`${packagesDir(home)}/${name}`, files);
  }
}

/** Every step can be repeated: after a crash, steps that were done before it are skipped or done again. */
async function finish(change: Change, ports: PackagePorts): Promise<void> {
  const { home, files, ids } = ports;
  const { plugin } = change;
  const at = (name: string): string => `${packagesDir(home)}/${name}`;
  const isStaged = change.op === "install" && await files.info(at(change.staged)) !== null;
  const isReplaced = change.op === "install" && !isStaged;
  if (!isReplaced && await files.info(at(plugin)) !== null) await files.rename(at(plugin), at(change.old));
  if (change.op === "install" && isStaged) await files.rename(at(change.staged), at(plugin));
  await files.sync(packagesDir(home));
  await writeRecord(home, plugin, { files, ids, fields: recordOf(change) });
  if (change.op === "uninstall") {
    await ports.dropStorage(plugin);
    await files.remove(pinFile(home, plugin)); // The next consent to it is another one.
  }
  await files.remove(journalFile(home));
  if (change.op !== "install" || !change.keep) await removeTree(at(change.old), files);
}

function recordOf(change: Change): RecordFields | null {
  return change.op === "install" ? change.record : null;
}

function journalFile(home: string): string {
  return `${packagesDir(home)}/.journal.json`;
}
