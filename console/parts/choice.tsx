/**
 * A filter: one of several values, or any.
 *
 * @module
 */
import type { Signal } from "@preact/signals";
import type { JSX } from "preact";
import { useId } from "preact/hooks";

/** A labelled list to choose from; the empty text stands for any value. */
export function Choice({ label, of, values, any = "any" }: {
  label: string;
  of: Signal<string>;
  values: readonly string[];
  any?: string;
}): JSX.Element {
  const id = useId();
  // The chosen value stays in the list when its last entry is gone.
  const all = of.value === "" || values.includes(of.value) ? values : [of.value, ...values];
  return (
    <span class="choice">
      <label for={id}>{label}</label>
      <select id={id} value={of.value} onChange={({ currentTarget }) => of.value = currentTarget.value}>
        <option value="">{any}</option>
        {all.map((one) => <option key={one} value={one}>{one}</option>)}
      </select>
    </span>
  );
}
