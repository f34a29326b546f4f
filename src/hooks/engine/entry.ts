/**
 * A handler with every option settled.
 *
 * @module
 */
import { HostError } from "../../core/errors/host_error.ts";
import { DEFAULT_PRIORITY } from "../dispatch/order.ts";
import { requireHook } from "./names.ts";
import type { HookEvent, HookHandler, HookRegistration, HookSource, PortableHookName } from "./types.ts";

/** A handler where it stands in the order. */
export interface ListedHook {
  /** The moment. */
  readonly hook: PortableHookName;
  /** Its place among the handlers of that hook, from 1. */
  readonly place: number;
  /** Lowest first. */
  readonly priority: number;
  /** Time it may take. */
  readonly timeoutMs: number;
  /** What a failure of it means. */
  readonly onFailure: "pass" | "block";
  /** Whether it is advisory: warns and injects only. */
  readonly advisory: boolean;
  /** Whether it only looks on: runs after a block too, without a say. */
  readonly telemetryOnly: boolean;
  /** Agents it is for, or null for all. */
  readonly agents: readonly string[] | null;
  /** Where it comes from, with file and line when it has them. */
  readonly source: HookSource;
}

/** A handler, ready to be asked. */
export interface Entry extends Omit<ListedHook, "place"> {
  /** The handler. */
  readonly handler: HookHandler;
  /** Whether it wants an event, or null for all. */
  readonly matches: ((event: HookEvent) => boolean) | null;
}

const TIMEOUT_MS = 3_000;
const MAX_TIMEOUT_MS = 600_000;

/** Returns the entry of a registration. Throws `hook.unknown` or `hook.option_invalid`. */
export function entryOf(registration: HookRegistration): Entry {
  const { handler, priority = DEFAULT_PRIORITY, timeoutMs = TIMEOUT_MS, onFailure = "pass" } = registration;
  const hook = requireHook(registration.hook);
  if (typeof handler !== "function") throw invalid(hook, "handler", "is no function");
  if (!Number.isFinite(priority)) throw invalid(hook, "priority", `is ${priority}, and no number`);
  if (!(timeoutMs >= 1 && timeoutMs <= MAX_TIMEOUT_MS)) {
    throw invalid(hook, "timeoutMs", `is ${timeoutMs}, and not within 1 and ${MAX_TIMEOUT_MS}`);
  }
  if (onFailure !== "pass" && onFailure !== "block") {
    throw invalid(hook, "onFailure", `is "${onFailure}", and neither "pass" nor "block"`);
  }
  const { advisory = false, telemetryOnly = false, agents = null, matches = null } = registration;
  const source = registration.source ?? { kind: "code", id: handler.name || "anonymous" };
  return { hook, handler, priority, timeoutMs, onFailure, advisory, telemetryOnly, agents, matches, source };
}

function invalid(hook: string, option: string, problem: string): HostError {
  return new HostError("hook.option_invalid", `Cannot register for ${hook}: "${option}" ${problem}`, {
    data: { hook, option },
    hint: "Timeouts are in milliseconds; the lowest priority runs first",
  });
}
