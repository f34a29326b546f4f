/**
 * One event to subscribers in the same process: ours, a bare loop, `hookable` and `tapable`. Ours also gives each
 * subscriber a copy of its own, the time, and no way to throw into the program; the others hand one object round. In the
 * cases with copies they get their copies from `structuredClone`, as a program would that cannot trust its subscribers.
 *
 * @module
 */
import { createHooks } from "hookable";
import { AsyncSeriesHook } from "tapable";
import { createEmitter } from "../../src/events/emitter.ts";
import type { EmittedEvents } from "../../src/events/types.ts";
import type { Repeat } from "./rounds.ts";

type Run = Omit<EmittedEvents["agent:end"], "timestamp">;
type Subscriber = (run: Run) => unknown;

const run: Run = {
  agentName: "primary.subagents.researcher",
  input: "What did we decide about the deploy target, and where is it written down?",
  output: "You decided for the edge on 12 May. ".repeat(20),
  toolsUsed: ["memory-markdown.recall", "filesystem.read"],
  usage: { promptTokens: 1800, completionTokens: 160, totalTokens: 1960 },
  duration: 2340,
  conversationId: "ses_01j9z3k7",
};

/** Every case by name, with a way to do it for each implementation. */
export function dispatchCases(): Record<string, Record<string, Repeat>> {
  const cases: Record<string, Record<string, Repeat>> = {};
  for (const kind of ["sync", "async"] as const) {
    for (const count of [1, 5, 20]) {
      cases[`event to ${count} ${kind}`] = allWays(kind, count, (subscriber) => subscriber);
    }
  }
  for (const count of [1, 5, 20]) {
    const copying = (subscriber: Subscriber): Subscriber => (run) => subscriber(structuredClone(run));
    cases[`event to ${count} sync, a copy each`] = allWays("sync", count, copying);
  }
  return cases;
}

function allWays(
  kind: "sync" | "async",
  count: number,
  wrap: (subscriber: Subscriber) => Subscriber,
): Record<string, Repeat> {
  const entries = Object.entries(ways).map(([way, make]): [string, Repeat] => {
    const repeat = checked(way, count, (heard) => {
      const plain = subscribers(kind, count, heard);
      return make(way === "ours" ? plain : plain.map(wrap));
    });
    return [way, repeat];
  });
  return Object.fromEntries(entries);
}

const ways: Record<string, (subscribers: readonly Subscriber[]) => () => unknown> = {
  ours(subscribers) {
    const emitter = createEmitter({ level: "summary", clock: Date });
    for (const subscriber of subscribers) emitter.on("agent:end", subscriber);
    return () => emitter.emit("agent:end", run);
  },
  bare: bareLoop,
  "bare again": bareLoop,
  hookable(subscribers) {
    const hooks = createHooks<{ "agent:end": (run: Run) => void }>();
    for (const subscriber of subscribers) hooks.hook("agent:end", subscriber as (run: Run) => void);
    return () => hooks.callHook("agent:end", run);
  },
  tapable(subscribers) {
    const hook = new AsyncSeriesHook<[Run]>(["run"]);
    for (const [index, subscriber] of subscribers.entries()) {
      hook.tapPromise(`subscriber ${index}`, async (each) => void await subscriber(each));
    }
    return () => hook.promise(run);
  },
};

function bareLoop(subscribers: readonly Subscriber[]): () => unknown {
  return async () => {
    for (const subscriber of subscribers) await subscriber(run);
  };
}

function subscribers(kind: "sync" | "async", count: number, heard: () => void): Subscriber[] {
  return Array.from({ length: count }, () => kind === "sync" ? heard : () => Promise.resolve().then(heard));
}

/** Waits until everyone heard each event, which some ways know of themselves: one that loses events would show. */
function checked(name: string, subscriberCount: number, make: (heard: () => void) => () => unknown): Repeat {
  let heard = 0;
  const dispatch = make(() => void heard++);
  return async (count) => {
    for (let at = 0; at < count; at++) {
      const wanted = heard + subscriberCount;
      await dispatch();
      for (let turn = 0; heard < wanted; turn++) {
        if (turn === 1000) throw new Error(`${name} lost ${wanted - heard} events`);
        await Promise.resolve();
      }
    }
  };
}
