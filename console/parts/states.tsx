/**
 * Views without data: empty, loading, failed.
 *
 * @module
 */
import type { ComponentChildren, JSX } from "preact";
import type { Loaded } from "../model/use_loaded.ts";
import { FailureNote } from "./failure.tsx";

/** Says that there is nothing yet, and what would appear here. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }): JSX.Element {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children && <p>{children}</p>}
    </div>
  );
}

/** Says that an answer of the host is awaited. */
export function Loading(): JSX.Element {
  return <p class="loading" role="status">Loading …</p>;
}

/** Shows loaded data; until then that it loads, or why loading failed. */
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
