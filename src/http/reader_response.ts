/**
 * What a run tells, as server-sent events.
 *
 * @module
 */
import type { StreamEvent, StreamReader } from "../jobs/event_stream.ts";
import type { Clock } from "../core/ports/ports.ts";

/** A quiet stream says this often that it lives: less than what proxies and browsers wait. */
export const BEAT_MS = 15_000;
/** Events sent in one piece, at most. */
const BATCH = 100;
/** What an answer of such events says of itself. */
export const STREAM_HEADERS: Readonly<Record<string, string>> = {
  "Content-Type": "text/event-stream",
  "Cache-Control": "no-store",
  "X-Accel-Buffering": "no", // nginx holds answers back otherwise.
};

/** Returns a response that follows a reader, after `before`, until either side ends it. `onLeave` hears of the client. */
export function readerResponse(
  reader: StreamReader,
  clock: Clock,
  { before = [], onLeave = () => {} }: { readonly before?: readonly StreamEvent[]; readonly onLeave?: () => void } = {},
): Response {
  const encoder = new TextEncoder();
  const first = `retry: 2000\n\n${before.map(eventText).join("")}`;
  let waiting: ReturnType<StreamReader["next"]> | null = null;
  let cancelBeat = (): void => {};
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(encoder.encode(first)),
    async pull(controller) {
      waiting ??= reader.next();
      const beat = new Promise<null>((resolve) => cancelBeat = clock.after(BEAT_MS, () => resolve(null)));
      const result = await Promise.race([waiting, beat]);
      cancelBeat();
      if (result === null) return controller.enqueue(encoder.encode(": alive\n\n"));
      waiting = null;
      if (result.done) controller.close();
      else controller.enqueue(encoder.encode([result.value, ...reader.ready(BATCH)].map(eventText).join("")));
    },
    async cancel() {
      cancelBeat();
      onLeave();
      await reader.return();
    },
  });
  return new Response(body, { headers: STREAM_HEADERS });
}

function eventText({ id, type, json }: StreamEvent): string {
  return `id: ${id}\nevent: ${type}\ndata: ${json}\n\n`;
}
