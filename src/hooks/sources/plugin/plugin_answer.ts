/**
 * Reads a plugin's answer to any hook into the one shape the chain acts on.
 *
 * @module
 */
import { HostError, messageOf } from "../../../core/errors/host_error.ts";
import { checkOutput } from "../../dispatch/boundary.ts";
import type { HookResponse } from "../../engine/types.ts";
import { lifecycleContract, takesEvent } from "./lifecycle.ts";

/** An answer in the shape that the chain and a compaction use. */
export interface PluginAnswer {
  /** For the chain; null passes through. */
  readonly response: HookResponse | null;
  /** Texts that an observer of a compaction wants kept. */
  readonly retain: readonly string[];
  /** Parts of the answer that were left out, for the audit. */
  readonly problems: readonly string[];
}

const MAX_RETAINED = 1000;
const NOTHING: PluginAnswer = { response: null, retain: [], problems: [] };

/**
 * Reads an answer: an envelope, a text, or `{ inject }` where the hook takes an event; a text or `{ retain, inject }`
 * where answers are collected; anything where nobody reads it.
 *
 * @throws {HostError} `hook.result_invalid` for an answer that the hookspec refuses: nothing of it is used.
 */
export function readPluginAnswer(hook: string, plugin: string, answer: unknown): PluginAnswer {
  if (takesEvent(hook)) return { ...NOTHING, response: readEnvelope(hook, plugin, answer) };
  if (lifecycleContract(hook).dispatch === "broadcast_notify") return NOTHING;
  checkAnswer(hook, plugin, answer ?? null, "Return null, a text, or a map such as { inject }");
  const given = typeof answer === "string" ? { inject: answer } : (answer ?? {}) as CollectedAnswer;
  const retain = (given.retain ?? []).filter((text) => text !== "");
  const problems: string[] = [];
  if (given.role === "compactor") problems.push("it answers as a compactor and was asked as an observer");
  if (retain.length > MAX_RETAINED) problems.push(`"retain" holds more than ${MAX_RETAINED} texts`);
  return { response: given.inject ? injecting(given.inject) : null, retain: retain.slice(0, MAX_RETAINED), problems };
}

/** Fields of an answer that is collected; a compactor's has a role. */
interface CollectedAnswer {
  readonly retain?: readonly string[];
  readonly inject?: string | null;
  readonly role?: unknown;
}

function readEnvelope(hook: string, plugin: string, answer: unknown): HookResponse | null {
  if (answer === null || answer === undefined || answer === "") return null;
  const envelope = typeof answer === "string" ? injecting(answer) : fromInject(answer) ?? answer;
  checkAnswer(hook, plugin, envelope, "Return null, a text, { inject }, or an envelope with an action");
  return envelope as HookResponse;
}

function checkAnswer(hook: string, plugin: string, answer: unknown, hint: string): void {
  try {
    checkOutput(lifecycleContract(hook), plugin, answer);
  } catch (cause) {
    throw new HostError("hook.result_invalid", messageOf(cause), { hint, cause });
  }
}

/** `{ inject: "…" }` without an action, and `action: "inject"`, both mean `injectContext`. */
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
