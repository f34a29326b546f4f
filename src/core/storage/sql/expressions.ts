/**
 * Walks expressions. Precedence does not matter here: only where an operand stands, and what kind it is.
 *
 * @module
 */
import { WORD_OPERATORS } from "./keywords.ts";
import { denied } from "./refusals.ts";
import type { Token } from "./tokens.ts";
import type { Walk } from "./walk.ts";
import { walkFrame } from "./window_frame.ts";

/**
 * What an expression is to the naming of result columns: a column, a column under COLLATE or likely() (named as a
 * column only inside other queries), or something else (named by its text).
 */
export type Shape = "column" | "loose" | "other";

const BINARY = new Set(
  ["||", "->", "->>", "*", "/", "%", "+", "-", "&", "|", "<<", ">>", "<", "<=", ">", ">=", "=", "==", "<>", "!="],
);
const HINTS = new Set(["LIKELY", "UNLIKELY", "LIKELIHOOD"]);

/** Walks one expression. */
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

/** Walks `ORDER BY` terms, which are also those of an index and of a conflict target. */
export function walkSortList(walk: Walk): void {
  do {
    walkExpression(walk);
    walk.accept("ASC", "DESC");
    if (walk.accept("NULLS")) walk.expect("FIRST", "LAST");
  } while (walk.accept(","));
}

/** Walks a window between its parentheses, or the name of one. */
export function walkWindow(walk: Walk): void {
  if (!walk.accept("(")) return void walk.takeName();
  if (walk.isName() && !walk.at("PARTITION", "RANGE", "ROWS", "GROUPS")) walk.takeName();
  if (walk.accept("PARTITION")) {
    walk.expect("BY");
    walkExpressions(walk);
  }
  if (walk.accept("ORDER")) {
    walk.expect("BY");
    walkSortList(walk);
  }
  if (walk.accept("RANGE", "ROWS", "GROUPS")) walkFrame(walk, walkExpression);
  walk.expect(")");
}

/** Walks what follows an operand, if the expression goes on. */
function walkRest(walk: Walk): "collate" | "operator" | "end" {
  const token = walk.peek();
  if (token.key === "") return "end";
  if (BINARY.has(token.key) || WORD_OPERATORS.has(token.key) || ["AND", "OR", "ESCAPE"].includes(token.key)) {
    walk.take();
    walkOperand(walk);
    return "operator";
  }
  switch (token.key) {
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
    case "BETWEEN":
      walk.take();
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
  if (walk.accept("(")) {
    if (startsSelect(walk)) walk.selectRule(walk);
    else if (!walk.at(")")) walkExpressions(walk);
    walk.expect(")");
    return;
  }
  // `x IN t` and `x IN json_each(…)`: a table without FROM.
  const last = walk.peek(1).key === "." ? 3 : 1;
  if (walk.peek(last).key === "(") walkTableFunction(walk);
  else walk.takeObjectName();
}

/** Walks `json_each(…)`, `json_tree(…)` or an own FTS5 table with its query; returns the name to see it under. */
export function walkTableFunction(walk: Walk): string {
  const named = walk.peek(1).key === "." ? walk.peek(2) : walk.peek();
  const name = named.text.toLowerCase();
  const isBuiltIn = named.kind === "word" && (name === "json_each" || name === "json_tree");
  if (isBuiltIn) {
    if (walk.peek(1).key === ".") {
      walk.schemaQualifier(walk.take());
      walk.take();
    }
    walk.take();
  } else {
    const own = walk.takeObjectName();
    if (walk.ftsTable(own) === undefined) throw refusedFunction(named);
  }
  walk.expect("(");
  if (!walk.at(")")) walkExpressions(walk);
  walk.expect(")");
  return name;
}

/** Whether a SELECT starts here. */
export function startsSelect(walk: Walk): boolean {
  return walk.at("SELECT", "VALUES", "WITH");
}

function walkOperand(walk: Walk): Shape {
  let signed = false;
  while (walk.at("NOT", "+", "-", "~")) {
    signed = true;
    walk.take();
  }
  const shape = walkPrimary(walk);
  return signed ? "other" : shape;
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
      if (walk.peek(1).key !== ".") {
        walk.take();
        return "other";
      }
      return walkColumn(walk);
    case "quoted":
      return walk.peek(1).key === "(" ? walkFunction(walk) : walkColumn(walk);
    case "word":
      return walkWord(walk, token);
    case "end":
      throw walk.unexpected();
  }
}

function walkParentheses(walk: Walk): Shape {
  walk.expect("(");
  let shape: Shape = "other";
  walk.nested(() => {
    if (startsSelect(walk)) {
      walk.selectRule(walk);
    } else {
      shape = walkExpression(walk);
      while (walk.accept(",")) {
        shape = "other";
        walkExpression(walk);
      }
    }
  });
  walk.expect(")");
  return shape;
}

function walkWord(walk: Walk, token: Token): Shape {
  const called = walk.peek(1).key === "(";
  switch (token.key) {
    case "NULL":
      walk.take();
      return "other";
    case "EXISTS":
      walk.take();
      return walkParentheses(walk);
    case "CASE":
      walkCase(walk);
      return "other";
    case "CAST":
      if (!called) break;
      walk.take();
      walk.take();
      walkExpression(walk);
      walk.expect("AS");
      walkType(walk);
      walk.expect(")");
      return "other";
    case "RAISE":
      if (!called) break;
      walk.take();
      walk.take();
      walk.expect("IGNORE", "ROLLBACK", "ABORT", "FAIL");
      if (walk.accept(",")) walkExpression(walk);
      walk.expect(")");
      return "other";
  }
  if (token.reserved) throw walk.unexpected();
  return called ? walkFunction(walk) : walkColumn(walk);
}

function walkCase(walk: Walk): void {
  walk.expect("CASE");
  if (!walk.at("WHEN")) walkExpression(walk);
  while (walk.accept("WHEN")) {
    walkExpression(walk);
    walk.expect("THEN");
    walkExpression(walk);
  }
  if (walk.accept("ELSE")) walkExpression(walk);
  walk.expect("END");
}

/** Walks a type: words, then perhaps numbers in parentheses. */
export function walkType(walk: Walk): void {
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
  while (names.length < 3 && walk.at(".")) {
    walk.take();
    names.push(walk.takeName());
  }
  if (names.length === 3) walk.schemaQualifier(names.shift()!);
  if (names.length === 2) walk.qualifier(names[0]!);
  walk.column(names.at(-1)!, names.length === 2 ? names[0]! : null);
  return "column";
}

function walkFunction(walk: Walk): Shape {
  const hint = HINTS.has(walk.take().key);
  walk.expect("(");
  let shape: Shape = "other";
  if (!walk.accept("*")) {
    walk.accept("DISTINCT", "ALL");
    if (!walk.at(")", "ORDER")) {
      shape = walkExpression(walk);
      while (walk.accept(",")) walkExpression(walk);
    }
    if (walk.accept("ORDER")) {
      walk.expect("BY");
      walkSortList(walk);
    }
  }
  walk.expect(")");
  if (walk.at("FILTER") && walk.peek(1).key === "(") {
    walk.take();
    walk.take();
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
  return hint && shape !== "other" ? "loose" : "other";
}

function refusedFunction(token: Token): Error {
  return denied(`Cannot use the table function "${token.text}"`, "json_each and json_tree are the ones there are");
}
