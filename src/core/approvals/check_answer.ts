/**
 * Answers as front ends send them: read, and refused with the reason where they make no sense.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import { didYouMean } from "../values/nearest_word.ts";
import { isMap } from "../values/plain_data.ts";
import { shown } from "../values/shown_value.ts";
import type { ApprovalAnswer, ApprovalScope } from "./types.ts";

const DECISIONS = ["allow", "deny"] as const;
const SCOPES: readonly ApprovalScope[] = ["once", "session", "always"];
const KEYS = ["decision", "scope", "reason", "arguments", "content"];
/** Most characters of a reason: it reaches the model and the audit. */
const MAX_REASON = 2_000;

/** Returns an answer with its scope. Throws `approval.answer_invalid`. */
export function checkAnswer(given: unknown): ApprovalAnswer & { readonly scope: ApprovalScope } {
  if (!isMap(given)) throw invalid("It is no object", 'Answer { "decision": "allow" } or { "decision": "deny" }');
  const unknown = Object.keys(given).find((key) => !KEYS.includes(key));
  if (unknown !== undefined) {
    throw invalid(`It has no field ${shown(unknown)}`, didYouMean(unknown, KEYS, `Fields: ${KEYS.join(", ")}`));
  }
  const { decision, scope = "once", reason: words, arguments: edited, content } = given;
  const known = <T extends string>(value: unknown, words: readonly T[]): value is T => words.includes(value as T);
  if (!known(decision, DECISIONS)) throw notOneOf("decision", decision, DECISIONS);
  if (!known(scope, SCOPES)) throw notOneOf("scope", scope, SCOPES);
  if (words !== undefined && typeof words !== "string") throw invalid("reason is no text", "Write it in words");
  const reason = words === undefined ? {} : { reason: words.slice(0, MAX_REASON) };
  if (content !== undefined) return { decision, scope, ...reason, content: filledIn(content, { decision, edited }) };
  if (edited === undefined) return { decision, scope, ...reason };
  if (!isMap(edited)) throw invalid("arguments is no object", "Send the whole arguments, as the tool takes them");
  if (decision !== "allow" || scope !== "once") {
    throw invalid("Edited arguments are for one call that is allowed", 'Leave them out, or answer "allow" and "once"');
  }
  return { decision, scope, arguments: edited, ...reason };
}

function filledIn(
  content: unknown,
  { decision, edited }: { readonly decision: string; readonly edited: unknown },
): Readonly<Record<string, unknown>> {
  if (!isMap(content)) throw invalid("content is no object", "Send the fields of the form with their values");
  if (decision === "allow" && edited === undefined) return content;
  throw invalid("Content fills in a form that is allowed", 'Answer "allow" with content and without arguments');
}

function notOneOf(field: string, value: unknown, words: readonly string[]): HostError {
  const hint = typeof value === "string" ? didYouMean(value, words, `Write one of: ${words.join(", ")}`) : null;
  return invalid(`${field} is ${shown(value)}`, hint ?? `Write one of: ${words.join(", ")}`);
}

/** The error of an answer that cannot be taken. */
export function invalid(problem: string, hint: string): HostError {
  return new HostError("approval.answer_invalid", `The answer cannot be taken: ${problem}`, { hint });
}
