/**
 * The thresholds of a token budget. Each fires once on the way up, and again only after the budget was below it.
 *
 * @module
 */
import type { Budget } from "../engine/types.ts";

/** Shares of the effective limit. */
export interface BudgetThresholds {
  /** Share at which handlers warn. Default 0.7. */
  readonly warnAt?: number;
  /** Share at which the session is to rotate. Default 0.8. */
  readonly rotateAt?: number;
}

/** Warn at 70 %, rotate by 80 %. */
export const BUDGET_THRESHOLDS: Required<BudgetThresholds> = { warnAt: 0.7, rotateAt: 0.8 };

/** A look at a budget: the highest threshold that is reached (0 for none), and whether it was not at the last look. */
type Crossing = (budget: Budget) => { readonly threshold: number; readonly isCrossed: boolean };

/** Returns looks at one budget, of which nothing is used before the first. */
export function budgetCrossings(
  { warnAt = BUDGET_THRESHOLDS.warnAt, rotateAt = BUDGET_THRESHOLDS.rotateAt }: BudgetThresholds = {},
): Crossing {
  if (!(warnAt > 0 && warnAt <= rotateAt)) {
    throw new RangeError(`Budget thresholds are 0 < warnAt <= rotateAt, and these are ${warnAt} and ${rotateAt}`);
  }
  let last = 0;
  return ({ usedTokens, effectiveLimit }) => {
    const share = usedTokens / effectiveLimit;
    const threshold = share >= rotateAt ? rotateAt : share >= warnAt ? warnAt : 0;
    const isCrossed = threshold > last;
    last = threshold;
    return { threshold, isCrossed };
  };
}
