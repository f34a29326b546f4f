/**
 * The button that takes all filters of a view away.
 *
 * @module
 */
import type { Signal } from "@preact/signals";
import type { JSX } from "preact";

/** Whether any filter is set. */
export function isFiltered(filters: Readonly<Record<string, Signal<string>>>): boolean {
  return Object.values(filters).some(({ value }) => value !== "");
}

/** Shows the button while a filter is set. */
export function ClearFilters({ of: filters }: { of: Readonly<Record<string, Signal<string>>> }): JSX.Element | null {
  if (!isFiltered(filters)) return null;
  return (
    <button type="button" class="link" onClick={() => Object.values(filters).forEach((one) => one.value = "")}>
      Clear filters
    </button>
  );
}
