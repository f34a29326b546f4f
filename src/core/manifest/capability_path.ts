/**
 * Paths inside capabilities.
 *
 * @module
 */
import type { HostErrorCode } from "../errors/host_error.ts";
import { type CapabilityProblem, problem } from "./capability_problem.ts";

/** Folders a path may be relative to, besides the root of the file system. */
const PATH_PREFIXES: readonly string[] = ["config:", "project:", "plugin:"];

const MAX_PATH_BYTES = 4096;
// Controls, line separators and direction marks: the path shown at consent must be the path that is granted.
// deno-lint-ignore no-control-regex
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
const GLOB = /[*?[\]{}]/;

/**
 * Returns the canonical spelling of a path that is absolute or under `config:/`, `project:/`, `plugin:/`. Repeated
 * slashes, `.` segments and a final slash name the same place and go; `..` and globs could name another and are
 * refused. Returns the problem where there is one.
 */
export function canonicalPath(text: string): string | CapabilityProblem {
  const refuse = (code: HostErrorCode, hint?: string) => problem(code, text, hint);
  if (text === "") return refuse("capability.missing_path");
  if (UNPRINTABLE.test(text) || !text.isWellFormed()) return refuse("capability.unprintable_path");
  if (new TextEncoder().encode(text).length >= MAX_PATH_BYTES) return refuse("capability.long_path");
  const prefix = PATH_PREFIXES.find((prefix) => text.startsWith(prefix)) ?? "";
  const place = text.slice(prefix.length);
  if (!place.startsWith("/")) return refuse("capability.relative_path", relativeHint(prefix, place));
  if (GLOB.test(place)) return refuse("capability.glob_path");
  const segments = place.split("/").filter((segment) => segment !== "" && segment !== ".");
  if (segments.includes("..")) return refuse("capability.parent_path");
  return `${prefix}/${segments.join("/")}`;
}

function relativeHint(prefix: string, place: string): string | undefined {
  if (prefix !== "") return `Write ${prefix}/${place}`;
  return place.startsWith("~") ? "There is no home folder in a cage: use config:/, project:/ or plugin:/" : undefined;
}
