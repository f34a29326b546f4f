/**
 * The part of the gate that rules and people have: what a rule says of a call, and what a person says where one is asked.
 *
 * @module
 */
import type { Desk } from "../core/approvals/desk.ts";
import type { Args, Ruling } from "../core/approvals/desk_types.ts";
import type { Verdict } from "../core/rules/rules.ts";
import type { ApprovalSource } from "../core/approvals/types.ts";
import type { Audit } from "../core/audit/audit.ts";
import { HostError } from "../core/errors/host_error.ts";
import { checkArguments } from "../core/tools/check_arguments.ts";
import { canonicalText } from "../core/values/canonical_text.ts";
import { isMap } from "../core/values/plain_data.ts";
import { sha256 } from "../core/values/sha256.ts";
import type { HookContext } from "../hooks/sources/plugin/fire_hook.ts";
import type { CallingJob, GateCall } from "./gate_call.ts";
import type { LiveRules } from "./live_rules.ts";

/** Rules and desk, for the gate. */
export interface JudgePorts {
  readonly rules: Pick<LiveRules, "isEmpty" | "settings" | "judge">;
  readonly desk: Pick<Desk, "ask">;
  readonly audit: Pick<Audit, "emit">;
}

/** Those that ask a person for one call, and the arguments as the caller gave them. */
export interface Asking {
  readonly asked: readonly { readonly source: ApprovalSource; readonly reason: string }[];
  readonly given: Args;
  /** Handlers that changed the arguments since. */
  readonly changedBy: readonly string[];
}

/** Returns what the rules say of a call; null where there are none. Throws, and records, `tool.denied`. */
export function applyRules(call: GateCall, context: HookContext, ports: JudgePorts): Verdict | null {
  if (ports.rules.isEmpty) return null;
  const { name: tool, definition } = call.tool;
  const { agent_path: agent, project_id: project } = context;
  const { destructiveHint } = annotationsOf(definition);
  const verdict = ports.rules.judge({ tool, agent, project: project ?? "", isDestructive: destructiveHint });
  const { decision, source, reason } = verdict;
  if (decision === "deny") throw denied(call, { by: source?.id ?? "rules", reason }, context, ports);
  return verdict;
}

/** Records a call that a rule watches: once, when a person would have been asked. */
export function recordWatched(
  call: GateCall,
  { source }: Pick<Verdict, "source">,
  { agent_path, session_id, request_id }: HookContext,
  { audit }: Pick<JudgePorts, "audit">,
): void {
  const { destructiveHint: destructive, readOnlyHint: read_only } = annotationsOf(call.tool.definition);
  const data = { tool: call.tool.name, by: source?.id ?? "rules", read_only, destructive, agent_path, session_id };
  audit.emit("plugin.tool_watched", subjectOf(call), data, request_id);
}

/** The claims of an MCP server about its tool: nobody has checked them. */
function annotationsOf(
  definition: GateCall["tool"]["definition"],
): Record<"destructiveHint" | "readOnlyHint", boolean> {
  const claims = isMap(definition?.["annotations"]) ? definition["annotations"] : {};
  return { destructiveHint: claims["destructiveHint"] === true, readOnlyHint: claims["readOnlyHint"] === true };
}

/** Asks a person, once for all that ask. Returns the arguments to send. Throws `tool.denied`. */
export async function askPerson(
  call: GateCall,
  args: Args,
  { asked, given, changedBy }: Asking,
  context: HookContext,
  ports: JudgePorts,
): Promise<Args> {
  const { tool, session, options: { signal, onAsk }, job = null } = call;
  const { waitSec } = ports.rules.settings;
  const ruling: Ruling = await ports.desk.ask({
    agentPath: context.agent_path,
    sessionId: session.id,
    jobId: job && job.id,
    tool: tool.name,
    plugin: tool.owner.plugin,
    arguments: args,
    changed: changedBy.length > 0 ? { before: given, by: changedBy } : null,
    asked,
    call: job && await callKey(job, context.agent_path, tool.name, args),
    waitMs: waitSec * 1000,
    signal: job && signal && signal !== job.signal ? AbortSignal.any([job.signal, signal]) : job?.signal ?? signal,
    check: (edited) => checkArguments(tool, edited),
    ...(onAsk && { onAsk }),
  });
  if (!ruling.isAllowed) throw denied(call, ruling, context, ports);
  // The operator may have forbidden it while the person thought.
  applyRules(call, context, ports);
  return ruling.arguments;
}

/** The same text for the same call of the same job in every run of it. */
async function callKey(job: CallingJob, agent: string, tool: string, args: Args): Promise<string> {
  const key = await sha256(canonicalText([job.id, agent, tool, args]));
  return `${key}:${job.count(key)}`;
}

const MAX_REASON = 500;

function denied(
  call: GateCall,
  { by, reason: whole }: { readonly by: string; readonly reason: string },
  { agent_path, session_id, request_id }: HookContext,
  { audit }: JudgePorts,
): HostError {
  const tool = call.tool.name;
  const reason = whole.slice(0, MAX_REASON);
  audit.emit("plugin.tool_denied", subjectOf(call), { tool, by, reason, agent_path, session_id }, request_id);
  return new HostError("tool.denied", `The call of "${tool}" was denied by ${by}: ${reason}`, {
    data: { tool, by, reason },
    hint: "The tool was not called: go on without it, or ask the user what to do instead",
  });
}

function subjectOf({ tool: { owner: { plugin: name, instance } } }: GateCall): { name: string; instance: string } {
  return { name, instance };
}
