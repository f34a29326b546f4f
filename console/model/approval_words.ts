/**
 * Requests for a person's yes, in words.
 *
 * @module
 */
import type { ApprovalSource } from "../../src/core/approvals/types.ts";
import { printable } from "../../src/core/values/printable.ts";
import type { Approval } from "../../src/http/answers.ts";
import { timeOfDay } from "./words.ts";

/** How far an answer reaches. */
export const SCOPES = ["once", "session", "always"] as const;
export type Scope = typeof SCOPES[number];

/** Words that follow `Allow` or `Deny`. */
export const SCOPE_WORDS: Readonly<Record<Scope, string>> = {
  once: "once",
  session: "for this session",
  always: "always",
};

/** Words that follow `Allow` or `Deny` for a request: a connection belongs to no session. */
export function scopeWords(scope: Scope, { kind }: ApprovalSource): string {
  return scope === "session" && kind === "network" ? "while it runs" : SCOPE_WORDS[scope];
}

/** Writes the time until a moment: `4:05`, `1 h 12 min`; `0:00` when it has passed. */
export function timeLeft(until: string, nowMs: number): string {
  const seconds = Math.max(0, Math.ceil((Date.parse(until) - nowMs) / 1000));
  const minutes = Math.floor(seconds / 60);
  if (minutes >= 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return `${minutes}:${String(seconds % 60).padStart(2, "0")}`;
}

/** Writes who asks: `rule config.toml:12`, `hook careful`. */
export function sourceWords({ kind, id }: ApprovalSource): string {
  return `${kind} ${printable(id)}`;
}

/** Writes how a request ended: `denied by http at 12:01:30`; of the person's own answer `You denied it at 12:01:30`. */
export function endWords({ end, source }: Approval, isMine: boolean = false): string {
  if (!end) return "waiting";
  const { state, by, at, answer } = end;
  const scope = answer?.scope && answer.scope !== "once" ? ` ${scopeWords(answer.scope, source)}` : "";
  const edited = answer?.arguments ? ", with edited arguments" : "";
  const who = isMine || by === null ? "" : ` by ${printable(by)}`;
  return `${isMine ? `You ${state} it` : state}${scope}${who} at ${timeOfDay(at)}${edited}`;
}
