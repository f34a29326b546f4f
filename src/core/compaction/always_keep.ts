/**
 * The messages that no compaction may remove.
 *
 * @module
 */
import type { IdentifiedMessage } from "./messages.ts";
import { toolGroups } from "./tool_groups.ts";

/**
 * Returns the ids of the messages that always stay: system messages, those marked `always_keep`, the newest
 * `keepLast`, and all that belongs to a tool call with one of them. A system message that a compaction added is not
 * kept for its role, or summaries would pile up.
 */
export function alwaysKeepIds(messages: readonly IdentifiedMessage[], keepLast: number): Set<string> {
  const staysItself = ({ role, always_keep, added_by }: IdentifiedMessage, index: number): boolean =>
    (role === "system" && added_by === undefined) || always_keep === true || index >= messages.length - keepLast;
  const kept = messages.map(staysItself);
  const keptGroups = toolGroups(messages).filter((group) => group.some((index) => kept[index]));
  return new Set(keptGroups.flat().map((index) => messages[index]!.id));
}
