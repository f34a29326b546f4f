/**
 * Runs a plugin once and reports which of its grants it used.
 *
 * @module
 */
import type { AuditEvent } from "../../core/audit/events.ts";
import type { NetEvent } from "../../core/cage/net/gatekeeper.ts";
import type { RefusalReason } from "../../core/cage/net/judge_target.ts";
import type { Manifest } from "../../core/manifest/manifest.ts";
import type { Files } from "../../core/ports/ports.ts";
import { type GrantReport, grantReport, refusedPaths } from "../syscalls/grant_report.ts";
import type { Observed } from "../syscalls/read_strace.ts";
import { watchSyscalls } from "../syscalls/watch_syscalls.ts";
import { checkLife, type LifeTrail } from "./check_life.ts";
import type { CheckOptions } from "./check_options.ts";
import type { CheckRecorder } from "./report.ts";

/** Like {@link checkLife}, watched from outside the cage. */
export async function checkWatched(
  dir: string,
  manifest: Manifest,
  recorder: CheckRecorder,
  options: CheckOptions,
): Promise<GrantReport> {
  const { runtime: { files }, home, projectDir = null } = options;
  const installDir = await files.realPath(dir);
  const watch = await watchSyscalls(options.runtime, home, installDir);
  let trail: LifeTrail;
  let observed: Observed;
  try {
    trail = await checkLife(dir, manifest, recorder, { ...options, runtime: watch.runtime });
  } finally {
    observed = await watch.finish();
  }
  return grantReport({
    capabilities: manifest.capabilities,
    places: { installDir, home, projectDir },
    observed,
    net: trail.events.flatMap(netEvent),
    storage: trail.storage,
    files: watch.files,
    notes: [...watch.notes, ...trail.failedCalls],
    existing: await existingOf(observed, files),
  });
}

function netEvent(event: AuditEvent): NetEvent[] {
  if (event.type === "plugin.net_opened") return [{ kind: "opened", ...event.data }];
  if (event.type !== "plugin.net_refused") return [];
  return [{ kind: "refused", ...event.data, reason: event.data.reason as RefusalReason }];
}

/** Returns the refused paths, and their folders, that exist on the host: no capability could grant the others. */
async function existingOf(observed: Observed, files: Files): Promise<Set<string>> {
  const asked = refusedPaths(observed).flatMap(({ path, access }) =>
    access === "write" ? [path, path.slice(0, path.lastIndexOf("/")) || "/"] : [path]
  );
  const found = await Promise.all([...new Set(asked)].map(async (path) => {
    return await files.target(path).catch(() => null) === null ? [] : [path];
  }));
  return new Set(found.flat());
}
