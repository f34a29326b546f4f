/**
 * When a budget crosses a threshold: once on the way up, and again only after it was below.
 *
 * @module
 */

/** Shares of the effective limit. */
export interface BudgetThresholds {
  /** Where it is warned of. Default 0.7. */
  readonly warnAt?: number;
  /** Where the session is to rotate. Default 0.8. */
  readonly rotateAt?: number;
}

/** Warn at 70 %, rotate by 80 %. */
export const BUDGET_THRESHOLDS: Required<BudgetThresholds> = { warnAt: 0.7, rotateAt: 0.8 };

/** Watches one budget. */
export interface BudgetCrossings {
  /** Returns the highest threshold that was crossed since the last call, or null. */
  crossed(budget: { readonly usedTokens: number; readonly effectiveLimit: number }): number | null;
}

/** Returns a watch on a budget of which nothing is used. */
export function budgetCrossings(
  { warnAt = BUDGET_THRESHOLDS.warnAt, rotateAt = BUDGET_THRESHOLDS.rotateAt }: BudgetThresholds = {},
): BudgetCrossings {
  if (!(warnAt > 0 && warnAt <= rotateAt)) {
    throw new RangeError(`Budget thresholds are 0 < warnAt <= rotateAt, and these are ${warnAt} and ${rotateAt}`);
  }
  let last = 0;
  return {
    crossed({ usedTokens, effectiveLimit }) {
      const share = usedTokens / effectiveLimit;
      const level = share >= rotateAt ? rotateAt : share >= warnAt ? warnAt : 0;
      const isHigher = level > last;
      last = level;
      return isHigher ? level : null;
    },
  };
}
