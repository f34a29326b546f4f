/**
 * What one view needs of the host, loaded when it opens and when something happened.
 *
 * @module
 */
import { useCallback, useEffect, useState } from "preact/hooks";
import { type ApiError, ask } from "./api.ts";

/** Something that is being loaded, is there, or could not be had. */
export interface Loaded<T> {
  readonly value: T | null;
  readonly error: ApiError | null;
  /** Loads it anew. */
  reload(): void;
  /** Puts a newer one in its place. */
  replace(value: T): void;
}

/** Loads `path`, and again whenever `version` changes. What was there stays until the new is. */
export function useLoaded<T>(path: string, version: unknown = null): Loaded<T> {
  const [state, setState] = useState<{ path: string; value: T | null; error: ApiError | null }>({
    path,
    value: null,
    error: null,
  });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    let isOver = false;
    ask<T>(path).then(
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
