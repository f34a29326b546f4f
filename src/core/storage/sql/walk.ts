/**
 * The state of one walk over a statement: its place, the edits to make, and the names in scope.
 *
 * @module
 */
import { applyEdits, columnNames, type Edit, type ResultColumn } from "./edits.ts";
import { denied, sqlError } from "./refusals.ts";
import { foldName, JOIN_WORDS, nameOf, type Token } from "./tokens.ts";

/** The names of one plugin, and the names they have in the database. */
export interface NameSpace {
  /** Returns the name in the database for a name of a table, index, view or trigger; throws for a forbidden one. */
  translate(name: string): string;
  /** FTS5 tables by their folded names, before translation → name as it was created. */
  readonly ftsTables: ReadonlyMap<string, string>;
}

/** A name whose meaning depends on what is in scope, which is only known when the scope ends. */
interface Pending {
  readonly token: Token;
  readonly kind: "row" | "excluded" | "fts";
  readonly qualifier: string | null;
}

/** The sources that one SELECT, INSERT, UPDATE or DELETE can name. */
interface Scope {
  /** Visible name → name of the FTS5 table behind it, or null. */
  readonly sources: Map<string, string | null>;
  readonly pending: Pending[];
  readonly upsert: boolean;
}

const MAX_DEPTH = 200;
const MAX_PARAMETERS = 1000;

/** Where a query stands in its statement. */
export interface SelectPlace {
  /** A query in FROM does not see its neighbours. */
  readonly inFrom?: boolean;
  /** Its columns are the statement's own output, in which SQLite names a column under COLLATE by its text. */
  readonly output?: boolean;
}

/** One walk over the tokens of a statement. */
export class Walk {
  /** Parameter as written → its number. */
  readonly parameterNames: Map<string, number> = new Map();
  /** Highest parameter number. */
  parameterCount = 0;
  /** True inside the body of a trigger, where NEW and OLD are rows. */
  inTrigger = false;
  /** Walks a SELECT. Handed in, because expressions hold queries and queries hold expressions. */
  readonly selectRule: (walk: Walk, place?: SelectPlace) => void;

  readonly #sql: string;
  readonly #tokens: readonly Token[];
  readonly #names: NameSpace;
  readonly #edits: Edit[] = [];
  readonly #ftsEdits: Set<number> = new Set();
  readonly #columns: ResultColumn[] = [];
  readonly #scopes: Scope[] = [];
  #at = 0;
  #depth = 0;

  /** Starts at the first token. */
  constructor(sql: string, tokens: readonly Token[], names: NameSpace, selectRule: Walk["selectRule"]) {
    this.#sql = sql;
    this.#tokens = tokens;
    this.#names = names;
    this.selectRule = selectRule;
  }

  /** The next token, or the one `ahead` of it. */
  peek(ahead: number = 0): Token {
    return this.#tokens[Math.min(this.#at + ahead, this.#tokens.length - 1)]!;
  }

  /** The token that was taken last. */
  previous(): Token {
    return this.#tokens[Math.max(0, this.#at - 1)]!;
  }

  /** Whether the next token is one of these keywords or operators. */
  at(...keys: string[]): boolean {
    return keys.includes(this.peek().key) && this.peek().key !== "";
  }

  /** Takes the next token; there must be one. */
  take(): Token {
    const token = this.peek();
    if (token.kind === "end") throw sqlError("incomplete input");
    this.#at++;
    return token;
  }

  /** Takes the next token if it is one of these. */
  accept(...keys: string[]): boolean {
    if (!this.at(...keys)) return false;
    this.#at++;
    return true;
  }

  /** Takes the next tokens if they are all of these, in this order. */
  acceptAll(...keys: string[]): boolean {
    if (!keys.every((key, ahead) => this.peek(ahead).key === key)) return false;
    this.#at += keys.length;
    return true;
  }

  /** Takes a token that must be one of these. */
  expect(...keys: string[]): Token {
    if (!this.at(...keys)) throw this.unexpected();
    return this.take();
  }

  /** Takes tokens that must be these, one after another. */
  expectAll(...keys: string[]): void {
    for (const key of keys) this.expect(key);
  }

  /** Walks `inner` between the parentheses that must stand around it. */
  bracketed(inner: () => unknown): void {
    this.expect("(");
    inner();
    this.expect(")");
  }

  /** The error for a token out of place, worded as SQLite does. */
  unexpected(): Error {
    const token = this.peek();
    return token.kind === "end" ? sqlError("incomplete input") : sqlError(`near "${token.text}": syntax error`);
  }

