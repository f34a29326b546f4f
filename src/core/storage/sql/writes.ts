/**
 * Walks INSERT, REPLACE, UPDATE and DELETE.
 *
 * @module
 */
import { walkExpression, walkSortList } from "./expressions.ts";
import { sqlError } from "./refusals.ts";
import { walkFrom, walkIndexedBy, walkResultColumns, walkSelect } from "./selects.ts";
import { foldName, nameOf } from "./tokens.ts";
import type { Walk } from "./walk.ts";

/** Walks a statement that changes rows; returns whether it has RETURNING. */
export function walkWrite(walk: Walk): boolean {
  const { key } = walk.expect("INSERT", "REPLACE", "UPDATE", "DELETE");
  if (key === "INSERT" || key === "UPDATE") walkOnConflictWord(walk);
  walk.openScope({ upsert: key === "INSERT" || key === "REPLACE" });
  if (key === "UPDATE") {
    walkTarget(walk);
    walkIndexedBy(walk);
    walk.expect("SET");
    walkAssignments(walk);
    if (walk.accept("FROM")) walkFrom(walk);
    if (walk.accept("WHERE")) walkExpression(walk);
  } else if (key === "DELETE") {
    walk.expect("FROM");
    walkTarget(walk);
    walkIndexedBy(walk);
    if (walk.accept("WHERE")) walkExpression(walk);
  } else walkInserted(walk);
  const isReturning = walkReturning(walk);
  walk.closeScope();
  return isReturning;
}

function walkInserted(walk: Walk): void {
  walk.expect("INTO");
  const table = walkTarget(walk);
  if (walk.at("(")) {
    walk.bracketed(() => {
      do {
        const column = walk.takeName();
        const fts = foldName(nameOf(column)) === table ? walk.ftsTable(table) : undefined;
        // An FTS5 table takes commands in a column of its own name: INSERT INTO docs(docs) VALUES('optimize').
        if (fts !== undefined) walk.edit(column, walk.translated(fts));
      } while (walk.accept(","));
    });
  }
  if (walk.accept("DEFAULT")) return void walk.expect("VALUES");
  walkSelect(walk, { inFrom: true });
  while (walk.accept("ON")) walkUpsert(walk);
}

function walkOnConflictWord(walk: Walk): void {
  if (walk.accept("OR")) walk.expect("ROLLBACK", "ABORT", "REPLACE", "FAIL", "IGNORE");
}

function walkTarget(walk: Walk): string {
  const table = walk.takeObjectName();
  walk.addSource(walk.accept("AS") ? walk.rename(walk.takeName()) : table, table);
  return table;
}

function walkAssignments(walk: Walk): void {
  do {
    if (walk.at("(")) walk.takeNameList();
    else walk.takeName();
    walk.expect("=");
    walkExpression(walk);
  } while (walk.accept(","));
}

function walkUpsert(walk: Walk): void {
  walk.expect("CONFLICT");
  if (walk.at("(")) {
    walk.bracketed(() => walkSortList(walk));
    if (walk.accept("WHERE")) walkExpression(walk);
  }
  walk.expect("DO");
  if (walk.accept("NOTHING")) return;
  walk.expectAll("UPDATE", "SET");
  walkAssignments(walk);
  if (walk.accept("WHERE")) walkExpression(walk);
}

function walkReturning(walk: Walk): boolean {
  if (walk.at("ORDER", "LIMIT")) {
    throw sqlError(`near "${walk.peek().text}": syntax error`, "UPDATE and DELETE take no ORDER BY and no LIMIT here");
  }
  if (!walk.accept("RETURNING")) return false;
  walkResultColumns(walk, true);
  return true;
}
