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
import type { Runtime } from "../ports/ports.ts";
import { JsonText } from "../values/json_text.ts";
import type { IncomingRequest } from "../wire/connection_types.ts";
import type { StorageReport } from "./catalogue.ts";
import { DEFAULT_LIMITS, type StorageLimits } from "./limits.ts";
import { ANSWER, type PluginOperation, type StorageQuestion } from "./messages.ts";
import { Patience } from "./patience.ts";
import { PreparedStatements } from "./prepared.ts";
import { parseStorageRequest, shapeOf, sqlOf } from "./requests.ts";
import { Lane, StorageProcess } from "./storage_process.ts";
import { writeProgram } from "./write_program.ts";

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

const STOPPED: ReadonlySet<string> = new Set(["storage.timeout", "storage.out_of_memory"]);

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
  /** Work that waits for a plugin's earlier work to end; a plugin without any under way is not in it. */
  readonly #turns: Map<string, (() => void)[]> = new Map();
  readonly #claims: Map<string, Promise<unknown>> = new Map();
  readonly #claimed: Set<string> = new Set();
  readonly #prepared: PreparedStatements;
  readonly #patience: Patience;
  #program: Promise<string> | null = null;

  /** See {@link createStorage}. */
  constructor(options: StorageOptions) {
    const { clock, ids } = options.runtime;
    this.#options = options;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#prepared = new PreparedStatements(ids.create("st"));
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
   * `onRequest`, whose `audit` then takes the refusals. To a request that takes text, the answer is the text that the
   * storage process wrote.
   */
  handle(
    client: StorageClient,
    request: Pick<IncomingRequest, "method" | "params" | "signal" | "isAborted" | "takesText">,
    audit: Pick<Audit, "emit"> | undefined = this.#options.audit,
  ): Promise<unknown> {
    const { plugin } = client;
    return new Promise((resolve, reject) => {
      const operation = parseStorageRequest(request.method, request.params, {
        maxBatch: this.#limits.maxBatch,
        sqlOfHandle: (handle) => this.#prepared.sqlOf(plugin, handle),
      });
      const fail = (error: unknown): void => reject(refused(asHostError(error), client, operation, audit));
      const settle = (answer: string | HostError): void => {
        if (answer instanceof HostError) fail(answer);
        else resolve(this.#answerTo(plugin, operation, answer, request.takesText ?? false));
        this.#endTurn(plugin);
      };
      try {
        this.#requireAccess(client, operation);
      } catch (error) {
        return fail(error);
      }
      this.#inTurn(plugin, () => {
        if (!(request.isAborted ?? request.signal.aborted)) return this.#ask(plugin, operation, settle);
        settle(new HostError("protocol.cancelled", "The request was cancelled"));
      });
    });
  }

  /** Claims a plugin's prefix: at install, or with its first request. Rejects with `storage.prefix_taken`. */
  async claim(plugin: string): Promise<void> {
    let claim = this.#claims.get(plugin);
    if (!claim) {
      claim = this.#maintain({ op: "claim", plugin });
      this.#claims.set(plugin, claim);
      claim.then(() => this.#claims.get(plugin) === claim && this.#claimed.add(plugin), () => this.forget(plugin));
    }
    await claim;
  }

  /** Returns a plugin's tables and the bytes they take. */
  async report(plugin: string): Promise<StorageReport> {
    return await this.#maintain({ op: "report", plugin }) as StorageReport;
  }

  /** Drops everything a plugin has and frees its prefix; returns the names of its tables. */
  async drop(plugin: string): Promise<string[]> {
    await new Promise<void>((resolve) => this.#inTurn(plugin, resolve));
    try {
      return await this.#maintain({ op: "drop", plugin }) as string[];
    } finally {
      this.forget(plugin);
      this.#endTurn(plugin);
    }
  }

  /** Forgets that a plugin's prefix was claimed, after another process has dropped the plugin's tables. */
  forget(plugin: string): void {
    this.#claims.delete(plugin);
    this.#claimed.delete(plugin);
    this.#prepared.forget(plugin);
  }

  /** Writes a plugin's tables, unprefixed, to a new SQLite file; returns their names. */
  async exportTo(plugin: string, file: string): Promise<string[]> {
    if (await this.#options.runtime.files.info(file) !== null) {
      throw new HostError("host.misuse", `Cannot export to "${file}": it exists`, {
        hint: "Name a file that does not",
      });
    }
    return await this.#maintain({ op: "export", plugin, file }) as string[];
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

  #requireAccess({ plugin, manifest }: StorageClient, { op }: PluginOperation): void {
    const access = storageAccess(manifest.capabilities);
    const needed = isReading(op) || op === "prepare" ? "read" : "write";
    if (access === "write" || access === needed) return;
    const capability = `kaged:storage:${needed}`;
    const held = withheldOf(manifest.withheld ?? [], [capability]);
    throw new HostError("storage.denied", `Cannot use storage: "${plugin}" has no ${capability}`, {
      data: { capability },
      hint: held.length > 0 ? withheldHint(plugin, held) : `Declare ${capability} in the manifest`,
    });
  }

  /** Asks a plugin's question; a statement that had to be stopped counts against the plugin until one ends well. */
  #ask(plugin: string, operation: PluginOperation, settle: (answer: string | HostError) => void): void {
    const { op } = operation;
    const ask = (): void =>
      (isReading(op) ? this.#reads : this.#writes).ask({ plugin, ...operation }, this.#limits.deadlineMs, (answer) => {
        if (!(answer instanceof HostError)) op === "schema" || this.#patience.restore(plugin);
        else if (STOPPED.has(answer.code)) this.#patience.lose(plugin);
        settle(answer);
      });
    try {
      this.#patience.expect(plugin);
    } catch (error) {
      return settle(asHostError(error));
    }
    if (this.#claimed.has(plugin)) ask();
    else this.claim(plugin).then(ask, (error) => settle(asHostError(error)));
  }

  /** Returns what the plugin gets for an answer that is no error. A change of its tables ends its prepared statements. */
  #answerTo(plugin: string, operation: PluginOperation, answer: string, takesText: boolean): unknown {
    if (answer.startsWith(ANSWER.OK_DEFINED)) this.#prepared.forget(plugin);
    const text = answer.slice(1);
    if (operation.op === "prepare") {
      return { statement: this.#prepared.add(plugin, operation.sql), ...JSON.parse(text) };
    }
    return takesText ? new JsonText(text) : JSON.parse(text);
  }

  #maintain(question: StorageQuestion): Promise<unknown> {
    return new Promise((resolve, reject) =>
      this.#writes.ask(question, MAINTENANCE_MS, (answer) => {
        if (answer instanceof HostError) reject(answer);
        else resolve(JSON.parse(answer.slice(1)));
      })
    );
  }

  /** Runs a plugin's requests one after another, whichever instance they come from; each ends with {@link #endTurn}. */
  #inTurn(plugin: string, start: () => void): void {
    const waiting = this.#turns.get(plugin);
    if (waiting) return void waiting.push(start);
    this.#turns.set(plugin, []);
    start();
  }

  #endTurn(plugin: string): void {
    const next = this.#turns.get(plugin)?.shift();
    // Not at once: many that fail at once would stand on each other's stack.
    if (next) queueMicrotask(next);
    else this.#turns.delete(plugin);
  }
}

/** Returns the error as the plugin gets it; a refusal is also an audit event. */
function refused(
  error: HostError,
  { plugin, instance }: StorageClient,
  operation: PluginOperation,
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
