/**
 * An audit sink that keeps the newest events in memory.
 *
 * @module
 */
import type { AuditEvent, AuditSink } from "./events.ts";

/** A sink whose newest events can be read back. */
export interface RingBuffer extends AuditSink {
  /** The events it holds, oldest first. */
  events(): AuditEvent[];
}

/** Returns a sink that holds the newest `capacity` events. */
export function ringBuffer(capacity = 1000): RingBuffer {
  if (!Number.isInteger(capacity) || capacity < 1) throw new RangeError(`Capacity must be at least 1, not ${capacity}`);
  const slots: AuditEvent[] = [];
  let next = 0;
  return {
    write(event) {
      slots[next] = event;
      next = (next + 1) % capacity;
    },
    events: () => slots.length < capacity ? slots.slice() : [...slots.slice(next), ...slots.slice(0, next)],
  };
}
