/**
 * The map from moments to hooks that all files share: `{ preToolUse: [ … ] }`.
 *
 * @module
 */
import type { Fields, ValueType } from "../../core/documents/fields.ts";
import type { DocumentPath } from "../../core/documents/places.ts";
import { didYouMean } from "../../core/values/nearest_word.ts";
import { isMap } from "../../core/values/plain_data.ts";
import { shown } from "../../core/values/shown_value.ts";
import { type CommandDialect, dialectEvent, DIALECTS } from "./dialects/all.ts";
import type { DialectEvent } from "./dialects/types.ts";
import { isExtension, NATIVE_NAMES, nativeEvent } from "./event_names.ts";
import type { EntryContext } from "./read_entry.ts";
import { type ReadHooks, readItem, settleItems } from "./read_items.ts";
import type { HookDialect, UnusedHook } from "./types.ts";

/** A moment of a map with the entries of its list. */
interface EventList<Event> {
  readonly nativeName: string;
  readonly event: Event;
  readonly entries: readonly { readonly entry: unknown; readonly path: DocumentPath }[];
}

const MOMENTS: ValueType<Readonly<Record<string, unknown>>> = { name: "a map from moments to hooks", fits: isMap };
const HOOKS: ValueType<readonly unknown[]> = { name: "a list of hooks", fits: Array.isArray };
/** Keys beside moments that Gemini had there once. */
const NO_MOMENTS = ["enabled", "disabled", "notifications"];

/** Reads the hooks of a file: entries themselves, or groups with a matcher around them. */
export function readHookMap(root: Fields, context: Pick<EntryContext, "name" | "dialect" | "agent">): ReadHooks {
  const { dialect, name } = context;
  const unused: UnusedHook[] = [];
  const leave = (nativeName: string, reason: string): void => {
    const { line } = root.report.placeOf(["hooks", nativeName], "key");
    unused.push({ id: `${name}:${nativeName}`, line, reason });
  };
  const lists = eventLists(root, (moments, nativeName) => understood(moments, nativeName, dialect, leave), dialect);
  const items = lists.flatMap(({ entries, nativeName, event }) =>
    entries.flatMap(({ entry, path }) => readItem(entry, path, root.report, { ...context, nativeName, event }))
  );
  const read = settleItems(items, root.report, context);
  return { hooks: read.hooks, unused: [...unused, ...read.unused] };
}

/** Returns the lists under `hooks` of every moment that is understood. */
export function eventLists<Event>(
  root: Fields,
  understand: (moments: Fields, nativeName: string) => Event | null,
  dialect: HookDialect,
): EventList<Event>[] {
  if (root.require("hooks", MOMENTS) === undefined) return [];
  const moments = root.fields("hooks");
  const names = Object.keys(moments.data);
  const wanted = dialect === "gemini" ? names.filter((name) => !NO_MOMENTS.includes(name)) : names;
  return wanted.flatMap((nativeName): EventList<Event>[] => {
    const event = understand(moments, nativeName);
    const list = event && moments.get(nativeName, HOOKS);
    if (!list) return [];
    const entries = list.map((entry, index) => ({ entry, path: [...moments.at(nativeName), index] }));
    return [{ nativeName, event, entries }];
  });
}

/** Returns what a moment of a hook map of MCP tools means, or null once it is reported to mean nothing. */
export function portableMoment(moments: Fields, nativeName: string): ReturnType<typeof nativeEvent> {
  const event = nativeEvent(nativeName);
  if (event === null) reportUnknown(moments, nativeName, NATIVE_NAMES);
  else if (event.isTurnEnd) moments.report.warn("hook.stop_is_session_end", moments.at(nativeName), { part: "key" });
  return event;
}

function reportUnknown(moments: Fields, nativeName: string, names: readonly string[]): void {
  const hint = didYouMean(nativeName, names, "See the list of moments in docs/hook-files.md");
  const message = `Unknown moment ${shown(nativeName)}`;
  moments.report.error("hook.unknown_event", moments.at(nativeName), { message, hint, part: "key" });
}

function understood(
  moments: Fields,
  nativeName: string,
  dialect: CommandDialect,
  leave: (nativeName: string, reason: string) => void,
): DialectEvent | null {
  const { report } = moments;
  const at = moments.at(nativeName);
  const { leftOut, unknownEvent, events, title } = DIALECTS[dialect];
  const event = dialectEvent(dialect, nativeName);
  if (event !== null) {
    if (event.turnEnd && nativeEvent(nativeName)) report.warn("hook.stop_is_session_end", at, { part: "key" });
    if (isExtension(event.hook) && !Object.hasOwn(events, nativeName)) {
      const message = `${shown(nativeName)} is fired by this host alone`;
      report.warn("hook.extension_event", at, { message, part: "key" });
    }
    return event;
  }
  const why = Object.hasOwn(leftOut, nativeName) ? leftOut[nativeName]! : null;
  if (why === null && unknownEvent === "error") {
    const names = [...Object.keys(events), ...(dialect === "opencode" ? [] : NATIVE_NAMES)];
    reportUnknown(moments, nativeName, names);
    return null;
  }
  const reason = why ?? `${title} has no such moment`;
  const message = `Hooks at ${shown(nativeName)} are left out: ${reason}`;
  report.warn("hook.event_elsewhere", at, { message, part: "key" });
  leave(nativeName, message);
  return null;
}
