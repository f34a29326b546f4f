/**
 * Walks the arguments of `CREATE VIRTUAL TABLE … USING fts5(…)`: columns and options, of which `content` names a table.
 *
 * @module
 */
import { words } from "./keywords.ts";
import { denied, sqlError } from "./refusals.ts";
import { foldName, nameOf, type Token } from "./tokens.ts";
import type { Walk } from "./walk.ts";

const OPTIONS = words(`
  content content_rowid contentless_delete contentless_unindexed columnsize detail prefix tokenize`);

/** Walks from the module's name to the end of its arguments. */
export function walkFtsArguments(walk: Walk, table: string): void {
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
