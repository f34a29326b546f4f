/**
 * The health of a plugin: a ping at each interval, and one more after a call timed out. A plugin whose calls keep timing
 * out is stuck, although it still answers pings: its own workers may all be waiting for something.
 *
 * @module
 */
import { HostError, messageOf } from "../errors/host_error.ts";

const PING_TIMEOUT_MS = 5_000;
const MAX_FAILURES = 3;

/** Time-outs in a row after which a plugin is stuck, where no setting says otherwise. */
export const STUCK_TIMEOUTS = 3;

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
  /** Time-outs in a row, with no call answered in between, after which it is stuck. */
  readonly maxTimeouts: number;
  /** Number of its calls that were answered so far. */
  readonly answered: () => number;
  /** Called once, before {@link onDead}, when it is stuck. */
  readonly onStuck: (timeouts: number, lastCall: HostError) => void;
  /** Called after each failed ping. */
  readonly onIll: (failures: number, error: string) => void;
  /** Called when the plugin must be ended. */
  readonly onDead: (cause: HostError, reason: string) => void;
}

/** A watch over one plugin. */
export interface HealthWatch {
  start(): void;
  /**
   * Takes note of a call that timed out. The last of too many in a row ends the plugin; before that a ping decides, and
   * no answer means that the plugin hangs.
   */
  suspect(cause: HostError): Promise<void>;
}

/** Returns a watch; three failed pings in a row end the plugin, one success forgets them. */
export function watchHealth(options: HealthOptions): HealthWatch {
  const { plugin, intervalMs, maxTimeouts, after, isWatched, answered, onStuck, onIll, onDead } = options;
  let failures = 0;
  let timeouts = 0;
  let answeredBefore = 0;
  let isStuck = false;

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
      if (!isWatched() || isStuck) return;
      timeouts = answered() === answeredBefore ? timeouts + 1 : 1;
      answeredBefore = answered();
      if (timeouts < maxTimeouts) {
        if (!await ping()) onDead(cause, "hangs");
        return;
      }
      isStuck = true;
      onStuck(timeouts, cause);
      const message = `[BLOCKED] Plugin "${plugin}" is stuck: ${timeouts} calls in a row timed out`;
      onDead(new HostError("plugin.unavailable", message, { data: { timeouts }, hint: STUCK_HINT, cause }), "stuck");
    },
  };
}

const STUCK_HINT =
  "Look at its stderr; it is being started again. [limits] timeouts of config.toml says after how many";

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
