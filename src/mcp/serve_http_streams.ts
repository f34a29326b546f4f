/**
 * Answers that stream: noticed when they end, and begun early where an answer takes its time.
 *
 * @module
 */
import type { Clock } from "../core/ports/ports.ts";
import { SSE_HEADERS } from "../http/sse.ts";

/** Returns the response; `onEnd` is called once, when it was read to its end or its client has gone. */
export function watched(response: Response, onEnd: () => void): Response {
  const { body, status, headers } = response;
  if (body === null) {
    onEnd();
    return response;
  }
  const reader = body.getReader();
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        controller.close();
      } catch (error) {
        controller.error(error);
      }
      onEnd();
    },
    async cancel(reason) {
      onEnd();
      await reader.cancel(reason);
    },
  });
  return new Response(stream, { status, headers });
}

/** Silence after which an answer that is still to come is begun as a stream. */
const PATIENCE_MS = 5_000;
/** Interval of comment lines in a stream without a message: shorter than the idle timeouts of proxies. */
const BEAT_MS = 15_000;

/**
 * Answers a call. One that takes long is answered by a stream that carries the answer later: clients and proxies give up
 * on a response that does not begin, and only on a response that has begun every runtime says that its client has gone.
 */
export async function patient(
  ask: (signal: AbortSignal) => Promise<Response>,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal | null },
): Promise<Response> {
  const gone = new AbortController();
  const end = (): void => gone.abort();
  signal?.addEventListener("abort", end, { once: true });
  const answer = ask(gone.signal);
  let cancel = (): void => {};
  const late = new Promise<null>((resolve) => cancel = clock.after(PATIENCE_MS, () => resolve(null)));
  const early = await Promise.race([answer, late]);
  cancel();
  if (early) return early;
  answer.catch(() => {}); // The stream below fails with it.
  return new Response(lateBody(answer, { clock, end }), { headers: SSE_HEADERS });
}

/** The body of a stream that beats until the answer is there, and goes on as the answer does. */
function lateBody(
  answer: Promise<Response>,
  { clock, end }: { readonly clock: Clock; readonly end: () => void },
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let reader: ReadableStreamDefaultReader<Uint8Array> | null = null;
  let cancelBeat = (): void => {};

  async function next(): Promise<Uint8Array | null> {
    if (reader) return (await reader.read()).value ?? null;
    const beat = new Promise<null>((resolve) => cancelBeat = clock.after(BEAT_MS, () => resolve(null)));
    const response = await Promise.race([answer, beat]);
    cancelBeat();
    if (response === null) return encoder.encode(": alive\n\n");
    reader = bodyOf(response).getReader();
    return await next();
  }

  return new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(encoder.encode(": alive\n\n")),
    async pull(controller) {
      const chunk = await next();
      if (chunk) controller.enqueue(chunk);
      else controller.close();
    },
    async cancel() {
      cancelBeat();
      end();
      await reader?.cancel();
    },
  });
}

/** An answer as a part of a stream: one that is JSON becomes a message of it. */
function bodyOf(response: Response): ReadableStream<Uint8Array> {
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
  if (isStream && response.body) return response.body;
  const message = response.text().then((text) => text === "" ? "" : `event: message\ndata: ${text}\n\n`);
  return new ReadableStream({
    async pull(controller) {
      controller.enqueue(new TextEncoder().encode(await message));
      controller.close();
    },
  });
}
