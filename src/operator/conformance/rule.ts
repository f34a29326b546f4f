/**
 * A rule of the wire, and the verdict of trying it.
 *
 * @module
 */
import type { Manifest } from "../../core/manifest/manifest.ts";
import type { Answer, Conversation } from "./conversation.ts";
import type { Stage } from "./stage.ts";

/** The outcome of trying a rule. */
export interface Verdict {
  /** `skipped`: there was nothing to try it on. */
  readonly status: "ok" | "failed" | "skipped";
  /** The finding, for a person. */
  readonly detail: string;
  /** The offending lines, where they are not the last ones that came. */
  readonly came?: readonly string[];
}

/** A rule of the wire, and how it is tried. */
export interface Rule {
  readonly id: string;
  /** Id of the requirement it comes from, such as `K-013`. */
  readonly requirement: string;
  /** Where it is written: a page of the documentation and a heading in it. */
  readonly written: string;
  /** The duty of a plugin, for a person. */
  readonly expected: string;
  /** The next step for a plugin that breaks it. */
  readonly hint: string;
  /** Whether a plugin that breaks it cannot be tried any further. */
  readonly isGround?: boolean;
  /** Rules it builds on: when one of them is broken, it is not tried. */
  readonly needs?: readonly string[];
  /** Longest that trying it may take. Default: {@link RULE_MS}. */
  readonly deadlineMs?: (manifest: Manifest) => number;
  readonly attempt: (stage: Stage) => Promise<Verdict> | Verdict;
}

/** Rules by their ids; their order is the order in which they are tried. */
export type RuleTable = Readonly<Record<string, Omit<Rule, "id">>>;

/** Returns the origin of a rule: its requirement, and the heading of the wire's documentation that it stands under. */
export const from = (requirement: string, heading: string): Pick<Rule, "requirement" | "written"> => ({
  requirement,
  written: `docs/wire.md#${heading}`,
});

/** Longest that trying a rule may take when it says nothing itself: a fresh start and a few steps. */
export const RULE_MS = 60_000;

/** Verdict of a rule that is kept. */
export const ok = (detail: string): Verdict => ({ status: "ok", detail });
/** Verdict of a rule that is broken. */
export const failed = (detail: string, came?: readonly string[]): Verdict => ({
  status: "failed",
  detail,
  ...(came && { came }),
});
/** Verdict of a rule that has nothing to be tried on. */
export const skipped = (detail: string): Verdict => ({ status: "skipped", detail });

/** Returns JSON, shortened for a person. */
export function shown(value: unknown): string {
  let text: string;
  try {
    text = JSON.stringify(value) ?? "nothing";
  } catch {
    text = "what is nested too deeply";
  }
  return text.length > 120 ? `${text.slice(0, 117)}…` : text;
}

/** Returns the error code of an answer, or undefined. */
export function codeOf({ response }: Answer): number | undefined {
  return (response?.error as { code?: number } | undefined)?.code;
}

/** Returns an answer in words. */
export function said(answer: Answer): string {
  if (answer.missing !== undefined) return answer.missing;
  const { result, error } = answer.response;
  return error === undefined ? `It answered ${shown(result)}` : `It answered the error ${shown(error)}`;
}

/** Pings the plugin. Returns the fault of its answer in words, or null. */
export async function ailment(talk: Conversation): Promise<string | null> {
  const answer = await talk.ask("ping");
  if ((answer.response?.result as { status?: unknown } | null | undefined)?.status === "ok") return null;
  return answer.missing ?? `ping: ${said(answer)}`;
}
