/**
 * Fair turns between scopes: jobs of one scope wait in a lane, oldest first, and a worker takes one job of each lane in
 * turn. A lane whose scope already runs as many jobs as it may is passed over.
 *
 * Each process goes round by itself: every one of them comes by every lane, so no place in the store has to remember
 * whose turn it is, and no row is written by all of them.
 *
 * @module
 */

/** Exceptions for one scope. */
export interface ScopeLimit {
  /** Jobs of it that run at a time, in all processes of the store together. Default: that of every scope. */
  readonly max?: number;
  /** Jobs of it that are begun when it has its turn. Default 1. */
  readonly weight?: number;
}

/** The share of each scope. */
export interface ScopeRules {
  /** Jobs of one scope that run at a time, in all processes of the store together; jobs without a scope are not counted. */
  readonly maxPerScope: number;
  /** Scopes that have another share, by their ids. */
  readonly limits?: Readonly<Record<string, ScopeLimit>>;
}

/** Place of a process on its round. */
export interface Turns {
  /** The lane that was served last; empty before the first. */
  readonly last: string;
  /** Jobs of it that may still be begun in the same turn. */
  readonly left: number;
  /** Yields lanes in the order of their turns, each once; `next` returns the first lane behind another, or null. */
  order(next: (lane: string) => string | null): Iterable<string>;
  /** Notes that a job of the lane was begun. */
  served(lane: string, rules?: ScopeRules): void;
  /** Goes on from a place that the store has found. */
  moveTo(place: Pick<Turns, "last" | "left">): void;
}

/** Returns the lane of a scope: names of scopes begin with a letter or digit, so `@` alone is free for jobs without one. */
export function laneOf(scopeId?: string): string {
  return `@${scopeId ?? ""}`;
}

/** Returns how many jobs of a lane may run at a time. */
export function boundOf(lane: string, rules?: ScopeRules): number {
  if (!rules || lane === "@") return Infinity;
  return limitOf(lane, rules)?.max ?? rules.maxPerScope;
}

/** Returns the first turn of a process. */
export function openTurns(): Turns {
  let [last, left] = ["", 0];
  return {
    get last() {
      return last;
    },
    get left() {
      return left;
    },
    *order(next) {
      const begin = last;
      const again = left > 0 ? last : null;
      if (again !== null) yield again;
      for (let lane = next(begin); lane !== null; lane = next(lane)) yield lane;
      for (let lane = next(""); lane !== null && lane <= begin; lane = next(lane)) if (lane !== again) yield lane;
    },
    served(lane, rules) {
      left = lane === last && left > 0 ? left - 1 : (limitOf(lane, rules)?.weight ?? 1) - 1;
      last = lane;
    },
    moveTo(place) {
      ({ last, left } = place);
    },
  };
}

function limitOf(lane: string, rules?: ScopeRules): ScopeLimit | undefined {
  const scopeId = lane.slice(1);
  return rules?.limits && Object.hasOwn(rules.limits, scopeId) ? rules.limits[scopeId] : undefined;
}
