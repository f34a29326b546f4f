/**
 * Walks expressions. Precedence does not matter here: only where an operand stands, and of which kind it is.
 *
 * @module
 */
import { denied } from "./refusals.ts";
import { type Token, WORD_OPERATORS } from "./tokens.ts";
import type { Walk } from "./walk.ts";

/**
 * How SQLite names a result column made of the expression: after the column it is, after the column only inside other
 * queries (a column under COLLATE or likely()), or by the expression's text.
 */
export type Shape = "column" | "loose" | "other";

/** Operators and words between two operands. The AND of BETWEEN is one more of them. */
const BINARY: ReadonlySet<string> = new Set([
  ...["||", "->", "->>", "*", "/", "%", "+", "-", "&", "|", "<<", ">>", "<", "<=", ">", ">=", "=", "==", "<>", "!="],
  ...["AND", "OR", "ESCAPE", "BETWEEN", ...WORD_OPERATORS],
]);
const HINTS = new Set(["LIKELY", "UNLIKELY", "LIKELIHOOD"]);

/** Walks one expression; returns how SQLite names a result column of it. */
export function walkExpression(walk: Walk): Shape {
  let shape: Shape = "other";
  walk.nested(() => {
    shape = walkOperand(walk);
    for (let rest = walkRest(walk); rest !== "end"; rest = walkRest(walk)) {
      shape = rest === "collate" && shape !== "other" ? "loose" : "other";
    }
  });
  return shape;
}

/** Walks expressions with commas between. */
export function walkExpressions(walk: Walk): void {
  do walkExpression(walk); while (walk.accept(","));
}

/** Walks the terms of ORDER BY, of an index and of a conflict target. */
export function walkSortList(walk: Walk): void {
  do {
    walkExpression(walk);
    walk.accept("ASC", "DESC");
    if (walk.accept("NULLS")) walk.expect("FIRST", "LAST");
  } while (walk.accept(","));
}

/** Walks `GROUP BY …`, `ORDER BY …` or `PARTITION BY …`, where it stands. SQLite refuses ASC where it may not be. */
export function walkBy(walk: Walk, word: "GROUP" | "ORDER" | "PARTITION"): void {
  if (!walk.accept(word)) return;
  walk.expect("BY");
  walkSortList(walk);
}

/** Walks a window between its parentheses, or the name of one. */
export function walkWindow(walk: Walk): void {
  if (!walk.at("(")) return void walk.takeName();
  walk.bracketed(() => {
    if (walk.isName() && !walk.at("PARTITION", "RANGE", "ROWS", "GROUPS")) walk.takeName();
    walkBy(walk, "PARTITION");
    walkBy(walk, "ORDER");
    if (walk.accept("RANGE", "ROWS", "GROUPS")) walkFrame(walk);
  });
}

/** Walks `BETWEEN 1 PRECEDING AND CURRENT ROW …`, or a single bound. */
function walkFrame(walk: Walk): void {
  if (walk.accept("BETWEEN")) {
    walkBound(walk);
    walk.expect("AND");
  }
  walkBound(walk);
  if (!walk.accept("EXCLUDE")) return;
  if (walk.accept("NO")) walk.expect("OTHERS");
  else if (walk.accept("CURRENT")) walk.expect("ROW");
  else walk.expect("GROUP", "TIES");
}

function walkBound(walk: Walk): void {
  if (walk.acceptAll("CURRENT", "ROW")) return;
  if (!walk.accept("UNBOUNDED")) walkExpression(walk);
  walk.expect("PRECEDING", "FOLLOWING");
}

/** Walks the operator after an operand, with the operand after that, if the expression goes on. */
function walkRest(walk: Walk): "collate" | "operator" | "end" {
  const { key } = walk.peek();
  if (BINARY.has(key)) {
    walk.take();
    walkOperand(walk);
    return "operator";
  }
  switch (key) {
    case "COLLATE":
      walk.take();
      walk.takeName();
      return "collate";
    case "ISNULL":
    case "NOTNULL":
      walk.take();
      return "operator";
    case "IS":
      walk.take();
      walk.accept("NOT");
      // IS NOT DISTINCT FROM compares; it opens no FROM clause.
      if (walk.accept("DISTINCT")) walk.expect("FROM");
      walkOperand(walk);
      return "operator";
    case "IN":
      walk.take();
      walkIn(walk);
      return "operator";
    case "NOT":
      if (!["NULL", "IN", "BETWEEN", ...WORD_OPERATORS].includes(walk.peek(1).key)) return "end";
      walk.take();
      return walk.accept("NULL") ? "operator" : walkRest(walk);
    default:
      return "end";
  }
}

function walkIn(walk: Walk): void {
  if (walk.at("(")) {
    return walk.bracketed(() => {
      if (startsSelect(walk)) walk.selectRule(walk);
      else if (!walk.at(")")) walkExpressions(walk);
    });
  }
  // `x IN t` and `x IN json_each(…)`: a table without FROM.
  if (callsTableFunction(walk)) walkTableFunction(walk);
  else walk.takeObjectName();
}

