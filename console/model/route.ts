/**
 * The open view. It stands behind the # of the address, so that it can be bookmarked, sent and gone back to.
 *
 * @module
 */
import { type Signal, signal } from "@preact/signals";

/** A view, such as `plugins`; the plugin or agent it is about; the tab. */
export interface Place {
  readonly view: string;
  readonly about: string | null;
  readonly tab: string | null;
}

/** The place that the address names. */
export const place: Signal<Place> = signal(readPlace());

addEventListener("hashchange", () => {
  place.value = readPlace();
});

/** Returns the link to a view. */
export function linkTo(view: string, about?: string, tab?: string): string {
  const parts = [view, about, tab].filter((part) => part !== undefined);
  return `#/${parts.map((part) => encodeURIComponent(part)).join("/")}`;
}

function readPlace(): Place {
  const [view = "", about = null, tab = null] = location.hash.replace(/^#\/?/, "").split("/").map(decoded);
  return { view: view || "plugins", about, tab };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
