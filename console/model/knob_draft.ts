/**
 * What a knob's control shows, and the value it stands for.
 *
 * @module
 */
import type { TurnedKnob } from "../../src/http/answers.ts";

/** What a control shows: text, or a yes or no. */
export type Draft = string | boolean;

/** What a control shows for a value. */
export function draftOf(value: unknown): Draft {
  return typeof value === "boolean" ? value : value === null || value === undefined ? "" : String(value);
}

/** The value that what a control shows stands for. What is no number stays text: the host says what is wrong with it. */
export function valueOf({ type }: Pick<TurnedKnob, "type">, draft: Draft): unknown {
  if (typeof draft === "boolean") return draft;
  if (type === "model_alias" && draft.trim() === "") return null;
  if (type !== "range" && type !== "int_range") return draft;
  return draft.trim() === "" || Number.isNaN(Number(draft)) ? draft : Number(draft);
}
