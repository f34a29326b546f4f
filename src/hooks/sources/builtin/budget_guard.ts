/**
 * Built-in: warns when the window fills, and asks for a fresh session before answers suffer.
 *
 * @module
 */
import { BUDGET_THRESHOLDS, type BudgetThresholds } from "../../agent/budget_crossings.ts";
import type { HookEvent, HookRegistration, HookResponse } from "../../engine/types.ts";
import { builtin, type BuiltinOptions } from "./builtin_options.ts";

/** The shares at which it warns and blocks, and the tool calls it blocks. */
export interface BudgetGuardOptions extends BuiltinOptions, BudgetThresholds {
  /** Whether a tool call loads much into the window. Such calls are blocked once the session is to rotate. */
  readonly isLargeLoad?: (event: HookEvent) => boolean;
}

/** Returns the handlers: `OnBudgetExceeded` and `PreToolUse`, priority 20. */
export function budgetGuard(given: BudgetGuardOptions = {}): HookRegistration[] {
  const { warnAt = BUDGET_THRESHOLDS.warnAt, rotateAt = BUDGET_THRESHOLDS.rotateAt, isLargeLoad, ...options } = given;
  const metadata = { hookId: "budget-guard" };
  return builtin("budget-guard", { priority: 20 }, options, {
    OnBudgetExceeded(event): HookResponse | null {
      const share = shareOf(event);
      if (share >= rotateAt) {
        const reason = `Token budget at ${percent(share)} of the effective limit: rotate the session before going on`;
        return { action: "block", reason, metadata };
      }
      if (share < warnAt) return null;
      const warnings = [`Token budget at ${percent(share)} of the effective limit: load only what the next step needs`];
      return { action: "passThrough", warnings, metadata };
    },
    PreToolUse(event): HookResponse | null {
      const share = shareOf(event);
      if (share < rotateAt || !isLargeLoad?.(event)) return null;
      const reason = `Token budget at ${percent(share)}: nothing large is loaded before the session has rotated`;
      return { action: "block", reason, metadata };
    },
  });
}

function shareOf({ budget }: HookEvent): number {
  return budget ? budget.usedTokens / budget.effectiveLimit : 0;
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
