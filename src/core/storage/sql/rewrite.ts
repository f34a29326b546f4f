/**
 * The first wall: names in a plugin's SQL get the plugin's prefix, and what is not understood is refused.
 *
 * @module
 */
import { walkAlter, walkCreate, walkDrop, withOpensSelect } from "./definitions.ts";
import { denied, sqlError } from "./refusals.ts";
import { walkSelect, walkWith } from "./selects.ts";
import { tokenize } from "./tokens.ts";
import { type NameSpace, Walk } from "./walk.ts";
import { walkDelete, walkInsert, walkUpdate } from "./writes.ts";

export type { NameSpace } from "./walk.ts";

/** What a statement does. */
export type StatementKind = "select" | "write" | "create" | "alter" | "drop";

/** A statement, ready to be compiled. */
export interface Rewritten {
  /** The text, every name of the table namespace prefixed. */
  readonly sql: string;
  /** What it does. */
  readonly kind: StatementKind;
  /** What a CREATE or DROP is about. */
  readonly object: "table" | "index" | "view" | "trigger" | "virtual" | null;
  /** Whether it returns rows. */
  readonly returnsRows: boolean;
  /** How many parameters it takes. */
  readonly parameterCount: number;
  /** Named parameters: name as written, with its first character → number. */
  readonly parameterNames: ReadonlyMap<string, number>;
}

/** Longest statement, in characters. */
export const MAX_SQL_LENGTH = 100_000;

const REFUSED_HINT =
  "SELECT, VALUES, WITH, INSERT, REPLACE, UPDATE, DELETE, CREATE, ALTER and DROP are the statements there are";

/**
 * Rewrites one statement.
 *
 * @throws {HostError} `storage.denied` for what no plugin may ask, `storage.sql` for what is not SQL.
 */
export function rewriteSql(sql: string, names: NameSpace): Rewritten {
  if (sql.length > MAX_SQL_LENGTH) throw sqlError("statement too long", `${MAX_SQL_LENGTH} characters are the limit`);
  // Drivers stop at a NUL and run what is before it.
  if (sql.includes("\0")) throw sqlError("unrecognized token: NUL character");
  const walk = new Walk(sql, tokenize(sql), names, walkSelect);
  const { kind, object, returnsRows } = walkStatement(walk);
  walk.accept(";");
  if (walk.peek().kind !== "end") {
    if (walk.previous().key !== ";") throw walk.unexpected();
    throw sqlError("more than one statement", "Send one statement per call, or use kaged.storage.batch");
  }
  const { parameterCount, parameterNames } = walk;
  return { sql: walk.finish(), kind, object, returnsRows, parameterCount, parameterNames };
}

type Walked = Pick<Rewritten, "kind" | "object" | "returnsRows">;

function walkStatement(walk: Walk): Walked {
  const first = walk.peek();
  if (first.kind === "end" || first.key === ";") throw sqlError("empty statement");
  switch (first.key) {
    case "SELECT":
    case "VALUES":
      return walkQuery(walk);
    case "WITH":
      if (withOpensSelect(walk)) return walkQuery(walk);
      walkWith(walk);
      return walkWrite(walk);
    case "INSERT":
    case "REPLACE":
    case "UPDATE":
    case "DELETE":
      return walkWrite(walk);
    case "CREATE":
      return { kind: "create", object: walkCreate(walk), returnsRows: false };
    case "ALTER":
      walkAlter(walk);
      return { kind: "alter", object: null, returnsRows: false };
    case "DROP":
      return { kind: "drop", object: walkDrop(walk), returnsRows: false };
    default:
      if (first.kind !== "word") throw walk.unexpected();
      throw denied(`Cannot run ${first.text.slice(0, 40).toUpperCase()}`, REFUSED_HINT);
  }
}

function walkQuery(walk: Walk): Walked {
  walkSelect(walk, { output: true });
  return { kind: "select", object: null, returnsRows: true };
}

function walkWrite(walk: Walk): Walked {
  const returnsRows = walk.at("UPDATE") ? walkUpdate(walk) : walk.at("DELETE") ? walkDelete(walk) : walkInsert(walk);
  return { kind: "write", object: null, returnsRows };
}
