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
  /** True where the process itself may never import it: in a function or a block, which may be meant for a browser. */
  readonly lazy: boolean;
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
  const place = new CodePlace();
  let typesOnly = false;
  tokens.forEach((token, at) => {
    place.pass(token, tokens[at - 1], tokens[at + 1]);
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
      found.push({ specifier: second.text, line: second.line, dynamic: true, lazy: place.isLazy });
    }
  });
  return found;
}

const statement = ({ text, line }: Token): ImportSpecifier => ({ specifier: text, line, dynamic: false, lazy: false });

/** Words before a block that may never run, or whose failure is caught. */
const BEFORE_BLOCK = new Set("try else do catch finally".split(" "));
/** Words that begin a statement: an arrow function of the line before is over, with or without a semicolon. */
const BEGINS = new Set("const let var import export function class".split(" "));

/** Whether code runs when its file is loaded, or later, if at all. */
class CodePlace {
  /** For each bracket that is open, and for the file: whether it is in code for later, and in an arrow's expression. */
  readonly #open: { readonly lazy: boolean; arrow: boolean }[] = [{ lazy: false, arrow: false }];

  get isLazy(): boolean {
    const { lazy, arrow } = this.#open.at(-1)!;
    return lazy || arrow;
  }

  pass({ kind, text, line }: Token, previous: Token | undefined, next: Token | undefined): void {
    const around = this.#open.at(-1)!;
    if (kind === "word") {
      if (BEGINS.has(text) && previous !== undefined && previous.line < line) around.arrow = false;
      return;
    }
    if (kind !== "mark") return;
    if ("([{".includes(text)) {
      const lazy = this.isLazy || (text === "{" && previous !== undefined && beginsBlock(previous));
      this.#open.push({ lazy, arrow: false });
    } else if (")]}".includes(text)) {
      if (this.#open.length > 1) this.#open.pop();
    } else if (text === "," || text === ";") around.arrow = false;
    else if (text === ">" && previous?.text === "=" && next?.text !== "{") around.arrow = true;
  }
}

/** Whether a brace after this token begins the body of a function, or a block under a condition. */
function beginsBlock({ kind, text }: Token): boolean {
  return kind === "word" ? BEFORE_BLOCK.has(text) : kind === "mark" && (text === ")" || text === ">");
}

/** Words after which a slash starts a regular expression rather than divides. */
const BEFORE_REGEX = new Set(
  "return typeof case in of delete void instanceof new throw do else yield await".split(" "),
);

/** Words whose parentheses hold a condition: a slash behind those starts a regular expression. */
const CONDITIONAL = new Set("if while for with".split(" "));

const WORD = /[\p{L}\p{N}_$#]+/uy;
/** The ends of what is no code, and what may stand before them and look like one: escapes, and classes in expressions. */
const ENDS = {
  "//": /\n/g,
  "/*": /\*\//g,
  '"': /\\[^]|["\n]/g,
  "'": /\\[^]|['\n]/g,
  "`": /\\[^]|`|\$\{/g,
  "/": /\\.|\[(?:[^\]\\\n]+|\\.)*\]?|[/\n]/g,
};

function tokenize(source: string): Token[] {
  const tokens: Token[] = [];
  const templates: number[] = []; // Open braces inside each `${` we are in.
  const conditions: boolean[] = []; // For each open parenthesis, whether it holds the condition of a statement.
  let isAfterCondition = false;
  let at = 0;
  let line = 1;

  const skipTo = (end: number): string => {
    const text = source.slice(at, end);
    for (const char of text) if (char === "\n") line++;
    at = end;
    return text;
  };
  const push = (kind: Token["kind"], text: string, on = line): number => tokens.push({ kind, text, line: on });
  /** Skips what `opening` begins here. Returns the text inside and the mark that ends it, "" for the end of the source. */
  const skipInside = (opening: keyof typeof ENDS): readonly [text: string, mark: string] => {
    const from = at + opening.length;
    const ends = ENDS[opening];
    ends.lastIndex = from;
    let end = ends.exec(source);
    while (end && /^(\\|\[)/.test(end[0])) end = ends.exec(source);
    const { index, 0: mark } = end ?? { index: source.length, 0: "" };
    skipTo(index + mark.length);
    return [source.slice(from, index), mark];
  };
  const template = (): void => {
    const startLine = line;
    const isFirst = source[at] === "`";
    const [text, mark] = skipInside("`");
    if (mark === "${") templates.push(0);
    // A template with code in it is no literal: what it imports cannot be known.
    else if (isFirst) push("string", text, startLine);
    else push("mark", "`", startLine);
  };

  if (source.startsWith("#!")) skipInside("//");
  while (at < source.length) {
    const char = source[at]!;
    WORD.lastIndex = at;
    const word = WORD.exec(source)?.[0];
    if (source.startsWith("//", at)) skipInside("//");
    else if (source.startsWith("/*", at)) skipInside("/*");
    else if (char === '"' || char === "'") {
      const startLine = line;
      push("string", skipInside(char)[0].replace(/\\(.)/g, "$1"), startLine);
    } else if (char === "`") template();
    else if (char === "}" && templates.at(-1) === 0) {
      templates.pop();
      template();
    } else if (char === "/" && (isAfterCondition || startsRegex(tokens.at(-1)))) skipInside("/");
    else if (word !== undefined) push("word", skipTo(at + word.length));
    else if (/\s/.test(char)) skipTo(at + 1);
    else {
      if (templates.length > 0 && char === "{") templates[templates.length - 1]!++;
      if (templates.length > 0 && char === "}") templates[templates.length - 1]!--;
      if (char === "(") conditions.push(CONDITIONAL.has(tokens.at(-1)?.text ?? ""));
      push("mark", skipTo(at + 1));
      isAfterCondition = char === ")" && (conditions.pop() ?? false);
      continue;
    }
    if (/\S/.test(char)) isAfterCondition = false;
  }
  return tokens;
}

function startsRegex(previous: Token | undefined): boolean {
  if (!previous) return true;
  if (previous.kind === "word") return BEFORE_REGEX.has(previous.text);
  return previous.kind === "mark" && !")]}`".includes(previous.text);
}
