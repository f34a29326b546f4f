/**
 * Server-sent events out of pieces of text.
 *
 * @module
 */

/** One event. */
export interface ServerEvent {
  /** Its id; empty when it has none. */
  readonly id: string;
  /** Its name. */
  readonly event: string;
  /** What it carries. */
  readonly data: string;
}

/** Returns a function that takes the next piece of text and gives the events it completes. */
export function sseParser(): (text: string) => ServerEvent[] {
  let rest = "";
  return (text) => {
    const blocks = (rest + text).split("\n\n");
    rest = blocks.pop()!;
    return blocks.flatMap(readBlock);
  };
}

function readBlock(block: string): ServerEvent[] {
  const fields = { id: "", event: "message" };
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const [, name, value] = /^(\w+): ?(.*)$/.exec(line) ?? [];
    if (name === "data") data.push(value!);
    else if (name === "id" || name === "event") fields[name] = value!;
  }
  return data.length === 0 ? [] : [{ ...fields, data: data.join("\n") }];
}
