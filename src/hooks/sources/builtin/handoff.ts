/**
 * Built-in: what a session knows goes over to the one that follows it.
 *
 * @module
 */
import { byteLength, cutText } from "../../../core/values/cut_text.ts";
import type { HookEvent, HookRegistration } from "../../engine/types.ts";
import { builtin, type BuiltinOptions } from "./builtin_options.ts";
import { tellFact } from "./facts.ts";
import type { Notes } from "./notes.ts";
import { redactText } from "./redact.ts";

/** What is handed over, and through what. */
export interface HandoffOptions extends BuiltinOptions {
  /** Where it is kept meanwhile. */
  readonly notes: Notes;
  /** Writes the handoff: goal, plan, open ends, blockers. Null or nothing: there is none. */
  readonly summarize: (event: HookEvent) => string | null | undefined | Promise<string | null | undefined>;
  /** Bytes of a handoff. Default 8 KiB. */
  readonly maxBytes?: number;
}

interface Handoff {
  readonly sessionId: string;
  readonly text: string;
}

/**
 * Returns the handlers: `PreCompact` and a `SessionEnd` that rotates save, `SessionStart` of the session that follows
 * injects. Priority 40. Secrets are taken out before anything is kept.
 */
export function handoff(
  { notes, summarize, maxBytes = 8 * 1024, ...options }: HandoffOptions,
): HookRegistration[] {
  async function save(event: HookEvent, firing: object): Promise<null> {
    const summary = await summarize(event);
    if (typeof summary !== "string" || summary === "") return null;
    const text = cutText(redactText(summary).text, maxBytes);
    const note: Handoff = { sessionId: event.sessionId, text };
    await notes.write(keyOf(event), JSON.stringify(note));
    tellFact(firing, "handoffBytes", byteLength(text));
    return null;
  }
  return builtin("handoff", { priority: 40 }, options, {
    PreCompact: (event, { firing }) => save(event, firing),
    SessionEnd: (event, { firing }) => event.details?.reason === "rotation" ? save(event, firing) : null,
    async SessionStart(event, { firing }) {
      const { rotatedFrom } = event.details ?? {};
      if (typeof rotatedFrom !== "string") return null;
      const kept = await notes.read(keyOf(event));
      const note = kept === null ? null : JSON.parse(kept) as Handoff;
      if (note?.sessionId !== rotatedFrom) return null; // Of another session: not this one's past.
      tellFact(firing, "memoryHits", 1);
      const additionalContext = [`Handoff from session ${rotatedFrom}:\n${note.text}`];
      return { action: "injectContext", additionalContext, metadata: { hookId: "handoff" } };
    },
  });
}

function keyOf({ agent, repository = "", branch = "" }: HookEvent): string {
  return `handoff ${agent} ${repository} ${branch}`;
}
