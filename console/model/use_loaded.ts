/**
 * Data of one view, loaded when the view opens and again when something happened to it.
 *
 * @module
 */
import { useCallback, useEffect, useState } from "preact/hooks";
import type { Answers } from "../../src/http/answers.ts";
import { type ApiError, ask, type Params, pathOf } from "./api.ts";

/** An answer: null and no error while it loads. */
export interface Loaded<T> {
  readonly value: T | null;
  readonly error: ApiError | null;
  reload(): void;
  /** Shows a newer value that came another way. */
  replace(value: T): void;
}

/** Loads the answer of a route, and again whenever `version` changes; the old value stays until the new one is there. */
export function useLoaded<K extends keyof Answers>(
  route: K,
  params: Params = {},
  version: unknown = null,
): Loaded<Answers[K]> {
  const path = pathOf(route, params);
  const [state, setState] = useState<{ path: string; value: Answers[K] | null; error: ApiError | null }>({
    path,
    value: null,
    error: null,
  });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    let isOver = false;
    ask(route, params).then(
      (value) => isOver || setState({ path, value, error: null }),
      (error) => isOver || setState((old) => ({ path, value: old.path === path ? old.value : null, error })),
    );
    return () => {
      isOver = true;
    };
  }, [path, version, turn]);
  const isOther = state.path !== path;
  return {
    value: isOther ? null : state.value,
    error: isOther ? null : state.error,
    reload: useCallback(() => setTurn((old) => old + 1), []),
    replace: useCallback((value) => setState({ path, value, error: null }), [path]),
  };
}
