/**
 * Parses server-sent events from pieces of text.
 *
 * @module
 */

/** One server-sent event. */
export interface ServerEvent {
  /** Empty when the event has none. */
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

/** Returns a function that takes the next piece of text and returns the events that it completes. */
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
