/**
 * Storage as the host has it: answers plugins' requests, serves the operator, and keeps the processes that run SQL.
 *
 * @module
 */
import type { Audit } from "../audit/audit.ts";
import { asHostError, HostError } from "../errors/host_error.ts";
import { storageAccess } from "../manifest/capability_set.ts";
import type { Manifest } from "../manifest/manifest.ts";
import { withheldHint, withheldOf } from "../manifest/withheld.ts";
import type { Clock, Runtime } from "../ports/ports.ts";
import type { IncomingRequest } from "../wire/connection_types.ts";
import type { StorageReport } from "./catalogue.ts";
import { DEFAULT_LIMITS, type StorageLimits } from "./limits.ts";
import type { ExecOutcome, StorageQuestion } from "./messages.ts";
import { parseStorageRequest, shapeOf, sqlOf, type StorageRequest } from "./requests.ts";
import { Lane, StorageProcess, writeProgram } from "./storage_process.ts";
import { type EncodedRows, type RowObject, rowObjects } from "./values.ts";

/** The plugin that asks: as much of it as storage needs to know. */
export interface StorageClient {
  /** The plugin's name: storage belongs to it, and all its instances share it. */
  readonly plugin: string;
  /** Instance id, for the audit log. */
  readonly instance: string;
  /** Its granted capabilities decide whether it may read and write. */
  readonly manifest: Pick<Manifest, "capabilities" | "withheld">;
}

/** How the storage of a host is set up. */
export interface StorageOptions {
  /** The runtime it stands on. */
  readonly runtime: Runtime;
  /** The operator's folder, absolute: the database is `kaged.db` in it. */
  readonly home: string;
  /** Takes an event for each refusal. */
  readonly audit?: Pick<Audit, "emit">;
  /** Limits that differ from {@link DEFAULT_LIMITS}. */
  readonly limits?: Partial<StorageLimits>;
  /** Quotas in bytes that differ, by plugin. */
  readonly quotas?: Readonly<Record<string, number>>;
  /** Most processes that run queries at once. Default 4. */
  readonly maxReaders?: number;
}

/** The operator's work may take this long: it touches everything a plugin has. */
const MAINTENANCE_MS = 120_000;

/** Whether this runtime's SQLite can be fenced, so that storage can be offered at all. */
export function isStorageAvailable(runtime: Runtime): boolean {
  return runtime.databases.isFenced();
}

/** Makes the storage of a host. Nothing is started or opened before the first request. */
export function createStorage(options: StorageOptions): Storage {
  return new Storage(options);
}

/** The storage of a host: one file, one writing process, a few that read. */
export class Storage implements AsyncDisposable {
  readonly #options: StorageOptions;
  readonly #limits: StorageLimits;
  readonly #writes: Lane;
  readonly #reads: Lane;
  readonly #turns: Map<string, Promise<unknown>> = new Map();
  readonly #claims: Map<string, Promise<unknown>> = new Map();
  readonly #patience: Patience;
  #program: Promise<string> | null = null;

  /** See {@link createStorage}. */
  constructor(options: StorageOptions) {
    const { clock } = options.runtime;
    this.#options = options;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#patience = new Patience(clock, this.#limits.deadlineMs);
    this.#writes = new Lane({ start: () => this.#start(true), maxProcesses: 1, clock });
    this.#reads = new Lane({ start: () => this.#start(false), maxProcesses: options.maxReaders ?? 4, clock });
  }

  /** Whether this runtime's SQLite can be fenced. Where it cannot, every request fails with `storage.unavailable`. */
  get isAvailable(): boolean {
    return isStorageAvailable(this.#options.runtime);
  }

  /**
   * Answers a plugin's `kaged.storage.*` request; an error it throws becomes the error response. Fits a supervisor's
   * `onRequest`, whose `audit` then takes the refusals.
   */
  async handle(
    client: StorageClient,
    request: Pick<IncomingRequest, "method" | "params" | "signal">,
    audit: Pick<Audit, "emit"> | undefined = this.#options.audit,
  ): Promise<unknown> {
    const parsed = parseStorageRequest(request.method, request.params, this.#limits.maxBatch);
    try {
      this.#requireAccess(client, parsed);
      return await this.#inTurn(client.plugin, async () => {
        if (request.signal.aborted) throw new HostError("protocol.cancelled", "The request was cancelled");
        return await this.#perform(client.plugin, parsed);
      });
    } catch (error) {
      throw refused(asHostError(error), client, parsed, audit);
    }
  }

