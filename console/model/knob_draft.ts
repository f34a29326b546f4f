/**
 * The draft in a knob's control, and the value it stands for.
 *
 * @module
 */
import type { TurnedKnob } from "../../src/http/answers.ts";

/** The state of a control: its text, or whether a switch is on. */
export type Draft = string | boolean;

/** Returns the draft that shows a value; null is an empty text. */
export function draftOf(value: unknown): Draft {
  return typeof value === "boolean" ? value : value === null || value === undefined ? "" : String(value);
}

/** Returns the value of a draft. Text that is no number stays text: the host answers with what is wrong. */
export function valueOf({ type }: Pick<TurnedKnob, "type">, draft: Draft): unknown {
  if (typeof draft === "boolean") return draft;
  if (type === "model_alias" && draft.trim() === "") return null;
  if (type !== "range" && type !== "int_range") return draft;
  return draft.trim() === "" || Number.isNaN(Number(draft)) ? draft : Number(draft);
}
