/**
 * The storage process, without its process: takes a line, gives a line.
 *
 * @module
 */
import { asHostError } from "../errors/host_error.ts";
import { checkLayout } from "../files/database_layout.ts";
import type { Database, DatabaseOpener } from "../ports/ports.ts";
import { dropStorage, exportStorage, reportStorage } from "./catalogue.ts";
import { StorageEngine } from "./engine.ts";
import { resultTooLarge } from "./failures.ts";
import { SQL_LIMITS } from "./limits.ts";
import { ANSWER, type ExecOutcome, failedAnswer, type StorageQuestion, type StorageSetup } from "./messages.ts";
import { type EncodedRows, rowObjects } from "./values.ts";

/** The parts of the runtime that serving needs. */
export interface ServeOptions {
  readonly open: DatabaseOpener["open"];
  /** Bytes left on the disk of `path`, or null when that is unknown. */
  readonly freeBytes: (path: string) => number | null;
  /** Bytes a text takes as UTF-8. */
  readonly byteLength: (text: string) => number;
}

/** Layout of `kaged.db`: tables under a prefix for each plugin, and a view for each claim to one. */
const LAYOUT = 1;

/**
 * Opens the database; the returned function answers a line with a line.
 *
 * @throws {HostError} `storage.layout_newer`.
 */
export function serveStorage(setup: StorageSetup, options: ServeOptions): (line: string) => string {
  const { path, writable, limits, quotas } = setup;
  const database = options.open(path, { readOnly: !writable, limits: SQL_LIMITS, busyMs: limits.deadlineMs });
  checkLayout(database, { file: "kaged.db", newest: LAYOUT, writable, code: "storage.layout_newer" });
  const freeBytes = (): number | null => options.freeBytes(path);
  const engine = new StorageEngine(database, writable, { limits, quotas, freeBytes });
  return (line) => {
    try {
      const text = JSON.stringify(perform(engine, JSON.parse(line), options) ?? null);
      const isTooLarge = text.length > limits.maxResultBytes / 3 && options.byteLength(text) > limits.maxResultBytes;
      if (isTooLarge) throw resultTooLarge(`${limits.maxResultBytes} bytes`);
      return (engine.hasDefined ? ANSWER.OK_DEFINED : ANSWER.OK) + text;
    } catch (error) {
      return failedAnswer(asHostError(error));
    }
  };
}

function perform(engine: StorageEngine, question: StorageQuestion, { open }: ServeOptions): unknown {
  const { plugin } = question;
  switch (question.op) {
    case "claim":
      return engine.claim(plugin);
    case "query":
      return shown(engine.query(plugin, question), question.asArrays);
    case "exec":
      return execShown(engine.exec(plugin, question), question.asArrays);
    case "batch":
      return { results: engine.batch(plugin, question.statements).map((each) => execShown(each, question.asArrays)) };
    case "prepare":
      return engine.prepare(plugin, question.sql);
    case "schema":
      return engine.schema(plugin);
    case "report":
      return engine.asHost((database) => reportStorage(database, plugin));
    case "drop":
      return engine.asHost((database) => dropStorage(database, plugin));
    case "export":
      return engine.asHost((database) =>
        withDatabase(open(question.file, { defensive: false }), (target) => exportStorage(database, plugin, target))
      );
  }
}

function shown({ columns, rows }: EncodedRows, asArrays: boolean): object {
  return { rows: asArrays ? rows : rowObjects({ columns, rows }), columns };
}

function execShown({ rowsAffected, returned }: ExecOutcome, asArrays: boolean): object {
  return returned === null
    ? { rows_affected: rowsAffected }
    : { rows_affected: rowsAffected, ...shown(returned, asArrays) };
}

function withDatabase<T>(database: Database, use: (database: Database) => T): T {
  try {
    return use(database);
  } finally {
    database.close();
  }
}
