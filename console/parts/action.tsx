/**
 * A button that sends a request to the host, and shows its failure.
 *
 * @module
 */
import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import { ApiError } from "../model/api.ts";

/** An action that may be under way, and the failure of the last one. */
export interface Doing {
  readonly isBusy: boolean;
  readonly error: ApiError | null;
  /** Runs `act` unless another action is under way; returns whether it succeeded. */
  run(act: () => Promise<unknown>): Promise<boolean>;
  /** Forgets the last failure. */
  forget(): void;
}

/** Returns a runner of actions that keeps their failure for the page to show. */
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

/** A button. While busy it is only marked as disabled, so that it keeps the focus. */
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
