/**
 * A call that waits for a person, in lines. The printer makes every text printable: tools, arguments and reasons are not
 * ours.
 *
 * @module
 */
import type { Approval } from "../http/answers.ts";
import { printForm } from "./form_questions.ts";
import type { Printer } from "./terminal.ts";

/** Lines of arguments that are shown unless the whole is asked for. */
const MAX_LINES = 40;
const MAX_LINE_CHARS = 400;

/** Returns a request as one line of a list. */
export function requestLine(request: Approval, { paint }: Printer, nowMs: number): string {
  const { id, tool, agent_path, project_id, source, state, end } = request;
  const how = state === "waiting" ? `${timeLeft(request, nowMs)} left` : `${state}${end?.by ? ` by ${end.by}` : ""}`;
  const isTool = source.kind === "rule" || source.kind === "hook"; // Its name has the plugin in it.
  const whose = isTool ? "" : `${request.plugin}, `;
  return `${id} ${paint.bold(tool)} of ${whose}${agent_path} (${project_id}), asked by ${source.id}, ${how}`;
}

/** Prints a request with its arguments. */
export function printRequest(
  request: Approval,
  out: Printer,
  nowMs: number,
  { isWhole = false }: { readonly isWhole?: boolean } = {},
): void {
  const { reason, sources, job_id, session_id, changed, arguments_cut: isCut } = request;
  out.line(requestLine(request, out, nowMs));
  out.line(`  why: ${reason}`);
  if (sources.length > 1) out.line(`  asked by: ${sources.map(({ id }) => id).join(", ")}`);
  if (job_id !== null) out.line(`  job: ${job_id}`);
  else if (session_id !== null) out.line(`  session: ${session_id}`);
  if (changed) {
    out.line(`  changed by ${changed.by.join(", ")}, before:`);
    quoteJson(changed.before, out, isWhole);
  }
  if (printForm(request, out)) return;
  out.line("  arguments:");
  quoteJson(request.arguments, out, isWhole);
  if (isCut) out.line(out.paint.dim("  (parts are left out for their size)"));
}

function quoteJson(value: unknown, out: Printer, isWhole: boolean): void {
  const lines = JSON.stringify(value, null, 2).split("\n");
  if (isWhole) return out.quote(lines.join("\n"));
  const cut = lines.slice(0, MAX_LINES)
    .map((line) =>
      line.length <= MAX_LINE_CHARS ? line : `${line.slice(0, MAX_LINE_CHARS)}… (${line.length} characters)`
    );
  out.quote(cut.join("\n"));
  if (lines.length > MAX_LINES) {
    out.line(out.paint.dim(`  (${lines.length - MAX_LINES} more lines: kaged approvals show)`));
  }
}

function timeLeft({ expires_at }: Approval, nowMs: number): string {
  const seconds = Math.max(0, Math.round((Date.parse(expires_at) - nowMs) / 1000));
  return seconds >= 120 ? `${Math.floor(seconds / 60)} min` : `${seconds} s`;
}
