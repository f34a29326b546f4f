/**
 * Reads what a plugin answers to a hook of the portable model: the envelope, or just text for the model.
 *
 * @module
 */
import { HostError, messageOf } from "../../../core/errors/host_error.ts";
import { checkOutput } from "../../dispatch/boundary.ts";
import { lifecycleContract } from "./lifecycle.ts";
import type { HookResponse } from "../../engine/types.ts";

/**
 * Returns the envelope of an answer, or null when there is none. Text, and `{ inject }`, is context to inject.
 *
 * @throws {HostError} `hook.result_invalid`
 */
export function readPluginAnswer(hook: string, plugin: string, answer: unknown): HookResponse | null {
  if (answer === null || answer === undefined || answer === "") return null;
  const envelope = typeof answer === "string" ? injecting(answer) : fromInject(answer) ?? answer;
  checkAnswer(hook, plugin, envelope, "Return null, a text, { inject }, or an envelope with an action");
  return envelope as HookResponse;
}

/** Throws `hook.result_invalid`, with the hint, when the hookspec refuses an answer. */
export function checkAnswer(hook: string, plugin: string, answer: unknown, hint: string): void {
  try {
    checkOutput(lifecycleContract(hook), plugin, answer);
  } catch (cause) {
    throw new HostError("hook.result_invalid", messageOf(cause), { hint, cause });
  }
}

/** `{ inject: "…" }` without an action, or `action: "inject"`: other names of one thing. */
function fromInject(answer: unknown): HookResponse | null {
  if (typeof answer !== "object" || answer === null || Array.isArray(answer)) return null;
  const { action, inject, ...rest } = answer as { action?: unknown; inject?: unknown };
  if (action === "inject") return { ...rest, action: "injectContext" };
  if (action !== undefined || (inject !== undefined && inject !== null && typeof inject !== "string")) return null;
  return inject ? injecting(inject) : { action: "passThrough" };
}

function injecting(text: string): HookResponse {
  return { action: "injectContext", additionalContext: [text] };
}
