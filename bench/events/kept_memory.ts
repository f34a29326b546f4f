/**
 * Memory that is still held after 100,000 events.
 *
 * @module
 */
import process from "node:process";
import { createEmitter, type Emitter } from "../../src/events/emitter.ts";
import { RUN } from "./emit_cases.ts";

const EVENTS = 100_000;
const SUBSCRIBERS = 20;

/** KiB held, by what the subscribers do. */
export async function keptMemory(): Promise<Record<string, number>> {
  return {
    [`after 100,000 events to ${SUBSCRIBERS} that keep up`]: await kept(() => {}),
    "after 100,000 events to one that is stuck": await kept(() => new Promise(() => {}), 1),
  };
}

async function kept(listener: () => unknown, subscribers = SUBSCRIBERS): Promise<number> {
  await emitMany(emitterTo(listener, subscribers), 2000); // What is made once is not held for each event.
  const before = settledKiB();
  const emitter = emitterTo(listener, subscribers);
  await emitMany(emitter, EVENTS);
  const after = settledKiB();
  emitter.emit("agent:end", RUN); // It is needed up to here.
  return Math.max(0, after - before);
}

function emitterTo(listener: () => unknown, subscribers: number): Emitter {
  const emitter = createEmitter({ level: "summary", clock: Date });
  for (let at = 0; at < subscribers; at++) emitter.on("agent:end", listener);
  return emitter;
}

async function emitMany(emitter: Emitter, count: number): Promise<void> {
  for (let at = 0; at < count; at++) {
    emitter.emit("agent:end", RUN);
    if (at % 100 === 99) await new Promise(setImmediate);
  }
}

function settledKiB(): number {
  const { gc, Bun } = globalThis as { gc?: () => void; Bun?: { gc(isForced: boolean): void } };
  for (let round = 0; round < 3; round++) Bun ? Bun.gc(true) : gc?.();
  return process.memoryUsage().heapUsed / 1024;
}
