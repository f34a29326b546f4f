/**
 * Has a running host use the operator's rules as they change: `config.toml` is polled.
 *
 * @module
 */
import { isSameRule, type OperatorRules, type ToolRule } from "../core/rules/rules.ts";
import { messageOf } from "../core/errors/host_error.ts";
import type { Runtime } from "../core/ports/ports.ts";
import { readOperatorConfig } from "../core/project/operator_config.ts";
import { canonicalText } from "../core/values/canonical_text.ts";
import { type Polling, polling, stampOf } from "./polling.ts";

/**
 * Time between two looks. A change is read once the file has rested from one look to the next. No other timer of a host
 * is as long: looks of several watches fall together less often.
 */
export const RULES_LOOK_MS = 1_700;

/** The host whose rules are watched over. */
export interface WatchRulesOptions {
  readonly home: string;
  readonly runtime: Pick<Runtime, "files" | "clock">;
  /** The operator's rules that the host uses now. */
  readonly current: () => OperatorRules;
  /** Gets rules that differ from those, and in words how: `2 added, 1 removed`; null where only their lines moved. */
  readonly onRules: (rules: OperatorRules, change: string | null) => void;
  /** Hears once of a file that cannot be used: the rules before it still hold. */
  readonly warn: (message: string) => void;
}

/** Returns a watch that has not begun. */
export function watchRules({ home, runtime: { files, clock }, current, onRules, warn }: WatchRulesOptions): Polling {
  const file = `${home}/config.toml`;
  let used: string | null = null;
  let seen: string | null = null;

  async function look(isFirst: boolean): Promise<void> {
    const now = await stampOf([file], files);
    // A host that starts has the rules of now, as one that is made.
    const isAtRest = isFirst || now === seen;
    seen = now;
    // Some programs empty a file before they write it anew, or remove it: then it would seem to hold no rules.
    if (now === used || !isAtRest) return;
    const read = await readOperatorConfig(home, files).then((rules) => ({ rules }), (error) => ({ error }));
    // A file that changed while it was read is read again.
    if (await stampOf([file], files) !== now) return;
    used = now;
    if ("error" in read) return warn(`Rules on tools stay as they were: ${messageOf(read.error)}`);
    const { toolRules, approvals } = read.rules;
    const before = current();
    if (canonicalText([before.toolRules, before.approvals]) === canonicalText([toolRules, approvals])) return;
    onRules({ toolRules, approvals }, changeOf(before, { toolRules, approvals }));
  }

  return polling(look, RULES_LOOK_MS, clock);
}

/** Returns in words how rules differ; null where only the lines do at which they stand. */
function changeOf(before: OperatorRules, after: OperatorRules): string | null {
  const missing = (all: readonly ToolRule[], from: readonly ToolRule[]): number =>
    all.filter((rule) => !from.some((one) => isSameRule(one, rule))).length;
  const [added, removed] = [
    missing(after.toolRules, before.toolRules),
    missing(before.toolRules, after.toolRules),
  ];
  const parts = [
    ...(added > 0 ? [`${added} added`] : []),
    ...(removed > 0 ? [`${removed} removed`] : []),
    ...(canonicalText(before.approvals) === canonicalText(after.approvals) ? [] : ["[approvals] changed"]),
  ];
  if (parts.length > 0) return parts.join(", ");
  const isInOrder = before.toolRules.length === after.toolRules.length &&
    before.toolRules.every((rule, index) => isSameRule(rule, after.toolRules[index]!));
  return isInOrder ? null : "order changed";
}
