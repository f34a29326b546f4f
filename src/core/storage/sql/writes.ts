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

/** Walks INSERT or REPLACE; returns whether it has RETURNING. */
export function walkInsert(walk: Walk): boolean {
  if (walk.expect("INSERT", "REPLACE").key === "INSERT") walkOnConflictWord(walk);
  walk.expect("INTO");
  walk.openScope({ upsert: true });
  const table = walkTarget(walk);
  if (walk.accept("(")) {
    do {
      const column = walk.takeName();
      // An FTS5 table takes commands in a column of its own name: INSERT INTO docs(docs) VALUES('optimize').
      if (foldName(nameOf(column)) === table && walk.ftsTable(table) !== undefined) {
        walk.edit(column, walk.translated(walk.ftsTable(table)!));
      }
    } while (walk.accept(","));
    walk.expect(")");
  }
  if (walk.accept("DEFAULT")) {
    walk.expect("VALUES");
  } else {
    walkSelect(walk, { inFrom: true });
    while (walk.accept("ON")) walkUpsert(walk);
  }
  const returning = walkReturning(walk);
  walk.closeScope();
  return returning;
}

/** Walks UPDATE; returns whether it has RETURNING. */
export function walkUpdate(walk: Walk): boolean {
  walk.expect("UPDATE");
  walkOnConflictWord(walk);
  walk.openScope();
  walkTarget(walk);
  walkIndexedBy(walk);
  walk.expect("SET");
  walkAssignments(walk);
  if (walk.accept("FROM")) walkFrom(walk);
  if (walk.accept("WHERE")) walkExpression(walk);
  const returning = walkReturning(walk);
  walk.closeScope();
  return returning;
}

/** Walks DELETE; returns whether it has RETURNING. */
export function walkDelete(walk: Walk): boolean {
  walk.expect("DELETE");
  walk.expect("FROM");
  walk.openScope();
  walkTarget(walk);
  walkIndexedBy(walk);
  if (walk.accept("WHERE")) walkExpression(walk);
  const returning = walkReturning(walk);
  walk.closeScope();
  return returning;
}

function walkOnConflictWord(walk: Walk): void {
  if (walk.accept("OR")) walk.expect("ROLLBACK", "ABORT", "REPLACE", "FAIL", "IGNORE");
}

function walkTarget(walk: Walk): string {
  const table = walk.takeObjectName();
  let visible = table;
  if (walk.accept("AS")) visible = walk.rename(walk.takeName());
  walk.addSource(visible, table);
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
  if (walk.accept("(")) {
    walkSortList(walk);
    walk.expect(")");
    if (walk.accept("WHERE")) walkExpression(walk);
  }
  walk.expect("DO");
  if (walk.accept("NOTHING")) return;
  walk.expect("UPDATE");
  walk.expect("SET");
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
