/**
 * Built-in: looks after each compaction for the facts that must not get lost, and puts back those that did.
 *
 * @module
 */
import type { HookEvent, HookRegistration } from "../../engine/types.ts";
import { builtin, type BuiltinOptions } from "./builtin_options.ts";
import { shareFact } from "./facts.ts";

/** A fact the window must hold. */
export interface Anchor {
  /** Its kind: `issue`, `blocker`, `next step`. */
  readonly name: string;
  /** The text to look for, and to put back. */
  readonly text: string;
}

/** The facts that are looked for. */
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
      shareFact(firing, "anchorsKept", wanted.length - missing.length);
      shareFact(firing, "anchorsLost", missing.length);
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