  /** Runs `walk` one level deeper. */
  nested(walk: () => unknown): void {
    if (++this.#depth > MAX_DEPTH) throw sqlError("parser stack overflow");
    walk();
    this.#depth--;
  }

  /** Whether a token can be a name (grammar: nm). */
  isName(token: Token = this.peek()): boolean {
    return token.kind === "quoted" || token.kind === "string" || (token.kind === "word" && !token.reserved);
  }

  /** Whether a token can be an alias without AS (grammar: ids). */
  isBareAlias(token: Token = this.peek()): boolean {
    return this.isName(token) && !(token.kind === "word" && JOIN_WORDS.has(token.key));
  }

  /** Takes a name that stays as it is: a column, a window, a collation. */
  takeName(): Token {
    if (!this.isName()) throw this.unexpected();
    return this.take();
  }

  /** Takes names in parentheses that stay as they are. */
  takeNameList(): void {
    this.bracketed(() => {
      do this.takeName(); while (this.accept(","));
    });
  }

  /** Takes and renames a name, with `main.` before it if need be; returns the name as the plugin writes it. */
  takeObjectName(): string {
    let token = this.takeName();
    if (this.accept(".")) {
      this.schemaQualifier(token);
      token = this.takeName();
    }
    return this.rename(token);
  }

  /** Renames a token that has been taken; returns its folded name. */
  rename(token: Token): string {
    const name = nameOf(token);
    this.edit(token, this.translated(name));
    return foldName(name);
  }

  /** The name in the database for `name`, in quotes. */
  translated(name: string): string {
    return `"${this.#names.translate(name).replaceAll('"', '""')}"`;
  }

  /** Replaces a token by `text`. */
  edit(token: { readonly start: number; readonly end: number }, text: string): void {
    this.#edits.push({ start: token.start, end: token.end, text });
  }

  /** The FTS5 table of that folded name, as it was created. */
  ftsTable(folded: string): string | undefined {
    return this.#names.ftsTables.get(folded);
  }

  /** Takes the schema before a name; only main may be named. */
  schemaQualifier(token: Token): void {
    if (foldName(nameOf(token)) === "main") return;
    throw denied(`Cannot use the schema "${nameOf(token)}"`, "A plugin's tables are in the schema main");
  }

  /** Opens a scope; names walked from here on belong to it. */
  openScope(options: { readonly upsert?: boolean } = {}): void {
    this.#scopes.push({ sources: new Map(), pending: [], upsert: options.upsert ?? false });
  }

  /** Adds a source to the scope under its visible name; `table` is the plugin's table behind it, or null. */
  addSource(visible: string, table: string | null): void {
    const fts = table === null ? undefined : this.ftsTable(table);
    this.#scopes.at(-1)?.sources.set(visible, fts === undefined ? null : foldName(fts));
  }

  /** Ends a scope; a subquery in FROM does not see its neighbours (`inFrom`). */
  closeScope(inFrom: boolean = false): void {
    const scope = this.#scopes.pop();
    if (!scope) return;
    const outer = this.#scopes.at(inFrom ? -2 : -1);
    for (const pending of scope.pending) {
      if (this.#resolve(scope, pending) || pending.kind === "row") continue;
      if (pending.kind === "excluded" && scope.upsert) continue;
      outer?.pending.push(pending);
    }
  }

  /** Whether the pending name is settled by this scope. */
  #resolve(scope: Scope, { token, kind, qualifier }: Pending): boolean {
    const name = foldName(nameOf(token));
    if (kind !== "fts") {
      if (!scope.sources.has(name)) return false;
      this.rename(token);
      return true;
    }
    const found = qualifier === null
      ? [...scope.sources.values()].includes(name)
      : scope.sources.get(qualifier) === name;
    if (!found) return qualifier !== null && scope.sources.has(qualifier);
    this.edit(token, this.translated(this.ftsTable(name) ?? name));
    this.#ftsEdits.add(token.start);
    return true;
  }

  /** Takes a name before a dot: of a source in scope, or a row that a trigger or an upsert names. */
  qualifier(token: Token): void {
    const folded = foldName(nameOf(token));
    const special = this.inTrigger && (folded === "new" || folded === "old")
      ? "row"
      : folded === "excluded" && this.#scopes.some((scope) => scope.upsert)
      ? "excluded"
      : null;
    if (special) this.#scopes.at(-1)?.pending.push({ token, kind: special, qualifier: null });
    else this.rename(token);
  }

  /** Leaves a column as it is, unless it is the hidden column of an FTS5 table in scope, which has the table's name. */
  column(token: Token, qualifier: Token | null): void {
    const folded = foldName(nameOf(token));
    if (this.ftsTable(folded) === undefined || token.kind === "string") return;
    const visible = qualifier && foldName(nameOf(qualifier));
    this.#scopes.at(-1)?.pending.push({ token, kind: "fts", qualifier: visible });
  }

  /** Numbers a parameter that has a name, because drivers differ in how they bind names. */
  parameter(token: Token): void {
    if (token.text.startsWith("?")) {
      const number = token.text === "?" ? this.parameterCount + 1 : Number(token.text.slice(1));
      if (number < 1 || number > MAX_PARAMETERS) {
        throw sqlError(`variable number must be between ?1 and ?${MAX_PARAMETERS}`);
      }
      this.parameterCount = Math.max(this.parameterCount, number);
      return;
    }
    const number = this.parameterNames.get(token.text) ?? ++this.parameterCount;
    if (number > MAX_PARAMETERS) throw sqlError("too many SQL variables");
    this.parameterNames.set(token.text, number);
    this.edit(token, `?${number}`);
  }

  /** Notes a result column without alias, from `first` to the token last taken. */
  resultColumn(first: Token, plain: boolean): void {
    const next = this.peek();
    this.#columns.push({ start: first.start, end: next.start, lastEnd: this.previous().end, plain });
  }

  /** The text with every change made. */
  finish(): string {
    const named = columnNames(this.#sql, this.#edits, this.#columns, (start) => this.#ftsName(start));
    return applyEdits(this.#sql, [...this.#edits, ...named]);
  }

  /** The name of the search table whose hidden column was renamed at `start`, or null. */
  #ftsName(start: number): string | null {
    if (!this.#ftsEdits.has(start)) return null;
    const written = nameOf(this.#tokens.find((token) => token.start === start)!);
    return this.ftsTable(foldName(written)) ?? written;
  }
}
