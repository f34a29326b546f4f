/**
 * Built-in: what must not get lost in a compaction is looked for after it, and put back where it is missing.
 *
 * @module
 */
import type { HookEvent, HookRegistration } from "../../engine/types.ts";
import { builtin, type BuiltinOptions } from "./builtin_options.ts";
import { tellFact } from "./facts.ts";

/** Something the window must hold. */
export interface Anchor {
  /** What it is: `issue`, `blocker`, `next step`. */
  readonly name: string;
  /** The text to look for, and to put back. */
  readonly text: string;
}

/** What is looked for. */
export interface AnchorCheckOptions extends BuiltinOptions {
  /** The anchors as they stand: issue, blockers, next step. The branch of the event is one without being named. */
  readonly anchors?: (event: HookEvent) => readonly Anchor[] | Promise<readonly Anchor[]>;
}

/** Returns the handler: `PostCompact`, priority 40. It looks at `output`, the window that is left. */
export function anchorCheck({ anchors = () => [], ...options }: AnchorCheckOptions = {}): HookRegistration[] {
  return builtin("anchor-check", { priority: 40 }, options, {
    async PostCompact(event, { firing }) {
      const branch = event.branch ? [{ name: "branch", text: event.branch }] : [];
      const wanted = [...branch, ...await anchors(event)].filter(({ text }) => text !== "");
      const texts = textsIn(event.output);
      const missing = wanted.filter(({ text }) => !texts.some((each) => each.includes(text)));
      tellFact(firing, "anchorsKept", wanted.length - missing.length);
      tellFact(firing, "anchorsLost", missing.length);
      if (missing.length === 0) return null;
      return {
        action: "injectContext",
        additionalContext: [`Still true:\n${missing.map(({ name, text }) => `- ${name}: ${text}`).join("\n")}`],
        warnings: [`Lost in the compaction, and put back: ${missing.map(({ name }) => name).join(", ")}`],
        metadata: { hookId: "anchor-check" },
      };
    },
  });
}

/** Every text in plain data. As it is, not as JSON writes it: a quote in an anchor would be missed. */
function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}
