/**
 * SQL without its values: for the audit log, which says what was tried and holds nobody's data.
 *
 * @module
 */

const MAX_CHARACTERS = 500;
const TOKEN =
  /'(?:[^']|'')*'?|"(?:[^"]|"")*"?|`(?:[^`]|``)*`?|\[[^\]]*\]?|--[^\n]*|\/\*[^]*?(?:\*\/|$)|[A-Za-z0-9_$\u0080-\uffff]+|\s+|[^]/g;

/** Returns the shape of a statement: words and plain names stay, every value becomes `?`, comments go. */
export function shapeOf(sql: string): string {
  let shape = "";
  for (const [token] of sql.slice(0, MAX_CHARACTERS * 8).matchAll(TOKEN)) {
    if (shape.length > MAX_CHARACTERS) break;
    shape += shapeOfToken(token);
  }
  const trimmed = shape.replace(/ +/g, " ").trim();
  return trimmed.length > MAX_CHARACTERS ? `${trimmed.slice(0, MAX_CHARACTERS)}…` : trimmed;
}

function shapeOfToken(token: string): string {
  if (/^\s/.test(token) || token.startsWith("--") || token.startsWith("/*")) return " ";
  if (/^['\d]/.test(token)) return "?";
  if (/^["`[]/.test(token)) return /^.\w{1,64}.$/.test(token) ? token : '"?"';
  if (/^\w/.test(token)) return token.slice(0, 64);
  // A control character in the log would be one in somebody's terminal.
  return token < " " || token === "\x7f" ? " " : token;
}
