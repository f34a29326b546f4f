/**
 * Built-in: a summary of a session goes over to the one that follows it.
 *
 * @module
 */
import { byteLength, cutText } from "../../../core/values/cut_text.ts";
import { permits } from "../../../core/values/permits.ts";
import type { HookEvent, HookRegistration } from "../../engine/types.ts";
import { builtin, type BuiltinOptions } from "./builtin_options.ts";
import { shareFact } from "./facts.ts";
import type { Notes } from "./notes.ts";
import { redactText } from "./redact.ts";

/** The text that is handed over, and where it is kept meanwhile. */
export interface HandoffOptions extends BuiltinOptions {
  /** Keeps the handoffs of the latest 20 sessions of an agent on a branch. */
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

const MAX_KEPT = 20;

/**
 * Returns the handlers: `PreCompact` and `SessionEnd` save, and the `SessionStart` whose `details.rotatedFrom` names the
 * session that saved injects. Priority 40. Secrets are taken out before anything is kept.
 */
export function handoff({ notes, summarize, maxBytes = 8 * 1024, ...options }: HandoffOptions): HookRegistration[] {
  const inTurn = permits(1);

  async function read(key: string): Promise<readonly Handoff[]> {
    const kept = await notes.read(key);
    const handoffs: unknown = kept === null ? [] : JSON.parse(kept);
    return Array.isArray(handoffs) ? handoffs : [];
  }

  /** One write at a time: sessions that end together must not drop each other's handoff. */
  async function keep(key: string, handoff: Handoff): Promise<void> {
    await inTurn(async () => {
      const others = (await read(key)).filter(({ sessionId }) => sessionId !== handoff.sessionId);
      await notes.write(key, JSON.stringify([...others, handoff].slice(-MAX_KEPT)));
    });
  }

  async function save(event: HookEvent, firing: object): Promise<null> {
    const summary = await summarize(event);
    if (typeof summary !== "string" || summary === "") return null;
    const text = cutText(redactText(summary).text, maxBytes);
    await keep(keyOf(event), { sessionId: event.sessionId, text });
    shareFact(firing, "handoffBytes", byteLength(text));
    return null;
  }

  return builtin("handoff", { priority: 40 }, options, {
    PreCompact: (event, { firing }) => save(event, firing),
    SessionEnd: (event, { firing }) => save(event, firing),
    async SessionStart(event, { firing }) {
      const { rotatedFrom } = event.details ?? {};
      if (typeof rotatedFrom !== "string") return null;
      const kept = (await read(keyOf(event))).find(({ sessionId }) => sessionId === rotatedFrom);
      if (!kept) return null;
      shareFact(firing, "memoryHits", 1);
      const additionalContext = [`Handoff from session ${rotatedFrom}:\n${kept.text}`];
      return { action: "injectContext", additionalContext, metadata: { hookId: "handoff" } };
    },
  });
}

function keyOf({ agent, repository = "", branch = "" }: HookEvent): string {
  return `handoff ${agent} ${repository} ${branch}`;
}
