/**
 * The engine beside the same statements, prepared once and run directly: what renaming, binding, checking and encoding
 * add when the statement is known.
 *
 * @module
 */
import { databases } from "../../src/adapters/shared/databases.ts";
import type { Database, SqlValue } from "../../src/core/ports/ports.ts";
import { StorageEngine } from "../../src/core/storage/engine.ts";
import { DEFAULT_LIMITS, SQL_LIMITS } from "../../src/core/storage/limits.ts";

/** Microseconds per call, by who ran it. */
export type Figures = Record<string, number>;

const ROWS = 10_000;

interface Case {
  readonly name: string;
  readonly calls: number;
  readonly ours: (at: number) => unknown;
  readonly direct: (at: number) => unknown;
}

/** Measures every case on files in `dir`: the best of `rounds`, interleaved. */
export function measureEngine(dir: string, rounds: number): Record<string, Figures> {
  const writer = databases.open(`${dir}/ours.db`, { limits: SQL_LIMITS });
  const writing = new StorageEngine(writer, true, { limits: DEFAULT_LIMITS });
  writing.claim("bench");
  const plain = databases.open(`${dir}/direct.db`, { limits: SQL_LIMITS });
  for (const pragma of ["journal_mode = WAL", "synchronous = NORMAL"]) plain.prepare(`PRAGMA ${pragma}`).all([]);
  for (const sql of SETUP) {
    writing.exec("bench", { sql, params: [] });
    plain.run(sql);
  }
  const reader = databases.open(`${dir}/ours.db`, { readOnly: true, limits: SQL_LIMITS });
  const reading = new StorageEngine(reader, false, { limits: DEFAULT_LIMITS });
  const figures = Object.fromEntries(
    casesOf(writing, reading, plain).map((each) => [each.name, measure(each, rounds)]),
  );
  for (const database of [reader, writer, plain]) database.close();
  return figures;
}

const SETUP = [
  "CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT)",
  `WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT ${ROWS}) INSERT INTO t SELECT n, 'name ' || n FROM r`,
  "CREATE TABLE log(id INTEGER PRIMARY KEY, line TEXT)",
];

function casesOf(writing: StorageEngine, reading: StorageEngine, plain: Database): Case[] {
  const point = "SELECT id, name FROM t WHERE id = ?";
  const range = "SELECT id, name FROM t WHERE id > ? LIMIT 100";
  const insert = "INSERT INTO log(line) VALUES (?)";
  const [onePoint, oneRange, oneInsert] = [point, range, insert].map((sql) => plain.prepare(sql));
  const key = (at: number): SqlValue => BigInt(at % (ROWS - 200) + 1);
  return [
    {
      name: "point select",
      calls: 4_000,
      ours: (at) => reading.query("bench", { sql: point, params: [at % (ROWS - 200) + 1] }),
      direct: (at) => onePoint!.allNumbers([key(at)]),
    },
    {
      name: "100-row select",
      calls: 800,
      ours: (at) => reading.query("bench", { sql: range, params: [at % (ROWS - 200) + 1] }),
      direct: (at) => oneRange!.allNumbers([key(at)]),
    },
    {
      name: "insert",
      calls: 800,
      ours: () => writing.exec("bench", { sql: insert, params: ["a line"] }),
      direct: () => oneInsert!.run(["a line"]),
    },
  ];
}

function measure({ calls, ours, direct }: Case, rounds: number): Figures {
  const best: Figures = {};
  for (let round = 0; round <= rounds; round++) {
    for (const [name, run] of Object.entries({ ours, direct, "direct again": direct })) {
      const startMs = performance.now();
      for (let at = 0; at < calls; at++) run(at);
      const perCallUs = (performance.now() - startMs) * 1000 / calls;
      if (round > 0) best[name] = Math.min(best[name] ?? Infinity, perCallUs);
    }
  }
  return best;
}
