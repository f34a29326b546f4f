/**
 * One event through a chain of handlers in the same process: ours, a bare loop that awaits each, the same loop with the
 * frozen copy that ours makes, a bare `for await` over
 * their answers (which asks all of them at once), `hookable` and `tapable`. Ours also seals a copy of the event, which
 * no handler can change, gives each a deadline, reads its answer, traces it, and lets none throw into the program. In
 * the cases with copies the others copy with `structuredClone`; elsewhere they hand the caller's own object round.
 *
 * @module
 */
import { createHooks } from "hookable";
import { AsyncSeriesHook } from "tapable";
import { createHookEngine } from "../../src/hooks/engine/engine.ts";
import { sealEvent } from "../../src/hooks/engine/sealed_event.ts";
import type { HookEvent } from "../../src/hooks/engine/types.ts";
import type { Repeat } from "./rounds.ts";

type Handler = (event: HookEvent) => null | Promise<null>;

const event: HookEvent = {
  hook: "PreToolUse",
  timestamp: "2026-01-01T00:00:00.000Z",
  sessionId: "ses_01j9z3k7",
  agent: "primary.subagents.researcher",
  budget: { usedTokens: 78_124, effectiveLimit: 160_000 },
  tool: { name: "filesystem.read" },
  input: { path: "notes/2026-05-12.md", range: { from: 1, to: 200 } },
};

const answered: Promise<null> = Promise.resolve(null);

const clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms: number, run: () => void): () => void {
    const timer = setTimeout(run, ms);
    if (typeof timer === "object") timer.unref();
    return () => clearTimeout(timer);
  },
};

/** Every case by name, with a way to do it for each implementation. */
export function chainCases(): Record<string, Record<string, Repeat>> {
  const cases: Record<string, Record<string, Repeat>> = {};
  for (const count of [1, 5, 20]) {
    for (const kind of ["sync", "async"] as const) {
      const handlers = Array.from({ length: count }, (): Handler => kind === "sync" ? () => null : () => answered);
      cases[`chain of ${count} ${kind}`] = waysOf(handlers, handlers);
      if (count !== 5) continue;
      const copying = handlers.map((handler): Handler => (event) => handler(structuredClone(event)));
      cases[`chain of ${count} ${kind}, a copy each`] = waysOf(handlers, copying);
    }
  }
  return cases;
}

function waysOf(own: readonly Handler[], others: readonly Handler[]): Record<string, Repeat> {
  return {
    ours: repeated(ours(own)),
    bare: repeated(bareLoop(others)),
    "bare again": repeated(bareLoop(others)),
    "bare, frozen copy": repeated(frozenLoop(others)),
    "bare, frozen copy again": repeated(frozenLoop(others)),
    "for await": repeated(forAwait(others)),
    hookable: repeated(withHookable(others)),
    tapable: repeated(withTapable(others)),
  };
}

function ours(handlers: readonly Handler[]): () => unknown {
  const engine = createHookEngine({ clock });
  for (const handler of handlers) engine.register("PreToolUse", handler);
  return () => engine.fire(event);
}

function bareLoop(handlers: readonly Handler[]): () => unknown {
  return async () => {
    for (const handler of handlers) await handler(event);
  };
}

/** The bare loop with one thing of ours in it: the handlers get the frozen copy that ours get, made by the same function. */
function frozenLoop(handlers: readonly Handler[]): () => unknown {
  return async () => {
    const sealed = sealEvent(event, event.hook, event.timestamp).event;
    for (const handler of handlers) await handler(sealed);
  };
}

function forAwait(handlers: readonly Handler[]): () => unknown {
  return async () => {
    for await (const answer of handlers.map((handler) => handler(event))) if (answer) throw new Error("It answered");
  };
}

function withHookable(handlers: readonly Handler[]): () => unknown {
  const hooks = createHooks<{ PreToolUse: (event: HookEvent) => void }>();
  for (const handler of handlers) hooks.hook("PreToolUse", handler as unknown as (event: HookEvent) => void);
  return () => hooks.callHook("PreToolUse", event);
}

function withTapable(handlers: readonly Handler[]): () => unknown {
  const hook = new AsyncSeriesHook<[HookEvent]>(["event"]);
  for (const [index, handler] of handlers.entries()) {
    hook.tapPromise(`handler ${index}`, async (each) => void await handler(each));
  }
  return () => hook.promise(event);
}

function repeated(once: () => unknown): Repeat {
  return async (count) => {
    for (let at = 0; at < count; at++) await once();
  };
}
