/**
 * The start of a session by middleware: nobody else is there to heed a handler that blocks it.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";
import type { Session } from "../host/types.ts";

/**
 * Starts the session, the first time, and returns the system prompt with the text of plugins before it.
 *
 * @throws {HostError} `session.blocked` when a handler of `SessionStart` blocks.
 */
export async function startedPrompt(session: Session, systemPrompt: string): Promise<string> {
  const { systemPrompt: prompt, blocked } = await session.start(systemPrompt);
  if (!blocked) return prompt;
  const { by, reason } = blocked;
  throw new HostError("session.blocked", `The session was blocked by ${by}: ${reason}`, {
    data: { session_id: session.id, by, reason },
  });
}
