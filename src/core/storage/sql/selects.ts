/**
 * Walks queries: WITH, SELECT, VALUES, compounds, and everything that can stand in FROM.
 *
 * @module
 */
import {
  startsSelect,
  walkExpression,
  walkExpressions,
  walkSortList,
  walkTableFunction,
  walkWindow,
} from "./expressions.ts";
import { foldName, nameOf } from "./tokens.ts";
import type { Walk } from "./walk.ts";

/** Where a query stands. */
export interface SelectPlace {
  /** In FROM, where it does not see its neighbours. */
  readonly inFrom?: boolean;
  /** Its columns are the statement's own output. */
  readonly output?: boolean;
}

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
    walk.expect("(");
    walkSelect(walk);
    walk.expect(")");
  } while (walk.accept(","));
}

/** Walks result columns: of a SELECT or of RETURNING. */
export function walkResultColumns(walk: Walk, output: boolean): void {
  do {
    const first = walk.peek();
    if (walk.accept("*")) continue;
    if (walk.isName() && walk.peek(1).key === "." && walk.peek(2).key === "*") {
      walk.qualifier(walk.take());
      walk.take();
      walk.take();
      continue;
    }
    const shape = walkExpression(walk);
    if (walk.accept("AS")) walk.takeName();
    else if (walk.isBareAlias() && !startsWindow(walk)) walk.take();
    else walk.resultColumn(first, shape === "column" || (shape === "loose" && !output));
  } while (walk.accept(","));
}

/** Walks what follows FROM. */
export function walkFrom(walk: Walk): void {
  walkSource(walk);
  for (;;) {
    walkConstraint(walk);
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
  if (walk.at("INDEXED") && walk.peek(1).key === "BY") {
    walk.take();
    walk.take();
    walk.rename(walk.takeName());
  } else if (walk.at("NOT") && walk.peek(1).key === "INDEXED") {
    walk.take();
    walk.take();
  }
}

function walkCore(walk: Walk, { inFrom = false, output = false }: SelectPlace): void {
  if (walk.accept("VALUES")) {
    walk.openScope();
    do {
      walk.expect("(");
      walkExpressions(walk);
      walk.expect(")");
    } while (walk.accept(","));
    walk.closeScope(inFrom);
    return;
  }
  walk.expect("SELECT");
  walk.openScope();
  walk.accept("DISTINCT", "ALL");
  walkResultColumns(walk, output);
  if (walk.accept("FROM")) walkFrom(walk);
  if (walk.accept("WHERE")) walkExpression(walk);
  if (walk.accept("GROUP")) {
    walk.expect("BY");
    walkExpressions(walk);
  }
  if (walk.accept("HAVING")) walkExpression(walk);
  if (startsWindow(walk)) {
    walk.take();
    do {
      walk.takeName();
      walk.expect("AS");
      walkWindow(walk);
    } while (walk.accept(","));
  }
  walkOrderAndLimit(walk);
  walk.closeScope(inFrom);
}

function walkOrderAndLimit(walk: Walk): void {
  if (walk.accept("ORDER")) {
    walk.expect("BY");
    walkSortList(walk);
  }
  if (!walk.accept("LIMIT")) return;
  walkExpression(walk);
  if (walk.accept("OFFSET", ",")) walkExpression(walk);
}

/** WINDOW is a keyword only before `name AS`. */
function startsWindow(walk: Walk): boolean {
  return walk.at("WINDOW") && walk.isName(walk.peek(1)) && walk.peek(2).key === "AS";
}

function walkSource(walk: Walk): void {
  if (walk.accept("(")) {
    walk.nested(() => startsSelect(walk) ? walkSelect(walk, { inFrom: true }) : walkFrom(walk));
    walk.expect(")");
    const alias = walkAlias(walk);
    if (alias !== null) walk.addSource(alias, null);
    return;
  }
  const after = walk.peek(1).key === "." ? 3 : 1;
  if (walk.peek(after).key === "(") {
    const name = walkTableFunction(walk);
    const end = walk.previous().end;
    const alias = walkAlias(walk);
    const builtIn = walk.ftsTable(name) === undefined;
    // Unaliased, its columns are named `json_each.value`: with the alias they are renamed like everything else.
    if (alias === null && builtIn) walk.edit({ start: end, end }, ` AS ${walk.translated(name)}`);
    walk.addSource(alias ?? name, builtIn ? null : name);
    return;
  }
  const table = walk.takeObjectName();
  const alias = walkAlias(walk);
  walk.addSource(alias ?? table, table);
  walkIndexedBy(walk);
}

function walkAlias(walk: Walk): string | null {
  if (!walk.accept("AS") && (!walk.isBareAlias() || startsWindow(walk))) return null;
  const token = walk.takeName();
  walk.rename(token);
  return foldName(nameOf(token));
}

function walkConstraint(walk: Walk): void {
  if (walk.accept("ON")) walkExpression(walk);
  else if (walk.accept("USING")) walk.takeNameList();
}
