/**
 * Where two messages part, as a JSON pointer.
 *
 * @module
 */
import { HostError } from "../../core/errors/host_error.ts";

/** A place that is not compared: segments of a JSON pointer, `*` for any one. */
export type IgnoredPlace = readonly string[];

/**
 * Reads a JSON pointer (RFC 6901) whose segments may also be `*`, for any one.
 *
 * @throws {HostError} `host.misuse`
 */
export function parsePointer(text: string): IgnoredPlace {
  if (!text.startsWith("/") || /~(?![01])/.test(text)) {
    throw new HostError("host.misuse", `"${text}" is no JSON pointer`, {
      hint: "It looks like /result/rows/*/time, with ~1 for / and ~0 for ~",
    });
  }
  return text.slice(1).split("/").map((segment) => segment.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Levels that are compared: what lies deeper counts as different. */
const MAX_DEPTH = 500;

/** Returns the pointer to the first place where `came` is not as `expected`, in the order of `expected`, or null. */
export function firstDifference(
  expected: unknown,
  came: unknown,
  ignored: readonly IgnoredPlace[] = [],
): string | null {
  const path: string[] = [];
  if (!differs(expected, came, ignored, path)) return null;
  return path.map((segment) => `/${segment.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** Leaves the way to the difference in `path`. */
function differs(expected: unknown, came: unknown, ignored: readonly IgnoredPlace[], path: string[]): boolean {
  if (expected === came || ignored.some((place) => isAt(place, path))) return false;
  if (!isContainer(expected) || !isContainer(came) || Array.isArray(expected) !== Array.isArray(came)) return true;
  if (path.length >= MAX_DEPTH) return true;
  for (const name of new Set([...Object.keys(expected), ...Object.keys(came)])) {
    path.push(name);
    if (differs(own(expected, name), own(came, name), ignored, path)) return true;
    path.pop();
  }
  return false;
}

function isAt(place: IgnoredPlace, path: readonly string[]): boolean {
  return place.length === path.length && place.every((segment, index) => segment === "*" || segment === path[index]);
}

function isContainer(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function own(value: Readonly<Record<string, unknown>>, name: string): unknown {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}
