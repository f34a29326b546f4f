/**
 * The failure of a start as operators see it.
 *
 * @module
 */
import { asHostError, HostError } from "../errors/host_error.ts";

/** Codes of the system for "this process" and "this machine" having no descriptor left; Deno gives some as text only. */
const EXHAUSTED = /^E[MN]FILE$/;
const EXHAUSTED_TEXT = /\(os error 2[34]\)/;

/**
 * Returns `thrown` as a {@link HostError}. Any step of a start may be the one that finds no file descriptor left, each
 * with an error of its own: that becomes one code, which the lifeline tries again because other plugins give theirs
 * back.
 */
export function startFailure(thrown: unknown, plugin: string): HostError {
  for (let cause: unknown = thrown; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as { code?: unknown };
    if (!EXHAUSTED.test(String(code)) && !EXHAUSTED_TEXT.test(cause.message)) continue;
    return new HostError("plugin.no_descriptors", `Cannot start "${plugin}": the host has no file descriptor left`, {
      hint:
        "Raise the limit of open files of the host (ulimit -n, or LimitNOFILE= of its service), or run fewer plugins",
      cause: thrown,
    });
  }
  return asHostError(thrown);
}
