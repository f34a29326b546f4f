/**
 * How long the functions of a source file are, found by a small scanner. It runs on Node, whose `stripTypeScriptTypes`
 * replaces types by blanks of the same length: what is left is JavaScript at its original lines, in which a brace after
 * `=>` or after the parentheses of anything but a statement opens a function's body.
 *
 * @module
 */
import { stripTypeScriptTypes } from "node:module";

/** A function with a body in braces, or an arrow function with an expression. */
export interface FoundFunction {
  /** The line of its parameters, from 1. */
  readonly line: number;
  /** Lines from there to its end, both counted. */
  readonly lines: number;
}

interface Token {
  readonly text: string;
  readonly line: number;
}

const STATEMENTS = new Set(["if", "for", "while", "switch", "catch", "with", "await"]);
/** After one of these a slash begins a regular expression, not a division. */
const BEFORE_REGEX =
  /^(?:[^\w$)\]}"'`]+|return|typeof|case|in|of|do|else|void|delete|throw|new|await|yield|instanceof)$/;
const TOKEN = /\s+|\/\/[^\n]*|\/\*[^]*?\*\/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|[\w$#]+|=>|[^]/y;
const REGEX = /\/(?![*/])(?:[^[/\\\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/\w*/y;
const CLOSING: ReadonlyMap<string, string> = new Map([["(", ")"], ["[", "]"], ["{", "}"]]);

/** Returns the functions of a source, in the order in which they end. */
export function functionsOf(source: string): FoundFunction[] {
  const tokens = tokensOf(stripTypeScriptTypes(source));
  const found: FoundFunction[] = [];
  const open: { text: string; at: number; startLine: number | null }[] = [];
  const arrows: { depth: number; startLine: number }[] = [];
  /** Where the parentheses that end just before a token begin. */
  const openedAt = new Map<number, number>();
  const end = (startLine: number, line: number): void =>
    void found.push({ line: startLine, lines: line - startLine + 1 });
  const endArrows = (line: number): void => {
    while (arrows.at(-1)?.depth === open.length) end(arrows.pop()!.startLine, line);
  };
  for (const [at, { text, line }] of tokens.entries()) {
    const before = tokens[at - 1];
    if (CLOSING.has(text)) {
      open.push({ text, at, startLine: text === "{" ? bodyStart(tokens, at, openedAt) : null });
    } else if (text === ")" || text === "]" || text === "}") {
      endArrows(before!.line);
      const opened = open.pop();
      if (opened === undefined || CLOSING.get(opened.text) !== text) {
        throw new Error(`line ${line}: "${text}" closes nothing`);
      }
      openedAt.set(at, opened.at);
      if (opened.startLine !== null) end(opened.startLine, line);
    } else if (text === "," || text === ";") {
      endArrows(before!.line);
    } else if (text === "=>" && tokens[at + 1]?.text !== "{") {
      arrows.push({ depth: open.length, startLine: parametersLine(tokens, at - 1, openedAt) });
    }
  }
  if (open.length > 0) throw new Error(`line ${tokens[open.at(-1)!.at]!.line}: "${open.at(-1)!.text}" is never closed`);
  return found;
}

/** Returns the line where the function begins whose body an opening brace opens; null where it opens none. */
function bodyStart(tokens: readonly Token[], at: number, openedAt: ReadonlyMap<number, number>): number | null {
  const before = tokens[at - 1]?.text;
  if (before === "=>") return parametersLine(tokens, at - 2, openedAt);
  if (before !== ")") return null;
  const parameters = openedAt.get(at - 1)!;
  return STATEMENTS.has(tokens[parameters - 1]?.text ?? "") ? null : tokens[parameters]!.line;
}

function parametersLine(tokens: readonly Token[], at: number, openedAt: ReadonlyMap<number, number>): number {
  return tokens[openedAt.get(at) ?? at]!.line;
}

/** Cuts JavaScript into words, strings and single characters, without blanks and comments. */
function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  /** Depths of braces at which the text of a template goes on. */
  const templates: number[] = [];
  let [at, line, depth] = [0, 1, 0];
  const take = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    return pattern.exec(text)?.[0] ?? text[at]!;
  };
  while (at < text.length) {
    const closesHole = text[at] === "}" && templates.at(-1) === depth;
    let piece: string;
    if (text[at] === "`" || closesHole) {
      if (closesHole) templates.pop();
      piece = take(/[`}](?:[^`\\$]|\\[^]|\$(?!\{))*(?:`|\$\{)/y);
      if (piece.endsWith("${")) templates.push(depth);
      tokens.push({ text: "`", line });
    } else {
      const isRegex = text[at] === "/" && BEFORE_REGEX.test(tokens.at(-1)?.text ?? ";");
      piece = isRegex && !/^\/[/*]/.test(text.slice(at, at + 2)) ? take(REGEX) : take(TOKEN);
      if (piece === "{") depth++;
      if (piece === "}") depth--;
      if (!/^(?:\s|\/[/*])/.test(piece)) tokens.push({ text: piece, line });
    }
    line += piece.split("\n").length - 1;
    at += piece.length;
  }
  return tokens;
}
