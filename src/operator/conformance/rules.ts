/**
 * Every rule of the wire that a plugin is tried on, whatever language it is written in.
 *
 * @module
 */
import { HostError } from "../../core/errors/host_error.ts";
import { didYouMean } from "../../core/values/nearest_word.ts";
import { END_RULES, RUN_RULES } from "./end_rules.ts";
import { HANDSHAKE_RULES } from "./handshake_rules.ts";
import { OFFER_RULES } from "./offer_rules.ts";
import type { Rule } from "./rule.ts";
import { WIRE_RULES } from "./wire_rules.ts";

/** Every rule, in the order in which they are tried: those about the whole run come last. */
export const CONFORMANCE_RULES: readonly Rule[] = Object.entries({
  ...HANDSHAKE_RULES,
  ...WIRE_RULES,
  ...OFFER_RULES,
  ...END_RULES,
  ...RUN_RULES,
}).map(([id, rule]) => ({ id, ...rule }));

/**
 * Returns the rules with these ids, in their own order; all of them when there is none.
 *
 * @throws {HostError} `check.rule_unknown`
 */
export function selectRules(ids: readonly string[] = []): readonly Rule[] {
  const known = CONFORMANCE_RULES.map(({ id }) => id);
  const unknown = ids.find((id) => !known.includes(id));
  if (unknown !== undefined) {
    throw new HostError("check.rule_unknown", `There is no rule "${unknown}"`, {
      data: { rule: unknown, known },
      hint: didYouMean(unknown, known, `The rules are ${known.join(", ")}`),
    });
  }
  return ids.length === 0 ? CONFORMANCE_RULES : CONFORMANCE_RULES.filter(({ id }) => ids.includes(id));
}
