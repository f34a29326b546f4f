/**
 * Finds the imports of a JavaScript or TypeScript file without running or fully parsing it.
 *
 * @module
 */

/** One import in a source file. */
export interface ImportSpecifier {
  /** The import as it is written. */
  readonly specifier: string;
  /** Counted from 1. */
  readonly line: number;
  /** True for `import(…)` and `require(…)`, which may be tried and caught; false for a statement. */
  readonly dynamic: boolean;
}

interface Token {
  readonly kind: "word" | "string" | "mark";
  readonly text: string;
  readonly line: number;
}

/** Returns the imports of a source text, in order. Imports that hold only types are left out: they are erased. */
export function importSpecifiers(source: string): ImportSpecifier[] {
  const tokens = tokenize(source);
  const found: ImportSpecifier[] = [];
  let typesOnly = false;
  tokens.forEach((token, at) => {
    if (token.kind !== "word") return;
    const [next, second, third] = [tokens[at + 1], tokens[at + 2], tokens[at + 3]];
    const isMember = tokens[at - 1]?.text === "." && tokens[at - 1]?.kind === "mark";
    if (isMember || !next) return;
    if (token.text === "import" || token.text === "export") {
      typesOnly = next.text === "type" && second?.kind !== "string" && second?.text !== "from" && second?.text !== ",";
      if (token.text === "import" && next.kind === "string") found.push(statement(next));
    }
    if (token.text === "from" && next.kind === "string" && !typesOnly) found.push(statement(next));
    const isCall = token.text === "import" || token.text === "require";
    const closes = third?.kind === "mark" && (third.text === ")" || third.text === ",");
    if (isCall && next.text === "(" && second?.kind === "string" && closes) {
      found.push({ specifier: second.text, line: second.line, dynamic: true });
    }
  });
  return found;
}

const statement = ({ text, line }: Token): ImportSpecifier => ({ specifier: text, line, dynamic: false });

/** Words after which a slash starts a regular expression rather than divides. */
const BEFORE_REGEX = new Set(
  "return typeof case in of delete void instanceof new throw do else yield await".split(" "),
);

const WORD = /[\p{L}\p{N}_$#]+/uy;

function tokenize(source: string): Token[] {
  const tokens: Token[] = [];
  const templates: number[] = []; // Open braces inside each `${` we are in.
  let at = source.startsWith("#!") ? endOfLine(source, 0) : 0;
  let line = 1;

  const skipTo = (end: number): string => {
    const text = source.slice(at, end);
    for (const char of text) if (char === "\n") line++;
    at = end;
    return text;
  };
  const push = (kind: Token["kind"], text: string, on = line): number => tokens.push({ kind, text, line: on });
  const template = (): void => {
    const startLine = line;
    const end = endOfTemplatePart(source, at + 1);
    const opensCode = source.startsWith("${", end);
    const isWhole = source[at] === "`" && !opensCode;
    const text = skipTo(end + (opensCode ? 2 : 1)).slice(1, -1);
    if (opensCode) templates.push(0);
    // A template with code in it is no literal: what it imports cannot be known.
    if (isWhole) push("string", text, startLine);
    else if (!opensCode) push("mark", ")", startLine);
  };

  while (at < source.length) {
    const char = source[at]!;
    WORD.lastIndex = at;
    const word = WORD.exec(source)?.[0];
    if (source.startsWith("//", at)) skipTo(endOfLine(source, at));
    else if (source.startsWith("/*", at)) skipTo(after(source, "*/", at + 2));
    else if (char === '"' || char === "'") {
      const end = endOfString(source, at + 1, char);
      push("string", source.slice(at + 1, end).replace(/\\(.)/g, "$1"));
      skipTo(end + 1);
    } else if (char === "`") template();
    else if (char === "}" && templates.at(-1) === 0) {
      templates.pop();
      template();
    } else if (char === "/" && startsRegex(tokens.at(-1))) skipTo(endOfRegex(source, at + 1));
    else if (word !== undefined) push("word", skipTo(at + word.length));
    else if (/\s/.test(char)) skipTo(at + 1);
    else {
      if (templates.length > 0 && char === "{") templates[templates.length - 1]!++;
      if (templates.length > 0 && char === "}") templates[templates.length - 1]!--;
      push("mark", skipTo(at + 1));
    }
  }
  return tokens;
}

function startsRegex(previous: Token | undefined): boolean {
  if (!previous) return true;
  if (previous.kind === "word") return BEFORE_REGEX.has(previous.text);
  return previous.kind === "mark" && !")]}".includes(previous.text);
}

function after(source: string, mark: string, from: number): number {
  const found = source.indexOf(mark, from);
  return found < 0 ? source.length : found + mark.length;
}

function endOfLine(source: string, from: number): number {
  const found = source.indexOf("\n", from);
  return found < 0 ? source.length : found;
}

/** Index of the closing quote, or of the line's end: a string does not span lines. */
function endOfString(source: string, from: number, quote: string): number {
  for (let at = from; at < source.length; at++) {
    if (source[at] === "\\") at++;
    else if (source[at] === quote || source[at] === "\n") return at;
  }
  return source.length;
}

/** Index of the closing backtick, or of the `${` that comes first. */
function endOfTemplatePart(source: string, from: number): number {
  for (let at = from; at < source.length; at++) {
    if (source[at] === "\\") at++;
    else if (source[at] === "`" || source.startsWith("${", at)) return at;
  }
  return source.length;
}

/** Index after a regular expression and its flags. */
function endOfRegex(source: string, from: number): number {
  let inClass = false;
  for (let at = from; at < source.length; at++) {
    const char = source[at];
    if (char === "\n") return at;
    if (char === "\\") at++;
    else if (char === "[") inClass = true;
    else if (char === "]") inClass = false;
    else if (char === "/" && !inClass) return at + 1;
  }
  return source.length;
}
