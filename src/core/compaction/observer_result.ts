/**
 * Reads what an observer returns from `pre_compact` and `post_compact`.
 *
 * @module
 */

/** What an observer wants. */
export interface ObserverWish {
  /** Texts to keep. */
  readonly retain: readonly string[];
  /** Text to put before the model, or null. */
  readonly inject: string | null;
  /** What could not be used, for the audit. */
  readonly problems: readonly string[];
}

const MAX_RETAINED = 1000;
const NOTHING: ObserverWish = { retain: [], inject: null, problems: [] };

/** Reads an observer's result. What has the wrong shape is left out and named in `problems`; nothing throws. */
export function readObserverResult(result: unknown): ObserverWish {
  if (result === null || result === undefined) return NOTHING;
  if (typeof result === "string") return { ...NOTHING, inject: result === "" ? null : result };
  if (typeof result !== "object" || Array.isArray(result)) {
    return { ...NOTHING, problems: ["the result is neither an object nor a text"] };
  }
  const { retain = [], inject = null, role } = result as Record<string, unknown>;
  const problems: string[] = [];
  if (role === "compactor") problems.push("it answers as a compactor and was asked as an observer");
  const texts = Array.isArray(retain) ? retain.filter((text) => typeof text === "string" && text !== "") : [];
  if (!Array.isArray(retain)) problems.push('"retain" is not a list');
  else if (texts.length < retain.length) problems.push('"retain" holds what is not a text');
  if (texts.length > MAX_RETAINED) problems.push(`"retain" holds more than ${MAX_RETAINED} texts`);
  if (inject !== null && typeof inject !== "string") problems.push('"inject" is not a text');
  return {
    retain: texts.slice(0, MAX_RETAINED),
    inject: typeof inject === "string" && inject !== "" ? inject : null,
    problems,
  };
}
