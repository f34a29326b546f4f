/**
 * A long list, page by page.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import { cursorOf, placeIn } from "./cursor.ts";

/** The page that is asked for. */
export interface PageQuery {
  /** Most items of the page. */
  readonly limit: number;
  /** {@link Page.next} of the page before; absent for the first. */
  readonly cursor?: string;
}

/** Some items of a list, in its order. */
export interface Page<T> {
  /** The items. */
  readonly items: readonly T[];
  /** The cursor of the page that follows, or null on the last one. */
  readonly next: string | null;
}

/**
 * Returns one page of a list. The cursor names the last item of the page before by its key, so that items that come and
 * go elsewhere in the list neither repeat an item nor leave one out.
 *
 * @throws {HostError} `http.cursor_invalid` for a text that is no cursor of this list, `http.cursor_gone` when the item
 * that it names is no longer there.
 */
export function pageOf<T>(
  list: string,
  all: readonly T[],
  keyOf: (item: T) => string,
  { limit, cursor }: PageQuery,
): Page<T> {
  const last = cursor === undefined ? null : placeIn(list, cursor);
  const from = last === null ? 0 : all.findIndex((item) => keyOf(item) === last) + 1;
  if (last !== null && from === 0) {
    throw new HostError("http.cursor_gone", "The list has changed: the item that the cursor names is gone", {
      data: { cursor },
      hint: "Start again without a cursor",
    });
  }
  const items = all.slice(from, from + limit);
  return { items, next: from + limit < all.length ? cursorOf(list, keyOf(items.at(-1)!)) : null };
}
