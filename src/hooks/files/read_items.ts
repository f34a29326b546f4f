/**
 * The items of a moment's list: hooks themselves, or groups of them behind one matcher. Each is read by itself, so that
 * a mistake in one leaves out that one alone where its agent does so.
 *
 * @module
 */
import { type DocumentReport, formatPath } from "../../core/documents/document_report.ts";
import { Fields, TEXT } from "../../core/documents/fields.ts";
import type { DocumentPath } from "../../core/documents/places.ts";
import { isMap } from "../../core/values/plain_data.ts";
import { DIALECTS } from "./dialects/all.ts";
import { type EntryContext, type EntryRead, readEntry } from "./read_entry.ts";
import type { FileHook, UnusedHook } from "./types.ts";

/** The hooks of a file. */
export interface ReadHooks {
  readonly hooks: readonly FileHook[];
  readonly unused: readonly UnusedHook[];
}

/** A hook that was read, or a group that could not be. */
export interface ReadItem {
  readonly value: unknown;
  readonly path: DocumentPath;
  /** Its mistakes and warnings alone. */
  readonly report: DocumentReport;
  readonly read: EntryRead;
}

/** Reads an entry, or a group of entries as Claude Code writes them. */
export function readItem(
  value: unknown,
  path: DocumentPath,
  whole: DocumentReport,
  context: EntryContext,
): readonly ReadItem[] {
  const entry = (one: unknown, at: DocumentPath, own: EntryContext): ReadItem => {
    const report = whole.apart();
    return { value: one, path: at, report, read: readEntry(one, at, report, own) };
  };
  const { shape } = DIALECTS[context.dialect].entry;
  const isGroup = isMap(value) && (shape === "nested" || (shape === "both" && Array.isArray(value["hooks"])));
  if (!isGroup) return [entry(value, path, context)];
  const report = whole.apart();
  const group = new Fields(value, path, report);
  const matcher = group.get("matcher", TEXT);
  const { hooks } = value;
  if (!Array.isArray(hooks)) {
    group.error("missing_field", "hooks", {
      message: "A group has no list of hooks",
      hint: 'Write { "matcher": "…", "hooks": [ { "type": "command", "command": "…" } ] }',
    });
  }
  if (!Array.isArray(hooks) || !report.isClean) return [{ value, path, report, read: null }];
  const shared = { ...context, ...(matcher !== undefined && { matcher }) };
  return hooks.map((one, index) => entry(one, [...path, "hooks", index], shared));
}

/**
 * Returns the hooks of all items of a file, and those that are left out. Mistakes make the file useless where the agent
 * does not read such a file, where the file has others, and where the mistake is in a gate: a check that the file says
 * must not be skipped. Elsewhere the hook is left out, with the mistake as a warning.
 */
export function settleItems(
  items: readonly ReadItem[],
  whole: DocumentReport,
  { name, dialect }: Pick<EntryContext, "name" | "dialect">,
): ReadHooks {
  const wrong = items.filter(({ report }) => !report.isClean);
  // Copilot reads hooks that stand in its settings all or not at all.
  const isInline = DIALECTS[dialect] === DIALECTS.copilot && /settings(?:\.local)?\.json$/.test(whole.file);
  const isStrict = DIALECTS[dialect].badEntry === "file" || isInline;
  const isUseless = !whole.isClean || (isStrict && wrong.length > 0) || wrong.some(({ value }) => mayBeGate(value));
  for (const { report } of items) whole.take(report, isUseless ? "errors" : "warnings");
  const left = wrong.map(({ path, report }): UnusedHook => ({
    id: `${name}:${formatPath(path).replace(/^hooks\./, "")}`,
    line: whole.placeOf(path, "value").line,
    reason: `It cannot be read: ${report.errors.map(({ message }) => message).join("; ")}`,
    isMistake: true,
  }));
  const reads = items.flatMap(({ report, read }) => report.isClean && read !== null ? [read] : []);
  return {
    hooks: reads.flatMap((read) => "hook" in read ? [read.hook] : []),
    unused: [...reads.flatMap((read) => "unused" in read ? [read.unused] : []), ...left],
  };
}

/** Whether an item that cannot be read says, or may want to say, that its failure blocks. */
function mayBeGate(value: unknown): boolean {
  if (!isMap(value)) return false;
  const { onFailure = "pass", failClosed, advisory, hooks } = value;
  if (Array.isArray(hooks) && hooks.some(mayBeGate)) return true;
  return advisory !== true && (onFailure !== "pass" || failClosed === true);
}