/** Whether a name, perhaps with its schema, and a parenthesis come next. */
export function callsTableFunction(walk: Walk): boolean {
  return walk.peek(walk.peek(1).key === "." ? 3 : 1).key === "(";
}

/** Walks `json_each(…)`, `json_tree(…)` or an own FTS5 table with its query; returns the name to see it under. */
export function walkTableFunction(walk: Walk): string {
  const named = walk.peek(1).key === "." ? walk.peek(2) : walk.peek();
  const name = named.text.toLowerCase();
  if (named.kind === "word" && (name === "json_each" || name === "json_tree")) {
    if (walk.peek(1).key === ".") {
      walk.schemaQualifier(walk.take());
      walk.take();
    }
    walk.take();
  } else if (walk.ftsTable(walk.takeObjectName()) === undefined) {
    throw denied(`Cannot use the table function "${named.text}"`, "json_each and json_tree are the ones there are");
  }
  walk.bracketed(() => walk.at(")") || walkExpressions(walk));
  return name;
}

/** Whether a SELECT starts here. */
export function startsSelect(walk: Walk): boolean {
  return walk.at("SELECT", "VALUES", "WITH");
}

function walkOperand(walk: Walk): Shape {
  let isSigned = false;
  while (walk.accept("NOT", "+", "-", "~")) isSigned = true;
  const shape = walkPrimary(walk);
  return isSigned ? "other" : shape;
}

function walkPrimary(walk: Walk): Shape {
  const token = walk.peek();
  switch (token.kind) {
    case "number":
    case "blob":
      walk.take();
      return "other";
    case "variable":
      walk.parameter(walk.take());
      return "other";
    case "operator":
      return walkParentheses(walk);
    case "string":
      if (walk.peek(1).key === ".") return walkColumn(walk);
      walk.take();
      return "other";
    case "quoted":
      return walk.peek(1).key === "(" ? walkFunction(walk) : walkColumn(walk);
    case "word":
      return walkWord(walk, token);
    case "end":
      throw walk.unexpected();
  }
}

function walkParentheses(walk: Walk): Shape {
  let shape: Shape = "other";
  walk.bracketed(() =>
    walk.nested(() => {
      if (startsSelect(walk)) return walk.selectRule(walk);
      shape = walkExpression(walk);
      while (walk.accept(",")) {
        shape = "other";
        walkExpression(walk);
      }
    })
  );
  return shape;
}

function walkWord(walk: Walk, { reserved }: Token): Shape {
  if (walk.accept("NULL")) return "other";
  if (walk.accept("EXISTS")) return walkParentheses(walk);
  if (walk.accept("CASE")) return walkCase(walk);
  if (walk.acceptAll("CAST", "(")) {
    walkExpression(walk);
    walk.expect("AS");
    walkType(walk);
    walk.expect(")");
    return "other";
  }
  if (walk.acceptAll("RAISE", "(")) {
    walk.expect("IGNORE", "ROLLBACK", "ABORT", "FAIL");
    if (walk.accept(",")) walkExpression(walk);
    walk.expect(")");
    return "other";
  }
  if (reserved) throw walk.unexpected();
  return walk.peek(1).key === "(" ? walkFunction(walk) : walkColumn(walk);
}

function walkCase(walk: Walk): Shape {
  if (!walk.at("WHEN")) walkExpression(walk);
  while (walk.accept("WHEN")) {
    walkExpression(walk);
    walk.expect("THEN");
    walkExpression(walk);
  }
  if (walk.accept("ELSE")) walkExpression(walk);
  walk.expect("END");
  return "other";
}

/** Walks a type: words, then perhaps numbers in parentheses. */
function walkType(walk: Walk): void {
  while (walk.isName()) walk.take();
  if (!walk.accept("(")) return;
  do {
    walk.accept("+", "-");
    walk.take();
  } while (walk.accept(","));
  walk.expect(")");
}

function walkColumn(walk: Walk): Shape {
  const names = [walk.takeName()];
  while (names.length < 3 && walk.accept(".")) names.push(walk.takeName());
  if (names.length === 3) walk.schemaQualifier(names.shift()!);
  if (names.length === 2) walk.qualifier(names[0]!);
  walk.column(names.at(-1)!, names.length === 2 ? names[0]! : null);
  return "column";
}

function walkFunction(walk: Walk): Shape {
  const isHint = HINTS.has(walk.take().key);
  let shape: Shape = "other";
  walk.bracketed(() => {
    if (walk.accept("*")) return;
    walk.accept("DISTINCT", "ALL");
    if (!walk.at(")", "ORDER")) {
      shape = walkExpression(walk);
      while (walk.accept(",")) walkExpression(walk);
    }
    walkBy(walk, "ORDER");
  });
  if (walk.acceptAll("FILTER", "(")) {
    walk.expect("WHERE");
    walkExpression(walk);
    walk.expect(")");
    shape = "other";
  }
  // OVER is a keyword only here, after a closing parenthesis and before a window.
  if (walk.at("OVER") && (walk.peek(1).key === "(" || walk.isName(walk.peek(1)))) {
    walk.take();
    walkWindow(walk);
    shape = "other";
  }
  return isHint && shape !== "other" ? "loose" : "other";
}
