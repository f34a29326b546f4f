/**
 * The code blocks of a guide, with what the comments before them say about their test.
 *
 * @module
 */

/** Words of test comments; CONTRIBUTING.md explains each. */
const WORDS = [
  "skip",
  "reason",
  "file",
  "elsewhere",
  "continues",
  "given",
  "run",
  "output",
  "exit",
  "until",
  "stays",
  "prints",
  "printed",
  "runtime",
];

/** The words of a block's comment with their values, `""` for a word alone. */
export type Said = Readonly<Record<string, string>>;

/** A block of code, or with the language `run` the commands of a `run` comment. */
export interface Block {
  /** File and line, for messages. */
  readonly place: string;
  readonly language: string;
  readonly text: string;
  readonly said: Said;
}

const COMMENT = /^<!-- test: ([^\n]*?)(?:\n(.*?)\n)? ?-->$/s;

/** Returns the blocks of a guide in order. A block that `continues` another is part of it. */
export function readGuide(file: string, text: string): Block[] {
  const blocks: Block[] = [];
  let said: Record<string, string> = {};
  const pieces = text.matchAll(/^<!-- test:.*?-->$|^( *)(`{3,})(\w*)[^\n]*\n(.*?)^ *\2$|^[^\n]*\S[^\n]*$/gms);
  for (const { 0: piece, 1: indent, 2: fence, 3: language = "", 4: body = "", index } of pieces) {
    const place = `${file}:${text.slice(0, index).split("\n").length}`;
    if (fence === undefined && !piece.startsWith("<!-- test:")) {
      if (Object.keys(said).length > 0) throw new Error(`${place}: the test comment above stands before no block`);
    } else if (fence === undefined) {
      const { run, ...rest } = readComment(piece, place);
      if (run !== undefined) blocks.push({ place, language: "run", text: run, said: rest });
      else said = { ...said, ...rest };
    } else {
      const block = { place, language, text: body.replaceAll(new RegExp(`^${indent}`, "gm"), ""), said };
      const last = blocks.findLastIndex((each) => each.language === language);
      if (said.continues === undefined) blocks.push(block);
      else if (last < 0) throw new Error(`${place}: there is no ${language} block to continue`);
      else blocks[last] = { ...blocks[last]!, text: `${blocks[last]!.text}${block.text}` };
      said = {};
    }
  }
  return blocks;
}

function readComment(comment: string, place: string): Record<string, string> {
  const [, head = "", body = ""] = COMMENT.exec(comment) ?? [];
  const said: Record<string, string> = {};
  for (const [, word = "", quoted, plain] of head.matchAll(/([^\s=]+)(?:="([^"]*)"|=(\S+))?/g)) {
    if (!WORDS.includes(word)) throw new Error(`${place}: unknown word "${word}" in a test comment`);
    said[word] = quoted ?? plain ?? (word === "given" || word === "run" ? body : "");
  }
  if ("skip" in said && !said.reason) throw new Error(`${place}: say the reason: reason="…"`);
  return said;
}
