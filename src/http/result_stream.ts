/**
 * The result of a job as an answer: a stream of plain text.
 *
 * @module
 */
import type { Hide } from "./problem.ts";

/** Characters held back, so that a secret that lies over the end of a piece is hidden too. */
const HELD_CHARS = 64 * 1024;

/** Returns the answer with a result; `hide` is applied to all of it. */
export function resultResponse(result: ReadableStream<Uint8Array>, hide: Hide | null): Response {
  const body = hide ? hidden(result, hide) : result;
  return new Response(body as BodyInit, { headers: { "Content-Type": "text/plain; charset=utf-8" } });
}

function hidden(result: ReadableStream<Uint8Array>, hide: Hide): ReadableStream<Uint8Array> {
  const [decoder, encoder] = [new TextDecoder(), new TextEncoder()];
  let held = "";
  const pass = new TransformStream<Uint8Array, Uint8Array>({
    transform(piece, controller) {
      held = hide(held + decoder.decode(piece, { stream: true }));
      let end = Math.max(0, held.length - HELD_CHARS);
      if (end > 0 && (held.charCodeAt(end - 1) & 0xfc00) === 0xd800) end--; // Not between the halves of a character.
      if (end > 0) controller.enqueue(encoder.encode(held.slice(0, end)));
      held = held.slice(end);
    },
    flush: (controller) => controller.enqueue(encoder.encode(hide(held + decoder.decode()))),
  });
  return result.pipeThrough(pass);
}
