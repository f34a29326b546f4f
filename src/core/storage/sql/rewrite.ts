/**
 * The first wall: names in a plugin's SQL get the plugin's prefix, and a statement that is not understood is refused.
 *
 * @module
 */
import { walkAlter, walkCreate, walkDrop, walkWrite, withOpensSelect } from "./definitions.ts";
import { denied, sqlError } from "./refusals.ts";
import { walkSelect, walkWith } from "./selects.ts";
import { tokenize } from "./tokens.ts";
import { type NameSpace, Walk } from "./walk.ts";

export type { NameSpace } from "./walk.ts";

/** How a statement acts; a query that only computes is a `select` too. */
export type StatementKind = "select" | "write" | "create" | "alter" | "drop";

/** A statement, ready to be compiled. */
export interface Rewritten {
  /** The text, every name of the table namespace prefixed. */
  readonly sql: string;
  readonly kind: StatementKind;
  readonly returnsRows: boolean;
  readonly parameterCount: number;
  /** Named parameters: name as written, with its first character → number. */
  readonly parameterNames: ReadonlyMap<string, number>;
}

const MAX_SQL_LENGTH = 100_000;
const WRITES: readonly string[] = ["INSERT", "REPLACE", "UPDATE", "DELETE"];
const DEFINITIONS: Readonly<Record<string, readonly [StatementKind, (walk: Walk) => void]>> = {
  CREATE: ["create", walkCreate],
  ALTER: ["alter", walkAlter],
  DROP: ["drop", walkDrop],
};

/** Statements of SQLite that no plugin may run. Any other first word is a slip, as SQLite would find. */
const FORBIDDEN: ReadonlySet<string> = new Set(
  "ANALYZE ATTACH BEGIN COMMIT DETACH END EXPLAIN PRAGMA REINDEX RELEASE ROLLBACK SAVEPOINT VACUUM".split(" "),
);

const REFUSED_HINT =
  "SELECT, VALUES, WITH, INSERT, REPLACE, UPDATE, DELETE, CREATE, ALTER and DROP are the statements there are";

/**
 * Rewrites one statement.
 *
 * @throws {HostError} `storage.denied` for a statement that no plugin may run, `storage.sql` for text that is not SQL.
 */
export function rewriteSql(sql: string, names: NameSpace): Rewritten {
  if (sql.length > MAX_SQL_LENGTH) throw sqlError("statement too long", `${MAX_SQL_LENGTH} characters are the limit`);
  // Drivers stop at a NUL and run the text before it.
  if (sql.includes("\0")) throw sqlError("unrecognized token: NUL character");
  const walk = new Walk(sql, tokenize(sql), names, walkSelect);
  const { kind, returnsRows } = walkStatement(walk);
  walk.accept(";");
  if (walk.peek().kind !== "end") {
    if (walk.previous().key !== ";") throw walk.unexpected();
    throw sqlError("more than one statement", "Send one statement per call, or use kaged.storage.batch");
  }
  const { parameterCount, parameterNames } = walk;
  return { sql: walk.finish(), kind, returnsRows, parameterCount, parameterNames };
}

function walkStatement(walk: Walk): Pick<Rewritten, "kind" | "returnsRows"> {
  const first = walk.peek();
  if (first.kind === "end" || first.key === ";") throw sqlError("empty statement");
  const isQuery = first.key === "WITH" ? withOpensSelect(walk) : walk.at("SELECT", "VALUES");
  if (isQuery) {
    walkSelect(walk, { output: true });
    return { kind: "select", returnsRows: true };
  }
  if (first.key === "WITH") walkWith(walk);
  if (first.key === "WITH" || walk.at(...WRITES)) return { kind: "write", returnsRows: walkWrite(walk) };
  const [kind, rule] = DEFINITIONS[first.key] ?? [];
  if (kind && rule) {
    rule(walk);
    return { kind, returnsRows: false };
  }
  if (first.kind !== "word" || !FORBIDDEN.has(first.key)) throw walk.unexpected();
  throw denied(`Cannot run ${first.text.slice(0, 40).toUpperCase()}`, REFUSED_HINT);
}
