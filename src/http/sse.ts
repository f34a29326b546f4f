/**
 * Server-sent events: one response for every source of events.
 *
 * @module
 */
import type { Clock } from "../core/ports/ports.ts";

/** Events to send, pulled as fast as the client reads. */
export interface SseSource {
  /** Waits for events and returns them as text, or null at the end. */
  next(): Promise<string | null>;
  /** Called when the client leaves before the end. */
  leave(): void;
}

/** Interval of comment lines in a quiet stream: shorter than the idle timeouts of proxies and browsers. */
const BEAT_MS = 15_000;
const BEAT = ": alive\n\n";

/** Headers of a response that streams events. */
export const SSE_HEADERS: Readonly<Record<string, string>> = {
  "Content-Type": "text/event-stream",
  "Cache-Control": "no-store",
  "X-Accel-Buffering": "no", // nginx holds answers back otherwise.
};

/** Returns a response that streams a source until it or the client ends. */
export function sseResponse(source: SseSource, clock: Clock): Response {
  const encoder = new TextEncoder();
  let waiting: Promise<string | null> | null = null;
  let beat: Promise<string>;
  let cancelBeat = (): void => {};
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      send("retry: 2000\n\n", controller);
    },
    async pull(controller) {
      waiting ??= source.next();
      const text = await Promise.race([waiting, beat]);
      if (text !== BEAT) waiting = null;
      cancelBeat();
      if (text === null) controller.close();
      else send(text, controller);
    },
    cancel() {
      cancelBeat();
      source.leave();
    },
  });
  return new Response(body, { headers: SSE_HEADERS });

  function send(text: string, controller: ReadableStreamDefaultController<Uint8Array>): void {
    controller.enqueue(encoder.encode(text));
    beat = new Promise((resolve) => cancelBeat = clock.after(BEAT_MS, () => resolve(BEAT)));
  }
}

/** Returns one event as it is sent; `data` is JSON, which has no line breaks. */
export function sseText(id: string, event: string, data: string): string {
  return `id: ${id}\nevent: ${event}\ndata: ${data}\n\n`;
}
