/**
 * What a rule of the wire is, and what trying it came to.
 *
 * @module
 */
import type { Manifest } from "../../core/manifest/manifest.ts";
import type { Answer, Conversation } from "./conversation.ts";
import type { Notes, WireMessage } from "./notes.ts";

/** What trying a rule came to. */
export interface Verdict {
  /** `skipped`: there was nothing to try it on. */
  readonly status: "ok" | "failed" | "skipped";
  /** What was seen, for a person. */
  readonly detail: string;
  /** What came, where it is not what came last. */
  readonly came?: readonly string[];
}

/** What rules are tried on. */
export interface Stage {
  /** The plugin's manifest. */
  readonly manifest: Manifest;
  /** What `config.update` carries. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Everything out of turn so far. */
  readonly notes: Notes;
  /** What the plugin answered to `initialize`; null before. */
  readonly greeting: WireMessage | null;
  /** The running plugin, started again where a rule has ended it. */
  running(): Promise<Conversation>;
  /** A plugin that has answered `initialize` and heard nothing else, or the one that runs. */
  greet(): Promise<{ readonly talk: Conversation; readonly answer: Answer }>;
}

/** A rule of the wire. */
export interface Rule {
  /** Names it in reports. */
  readonly id: string;
  /** The requirement it comes from. */
  readonly requirement: string;
  /** Where it is written: a page of the documentation and a heading in it. */
  readonly written: string;
  /** What a plugin must do. */
  readonly expected: string;
  /** The next step for a plugin that breaks it. */
  readonly hint: string;
  /** Whether a plugin that breaks it cannot be tried any further. */
  readonly isGround?: boolean;
  /** Rules it builds on: when one of them is broken, it is not tried. */
  readonly needs?: readonly string[];
  /** Longest that trying it may take. Default: {@link RULE_MS}. */
  readonly deadlineMs?: (manifest: Manifest) => number;
  /** Tries it. */
  readonly attempt: (stage: Stage) => Promise<Verdict> | Verdict;
}

/** Longest that trying a rule may take when it says nothing itself: a fresh start and a few steps. */
export const RULE_MS = 60_000;

/** The rule is kept. */
export const ok = (detail: string): Verdict => ({ status: "ok", detail });
/** The rule is broken. */
export const failed = (detail: string, came?: readonly string[]): Verdict => ({
  status: "failed",
  detail,
  ...(came && { came }),
});
/** There is nothing to try it on. */
export const skipped = (detail: string): Verdict => ({ status: "skipped", detail });

/** Shortens JSON for a person. */
export function shown(value: unknown): string {
  let text: string;
  try {
    text = JSON.stringify(value) ?? "nothing";
  } catch {
    text = "what is nested too deeply";
  }
  return text.length > 120 ? `${text.slice(0, 117)}…` : text;
}

/** The error code of an answer, or undefined. */
export function codeOf({ response }: Answer): number | undefined {
  return (response?.error as { code?: number } | undefined)?.code;
}

/** What an answer was, in words. */
export function said(answer: Answer): string {
  if (answer.missing !== undefined) return answer.missing;
  const { result, error } = answer.response;
  return error === undefined ? `It answered ${shown(result)}` : `It answered the error ${shown(error)}`;
}

/** Whether what the plugin answered to `initialize` lists a feature. */
export function hasFeature({ greeting }: Stage, feature: string): boolean {
  return Array.isArray(greeting?.features) && greeting.features.includes(feature);
}

/** What is wrong with the plugin's answer to a ping, or null. */
export async function ailment(talk: Conversation): Promise<string | null> {
  const answer = await talk.ask("ping");
  if ((answer.response?.result as { status?: unknown } | null | undefined)?.status === "ok") return null;
  return answer.missing ?? `ping: ${said(answer)}`;
}
