/**
 * The rules on tools as they are now: read with the project, and again when a file of theirs changes.
 *
 * @module
 */
import { compileRules, type Judge } from "../core/approvals/judge.ts";
import type { ApprovalSettings, JudgedCall, RuleSet, Verdict } from "../core/approvals/rules.ts";

/** Rules that can be replaced while calls go on. */
export class LiveRules {
  #judge: Judge;
  #settings: ApprovalSettings;

  constructor(rules: RuleSet) {
    this.#judge = compileRules(rules);
    this.#settings = rules.settings;
  }

  /** Whether there is none: most hosts have none, and pay nothing. */
  get isEmpty(): boolean {
    return this.#judge.isEmpty;
  }

  /** `[approvals]` of config.toml. */
  get settings(): ApprovalSettings {
    return this.#settings;
  }

  judge(call: JudgedCall): Verdict {
    return this.#judge.judge(call);
  }

  /** Uses other rules from the next call on. */
  replace(rules: RuleSet): void {
    this.#judge = compileRules(rules);
    this.#settings = rules.settings;
  }
}
