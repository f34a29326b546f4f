/**
 * Runs a plugin once and tells what it used of what it was granted.
 *
 * @module
 */
import type { AuditEvent } from "../../core/audit/events.ts";
import type { NetEvent } from "../../core/cage/net/gatekeeper.ts";
import type { RefusalReason } from "../../core/cage/net/judge_target.ts";
import type { Manifest } from "../../core/manifest/manifest.ts";
import type { Files } from "../../core/ports/ports.ts";
import type { Observed } from "../syscalls/observed.ts";
import { startTrace } from "../syscalls/start_trace.ts";
import { refusedPaths, type TraceReport, traceReport } from "../syscalls/trace_report.ts";
import { checkLife, type LifeTrail } from "./check_life.ts";
import type { CheckOptions } from "./check_options.ts";
import type { CheckRecorder } from "./report.ts";

/** Like {@link checkLife}, watched from outside the cage. */
export async function checkTraced(
  dir: string,
  manifest: Manifest,
  recorder: CheckRecorder,
  options: CheckOptions,
): Promise<TraceReport> {
  const { runtime: { files }, home, projectDir = null } = options;
  const installDir = await files.realPath(dir);
  const trace = await startTrace(options.runtime, home, installDir);
  let trail: LifeTrail;
  let observed: Observed;
  try {
    trail = await checkLife(dir, manifest, recorder, { ...options, runtime: trace.runtime });
  } finally {
    observed = await trace.finish();
  }
  return traceReport({
    capabilities: manifest.capabilities,
    places: { installDir, home, projectDir },
    observed,
    net: trail.events.flatMap(netEvent),
    storage: trail.storage,
    files: trace.files,
    notes: [...trace.notes, ...trail.failedCalls],
    existing: await existingOf(observed, files),
  });
}

function netEvent(event: AuditEvent): NetEvent[] {
  if (event.type === "plugin.net_opened") return [{ kind: "opened", ...event.data }];
  if (event.type !== "plugin.net_refused") return [];
  return [{ kind: "refused", ...event.data, reason: event.data.reason as RefusalReason }];
}

/** Which refused paths are there on the host, and which of their folders: the rest nobody could have been given. */
async function existingOf(observed: Observed, files: Files): Promise<Set<string>> {
  const asked = refusedPaths(observed).flatMap(({ path, access }) =>
    access === "write" ? [path, path.slice(0, path.lastIndexOf("/")) || "/"] : [path]
  );
  const found = await Promise.all([...new Set(asked)].map(async (path) => {
    return await files.target(path).catch(() => null) === null ? [] : [path];
  }));
  return new Set(found.flat());
}
