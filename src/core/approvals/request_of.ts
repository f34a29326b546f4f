/**
 * A request as it is kept: the call in words and values that a person may see.
 *
 * @module
 */
import type { Args, AskedCall, DeskPorts } from "./desk_types.ts";
import { fitArguments, MAX_KEPT_BYTES } from "./shown_arguments.ts";
import type { Approval } from "./types.ts";

const MAX_REASON = 1_000;

/** Returns the request of a call that is about to wait, with the operator's secrets masked. */
export function requestOf(
  call: AskedCall,
  { clock, ids, secrets, projectId }: Pick<DeskPorts, "clock" | "ids" | "secrets" | "projectId">,
): Approval {
  const { agentPath, sessionId, jobId, tool, plugin, changed, asked, waitMs } = call;
  const fit = (args: Args) => fitArguments(secrets.value(args), MAX_KEPT_BYTES);
  const { arguments: args, isCut } = fit(call.arguments);
  const nowMs = clock.now();
  return {
    id: ids.create("apr"),
    createdAt: new Date(nowMs).toISOString(),
    expiresAt: new Date(nowMs + waitMs).toISOString(),
    projectId,
    agentPath,
    sessionId,
    jobId,
    tool,
    plugin,
    arguments: args,
    argumentsCut: isCut,
    changed: changed && { before: fit(changed.before).arguments, by: changed.by },
    source: asked[0]!.source,
    sources: asked.map(({ source }) => source),
    reason: secrets.text([...new Set(asked.map(({ reason }) => reason))].join("; ")).slice(0, MAX_REASON),
    state: "waiting",
    end: null,
  };
}
