/**
 * What a view shows while it has nothing to show.
 *
 * @module
 */
import type { ComponentChildren, JSX } from "preact";
import type { Loaded } from "../model/use_loaded.ts";
import { FailureNote } from "./failure.tsx";

/** Says that there is nothing, and what would be here. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }): JSX.Element {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children && <p>{children}</p>}
    </div>
  );
}

/** Says that something is on its way. */
export function Loading(): JSX.Element {
  return <p class="loading" role="status">Loading …</p>;
}

/** Shows what was loaded; until then that it is on its way, or why it cannot be had. */
export function WhenLoaded<T>({ of, children }: {
  of: Loaded<T>;
  children: (value: T) => ComponentChildren;
}): JSX.Element {
  if (of.value !== null) return <>{children(of.value)}</>;
  if (of.error === null) return <Loading />;
  return (
    <>
      <FailureNote of={of.error} isAlert />
      <p>
        <button type="button" onClick={of.reload}>Try again</button>
      </p>
    </>
  );
}
