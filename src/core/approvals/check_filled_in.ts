/**
 * Answers to forms of MCP servers: they carry what the person filled in, and no other answer does.
 *
 * @module
 */
import { invalid } from "./check_answer.ts";
import { addressIn, contentProblem, formFields } from "./form.ts";
import type { Approval, ApprovalAnswer } from "./types.ts";

/**
 * Checks that an answer fills in the form it answers; `kept` is the answer with the operator's secrets masked.
 *
 * @throws {HostError} `approval.answer_invalid`; the form goes on waiting.
 */
export function checkFilledIn(
  { source, arguments: form }: Pick<Approval, "source" | "arguments">,
  { decision, content, arguments: edited }: ApprovalAnswer,
  kept: ApprovalAnswer,
): void {
  if (source.kind !== "elicitation") {
    if (content === undefined) return;
    throw invalid("The request has no form to fill in", "Answer without content");
  }
  if (edited !== undefined) throw invalid("A form is filled in, not edited", "Send content in place of arguments");
  if (decision !== "allow") return;
  if (addressIn(form) !== null) {
    if (content === undefined) return;
    throw invalid("The request is an address to open, and has no form", "Answer without content");
  }
  const problem = contentProblem(form, content ?? {});
  if (problem !== null) {
    const names = (formFields(form) ?? []).map(({ name }) => name).join(", ");
    throw invalid(problem, names === "" ? "The form has no fields" : `Fill in content; fields: ${names}`);
  }
  // What is kept is what is sent, also by another process than this one.
  if (JSON.stringify(kept.content ?? {}) !== JSON.stringify(content ?? {})) {
    throw invalid(
      "The content holds a secret of the operator",
      "A server gets secrets from the operator, not by forms",
    );
  }
}
