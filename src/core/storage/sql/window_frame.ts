/**
 * Walks the frame of a window.
 *
 * @module
 */
import type { Walk } from "./walk.ts";

/** Walks `ROWS BETWEEN 1 PRECEDING AND CURRENT ROW …` after its first word; `expression` walks what a bound counts. */
export function walkFrame(walk: Walk, expression: (walk: Walk) => unknown): void {
  if (walk.accept("BETWEEN")) {
    walkBound(walk, expression);
    walk.expect("AND");
  }
  walkBound(walk, expression);
  if (!walk.accept("EXCLUDE")) return;
  if (walk.accept("NO")) walk.expect("OTHERS");
  else if (walk.accept("CURRENT")) walk.expect("ROW");
  else walk.expect("GROUP", "TIES");
}

function walkBound(walk: Walk, expression: (walk: Walk) => unknown): void {
  if (walk.at("CURRENT") && walk.peek(1).key === "ROW") {
    walk.take();
    walk.take();
    return;
  }
  if (walk.at("UNBOUNDED")) walk.take();
  else expression(walk);
  walk.expect("PRECEDING", "FOLLOWING");
}
