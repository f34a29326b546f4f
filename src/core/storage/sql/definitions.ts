/**
 * Walks CREATE, ALTER and DROP.
 *
 * @module
 */
import { walkExpression, walkSortList } from "./expressions.ts";
import { walkFtsArguments } from "./fts_arguments.ts";
import { denied } from "./refusals.ts";
import { walkSelect, walkWith } from "./selects.ts";
import type { Walk } from "./walk.ts";
import { walkDelete, walkInsert, walkUpdate } from "./writes.ts";

/** Walks CREATE; returns what is made. */
export function walkCreate(walk: Walk): "table" | "index" | "view" | "trigger" | "virtual" {
  walk.expect("CREATE");
  if (walk.at("TEMP", "TEMPORARY")) throw denied("Cannot create temporary objects", "Create an ordinary table");
  const unique = walk.accept("UNIQUE");
  const kind = walk.expect(...(unique ? ["INDEX"] : ["TABLE", "INDEX", "VIEW", "TRIGGER", "VIRTUAL"])).key;
  if (kind === "VIRTUAL") walk.expect("TABLE");
  if (walk.at("IF") && walk.peek(1).key === "NOT") {
    walk.take();
    walk.take();
    walk.expect("EXISTS");
  }
  switch (kind) {
    case "TABLE":
      walkCreateTable(walk);
      return "table";
    case "INDEX":
      walkCreateIndex(walk);
      return "index";
    case "VIEW":
      walk.takeObjectName();
      if (walk.at("(")) walk.takeNameList();
      walk.expect("AS");
      walkSelect(walk);
      return "view";
    case "TRIGGER":
      walkCreateTrigger(walk);
      return "trigger";
    default: {
      const table = walk.takeObjectName();
      walk.expect("USING");
      walkFtsArguments(walk, table);
      return "virtual";
    }
  }
}

/** Walks ALTER TABLE. */
export function walkAlter(walk: Walk): void {
  walk.expect("ALTER");
  walk.expect("TABLE");
  walk.takeObjectName();
  switch (walk.expect("RENAME", "ADD", "DROP", "ALTER").key) {
    case "RENAME":
      if (walk.accept("TO")) return void walk.rename(walk.takeName());
      if (walk.at("COLUMN") && walk.peek(1).key !== "TO") walk.take();
      walk.takeName();
      walk.expect("TO");
      walk.takeName();
      return;
    case "DROP":
      if (walk.at("COLUMN", "CONSTRAINT") && walk.isName(walk.peek(1))) walk.take();
      walk.takeName();
      return;
    default:
      walkDefinitions(walk, () => walk.peek().kind === "end" || walk.at(";"));
  }
}

/** Walks DROP; returns what is dropped. */
export function walkDrop(walk: Walk): "table" | "index" | "view" | "trigger" {
  walk.expect("DROP");
  const kind = walk.expect("TABLE", "INDEX", "VIEW", "TRIGGER").key;
  if (walk.at("IF") && walk.peek(1).key === "EXISTS") {
    walk.take();
    walk.take();
  }
  walk.takeObjectName();
  return kind.toLowerCase() as "table" | "index" | "view" | "trigger";
}

function walkCreateTable(walk: Walk): void {
  walk.takeObjectName();
  if (walk.accept("AS")) return walkSelect(walk);
  walk.expect("(");
  walkDefinitions(walk, () => walk.at(")"));
  walk.expect(")");
  while (walk.isName() || walk.at(",")) walk.take();
}

/**
 * Walks column and constraint definitions. Only some places in them can hold names of tables, and the words before those
 * places are reserved: everything else stays as it is.
 */
function walkDefinitions(walk: Walk, ends: () => boolean): void {
  while (!ends()) {
    const token = walk.take();
    switch (token.key) {
      case "CHECK":
      case "AS":
        walkBracketed(walk, () => void walkExpression(walk));
        break;
      case "DEFAULT":
        if (walk.at("(")) walkBracketed(walk, () => void walkExpression(walk));
        break;
      case "REFERENCES":
        walk.rename(walk.takeName());
        if (walk.at("(")) walk.takeNameList();
        break;
      case "KEY":
      case "UNIQUE":
        if (walk.at("(")) {
          walkBracketed(walk, () => {
            walkSortList(walk);
            walk.accept("AUTOINCREMENT");
          });
        }
        break;
      case "(":
        walkTypeSize(walk);
        break;
      case "SELECT":
      case ";":
        throw denied(`Cannot use ${token.text} in a definition`);
    }
  }
}

function walkTypeSize(walk: Walk): void {
  while (!walk.accept(")")) {
    if (walk.peek().kind !== "number" && !walk.at("+", "-", ",") && !walk.isName()) throw walk.unexpected();
    walk.take();
  }
}

function walkBracketed(walk: Walk, inner: () => void): void {
  walk.expect("(");
  inner();
  walk.expect(")");
}

function walkCreateIndex(walk: Walk): void {
  walk.takeObjectName();
  walk.expect("ON");
  walk.rename(walk.takeName());
  walkBracketed(walk, () => walkSortList(walk));
  if (walk.accept("WHERE")) walkExpression(walk);
}

function walkCreateTrigger(walk: Walk): void {
  walk.takeObjectName();
  if (walk.accept("INSTEAD")) walk.expect("OF");
  else walk.accept("BEFORE", "AFTER");
  if (walk.expect("DELETE", "INSERT", "UPDATE").key === "UPDATE" && walk.accept("OF")) {
    do walk.takeName(); while (walk.accept(","));
  }
  walk.expect("ON");
  walk.takeObjectName();
  if (walk.accept("FOR")) {
    walk.expect("EACH");
    walk.expect("ROW");
  }
  walk.inTrigger = true;
  walk.openScope();
  if (walk.accept("WHEN")) walkExpression(walk);
  walk.closeScope();
  walk.expect("BEGIN");
  do {
    walkStep(walk);
    walk.expect(";");
  } while (!walk.accept("END"));
  walk.inTrigger = false;
}

function walkStep(walk: Walk): void {
  if (walk.at("WITH")) {
    // A WITH before anything but SELECT is an error inside triggers; SQLite says so.
    const selects = withOpensSelect(walk);
    if (selects) return walkSelect(walk);
    walkWith(walk);
  }
  if (walk.at("INSERT", "REPLACE")) walkInsert(walk);
  else if (walk.at("UPDATE")) walkUpdate(walk);
  else if (walk.at("DELETE")) walkDelete(walk);
  else walkSelect(walk);
}

/** Whether the statement after a WITH clause is a query: looks past the clause without walking it. */
export function withOpensSelect(walk: Walk): boolean {
  let depth = 0;
  for (let ahead = 1;; ahead++) {
    const token = walk.peek(ahead);
    if (token.kind === "end") return true;
    if (token.key === "(") depth++;
    else if (token.key === ")") depth--;
    else if (depth === 0 && ["SELECT", "VALUES"].includes(token.key)) return true;
    else if (depth === 0 && ["INSERT", "UPDATE", "DELETE"].includes(token.key)) return false;
    else if (depth === 0 && token.key === "REPLACE" && walk.peek(ahead + 1).key === "INTO") return false;
  }
}
