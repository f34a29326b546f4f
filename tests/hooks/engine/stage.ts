/**
 * An engine for one test, on a clock that stands still, with what it told.
 *
 * @module
 */
import { AsyncLocalStorage } from "node:async_hooks";
import {
  createHookEngine,
  type FiredEvent,
  type FireOptions,
  type HookEngine,
  type HookEngineOptions,
} from "../../../src/hooks/engine/engine.ts";
import type { HookResult, HookTrace } from "../../../src/hooks/engine/result.ts";
import { createFakeClock, type FakeClock } from "../../support/fake_clock.ts";

/** An engine, its clock and every trace so far. */
export interface Stage {
  readonly engine: HookEngine;
  readonly clock: FakeClock;
  readonly traces: HookTrace[];
  /** Fires a hook in session `ses_1` for the primary. */
  fire(hook: string, rest?: Partial<FiredEvent>, options?: FireOptions): Promise<HookResult>;
  /** `id: outcome` of each handler so far. */
  outcomes(): string[];
}

/** Makes an engine. */
export function stage(options: Partial<HookEngineOptions> = {}): Stage {
  const clock = createFakeClock();
  const traces: HookTrace[] = [];
  const asyncStorage = new AsyncLocalStorage<unknown>();
  const engine = createHookEngine({ clock, asyncStorage, onTrace: (trace) => traces.push(trace), ...options });
  return {
    engine,
    clock,
    traces,
    fire: async (hook, rest = {}, options) => {
      return await engine.fire({ hook, sessionId: "ses_1", agent: "primary", ...rest }, options);
    },
    outcomes: () => traces.map(({ source, outcome }) => `${source.id}: ${outcome}`),
  };
}

/** A source for a handler of a test. */
export function from(id: string): { source: { kind: "code"; id: string } } {
  return { source: { kind: "code", id } };
}
