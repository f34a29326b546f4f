/**
 * The state of one walk over a statement: where it stands, what is to be changed, and which names are in sight.
 *
 * @module
 */
import { applyEdits, columnNames, type Edit, type ResultColumn } from "./edits.ts";
import { denied, sqlError } from "./refusals.ts";
import { foldName, nameOf, type Token } from "./tokens.ts";
import { JOIN_WORDS } from "./keywords.ts";

/** What becomes of names. */
export interface NameSpace {
  /** Returns what a name of the table namespace becomes; throws for one that may not be used. */
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

/** What one SELECT, INSERT, UPDATE or DELETE can name: visible name → name of the FTS table behind it, or null. */
interface Scope {
  readonly sources: Map<string, string | null>;
  readonly pending: Pending[];
  readonly upsert: boolean;
}

const MAX_DEPTH = 200;
const MAX_PARAMETERS = 1000;

/** One walk. */
export class Walk {
  /** Parameters: name as written → number. */
  readonly parameterNames: Map<string, number> = new Map();
  /** Highest parameter number. */
  parameterCount = 0;
  /** Inside the body of a trigger, where NEW and OLD are rows. */
  inTrigger = false;
  /** Set while the walk is inside a result column's expression that is not the statement's own output. */
  readonly selectRule: (walk: Walk, options?: { readonly inFrom?: boolean; readonly output?: boolean }) => void;

  readonly #sql: string;
  readonly #tokens: readonly Token[];
  readonly #names: NameSpace;
  readonly #edits: Edit[] = [];
  readonly #ftsEdits: Set<number> = new Set();
  readonly #columns: ResultColumn[] = [];
  readonly #scopes: Scope[] = [];
  #at = 0;
  #depth = 0;

  /** Starts at the first token. `selectRule` walks a SELECT: expressions need it, and it needs expressions. */
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

  /** The token last taken. */
  previous(): Token {
    return this.#tokens[Math.max(0, this.#at - 1)]!;
  }

  /** Whether the next token is one of these keywords or operators. */
  at(...keys: string[]): boolean {
    return keys.includes(this.peek().key) && this.peek().key !== "";
  }

  /** Takes the next token. */
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

  /** Takes a token that must be there. */
  expect(...keys: string[]): Token {
    if (!this.at(...keys)) throw this.unexpected();
    return this.take();
  }

  /** The error for a token out of place, worded as SQLite does. */
  unexpected(): Error {
    const token = this.peek();
    return token.kind === "end" ? sqlError("incomplete input") : sqlError(`near "${token.text}": syntax error`);
  }

  /** Runs `walk` one level deeper. */
  nested(walk: () => void): void {
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
    this.expect("(");
    do this.takeName(); while (this.accept(","));
    this.expect(")");
  }

  /** Takes and renames a name, with `main.` before it if need be; returns the name as the plugin writes it. */
  takeObjectName(): string {
    let token = this.takeName();
    if (this.accept(".")) {
      this.#requireMain(token);
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

  /** What `name` becomes, in quotes. */
  translated(name: string): string {
    return `"${this.#names.translate(name).replaceAll('"', '""')}"`;
  }

  /** Replaces a token. */
  edit(token: { readonly start: number; readonly end: number }, text: string): void {
    this.#edits.push({ start: token.start, end: token.end, text });
  }

  /** The FTS5 table of that folded name, as it was created. */
  ftsTable(folded: string): string | undefined {
    return this.#names.ftsTables.get(folded);
  }

  /** Refuses any schema but main. */
  #requireMain(token: Token): void {
    if (foldName(nameOf(token)) === "main") return;
    throw denied(`Cannot use the schema "${nameOf(token)}"`, "A plugin's tables are in the schema main");
  }

  /** Opens a scope; names walked from here on belong to it. */
  openScope(options: { readonly upsert?: boolean } = {}): void {
    this.#scopes.push({ sources: new Map(), pending: [], upsert: options.upsert ?? false });
  }

  /** Adds a source to the scope: what it is called, and which of the plugin's tables it is. */
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

  /** A name before a dot. */
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

  /** Three names with dots between: the first must be main. */
  schemaQualifier(token: Token): void {
    this.#requireMain(token);
  }

  /** A column: stays as it is, unless it is the hidden column of an FTS5 table in scope, which has the table's name. */
  column(token: Token, qualifier: Token | null): void {
    const folded = foldName(nameOf(token));
    if (this.ftsTable(folded) === undefined || token.kind === "string") return;
    const visible = qualifier && foldName(nameOf(qualifier));
    this.#scopes.at(-1)?.pending.push({ token, kind: "fts", qualifier: visible });
  }

  /** A parameter. Named ones become numbered, because drivers differ in how they bind names. */
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