  /** Claims a plugin's prefix: at install, or with its first request. Rejects with `storage.prefix_taken`. */
  async claim(plugin: string): Promise<void> {
    let claim = this.#claims.get(plugin);
    if (!claim) {
      claim = this.#writes.ask({ op: "claim", plugin }, MAINTENANCE_MS);
      this.#claims.set(plugin, claim);
      claim.catch(() => this.#claims.delete(plugin));
    }
    await claim;
  }

  /** Returns a plugin's tables and the bytes they take. */
  async report(plugin: string): Promise<StorageReport> {
    return await this.#writes.ask({ op: "report", plugin }, MAINTENANCE_MS) as StorageReport;
  }

  /** Drops everything a plugin has and frees its prefix; returns the names of its tables. */
  async drop(plugin: string): Promise<string[]> {
    return await this.#inTurn(plugin, async () => {
      const dropped = await this.#writes.ask({ op: "drop", plugin }, MAINTENANCE_MS) as string[];
      this.#claims.delete(plugin);
      return dropped;
    });
  }

  /** Forgets that a plugin's prefix was claimed, after another process has dropped the plugin's tables. */
  forget(plugin: string): void {
    this.#claims.delete(plugin);
  }

  /** Writes a plugin's tables, unprefixed, to a new SQLite file; returns their names. */
  async exportTo(plugin: string, file: string): Promise<string[]> {
    if (await this.#options.runtime.files.info(file) !== null) {
      throw new HostError("host.misuse", `Cannot export to "${file}": it exists`, {
        hint: "Name a file that does not",
      });
    }
    return await this.#writes.ask({ op: "export", plugin, file }, MAINTENANCE_MS) as string[];
  }

  /** Ends every process. Requests that run are refused. */
  async close(): Promise<void> {
    await Promise.all([this.#reads.close(), this.#writes.close()]);
  }

  /** Ends every process, as {@link close} does. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #start(writable: boolean): Promise<StorageProcess> {
    const { runtime, home, quotas = {} } = this.#options;
    if (!isStorageAvailable(runtime)) {
      throw new HostError("storage.unavailable", "Cannot offer storage: this runtime's SQLite cannot be fenced", {
        hint: "Use Node 24.15, Bun 1.4, Deno 2.9 or newer",
      });
    }
    const program = await (this.#program ??= this.#writeProgram());
    const setup = { path: `${home}/kaged.db`, writable, limits: this.#limits, quotas };
    return await StorageProcess.start({ runtime, program, cwd: `${home}/run`, setup });
  }

  /** A failure is not kept: the next request finds a disk that may have room again. */
  async #writeProgram(): Promise<string> {
    const { runtime, home } = this.#options;
    try {
      return await writeProgram(runtime, home);
    } catch (error) {
      this.#program = null;
      throw error;
    }
  }

  #requireAccess({ plugin, manifest }: StorageClient, { operation: { op } }: StorageRequest): void {
    const access = storageAccess(manifest.capabilities);
    const needed = isReading(op) ? "read" : "write";
    if (access === "write" || access === needed) return;
    const capability = `kaged:storage:${needed}`;
    const held = withheldOf(manifest.withheld ?? [], [capability]);
    throw new HostError("storage.denied", `Cannot use storage: "${plugin}" has no ${capability}`, {
      data: { capability },
      hint: held.length > 0 ? withheldHint(plugin, held) : `Declare ${capability} in the manifest`,
    });
  }

  async #perform(plugin: string, { operation, asArrays }: StorageRequest): Promise<unknown> {
    this.#patience.expect(plugin);
    await this.claim(plugin);
    const outcome = await this.#ask({ plugin, ...operation });
    switch (operation.op) {
      case "schema":
        return outcome;
      case "query":
        return shown(outcome as EncodedRows, asArrays);
      case "exec":
        return execShown(outcome as ExecOutcome, asArrays);
      case "batch":
        return { results: (outcome as ExecOutcome[]).map((each) => execShown(each, asArrays)) };
    }
  }

  /** Asks a plugin's question; a statement that had to be stopped counts against the plugin until one ends well. */
  async #ask(question: StorageQuestion): Promise<unknown> {
    const { plugin, op } = question;
    try {
      const outcome = await (isReading(op) ? this.#reads : this.#writes).ask(question, this.#limits.deadlineMs);
      if (op !== "schema") this.#patience.restore(plugin);
      return outcome;
    } catch (error) {
      if (error instanceof HostError && ["storage.timeout", "storage.out_of_memory"].includes(error.code)) {
        this.#patience.lose(plugin);
      }
      throw error;
    }
  }

  /** Runs a plugin's requests one after another, whichever instance they come from. */
  async #inTurn<T>(plugin: string, run: () => Promise<T>): Promise<T> {
    const turn = (this.#turns.get(plugin) ?? Promise.resolve()).then(run, run);
    this.#turns.set(plugin, turn);
    try {
      return await turn;
    } finally {
      if (this.#turns.get(plugin) === turn) this.#turns.delete(plugin);
    }
  }
}

