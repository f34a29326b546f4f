/**
 * Answers that hold for more than one call: for a session, or from now on.
 *
 * @module
 */
import { NAMELESS } from "../contract/hook_names.ts";
import { HostError, messageOf } from "../errors/host_error.ts";
import { invalid } from "./check_answer.ts";
import type { DeskLog } from "./desk_log.ts";
import type { AskedCall, DeskPorts } from "./desk_types.ts";
import type { Approval, ApprovalAnswer, ApprovalSource, StandingAnswer } from "./types.ts";

/** One of those that ask, and the answer it has been given before; null when it has none. */
export interface Answered {
  readonly source: ApprovalSource;
  readonly reason: string;
  readonly answer: StandingAnswer | null;
}

/** Sources whose answers are for one plugin: others may ask for the same. */
const OF_ONE_PLUGIN: readonly ApprovalSource["kind"][] = ["network", "sampling"];

/** Checks that an answer can be kept for later calls as far as it is to reach. Throws `approval.answer_invalid`. */
export function checkReach({ sources }: Pick<Approval, "sources">, { scope }: Pick<ApprovalAnswer, "scope">): void {
  if (scope !== undefined && scope !== "once" && sources.some(({ kind }) => kind === "elicitation")) {
    throw invalid("A form is filled in once: the next one may ask for something else", 'Answer "once"');
  }
  if (scope !== "always" || !sources.some(({ kind, id }) => kind === "hook" && id === NAMELESS)) return;
  throw invalid(
    "A handler that asks has no name, so that the answer would hold for every handler without one",
    'Answer "once" or "session", or name the handler in the program: function careful(event) { … }',
  );
}

/** Finds the answer that each of those that ask has been given before; the newest counts. */
export function standingFor(
  { asked, tool, plugin, agentPath, sessionId }: AskedCall,
  all: readonly StandingAnswer[],
): Answered[] {
  const fits = (kept: StandingAnswer, { kind, id }: ApprovalSource): boolean =>
    kept.tool === tool && kept.agentPath === agentPath && kept.source.kind === kind && kept.source.id === id &&
    (!OF_ONE_PLUGIN.includes(kind) || kept.plugin === plugin) &&
    (kept.sessionId === null || kept.sessionId === sessionId);
  return asked.map((one) => ({ ...one, answer: all.findLast((kept) => fits(kept, one.source)) ?? null }));
}

/**
 * Keeps an answer for later calls, for each of those that asked: in the operator's own files where they have a place for
 * it, else in the store.
 *
 * @throws {HostError} `approval.answer_invalid` when a file cannot be written; the answer then counts for one call.
 */
export async function keepAnswer(
  done: Approval,
  answer: ApprovalAnswer,
  ports: Pick<DeskPorts, "store" | "ids" | "keepAlways">,
  log: Pick<DeskLog, "rulesChanged">,
): Promise<void> {
  const { scope = "once", decision } = answer;
  const { id, projectId, agentPath, tool, end } = done;
  const plugin = OF_ONE_PLUGIN.includes(done.source.kind) ? { plugin: done.plugin ?? "" } : {};
  const sessionId = scope === "session" ? done.sessionId : null;
  if (scope === "once" || (scope === "session" && sessionId === null)) return;
  for (const source of done.sources) {
    if (scope === "always") {
      const isWritten = await ports.keepAlways(done, source, answer).catch((cause) => {
        throw new HostError("approval.answer_invalid", `The answer counts for this call only: ${messageOf(cause)}`, {
          data: { id },
          hint: "Mend that, then write the rule yourself",
          cause,
        });
      });
      log.rulesChanged("added", inWords({ decision, tool, agentPath, source, ...plugin }), end?.by ?? "person");
      if (isWritten) continue;
    }
    await ports.store().keep({
      id: ports.ids.create("ans"),
      createdAt: end!.at,
      projectId,
      agentPath,
      tool,
      ...plugin,
      source,
      decision,
      reason: end!.reason,
      sessionId,
      by: end!.by,
    });
  }
}

/** A standing answer in words, for the audit. */
export function inWords(
  { decision, tool, agentPath, source, plugin }: Pick<
    StandingAnswer,
    "decision" | "tool" | "agentPath" | "source" | "plugin"
  >,
): string {
  const what = plugin === undefined ? tool : `${plugin}, ${tool}`;
  return `${decision} ${what} of ${agentPath}, asked by ${source.id}`;
}
