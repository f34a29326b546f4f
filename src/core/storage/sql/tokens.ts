/**
 * SQL text to tokens, cut where SQLite cuts (tokenize.c): every token keeps its place in the text, so that edits can be
 * made without touching anything else.
 *
 * @module
 */
import { sqlError } from "./refusals.ts";

type TokenKind = "word" | "quoted" | "string" | "number" | "blob" | "variable" | "operator" | "end";

/** One token and its place in the text. */
export interface Token {
  readonly kind: TokenKind;
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** An operator as written; a bare word in upper case; empty for everything else. */
  readonly key: string;
  /** True for a word that is a keyword wherever it stands. */
  readonly reserved: boolean;
}

const OPERATORS = ["->>", "->", "==", "<=", "<>", "<<", ">=", ">>", "!=", "||"];
const SINGLES = "=<>|,&~;+*%/-().";
const CLOSERS: Readonly<Record<string, string>> = { "'": "'", '"': '"', "`": "`", "[": "]" };
const NUMBER =
  /0[xX][0-9a-fA-F](?:_?[0-9a-fA-F])*|(?:\d(?:_?\d)*(?:\.(?:\d(?:_?\d)*)?)?|\.\d(?:_?\d)*)(?:[eE][+-]?\d(?:_?\d)*)?/y;
const BLOB = /[xX]'(?:[0-9a-fA-F]{2})*'/y;
const WORD = /[A-Za-z_\u0080-\uffff][A-Za-z0-9_$\u0080-\uffff]*/y;
const WORD_CHARACTER = /[A-Za-z0-9_$\u0080-\uffff]/;
const VARIABLE = /\?\d*|[$@:](?:[A-Za-z0-9_$\u0080-\uffff]|::)+(?:\([^\s)]*\))?/y;

/** Cuts `sql` into tokens, the last of kind `end`. Comments and white space are left out. */
export function tokenize(sql: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while ((at = skipBlank(sql, at)) < sql.length) {
    const token = readToken(sql, at);
    tokens.push(token);
    at = token.end;
  }
  tokens.push({ kind: "end", start: sql.length, end: sql.length, text: "", key: "", reserved: false });
  return tokens;
}

/** Returns `name` with ASCII letters in lower case, which is how SQLite compares names. */
export function foldName(name: string): string {
  return name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

// Not toUpperCase(): it turns letters outside ASCII into ASCII ones, and a name into a keyword.
function upperName(name: string): string {
  return name.replace(/[a-z]+/g, (letters) => letters.toUpperCase());
}

/** Returns the name or the text a token stands for, without its quotes. */
export function nameOf(token: Token): string {
  const closer = token.kind === "quoted" || token.kind === "string" ? CLOSERS[token.text[0]!] : undefined;
  if (closer === undefined) return token.text;
  const inner = token.text.slice(1, -1);
  return closer === "]" ? inner : inner.replaceAll(closer + closer, closer);
}

function skipBlank(sql: string, from: number): number {
  let at = from;
  while (at < sql.length) {
    const character = sql[at]!;
    if (" \t\n\f\r\ufeff".includes(character)) at++;
    else if (sql.startsWith("--", at)) at = endOr(sql, sql.indexOf("\n", at), 1);
    else if (sql.startsWith("/*", at) && at + 2 < sql.length) at = endOr(sql, sql.indexOf("*/", at + 2), 2);
    else break;
  }
  return at;
}

function endOr(sql: string, found: number, length: number): number {
  return found < 0 ? sql.length : found + length;
}

function readToken(sql: string, start: number): Token {
  const make = (kind: TokenKind, end: number, key: string = ""): Token => {
    const text = sql.slice(start, end);
    return { kind, start, end, text, key, reserved: kind === "word" && RESERVED.has(key) };
  };
  const first = sql[start]!;
  if (first in CLOSERS) return make(first === "'" ? "string" : "quoted", closeOf(sql, start, CLOSERS[first]!));
  const blob = matchAt(BLOB, sql, start);
  if (blob > 0) return make("blob", blob);
  const number = matchAt(NUMBER, sql, start);
  if (number > 0) {
    if (WORD_CHARACTER.test(sql[number] ?? "")) throw sqlError(`unrecognized token: "${sql.slice(start, number + 1)}"`);
    return make("number", number);
  }
  const variable = matchAt(VARIABLE, sql, start);
  if (variable > 0) return make("variable", variable);
  const word = matchAt(WORD, sql, start);
  if (word > 0) return make("word", word, upperName(sql.slice(start, word)));
  const operator = OPERATORS.find((each) => sql.startsWith(each, start)) ?? (SINGLES.includes(first) ? first : null);
  if (operator === null) throw sqlError(`unrecognized token: "${first}"`);
  return make("operator", start + operator.length, operator);
}

function closeOf(sql: string, start: number, closer: string): number {
  for (let at = start + 1;;) {
    const close = sql.indexOf(closer, at);
    if (close < 0) throw sqlError(`unrecognized token: "${sql.slice(start, start + 40)}"`);
    if (closer === "]" || sql[close + 1] !== closer) return close + 1;
    at = close + 2;
  }
}

function matchAt(pattern: RegExp, sql: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(sql) ? pattern.lastIndex : -1;
}

/** Returns the words of a text with blanks between them. */
export const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Keywords that are never a name unless quoted. */
const RESERVED: ReadonlySet<string> = words(`
  ADD ALL ALTER AND AS AUTOINCREMENT BETWEEN CASE CHECK COLLATE COMMIT CONSTRAINT CREATE DEFAULT DEFERRABLE DELETE
  DISTINCT DROP ELSE ESCAPE EXCEPT EXISTS FOREIGN FROM GROUP HAVING IN INDEX INSERT INTERSECT INTO IS ISNULL JOIN LIMIT
  NOT NOTHING NOTNULL NULL ON OR ORDER PRIMARY REFERENCES RETURNING SELECT SET TABLE THEN TO TRANSACTION UNION UNIQUE
  UPDATE USING VALUES WHEN WHERE`);

/** Keywords that are a name, but not an alias written without AS. */
export const JOIN_WORDS: ReadonlySet<string> = words(`CROSS FULL INNER LEFT NATURAL OUTER RIGHT INDEXED`);

/** Operators spelled as words that stand between two operands and may be names elsewhere. */
export const WORD_OPERATORS: ReadonlySet<string> = words(`LIKE GLOB REGEXP MATCH`);
