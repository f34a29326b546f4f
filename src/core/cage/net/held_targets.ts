/**
 * The targets of one cage: those that rules name, and those that a person is asked about while the connection is held.
 *
 * @module
 */
import { formatCapability } from "../../manifest/capability.ts";
import type { HostPort } from "./bound/refused.ts";
import { type AllowedTarget, judgeTarget, type Refusal } from "./judge_target.ts";
import type { HostRule } from "./net_parts.ts";

/** A person's answer about a target. */
export interface HeldAnswer {
  readonly isAllowed: boolean;
  /** Whether it holds until the cage is closed; else for the connections that wait for it. */
  readonly lasts: boolean;
}

/** Asks a person about a target; null where nobody is asked. `signal` aborts when the cage is closed. */
export type AskNetwork = (target: HostPort, signal: AbortSignal) => Promise<HeldAnswer> | null;

/** Judges the targets of one cage. */
export class HeldTargets {
  readonly #rules: readonly HostRule[];
  readonly #ask: AskNetwork | undefined;
  /** Answers that last, by capability. */
  readonly #answers = new Map<string, boolean>();
  readonly #closed = new AbortController();

  /** Without `ask`, the rules alone decide. */
  constructor(rules: readonly HostRule[], ask?: AskNetwork) {
    this.#rules = rules;
    this.#ask = ask;
  }

  /**
   * Judges a target by the rules, and holds one that none of them names until a person has answered. A yes stands in for
   * the rule that was lacking and for nothing else: addresses are judged afterwards, as those of any target.
   */
  async judge(host: string, port: number): Promise<AllowedTarget | Refusal> {
    const judged = judgeTarget(host, port, this.#rules);
    if (!("refused" in judged) || judged.refused !== "not-allowed" || !this.#ask) return judged;
    const rule: HostRule = { kind: "net", scope: "host", host: judged.host, port };
    const granted = judgeTarget(judged.host, port, [rule]);
    // No yes could open an address that is no single machine.
    if ("refused" in granted) return judged;
    return await this.#isAllowed(rule, { host: judged.host, port }) ? granted : judged;
  }

  /** Gives up every question. */
  close(): void {
    this.#closed.abort(new Error("The cage was closed"));
  }

  async #isAllowed(rule: HostRule, target: HostPort): Promise<boolean> {
    const key = formatCapability(rule);
    const known = this.#answers.get(key);
    if (known !== undefined) return known;
    const asked = this.#ask?.(target, this.#closed.signal) ?? null;
    if (asked === null) return false;
    try {
      const { isAllowed, lasts } = await asked;
      if (lasts) this.#answers.set(key, isAllowed);
      return isAllowed;
    } catch {
      return false; // A question that fails is no yes.
    }
  }
}
