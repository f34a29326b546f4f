/**
 * Cursors of lists: texts that a client hands back as they are. Each names the list that it belongs to, so that no other
 * list takes it.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import { hexOf } from "./sha256.ts";

/** Returns the cursor of a place in a list. */
export function cursorOf(list: string, place: string): string {
  return hexOf(new TextEncoder().encode(`${list} ${place}`));
}

/** Returns the place that a cursor of the list names. Throws `http.cursor_invalid`. */
export function placeIn(list: string, cursor: string): string {
  const pairs = /^(?:[0-9a-f]{2}){1,4096}$/.test(cursor) ? cursor.match(/../g)! : [];
  const text = new TextDecoder().decode(Uint8Array.from(pairs, (pair) => parseInt(pair, 16)));
  if (text.startsWith(`${list} `)) return text.slice(list.length + 1);
  throw cursorInvalid(list, cursor);
}

/** The error of a text that no page of the list has given out. */
export function cursorInvalid(list: string, cursor: string): HostError {
  return new HostError("http.cursor_invalid", `${JSON.stringify(cursor.slice(0, 80))} is no cursor of the ${list}`, {
    data: { list },
    hint: "Pass the value of next from the page before, as it is, or start again without a cursor",
  });
}
