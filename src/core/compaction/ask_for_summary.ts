/**
 * Asks the embedder's function for a summary, within bounds.
 *
 * @module
 */
import { messageOf } from "../errors/host_error.ts";
import type { Message } from "./messages.ts";
import type { CompactionPorts } from "./types.ts";

/** A summary, or why there is none. */
export type SummaryAnswer =
  | { readonly ok: true; readonly summary: string }
  | { readonly ok: false; readonly reason: string; readonly detail: string };

/** Asks for a summary of `messages`. Always settles, and never rejects: at its time's end the signal aborts. */
export async function askForSummary(
  messages: readonly Message[],
  { summarize, clock, summarizeTimeoutMs = 60_000 }: Pick<
    CompactionPorts,
    "summarize" | "clock" | "summarizeTimeoutMs"
  >,
): Promise<SummaryAnswer> {
  if (!summarize) return none("summarize_missing", "The strategy is summarize and no function for it was given");
  const controller = new AbortController();
  const { promise: late, resolve } = Promise.withResolvers<SummaryAnswer>();
  const endTimer = clock.after(summarizeTimeoutMs, () => {
    resolve(none("summarize_timeout", `The summary was not there after ${summarizeTimeoutMs} ms`));
    controller.abort();
  }, { keepAlive: true });
  const asked = Promise.resolve()
    .then(() => summarize([...messages], { signal: controller.signal }))
    .then(readSummary, (error) => none("summarize_failed", messageOf(error).slice(0, 500)));
  const answer = await Promise.race([asked, late]);
  endTimer();
  return answer;
}

function readSummary(summary: unknown): SummaryAnswer {
  if (typeof summary !== "string") return none("summarize_failed", "The summary is not a text");
  return summary.trim() === "" ? none("summarize_failed", "The summary is empty") : { ok: true, summary };
}

function none(reason: string, detail: string): SummaryAnswer {
  return { ok: false, reason, detail };
}
