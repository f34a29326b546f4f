/**
 * The start of a session, for frameworks that hand over the system prompt before each call of the model.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";
import type { Session } from "../host/types.ts";

/**
 * Returns the system prompt with the text of plugins before it. The first call starts the session; later ones put the
 * same text before the prompt they are given.
 *
 * @throws {HostError} `session.blocked` where a handler of `SessionStart` blocked: the model must not be called.
 */
export async function startedPrompt(session: Session, systemPrompt: string): Promise<string> {
  const started = await session.start(systemPrompt);
  if (!started.blocked) return started.systemPrompt;
  const { by, reason } = started.blocked;
  throw new HostError("session.blocked", `The start of session "${session.id}" was blocked by ${by}: ${reason}`, {
    data: { session: session.id, by, reason },
    hint: "The model was not called",
  });
}
