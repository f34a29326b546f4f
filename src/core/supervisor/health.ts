/**
 * Whether a plugin is still well: a ping at each interval, and one more after a call timed out.
 *
 * @module
 */
import { HostError, messageOf } from "../errors/host_error.ts";

const PING_TIMEOUT_MS = 5_000;
const MAX_FAILURES = 3;

/** What the watch needs. */
export interface HealthOptions {
  /** The plugin's name. */
  readonly plugin: string;
  /** Pings it: a plugin that is well answers `{ status: "ok" }` within the time. */
  readonly ping: (timeoutMs: number) => Promise<unknown>;
  /** Time between pings. */
  readonly intervalMs: number;
  /** Runs a function later, unless the process has ended by then. */
  readonly after: (ms: number, run: () => void) => void;
  /** Whether anyone still cares. */
  readonly isWatched: () => boolean;
  /** Hears of each failed ping. */
  readonly onIll: (failures: number, error: string) => void;
  /** Hears that the plugin must be ended. */
  readonly onDead: (cause: HostError, reason: string) => void;
}

/** Watches one plugin. */
export interface HealthWatch {
  /** Begins to ping. */
  start(): void;
  /** A call timed out: one ping decides whether the plugin hangs. */
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

/** Returns what is wrong with the answer to a ping, or null. */
async function pingProblem(ping: HealthOptions["ping"]): Promise<string | null> {
  try {
    const answer = await ping(PING_TIMEOUT_MS);
    const status = (answer as { status?: unknown } | null)?.status;
    return status === "ok" ? null : `ping was answered ${JSON.stringify(answer)?.slice(0, 200)}`;
  } catch (error) {
    return messageOf(error);
  }
}
