/**
 * Pages of jobs, as every store makes them.
 *
 * @module
 */
import { cursorInvalid, cursorOf, placeIn } from "../core/values/cursor.ts";
import type { Job, JobList } from "./types.ts";

const LIST = "jobs";

/** A record on a page. */
interface Placed {
  readonly job: Job;
  /** Where it is in the order of the store. */
  readonly place: string;
  /** How many were found from the first one of the page on, up to one more than the page may have. */
  readonly count: number;
}

/** Returns the page of the first records; there is another when more were found than it takes. */
export function pageWithin(found: readonly Placed[], limit: number): JobList {
  const taken = found.slice(0, limit);
  const last = taken.at(-1);
  const next = last && last.count > taken.length ? cursorOf(LIST, last.place) : null;
  return { jobs: taken.map(({ job }) => job), next };
}

/** Returns the number of the row that a cursor names. Throws `http.cursor_invalid`. */
export function seqOf(cursor: string): number {
  const place = placeIn(LIST, cursor);
  if (/^[0-9]{1,15}$/.test(place)) return Number(place);
  throw cursorInvalid(LIST, cursor);
}

/** Returns the time and the id that a cursor of jobs in files names. Throws `http.cursor_invalid`. */
export function creationOf(cursor: string): Pick<Job, "createdAt" | "id"> {
  const [, createdAt, id] = /^([0-9TZ:.+-]{20,32}) ([A-Za-z0-9_-]{1,128})$/.exec(placeIn(LIST, cursor)) ?? [];
  if (createdAt !== undefined && id !== undefined) return { createdAt, id };
  throw cursorInvalid(LIST, cursor);
}
