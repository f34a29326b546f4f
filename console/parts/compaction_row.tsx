/**
 * One compaction: the window before and after, and the texts that were kept.
 *
 * @module
 */
import type { JSX } from "preact";
import type { CompactionRecord } from "../../src/host/compaction_log.ts";
import { bytes, count, dateAndTime } from "../model/words.ts";

const BY: Readonly<Record<CompactionRecord["by"], string>> = {
  compactor: "by the compactor",
  drop: "by dropping",
  summarize: "by a summary",
  none: "left as it was",
};

/** A compaction as an entry of a list. */
export function CompactionRow({ of }: { of: CompactionRecord }): JSX.Element {
  const { before, after, timestamp, trigger, by, fallback, summary, retained, left_out, superseded } = of;
  const share = before.tokens === 0 ? 0 : Math.round(after.tokens / before.tokens * 100);
  return (
    <li class="card compaction">
      <header>
        <time class="number" dateTime={timestamp}>{dateAndTime(timestamp)}</time>
        <span>{BY[by]}</span>
        <span class="quiet">{trigger.replaceAll("_", " ")}</span>
      </header>
      <div class="sizes">
        <meter value={after.tokens} max={Math.max(1, before.tokens)} aria-label="Tokens left" />
        <span class="number">
          {count(before.tokens)} → {count(after.tokens)} tokens ({share} %)
        </span>
        <span class="number quiet">
          {before.messages} → {after.messages} messages, {superseded} replaced
        </span>
      </div>
      {fallback && <p class="danger">The first choice failed: {fallback}</p>}
      {left_out.map(({ plugin, bytes: size }, at) => (
        <p key={at} class="danger">No room for the text of {plugin} ({bytes(size)})</p>
      ))}
      {summary && (
        <details>
          <summary>Summary of the replaced messages</summary>
          <p class="pre">{summary}</p>
        </details>
      )}
      {retained.length > 0 && (
        <details open>
          <summary>Kept ({retained.length})</summary>
          <ul class="retained">
            {retained.map(({ plugin, text }, at) => (
              <li key={at}>
                <span class="quiet">{plugin}</span> <span class="pre">{text}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </li>
  );
}
