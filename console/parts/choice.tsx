/**
 * One of several, or any.
 *
 * @module
 */
import type { Signal } from "@preact/signals";
import type { JSX } from "preact";
import { useId } from "preact/hooks";

/** A labelled list to choose from; empty for any. */
export function Choice({ label, of, values }: {
  label: string;
  of: Signal<string>;
  values: readonly string[];
}): JSX.Element {
  const id = useId();
  // What was chosen stays in the list when the last entry of it is gone.
  const all = of.value === "" || values.includes(of.value) ? values : [of.value, ...values];
  return (
    <span class="choice">
      <label for={id}>{label}</label>
      <select id={id} value={of.value} onChange={({ currentTarget }) => of.value = currentTarget.value}>
        <option value="">any</option>
        {all.map((one) => <option key={one} value={one}>{one}</option>)}
      </select>
    </span>
  );
}
