/**
 * Storage with real processes, in a home of a test's own.
 *
 * @module
 */
import { readdir, readFile } from "node:fs/promises";
import type { TestContext } from "node:test";
import { detectRuntime } from "../../../../src/adapters/default.ts";
import { HostError } from "../../../../src/core/errors/host_error.ts";
import { createStorage, type Storage, type StorageOptions } from "../../../../src/core/storage/storage.ts";
import { scratchDir } from "../../../support/scratch_dir.ts";
import { createHeldClock, type HeldClock } from "./held_clock.ts";

/** A storage and short ways to use it. */
export interface StorageHome {
  readonly storage: Storage;
  readonly home: string;
  readonly clock: HeldClock;
  /** Audit events, as `type instance data`. */
  readonly audited: string[];
  /** Sends a request as a plugin. */
  ask(plugin: string, method: string, params?: unknown, access?: "none" | "read" | "write"): Promise<unknown>;
  /** Sends a request and returns its error, as `code rpc message`. */
  errorOf(plugin: string, method: string, params?: unknown, access?: "none" | "read" | "write"): Promise<string>;
}

/** Makes a storage that goes away with the test, its processes with it. */
export async function openStorageHome(t: TestContext, options: Partial<StorageOptions> = {}): Promise<StorageHome> {
  const home = options.home ?? await scratchDir(t);
  const runtime = await detectRuntime();
  const clock = createHeldClock(runtime.clock);
  const audited: string[] = [];
  const storage = createStorage({
    runtime: { ...runtime, clock },
    home,
    audit: { emit: (type, { instance }, data) => void audited.push(`${type} ${instance} ${JSON.stringify(data)}`) },
    ...options,
  });
  t.after(() => storage.close());
  const ask: StorageHome["ask"] = (plugin, method, params = {}, access = "write") => {
    const capabilities = access === "none" ? [] : [`kaged:storage:${access}`];
    const client = { plugin, instance: `${plugin}@project`, manifest: { capabilities } };
    return storage.handle(client, { method: `kaged.storage.${method}`, params, signal: new AbortController().signal });
  };
  return {
    storage,
    home,
    clock,
    audited,
    ask,
    errorOf: (plugin, method, params, access) =>
      ask(plugin, method, params, access).then(
        () => "no error",
        (error) => error instanceof HostError ? `${error.code} ${error.rpc} ${error.message}` : `unexpected ${error}`,
      ),
  };
}

/** Returns the ids of the processes that have `text` among their arguments. */
export async function processesWith(text: string): Promise<number[]> {
  const entries = (await readdir("/proc")).filter((entry) => /^\d+$/.test(entry));
  const found = await Promise.all(entries.map(async (entry) => {
    const command = await readFile(`/proc/${entry}/cmdline`, "utf8").catch(() => "");
    return command.split("\0").some((argument) => argument.includes(text)) ? [Number(entry)] : [];
  }));
  return found.flat();
}
