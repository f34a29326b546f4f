/**
 * The answer to an offer, as the boxes of its form are ticked so far.
 *
 * @module
 */
import type { ConsentOffer } from "../../src/packages/install/consent_types.ts";

/** What can be sent for the boxes that are ticked. */
export interface GrantDraft {
  /** New capabilities whose boxes are not ticked. */
  readonly open: readonly string[];
  /** Whether the plugin can be started without those: a secret that it would see cannot be withheld. */
  readonly canWithhold: boolean;
  /** The body of the request that approves the offer, with the open ones withheld. */
  readonly answer: { readonly hash: string; readonly grant: readonly string[]; readonly withhold: readonly string[] };
}

/** Returns the draft for an offer and the capabilities whose boxes are ticked. */
export function grantDraft(
  { hash, added }: Pick<ConsentOffer, "hash" | "added">,
  ticked: readonly string[],
): GrantDraft {
  const open = added.filter((one) => !ticked.includes(one));
  const canWithhold = open.length > 0 && !open.some((one) => one.startsWith("secret:"));
  return { open, canWithhold, answer: { hash, grant: ticked, withhold: open } };
}
