/**
 * One event to 0, 1 and 20 subscribers: ours, Node's `EventEmitter` and `emittery`. Ours also stamps the time, gives
 * each subscriber a copy of its own and lets none throw into the program; the others hand one object round. So each
 * stands here a second time, with copies from `structuredClone`.
 *
 * @module
 */
import { EventEmitter } from "node:events";
import Emittery from "emittery";
import { createEmitter } from "../../src/events/emitter.ts";
import type { EmittedEvents } from "../../src/events/types.ts";
import type { Repeat } from "../hooks/rounds.ts";

type Run = Omit<EmittedEvents["agent:end"], "timestamp">;
type Subscriber = (run: Run) => void;

/** An event of the usual size. */
export const RUN: Run = {
  agentName: "primary.subagents.researcher",
  input: "What did we decide about the deploy target, and where is it written down?",
  output: "You decided for the edge on 12 May. ".repeat(20),
  toolsUsed: ["memory-markdown.recall", "filesystem.read"],
  usage: { promptTokens: 1800, completionTokens: 160, totalTokens: 1960 },
  duration: 2340,
  conversationId: "ses_01j9z3k7",
};

const copying = (subscriber: Subscriber): Subscriber => (run) => subscriber(structuredClone(run));

const ways: Record<string, (subscribers: readonly Subscriber[]) => () => unknown> = {
  ours(subscribers) {
    const emitter = createEmitter({ level: "summary", clock: Date });
    for (const subscriber of subscribers) emitter.on("agent:end", subscriber);
    return () => emitter.emit("agent:end", RUN);
  },
  EventEmitter: eventEmitter,
  "EventEmitter again": eventEmitter,
  emittery,
  "EventEmitter + copies": (subscribers) => eventEmitter(subscribers.map(copying)),
  "emittery + copies": (subscribers) => emittery(subscribers.map(copying)),
};

/** Every case by name, with a way to do it for each implementation. */
export function emitCases(): Record<string, Record<string, Repeat>> {
  const cases = [0, 1, 20].map((count) => {
    const repeats = Object.entries(ways).map(([way, make]) => [way, delivered(way, count, make)]);
    return [`emit to ${count}`, Object.fromEntries(repeats)];
  });
  return Object.fromEntries(cases);
}

function eventEmitter(subscribers: readonly Subscriber[]): () => unknown {
  const emitter = new EventEmitter();
  emitter.setMaxListeners(0);
  for (const subscriber of subscribers) emitter.on("agent:end", subscriber);
  return () => void emitter.emit("agent:end", RUN);
}

function emittery(subscribers: readonly Subscriber[]): () => unknown {
  const emitter = new Emittery<{ "agent:end": Run }>();
  for (const subscriber of subscribers) emitter.on("agent:end", ({ data }) => subscriber(data));
  return () => emitter.emit("agent:end", RUN);
}

/** Emits one after the other, and waits until everyone heard each: one that loses events would show. */
function delivered(
  name: string,
  subscriberCount: number,
  make: (subscribers: readonly Subscriber[]) => () => unknown,
): Repeat {
  let heard = 0;
  const emit = make(Array.from({ length: subscriberCount }, () => () => void heard++));
  return async (count) => {
    for (let at = 0; at < count; at++) {
      const wanted = heard + subscriberCount;
      const promise = emit();
      if (promise !== undefined) await promise;
      for (let turn = 0; heard < wanted; turn++) {
        if (turn === 1000) throw new Error(`${name} lost ${wanted - heard} events`);
        await Promise.resolve();
      }
    }
  };
}
