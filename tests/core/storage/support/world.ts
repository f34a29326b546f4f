/**
 * Engines over databases of a test's own.
 *
 * @module
 */
import { databases } from "../../../../src/adapters/shared/databases.ts";
import { HostError } from "../../../../src/core/errors/host_error.ts";
import type { Database } from "../../../../src/core/ports/ports.ts";
import { type EngineOptions, StorageEngine } from "../../../../src/core/storage/engine.ts";

import { DEFAULT_LIMITS, SQL_LIMITS, type StorageLimits } from "../../../../src/core/storage/limits.ts";
import type { ExecOutcome } from "../../../../src/core/storage/messages.ts";
import { spoiledDatabase } from "./spoiled_database.ts";

/** An engine with a short way to talk to it. */
export interface World extends Disposable {
  /** The connection, as the host has it, when no call runs. */
  readonly database: Database;
  /** The engine over it. */
  readonly engine: StorageEngine;
  /** Runs a statement as a plugin. */
  exec(plugin: string, sql: string, params?: unknown): ExecOutcome;
  /** Runs a statement as a plugin and returns its rows. */
  rows(plugin: string, sql: string, params?: unknown): readonly unknown[];
  /** Runs a statement as the host and returns its rows. */
  asHost(sql: string): unknown[];
}

/** Opens an engine in memory, or on a file; `spoil` changes what the engine wrote before SQLite compiles it. */
export function openWorld(
  options:
    & { path?: string; limits?: Partial<StorageLimits>; spoil?: (sql: string) => string }
    & Omit<EngineOptions, "limits"> = {},
  plugins: readonly string[] = ["p"],
): World {
  const { path = ":memory:", limits, spoil = (sql) => sql, ...rest } = options;
  const database = spoiledDatabase(databases.open(path, { limits: SQL_LIMITS }), spoil);
  const engine = new StorageEngine(database, true, { limits: { ...DEFAULT_LIMITS, ...limits }, ...rest });
  for (const plugin of plugins) engine.claim(plugin);
  const exec: World["exec"] = (plugin, sql, params = []) => engine.exec(plugin, { sql, params });
  return {
    database,
    engine,
    exec,
    rows: (plugin, sql, params) => exec(plugin, sql, params).returned?.rows ?? [],
    asHost: (sql) => engine.asHost((own) => own.prepare(sql).all([])),
    [Symbol.dispose]: () => database.close(),
  };
}

/** Returns the error a call ends with, in the form `code: message`. */
export function errorOf(run: () => unknown): string {
  try {
    run();
    return "no error";
  } catch (error) {
    return error instanceof HostError ? `${error.code}: ${error.message}` : `unexpected: ${error}`;
  }
}