/** Returns the error as the plugin gets it; a refusal is also an audit event. */
function refused(
  error: HostError,
  { plugin, instance }: StorageClient,
  { operation }: StorageRequest,
  audit: Pick<Audit, "emit"> | undefined,
): HostError {
  if (error.rpc === -32003) {
    const data = { sql: shapeOf(sqlOf(operation)), reason: error.message.slice(0, 200) };
    audit?.emit("plugin.storage_denied", { name: plugin, instance }, data);
  }
  return new HostError(error.code, error.message, {
    data: { code: error.code, ...(error.data as object | undefined) },
    cause: error,
    ...(error.hint === undefined ? {} : { hint: error.hint }),
  });
}

function isReading(op: StorageQuestion["op"]): boolean {
  return op === "query" || op === "schema";
}

function shown(
  outcome: EncodedRows,
  asArrays: boolean,
): { rows: readonly unknown[] | RowObject[]; columns: readonly string[] } {
  return { rows: asArrays ? outcome.rows : rowObjects(outcome), columns: outcome.columns };
}

function execShown({ rowsAffected, returned }: ExecOutcome, asArrays: boolean): object {
  return { rows_affected: rowsAffected, ...(returned ? shown(returned, asArrays) : {}) };
}

const MAX_WAIT_MS = 60_000;

/** Counts, and says who has to wait. */
export class Patience {
  readonly #clock: Clock;
  readonly #unitMs: number;
  readonly #strikes: Map<string, { readonly count: number; readonly untilMs: number }> = new Map();

  /** The first wait is `unitMs`, after the second stop in a row; then it doubles. */
  constructor(clock: Clock, unitMs: number) {
    this.#clock = clock;
    this.#unitMs = unitMs;
  }

  /** Throws `storage.busy` while the plugin has to wait. */
  expect(plugin: string): void {
    const waitMs = (this.#strikes.get(plugin)?.untilMs ?? 0) - this.#clock.monotonic();
    if (waitMs <= 0) return;
    throw new HostError("storage.busy", "Too many of the plugin's statements had to be stopped", {
      data: { retry_after_ms: Math.ceil(waitMs) },
      hint: `Try again in ${Math.ceil(waitMs / 1000)} s, with statements that end`,
    });
  }

  /** A statement of the plugin had to be stopped. */
  lose(plugin: string): void {
    const count = (this.#strikes.get(plugin)?.count ?? 0) + 1;
    const waitMs = count < 2 ? 0 : Math.min(MAX_WAIT_MS, this.#unitMs * 2 ** (count - 2));
    this.#strikes.set(plugin, { count, untilMs: this.#clock.monotonic() + waitMs });
  }

  /** A statement of the plugin came to its end. */
  restore(plugin: string): void {
    this.#strikes.delete(plugin);
  }
}
