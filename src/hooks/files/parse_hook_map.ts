/**
 * The map from moments to hooks that all files share: `{ preToolUse: [ … ] }`.
 *
 * @module
 */
import { typeName } from "../../core/project/values.ts";
import { didYouMean } from "../../core/values/nearest_word.ts";
import { isMap } from "../../core/values/plain_data.ts";
import { shown } from "../../core/values/shown_value.ts";
import type { DocumentPath, DocumentReport } from "../../core/documents/document_report.ts";
import { foreignHost, isElsewhere, isExtension, NATIVE_NAMES, type NativeEvent, nativeEvent } from "./event_names.ts";
import { type EntryContext, readEntry } from "./read_entry.ts";
import type { FileHook } from "./types.ts";

/** What the hooks of a map have in common. */
export type MapContext = Pick<EntryContext, "file" | "name" | "dialect" | "agent" | "report">;

/** A moment of a map with its list. */
export interface EventList {
  /** As written. */
  readonly nativeName: string;
  /** What it means. */
  readonly event: NativeEvent;
  /** Its entries. */
  readonly entries: readonly unknown[];
  /** Where the list is. */
  readonly path: DocumentPath;
}

/** Reads a map of command hooks: entries themselves, or groups with a matcher around them. */
export function readHookMap(value: unknown, path: DocumentPath, context: MapContext): FileHook[] {
  return eventLists(value, path, context).flatMap(({ entries, ...at }) =>
    entries.flatMap((entry, index) => readItem(entry, [...at.path, index], { ...context, ...at }))
  );
}

/** Returns the lists of every moment that is understood; the report hears of the others. */
export function eventLists(
  value: unknown,
  path: DocumentPath,
  { report, dialect }: { readonly report: DocumentReport; readonly dialect: string },
): EventList[] {
  if (!isMap(value)) {
    const message = `Expected a map from moments to hooks, got ${typeName(value)}`;
    report.error(value === undefined ? "hook.missing_field" : "hook.wrong_type", path, { message });
    return [];
  }
  return Object.entries(value).flatMap(([nativeName, entries]): EventList[] => {
    const at = [...path, nativeName];
    const event = understood(nativeName, at, { report, dialect });
    if (event === null) return [];
    if (Array.isArray(entries)) return [{ nativeName, event, entries, path: at }];
    report.error("hook.wrong_type", at, { message: `Expected a list of hooks, got ${typeName(entries)}` });
    return [];
  });
}

function understood(
  nativeName: string,
  at: DocumentPath,
  { report, dialect }: { readonly report: DocumentReport; readonly dialect: string },
): NativeEvent | null {
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

/** An entry, or a group of entries behind one matcher, as Claude Code writes them. */
function readItem(
  item: unknown,
  path: DocumentPath,
  context: MapContext & Pick<EntryContext, "nativeName" | "event">,
): FileHook[] {
  const { report, dialect } = context;
  const isGroup = isMap(item) && (Array.isArray(item["hooks"]) || dialect === "claude" || dialect === "plugin");
  if (!isGroup) {
    const hook = readEntry(item, path, { ...context, family: "flat" });
    return hook === null ? [] : [hook];
  }
  const { matcher, hooks } = item;
  if (matcher !== undefined && typeof matcher !== "string") {
    report.error("hook.wrong_type", [...path, "matcher"], { message: `Expected a text, got ${typeName(matcher)}` });
  }
  if (!Array.isArray(hooks)) {
    report.error("hook.missing_field", [...path, "hooks"], {
      message: "A group has no list of hooks",
      hint: 'Write { "matcher": "…", "hooks": [ { "type": "command", "command": "…" } ] }',
    });
    return [];
  }
  const shared = { ...context, family: "nested" as const, ...(typeof matcher === "string" && { matcher }) };
  return hooks.flatMap((entry, index) => readEntry(entry, [...path, "hooks", index], shared) ?? []);
}
