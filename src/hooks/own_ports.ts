/**
 * The functions of `@kaged/plugin-host/hooks` that need a clock or files take them from the runtime they run on. Tests
 * hand in others.
 *
 * @module
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { clock } from "../adapters/shared/clock.ts";
import { files } from "../adapters/shared/files.ts";
import { ids } from "../adapters/shared/ids.ts";
import type { AsyncStorage, Files, Ids, Runtime } from "../core/ports/ports.ts";
import { createHookEngine as createEngine, type HookEngine, type HookEngineOptions } from "./engine/engine.ts";
import { gatherEvidence as gather, type HookEvidence } from "./files/hook_evidence.ts";
import {
  type HookFiles,
  type LoadedHookFile,
  loadHookFiles as load,
  type LoadHookFilesOptions,
} from "./files/load_hook_files.ts";
import { readTrust as read, trustHookFile as trust, type TrustStore } from "./files/trust_store.ts";
import { fileNotes as openNotes, type Notes } from "./sources/builtin/notes.ts";

/** One for all engines, so that a handler is recognised that fires its own hook through another engine. */
const asyncStorage: AsyncStorage = new AsyncLocalStorage<unknown>();

/** Where {@link fileNotes} keeps them. */
export interface FileNotesOptions {
  /** Absolute path of the folder, made 0700 when missing. */
  readonly dir: string;
  /** Default: the runtime's file system. */
  readonly files?: Files;
  /** Names files that are being written. Default: the runtime's. */
  readonly ids?: Ids;
}

/** Returns an engine without handlers. */
export function createHookEngine(options: HookEngineOptions = {}): HookEngine {
  return createEngine({ clock, asyncStorage, ...options });
}

/** Returns notes in a folder, a 0600 file each. A write replaces the file in one step. */
export function fileNotes(options: FileNotesOptions): Notes {
  return openNotes({ files, ids, ...options });
}

/**
 * Reads every hook file. Never throws for a file.
 *
 * @throws {HostError} `host.misuse` when `dir` is no folder.
 */
export function loadHookFiles(
  options: Omit<LoadHookFilesOptions, "files"> & Partial<Pick<LoadHookFilesOptions, "files">>,
): Promise<HookFiles> {
  return load({ files, ...options });
}

/**
 * Returns a hook file with the scripts it names, and one hash of them all: an operator trusts exactly these.
 *
 * @throws {HostError} `hook.uncoverable` when it names more scripts than trust can cover.
 */
export function gatherEvidence(file: LoadedHookFile, dir: string, own: Files = files): Promise<HookEvidence> {
  return gather(file, dir, own);
}

/**
 * Reads the trusted hook files of a home; none when there is no such list.
 *
 * @throws {HostError} `hook.trust_unreadable`: a list that cannot be read is neither taken for trust nor written over.
 */
export function readTrust(home: string, ports: { readonly files: Files } = { files }): Promise<TrustStore> {
  return read(home, ports);
}

/** Trusts exactly this content from now on. Rejects with `install.busy` when another process keeps the folder locked. */
export async function trustHookFile(
  trusted: { readonly home: string; readonly dir: string; readonly evidence: HookEvidence },
  runtime?: Pick<Runtime, "files" | "ids" | "clock" | "databases">,
): Promise<void> {
  // Loaded when it is needed: SQLite locks the home, and most programs never trust a file.
  const { databases } = runtime ?? await import("../adapters/shared/databases.ts");
  await trust(trusted, runtime ?? { files, ids, clock, databases });
}
