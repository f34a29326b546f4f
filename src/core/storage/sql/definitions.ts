/**
 * Walks CREATE, ALTER and DROP; and INSERT, REPLACE, UPDATE and DELETE, which a trigger's body holds too.
 *
 * @module
 */
import { walkExpression, walkSortList } from "./expressions.ts";
import { denied, sqlError } from "./refusals.ts";
import { walkFrom, walkIndexedBy, walkResultColumns, walkSelect, walkWith } from "./selects.ts";
import { foldName, nameOf, type Token, words } from "./tokens.ts";
import type { Walk } from "./walk.ts";

/** Walks CREATE; temporary objects are refused. */
export function walkCreate(walk: Walk): void {
  walk.expect("CREATE");
  if (walk.at("TEMP", "TEMPORARY")) throw denied("Cannot create temporary objects", "Create an ordinary table");
  const kinds = walk.accept("UNIQUE") ? ["INDEX"] : ["TABLE", "INDEX", "VIEW", "TRIGGER", "VIRTUAL"];
  const kind = walk.expect(...kinds).key;
  if (kind === "VIRTUAL") walk.expect("TABLE");
  if (walk.acceptAll("IF", "NOT")) walk.expect("EXISTS");
  const name = walk.takeObjectName();
  switch (kind) {
    case "TABLE":
      return walkTableBody(walk);
    case "INDEX":
      walk.expect("ON");
      walk.rename(walk.takeName());
      walk.bracketed(() => walkSortList(walk));
      if (walk.accept("WHERE")) walkExpression(walk);
      return;
    case "VIEW":
      if (walk.at("(")) walk.takeNameList();
      walk.expect("AS");
      return walkSelect(walk);
    case "TRIGGER":
      return walkTriggerBody(walk);
    default:
      walk.expect("USING");
      return walkFtsArguments(walk, name);
  }
}

/** Walks ALTER TABLE, in which only RENAME TO names another table. */
export function walkAlter(walk: Walk): void {
  walk.expectAll("ALTER", "TABLE");
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

/** Walks DROP of a table, index, view or trigger. */
export function walkDrop(walk: Walk): void {
  walk.expect("DROP");
  walk.expect("TABLE", "INDEX", "VIEW", "TRIGGER");
  walk.acceptAll("IF", "EXISTS");
  walk.takeObjectName();
}

function walkTableBody(walk: Walk): void {
  if (walk.accept("AS")) return walkSelect(walk);
  walk.bracketed(() => walkDefinitions(walk, () => walk.at(")")));
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
        walk.bracketed(() => walkExpression(walk));
        break;
      case "DEFAULT":
        if (walk.at("(")) walk.bracketed(() => walkExpression(walk));
        break;
      case "REFERENCES":
        walk.rename(walk.takeName());
        if (walk.at("(")) walk.takeNameList();
        break;
      case "KEY":
      case "UNIQUE":
        if (walk.at("(")) {
          walk.bracketed(() => {
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

function walkTriggerBody(walk: Walk): void {
  if (walk.accept("INSTEAD")) walk.expect("OF");
  else walk.accept("BEFORE", "AFTER");
  if (walk.expect("DELETE", "INSERT", "UPDATE").key === "UPDATE" && walk.accept("OF")) {
    do walk.takeName(); while (walk.accept(","));
  }
  walk.expect("ON");
  walk.takeObjectName();
  if (walk.accept("FOR")) walk.expectAll("EACH", "ROW");
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
    // SQLite itself refuses a WITH before anything but SELECT inside a trigger.
    if (withOpensSelect(walk)) return walkSelect(walk);
    walkWith(walk);
  }
  if (walk.at("INSERT", "REPLACE", "UPDATE", "DELETE")) walkWrite(walk);
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

const OPTIONS = words(`
  content content_rowid contentless_delete contentless_unindexed columnsize detail prefix tokenize`);

/** Walks from the module's name to the end of its arguments. */
function walkFtsArguments(walk: Walk, table: string): void {
  const module = walk.takeName();
  if (foldName(nameOf(module)) !== "fts5") {
    throw denied(`Cannot use the virtual table module "${nameOf(module)}"`, "fts5 is the one there is");
  }
  walk.expect("(");
  do {
    const name = walk.takeName();
    if (walk.at("=")) walkOption(walk, name);
    else walkColumn(walk, name, table);
  } while (walk.accept(","));
  walk.expect(")");
}

function walkColumn(walk: Walk, name: Token, table: string): void {
  if (foldName(nameOf(name)) === table) throw sqlError(`duplicate column name: ${nameOf(name)}`);
  walk.accept("UNINDEXED");
}

function walkOption(walk: Walk, name: Token): void {
  const option = foldName(nameOf(name));
  if (!OPTIONS.has(option)) throw denied(`Cannot use the fts5 option "${nameOf(name)}"`, [...OPTIONS].join(", "));
  walk.expect("=");
  const value = walk.take();
  if (value.kind !== "string" && value.kind !== "quoted" && value.kind !== "number" && !walk.isName(value)) {
    throw sqlError(`near "${value.text}": syntax error`);
  }
  if (option !== "content") return;
  // An empty content option makes a table that keeps no text of its own; anything else is a table to read.
  if (nameOf(value) !== "") walk.rename(value);
}

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
