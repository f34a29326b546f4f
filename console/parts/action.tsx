/**
 * A button that asks the host for something, and tells when it cannot be had.
 *
 * @module
 */
import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import { ApiError } from "../model/api.ts";

/** What came of the last try. */
export interface Doing {
  readonly isBusy: boolean;
  readonly error: ApiError | null;
  /** Does something, one thing at a time; returns whether it went well. */
  run(act: () => Promise<unknown>): Promise<boolean>;
  /** Forgets the last failure. */
  forget(): void;
}

/** Runs what may fail. */
export function useDoing(): Doing {
  const [{ isBusy, error }, setState] = useState<{ isBusy: boolean; error: ApiError | null }>({
    isBusy: false,
    error: null,
  });
  return {
    isBusy,
    error,
    async run(act) {
      if (isBusy) return false;
      setState({ isBusy: true, error: null });
      try {
        await act();
        setState({ isBusy: false, error: null });
        return true;
      } catch (thrown) {
        const error = thrown instanceof ApiError ? thrown : new ApiError(0, { code: "page", detail: String(thrown) });
        setState({ isBusy: false, error });
        return false;
      }
    },
    forget: () => setState({ isBusy: false, error: null }),
  };
}

/** A button that stays where the focus is while it is busy. */
export function Action({ doing, act, label, kind = "", children }: {
  doing: Doing;
  act: () => Promise<unknown>;
  label?: string;
  kind?: string;
  children: ComponentChildren;
}): JSX.Element {
  return (
    <button
      type="button"
      class={kind}
      aria-label={label}
      aria-disabled={doing.isBusy || undefined}
      onClick={() => void doing.run(act)}
    >
      {children}
    </button>
  );
}
