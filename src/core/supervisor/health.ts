/**
 * The health of a plugin: a ping at each interval, and one more after a call timed out.
 *
 * @module
 */
import { HostError, messageOf } from "../errors/host_error.ts";

const PING_TIMEOUT_MS = 5_000;
const MAX_FAILURES = 3;

/** The plugin under watch. */
export interface HealthOptions {
  /** Its name, for errors. */
  readonly plugin: string;
  /** Pings it: a plugin that is well answers `{ status: "ok" }` within the time. */
  readonly ping: (timeoutMs: number) => Promise<unknown>;
  readonly intervalMs: number;
  /** Runs a function later, unless the process has ended by then. */
  readonly after: (ms: number, run: () => void) => void;
  /** False once the plugin is being stopped. */
  readonly isWatched: () => boolean;
  /** Called after each failed ping. */
  readonly onIll: (failures: number, error: string) => void;
  /** Called when the plugin must be ended. */
  readonly onDead: (cause: HostError, reason: string) => void;
}

/** A watch over one plugin. */
export interface HealthWatch {
  start(): void;
  /** Sends one ping, because a call timed out: no answer means that the plugin hangs. */
  suspect(cause: HostError): Promise<void>;
}

/** Returns a watch; three failed pings in a row end the plugin, one success forgets them. */
export function watchHealth(options: HealthOptions): HealthWatch {
  const { plugin, intervalMs, after, isWatched, onIll, onDead } = options;
  let failures = 0;

  async function ping(): Promise<boolean> {
    const problem = await pingProblem(options.ping);
    if (!isWatched()) return true;
    failures = problem === null ? 0 : failures + 1;
    if (problem !== null) onIll(failures, problem);
    return problem === null;
  }

  function start(): void {
    after(intervalMs, async () => {
      await ping();
      if (!isWatched()) return;
      if (failures < MAX_FAILURES) return start();
      const message = `[BLOCKED] Plugin "${plugin}" missed ${failures} pings in a row`;
      onDead(
        new HostError("plugin.unavailable", message, { data: { failures }, hint: "Look at its stderr" }),
        "health",
      );
    });
  }

  return {
    start,
    async suspect(cause) {
      if (!await ping()) onDead(cause, "hangs");
    },
  };
}

/** Sends something to a plugin that may no longer read: its next ping fails then, and the watch ends it. */
export function quietly(send: () => void): void {
  try {
    send();
  } catch {
    // The ping is what reports it.
  }
}

/** Returns the fault of an answer to a ping, in words, or null. */
async function pingProblem(ping: HealthOptions["ping"]): Promise<string | null> {
  try {
    const answer = await ping(PING_TIMEOUT_MS);
    const status = (answer as { status?: unknown } | null)?.status;
    return status === "ok" ? null : `ping was answered ${JSON.stringify(answer)?.slice(0, 200)}`;
  } catch (error) {
    return messageOf(error);
  }
}
