/**
 * The map from moments to hooks that all files share: `{ preToolUse: [ … ] }`.
 *
 * @module
 */
import { Fields, TEXT, type ValueType } from "../../core/documents/fields.ts";
import type { DocumentPath } from "../../core/documents/places.ts";
import { didYouMean } from "../../core/values/nearest_word.ts";
import { isMap } from "../../core/values/plain_data.ts";
import { shown } from "../../core/values/shown_value.ts";
import { foreignHost, isElsewhere, isExtension, NATIVE_NAMES, type NativeEvent, nativeEvent } from "./event_names.ts";
import { type EntryContext, readEntry } from "./read_entry.ts";
import type { FileHook } from "./types.ts";

/** A moment of a map with the entries of its list. */
interface EventList {
  readonly nativeName: string;
  readonly event: NativeEvent;
  readonly entries: readonly { readonly entry: unknown; readonly path: DocumentPath }[];
}

const MOMENTS: ValueType<Readonly<Record<string, unknown>>> = { name: "a map from moments to hooks", fits: isMap };
const HOOKS: ValueType<readonly unknown[]> = { name: "a list of hooks", fits: Array.isArray };

/** Reads the command hooks of a file: entries themselves, or groups with a matcher around them. */
export function readHookMap(root: Fields, context: Pick<EntryContext, "name" | "dialect" | "agent">): FileHook[] {
  return eventLists(root, context.dialect).flatMap(({ entries, nativeName, event }) =>
    entries.flatMap(({ entry, path }) => readItem(root, entry, path, { ...context, nativeName, event }))
  );
}

/** Returns the lists under `hooks` of every moment that is understood; the others are reported. */
export function eventLists(root: Fields, dialect: string): EventList[] {
  if (root.require("hooks", MOMENTS) === undefined) return [];
  const moments = root.fields("hooks");
  return Object.keys(moments.data).flatMap((nativeName): EventList[] => {
    const event = understood(moments, nativeName, dialect);
    const list = event && moments.get(nativeName, HOOKS);
    if (!list) return [];
    const entries = list.map((entry, index) => ({ entry, path: [...moments.at(nativeName), index] }));
    return [{ nativeName, event, entries }];
  });
}

function understood(moments: Fields, nativeName: string, dialect: string): NativeEvent | null {
  const { report } = moments;
  const at = moments.at(nativeName);
  const event = nativeEvent(nativeName);
  if (event === null) {
    const foreign = foreignHost(nativeName);
    if (isElsewhere(nativeName)) {
      const message = `Hooks at ${shown(nativeName)} are left out: this host has no such moment`;
      report.warn("hook.event_elsewhere", at, { message, part: "key" });
    } else {
      const known = didYouMean(nativeName, NATIVE_NAMES, "See the list of moments in docs/hook-files.md");
      const hint = foreign === null ? known : `It is a moment of ${foreign}, whose files are not read here`;
      report.error("hook.unknown_event", at, { message: `Unknown moment ${shown(nativeName)}`, hint, part: "key" });
    }
    return null;
  }
  if (event.isTurnEnd) report.warn("hook.stop_is_session_end", at, { part: "key" });
  if (isExtension(event.hook) && dialect !== "mcp") {
    const message = `${shown(nativeName)} is fired by this host alone`;
    report.warn("hook.extension_event", at, { message, part: "key" });
  }
  return event;
}

/** Reads an entry, or a group of entries behind one matcher, as Claude Code writes them. */
function readItem(
  { report }: Fields,
  item: unknown,
  path: DocumentPath,
  context: Omit<EntryContext, "family" | "matcher">,
): FileHook[] {
  const { dialect } = context;
  const isGroup = isMap(item) && (Array.isArray(item["hooks"]) || dialect === "claude" || dialect === "plugin");
  if (!isGroup) return [readEntry(item, path, report, { ...context, family: "flat" }) ?? []].flat();
  const group = new Fields(item, path, report);
  const matcher = group.get("matcher", TEXT);
  const { hooks } = item;
  if (!Array.isArray(hooks)) {
    group.error("missing_field", "hooks", {
      message: "A group has no list of hooks",
      hint: 'Write { "matcher": "…", "hooks": [ { "type": "command", "command": "…" } ] }',
    });
    return [];
  }
  const shared = { ...context, family: "nested" as const, ...(matcher !== undefined && { matcher }) };
  return hooks.flatMap((entry, index) => readEntry(entry, [...path, "hooks", index], report, shared) ?? []);
}
