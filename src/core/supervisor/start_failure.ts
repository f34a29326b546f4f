/**
 * The failure of a start as operators see it.
 *
 * @module
 */
import { asHostError, HostError } from "../errors/host_error.ts";

/** Codes of the system for "this process" and "this machine" having no descriptor left; Deno gives some as text only. */
const EXHAUSTED = /^E[MN]FILE$/;
const EXHAUSTED_TEXT = /\(os error 2[34]\)/;
/** Name of the error of a runtime that was started without a permission. */
const NOT_CAPABLE = "NotCapable";

/**
 * Returns `thrown` as a {@link HostError}. Any step of a start may be the one that finds no file descriptor left, each
 * with an error of its own: that becomes one code, which the lifeline tries again because other plugins give theirs
 * back. The same for a permission that the runtime lacks, which is final.
 */
export function startFailure(thrown: unknown, plugin: string): HostError {
  for (let cause: unknown = thrown; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as { code?: unknown };
    if (cause.name === NOT_CAPABLE) {
      return new HostError("cage.no_permission", `Cannot start "${plugin}": ${cause.message}`, {
        hint: "Widen the permission that is named; docs/embed-deno.md says what each is for",
        cause: thrown,
      });
    }
    if (!EXHAUSTED.test(String(code)) && !EXHAUSTED_TEXT.test(cause.message)) continue;
    return new HostError("plugin.no_descriptors", `Cannot start "${plugin}": the host has no file descriptor left`, {
      hint:
        "Raise the limit of open files of the host (ulimit -n, or LimitNOFILE= of its service), or run fewer plugins",
      cause: thrown,
    });
  }
  return asHostError(thrown);
}
