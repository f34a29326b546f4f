/**
 * Arguments as a person is shown them: without the operator's secrets, and no bigger than a page can hold.
 *
 * @module
 */
import { byteLength } from "../values/cut_text.ts";
import type { Approval } from "./types.ts";

type Args = Readonly<Record<string, unknown>>;

/** Most bytes of arguments that are kept with a request, as JSON. */
export const MAX_KEPT_BYTES: number = 1024 * 1024;
/** Most bytes of arguments of one request in a list. */
const MAX_LISTED_BYTES = 16 * 1024;

/** Arguments, cut where they are too big. */
export interface ShownArguments {
  readonly arguments: Args;
  readonly isCut: boolean;
}

/** Returns arguments that take `maxBytes` of JSON at most: long texts and lists are cut, and say so. */
export function fitArguments(args: Args, maxBytes: number): ShownArguments {
  if (byteLength(JSON.stringify(args)) <= maxBytes) return { arguments: args, isCut: false };
  // Each round leaves less of every text and list, until the whole fits.
  for (let room = Math.ceil(maxBytes / 4); room >= 16; room = Math.floor(room / 4)) {
    const cut = cutValue(args, room, Math.ceil(Math.sqrt(room))) as Args;
    if (byteLength(JSON.stringify(cut)) <= maxBytes) return { arguments: cut, isCut: true };
  }
  return { arguments: { "…": `${byteLength(JSON.stringify(args))} bytes` }, isCut: true };
}

/** A request as it stands in a list. */
export function listed(approval: Approval): Approval {
  const { arguments: args, isCut } = fitArguments(approval.arguments, MAX_LISTED_BYTES);
  const { changed } = approval;
  return {
    ...approval,
    arguments: args,
    argumentsCut: approval.argumentsCut || isCut,
    changed: changed && { ...changed, before: fitArguments(changed.before, MAX_LISTED_BYTES).arguments },
  };
}

/** Returns a request as a store may keep it for lists, as JSON; null where the whole is no longer. */
export function listedText(approval: Approval): string | null {
  const short = listed(approval);
  return short.arguments === approval.arguments && short.changed?.before === approval.changed?.before
    ? null
    : JSON.stringify(short);
}

const MAX_DEPTH = 32;

function cutValue(value: unknown, maxChars: number, maxItems: number, depth = 0): unknown {
  if (typeof value === "string") {
    return value.length <= maxChars ? value : `${wholePairs(value.slice(0, maxChars))}… (${value.length} characters)`;
  }
  if (typeof value !== "object" || value === null) return value;
  if (depth === MAX_DEPTH) return "…";
  const inner = (item: unknown): unknown => cutValue(item, maxChars, maxItems, depth + 1);
  if (Array.isArray(value)) {
    const items = value.slice(0, maxItems).map(inner);
    return value.length <= maxItems ? items : [...items, `… (${value.length} items)`];
  }
  const entries = Object.entries(value);
  const kept = entries.slice(0, maxItems)
    .map(([key, item]) => [key.length <= maxChars ? key : `${key.slice(0, maxChars)}…`, inner(item)]);
  if (entries.length > maxItems) kept.push(["…", `${entries.length} fields`]);
  return Object.fromEntries(kept);
}

/** A text cut in the middle of a surrogate pair would not survive a store. */
function wholePairs(text: string): string {
  return text.replace(/[\uD800-\uDBFF]$/, "");
}
