/**
 * Tells a plugin that was ended for going over its limits from one that ended otherwise.
 *
 * @module
 */
import { HostError } from "../../errors/host_error.ts";
import type { Exit, Files } from "../../ports/ports.ts";
import type { CageLimits } from "./cage_limits.ts";
import { wasOutOfMemory } from "./control_group.ts";
import type { Watchdog } from "./watchdog.ts";

/** What is known of a plugin that ended. */
export interface LimitedEnd {
  /** How the launcher, or bubblewrap in its place, ended. */
  readonly exit: Exit;
  /** Its limits. */
  readonly limits: CageLimits;
  /** Folders of its control groups. */
  readonly groups: readonly string[];
  /** Who looked after it, if someone did. */
  readonly watchdog: Watchdog | null;
}

/** How bubblewrap passes on that SIGKILL ended the plugin. */
const KILLED = 128 + 9;

/** Returns which limit ended the plugin, or null. */
export async function limitFailure(
  { exit, limits, groups, watchdog }: LimitedEnd,
  files: Files,
): Promise<HostError | null> {
  if (exit.signal !== "SIGKILL" && exit.code !== KILLED) return null;
  const { memory_mb, pids } = limits;
  const limit = watchdog?.exceeded() ?? (await wasOutOfMemory(groups, files) ? "memory" : null);
  if (limit === "memory") {
    return new HostError(
      "plugin.memory_exceeded",
      `[BLOCKED] The plugin used more than its ${memory_mb} MiB of memory`,
      {
        data: { memory_mb },
        hint: "Mend the plugin, or raise memory_mb under limits in config.toml",
      },
    );
  }
  if (limit === "pids") {
    return new HostError(
      "plugin.pids_exceeded",
      `[BLOCKED] The plugin had more than its ${pids} processes and threads`,
      {
        data: { pids },
        hint: "Mend the plugin, or raise pids under limits in config.toml",
      },
    );
  }
  return null;
}
