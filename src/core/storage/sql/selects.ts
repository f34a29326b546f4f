/**
 * Walks queries: WITH, SELECT, VALUES, compounds, and everything that can stand in FROM.
 *
 * @module
 */
import {
  callsTableFunction,
  startsSelect,
  walkBy,
  walkExpression,
  walkExpressions,
  walkTableFunction,
  walkWindow,
} from "./expressions.ts";
import type { SelectPlace, Walk } from "./walk.ts";

/** Walks a query, its WITH included. */
export function walkSelect(walk: Walk, place: SelectPlace = {}): void {
  walk.nested(() => {
    if (walk.at("WITH")) walkWith(walk);
    walkCore(walk, place);
    while (walk.at("UNION", "EXCEPT", "INTERSECT")) {
      if (walk.take().key === "UNION") walk.accept("ALL");
      walkCore(walk, place);
    }
  });
}

/** Walks `WITH …` up to the statement it belongs to. */
export function walkWith(walk: Walk): void {
  walk.expect("WITH");
  // RECURSIVE is also a name: `WITH recursive AS (…)`.
  if (walk.at("RECURSIVE") && walk.peek(1).key !== "AS" && walk.peek(1).key !== "(") walk.take();
  do {
    walk.rename(walk.takeName());
    if (walk.at("(")) walk.takeNameList();
    walk.expect("AS");
    if (walk.accept("NOT")) walk.expect("MATERIALIZED");
    else walk.accept("MATERIALIZED");
    walk.bracketed(() => walkSelect(walk));
  } while (walk.accept(","));
}

/** Walks result columns: of a SELECT or of RETURNING. */
export function walkResultColumns(walk: Walk, output: boolean): void {
  do {
    const first = walk.peek();
    if (walk.accept("*")) continue;
    if (walk.isName() && walk.peek(1).key === "." && walk.peek(2).key === "*") {
      walk.qualifier(walk.take());
      walk.expectAll(".", "*");
      continue;
    }
    const shape = walkExpression(walk);
    if (walk.accept("AS")) walk.takeName();
    else if (walk.isBareAlias() && !startsWindow(walk)) walk.take();
    else walk.resultColumn(first, shape === "column" || (shape === "loose" && !output));
  } while (walk.accept(","));
}

/** Walks the tables after FROM. */
export function walkFrom(walk: Walk): void {
  walkSource(walk);
  for (;;) {
    if (walk.accept("ON")) walkExpression(walk);
    else if (walk.accept("USING")) walk.takeNameList();
    if (!walk.accept(",")) {
      if (!walk.at("JOIN", "NATURAL", "LEFT", "RIGHT", "FULL", "INNER", "CROSS", "OUTER")) return;
      for (let words = 0; !walk.accept("JOIN"); words++) {
        if (words === 3) throw walk.unexpected();
        walk.takeName();
      }
    }
    walkSource(walk);
  }
}

/** Walks `INDEXED BY i` and `NOT INDEXED`. */
export function walkIndexedBy(walk: Walk): void {
  if (walk.acceptAll("INDEXED", "BY")) walk.rename(walk.takeName());
  else walk.acceptAll("NOT", "INDEXED");
}

function walkCore(walk: Walk, { inFrom = false, output = false }: SelectPlace): void {
  walk.openScope();
  if (walk.accept("VALUES")) {
    do walk.bracketed(() => walkExpressions(walk)); while (walk.accept(","));
    return walk.closeScope(inFrom);
  }
  walk.expect("SELECT");
  walk.accept("DISTINCT", "ALL");
  walkResultColumns(walk, output);
  if (walk.accept("FROM")) walkFrom(walk);
  if (walk.accept("WHERE")) walkExpression(walk);
  walkBy(walk, "GROUP");
  if (walk.accept("HAVING")) walkExpression(walk);
  if (startsWindow(walk)) {
    walk.take();
    do {
      walk.takeName();
      walk.expect("AS");
      walkWindow(walk);
    } while (walk.accept(","));
  }
  walkBy(walk, "ORDER");
  if (walk.accept("LIMIT")) {
    walkExpression(walk);
    if (walk.accept("OFFSET", ",")) walkExpression(walk);
  }
  walk.closeScope(inFrom);
}

/** WINDOW is a keyword only before `name AS`. */
function startsWindow(walk: Walk): boolean {
  return walk.at("WINDOW") && walk.isName(walk.peek(1)) && walk.peek(2).key === "AS";
}

function walkSource(walk: Walk): void {
  if (walk.at("(")) {
    walk.bracketed(() => walk.nested(() => startsSelect(walk) ? walkSelect(walk, { inFrom: true }) : walkFrom(walk)));
    const alias = walkAlias(walk);
    if (alias !== null) walk.addSource(alias, null);
    return;
  }
  if (callsTableFunction(walk)) {
    const name = walkTableFunction(walk);
    const end = walk.previous().end;
    const alias = walkAlias(walk);
    const isBuiltIn = walk.ftsTable(name) === undefined;
    // Unaliased, its columns are named `json_each.value`: with the alias they are renamed like everything else.
    if (alias === null && isBuiltIn) walk.edit({ start: end, end }, ` AS ${walk.translated(name)}`);
    walk.addSource(alias ?? name, isBuiltIn ? null : name);
    return;
  }
  const table = walk.takeObjectName();
  walk.addSource(walkAlias(walk) ?? table, table);
  walkIndexedBy(walk);
}

function walkAlias(walk: Walk): string | null {
  if (!walk.accept("AS") && (!walk.isBareAlias() || startsWindow(walk))) return null;
  return walk.rename(walk.takeName());
}
