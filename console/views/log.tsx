/**
 * The lines that a plugin writes to stderr, followed live.
 *
 * @module
 */
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { LogEntry } from "../../src/http/answers.ts";
import { ApiError, follow, pathOf } from "../model/api.ts";
import { logWords, weightOfLevel } from "../model/log_words.ts";
import { dateAndTime, timeOfDay } from "../model/words.ts";
import { FailureNote } from "../parts/failure.tsx";
import { Empty } from "../parts/states.tsx";

type LogLine = Pick<LogEntry, "id" | "data">;

const MAX_LINES = 1000;
const AGAIN_MS = 2000;

export function LogTab({ plugin }: { plugin: string }): JSX.Element {
  const [lines, setLines] = useState<readonly LogLine[]>([]);
  const [error, setError] = useState<ApiError | null>(null);
  const [isFollowing, setFollowing] = useState(true);
  const box = useRef<HTMLDivElement>(null);

  useEffect(() => {
    const over = new AbortController();
    void followLog(plugin, over.signal, {
      onLines: (more) => setLines((old) => [...old, ...more].slice(-MAX_LINES)),
      onError: setError,
    });
    return () => over.abort();
  }, [plugin]);

  useEffect(() => {
    if (isFollowing && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [lines, isFollowing]);

  return (
    <>
      <div class="bar">
        <label>
          <input
            type="checkbox"
            role="switch"
            checked={isFollowing}
            onChange={({ currentTarget }) => setFollowing(currentTarget.checked)}
          />{" "}
          Follow
        </label>
        <button type="button" onClick={() => setLines([])}>Clear</button>
      </div>
      {error && <FailureNote of={error} isAlert />}
      {lines.length === 0
        ? <Empty title="Nothing in the log">Lines that the plugin writes to stderr appear here.</Empty>
        : (
          // A box that scrolls must be reachable by the keyboard.
          <div class="log" role="log" aria-label={`Log of ${plugin}`} tabIndex={0} ref={box}>
            {lines.map(({ id, data: { timestamp, line } }) => (
              <div key={id} class="log-line">
                <time dateTime={timestamp} title={dateAndTime(timestamp)}>{timeOfDay(timestamp)}</time>
                <Line of={line} />
              </div>
            ))}
          </div>
        )}
    </>
  );
}

function Line({ of: line }: { of: string }): JSX.Element {
  const { level, text, fields } = logWords(line);
  if (level === null) return <span>{text}</span>;
  return (
    <span title={line}>
      <b class={`level ${weightOfLevel(level)}`}>{level}</b> {text}
      {fields !== "" && <span class="quiet">{` ${fields}`}</span>}
    </span>
  );
}

async function followLog(
  plugin: string,
  signal: AbortSignal,
  { onLines, onError }: { onLines(lines: LogLine[]): void; onError(error: ApiError | null): void },
): Promise<void> {
  let lastId: string | null = null;
  while (!signal.aborted) {
    try {
      await follow(pathOf("/api/v1/plugins/{name}/logs", { name: plugin, tail: 500 }), {
        signal,
        lastId,
        onOpen: () => onError(null),
        onEvent(events) {
          lastId = events.at(-1)!.id || lastId;
          onLines(
            events.filter(({ event }) => event === "log").map(({ id, data }) => ({ id, data: JSON.parse(data) })),
          );
        },
      });
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError) onError(error);
      if (error instanceof ApiError && error.status >= 400 && error.status < 500) return;
    }
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}
